//! What is wrong in the file, and where.

use std::fmt;
use std::ops::Range;

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

    /// The parser's message, in terms of the file rather than of the program.
    pub(super) fn of_parser(text: &str, error: &toml::de::Error) -> Mistake {
        let says = error.message().lines().collect::<Vec<_>>().join(", ");
        Mistake::at(text, error.span(), in_our_words(&says))
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: {}", self.line, self.column, self.says)
    }
}

fn in_our_words(says: &str) -> String {
    let of_type = says.strip_prefix("invalid type: ").or_else(|| says.strip_prefix("invalid value: "));
    if let Some((found, expected)) = of_type.and_then(|rest| rest.rsplit_once(", expected ")) {
        let expected = match expected {
            "a boolean" => "a boolean",
            "a sequence" => "a list",
            "a string" => "a string",
            "a TOML datetime" => "a date and time",
            "u64" | "i64" => "an integer",
            _ => "a table",
        };
        let found = match found {
            "sequence" => "a list".to_owned(),
            "map" => "a table".to_owned(),
            other => other.replace('"', "`"),
        };
        return format!("expected {expected}, found {found}");
    }
    let known = [("unknown field", "unknown key"), ("missing field", "missing key")];
    let known = known.iter().find_map(|(theirs, ours)| Some(format!("{ours}{}", says.strip_prefix(theirs)?)));
    known.unwrap_or_else(|| says.to_owned())
}
