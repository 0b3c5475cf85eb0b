//! Errors and warnings about a configuration file: what is wrong, where, and how to fix it.

use thiserror::Error;

/// An error in the file. The whole file is rejected.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("line {line}, column {column}: {says}")]
pub struct ConfigError {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// What is wrong.
    pub says: String,
    /// How to fix it.
    pub hint: String,
}

/// Something that was accepted but may not do what its author expects. Shown as a warning.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("line {line}, column {column}: {says}")]
pub struct ConfigNote {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// The warning.
    pub says: String,
    /// What to do about it.
    pub hint: String,
}

impl ConfigError {
    /// A mistake at a byte offset of the text.
    pub(super) fn at(text: &str, offset: usize, says: impl Into<String>, hint: impl Into<String>) -> ConfigError {
        let (line, column) = line_and_column(text, offset);
        ConfigError { line, column, says: says.into(), hint: hint.into() }
    }
}

impl From<ConfigError> for ConfigNote {
    fn from(ConfigError { line, column, says, hint }: ConfigError) -> ConfigNote {
        ConfigNote { line, column, says, hint }
    }
}

fn line_and_column(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (before.matches('\n').count() + 1, before[start..].chars().count() + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters() {
        let check = |text: &str, offset: usize, expect: (usize, usize)| {
            assert_eq!(line_and_column(text, offset), expect, "{text:?} {offset}");
        };
        check("", 0, (1, 1));
        check("äb\nc", 2, (1, 2));
        check("äb\nc", 4, (2, 1));
        check("a\r\nb", 3, (2, 1));
        check("ab", 99, (1, 3));
    }
}
