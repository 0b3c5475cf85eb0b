//! What is wrong in the file, and where.

use std::fmt;
use std::ops::Range;

use rootward_core::parser_message;

/// A mistake in a text: line and column count from 1, columns in characters.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Mistake {
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
    /// What is wrong.
    pub says: String,
}

impl Mistake {
    pub(crate) fn at(text: &str, span: Option<Range<usize>>, says: impl Into<String>) -> Mistake {
        let offset = span.map_or(0, |span| span.start);
        let before = text.get(..offset).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Mistake {
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            says: says.into(),
        }
    }

    /// The parser's message, in plain words.
    pub(super) fn of_parser(text: &str, error: &toml::de::Error) -> Mistake {
        Mistake::at(text, error.span(), parser_message::toml(error.message()))
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: {}", self.line, self.column, self.says)
    }
}
