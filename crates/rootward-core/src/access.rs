//! Kinds of access: read, write, execute, delete.
//!
//! [`Access`] is a set of four flags, so that two of them combine by intersection, without any ranking.

use std::fmt;
use std::ops::{BitAnd, BitOr};

use serde::{Serialize, Serializer};

/// A set of permitted or requested kinds of access.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Access(u8);

/// The words, in display order.
const WORDS: [(Access, &str); 4] =
    [(Access::READ, "read"), (Access::WRITE, "write"), (Access::EXECUTE, "execute"), (Access::DELETE, "delete")];

impl Access {
    /// No access: only asks whether a path lies inside.
    pub const NONE: Access = Access(0);
    /// Read metadata, contents and entries.
    pub const READ: Access = Access(1);
    /// Create and change.
    pub const WRITE: Access = Access(2);
    /// Run.
    pub const EXECUTE: Access = Access(4);
    /// Remove, or move away.
    pub const DELETE: Access = Access(8);
    /// `:rw`, the default of a root: everything except execute.
    pub const READ_WRITE: Access = Access(1 | 2 | 8);
    /// `:rwx`: everything.
    pub const ALL: Access = Access(15);

    /// Whether everything in `other` is in `self`.
    pub const fn contains(self, other: Access) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether the set is empty.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The union of both sets. Same as `|`, for use in constants.
    #[must_use]
    pub const fn with(self, other: Access) -> Access {
        Access(self.0 | other.0)
    }

    /// What is in `self` but not in `other`.
    #[must_use]
    pub const fn without(self, other: Access) -> Access {
        Access(self.0 & !other.0)
    }

    /// Parses the suffix of a root on the command line or in a settings file: `ro`, `rw`, `rw-nodelete`, `rwx`.
    pub fn from_suffix(suffix: &str) -> Option<Access> {
        match suffix {
            "ro" => Some(Access::READ),
            "rw" => Some(Access::READ_WRITE),
            "rw-nodelete" => Some(Access::READ | Access::WRITE),
            "rwx" => Some(Access::ALL),
            _ => None,
        }
    }

    /// Parses one word (`read`, `write`, `execute`, `delete`) or a comma-separated list of them.
    pub fn from_words(words: &str) -> Option<Access> {
        words.split(',').try_fold(Access::NONE, |sum, word| {
            let (access, _) = WORDS.iter().find(|(_, known)| *known == word.trim())?;
            Some(sum | *access)
        })
    }

    /// The words of the set, in a fixed order.
    pub fn words(self) -> impl Iterator<Item = &'static str> {
        WORDS.iter().filter(move |(access, _)| self.contains(*access)).map(|(_, word)| *word)
    }
}

impl BitOr for Access {
    type Output = Access;
    fn bitor(self, other: Access) -> Access {
        Access(self.0 | other.0)
    }
}

/// The intersection of both sets.
impl BitAnd for Access {
    type Output = Access;
    fn bitand(self, other: Access) -> Access {
        Access(self.0 & other.0)
    }
}

/// `read, write`; an empty set is `none`.
impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return f.write_str("none");
        }
        for (position, word) in self.words().enumerate() {
            if position > 0 {
                f.write_str(", ")?;
            }
            f.write_str(word)?;
        }
        Ok(())
    }
}

impl fmt::Debug for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Access({self})")
    }
}

/// A list of words.
impl Serialize for Access {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.words())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_suffixes() {
        let check = |access: Access, shown: &str| assert_eq!(access.to_string(), shown);
        check(Access::NONE, "none");
        check(Access::READ_WRITE, "read, write, delete");
        check(Access::ALL, "read, write, execute, delete");
        assert_eq!(Access::from_suffix("rw-nodelete"), Some(Access::READ | Access::WRITE));
        assert_eq!(Access::from_suffix("RW"), None);
        assert_eq!(Access::from_words("read,delete"), Some(Access::READ | Access::DELETE));
        assert_eq!(Access::from_words("read,fly"), None);
        assert_eq!(Access::from_words(""), None);
    }

    #[test]
    fn an_intersection_is_in_both() {
        let lesser = Access::READ_WRITE & (Access::READ | Access::EXECUTE);
        assert_eq!(lesser, Access::READ);
        assert!(!Access::ALL.without(Access::DELETE).contains(Access::DELETE));
    }
}
