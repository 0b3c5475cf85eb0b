//! A number for content that peers and logs see: in cursors, as the generation of a modern request's roots.
//!
//! The results of `DefaultHasher` and `Hash` may change with the compiler. Then a cursor would be stale after an
//! upgrade, and the same roots would have two numbers in one log. So this hashes the parts with SHA-256, each with its
//! length.

use sha2::{Digest, Sha256};

/// Hashes the parts of some content.
#[derive(Clone, Debug, Default)]
pub struct ContentNumber(Sha256);

impl ContentNumber {
    /// Adds a part.
    pub fn add(&mut self, part: impl AsRef<[u8]>) {
        let part = part.as_ref();
        self.add_number(part.len() as u64);
        self.0.update(part);
    }

    /// Adds a part that may be missing, which is not the same as empty.
    pub fn add_optional(&mut self, part: Option<impl AsRef<[u8]>>) {
        self.add_number(u64::from(part.is_some()));
        if let Some(part) = part {
            self.add(part);
        }
    }

    /// Adds a number, for example how many parts follow.
    pub fn add_number(&mut self, number: u64) {
        self.0.update(number.to_be_bytes());
    }

    /// The number for everything added: 53 bits, which every JSON reader keeps exactly.
    pub fn finish(self) -> u64 {
        let digest = self.0.finalize();
        let first = digest.iter().take(8).fold(0, |number: u64, byte| number << 8 | u64::from(*byte));
        first >> 11
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_the_same_in_every_build() {
        let mut number = ContentNumber::default();
        number.add("file:///srv/app");
        number.add_optional(Some("app"));
        number.add_optional(None::<&str>);
        number.add_number(3);
        assert_eq!(number.finish(), 6_087_470_737_377_770);
    }

    #[test]
    fn parts_do_not_run_into_each_other() {
        let number = |parts: &[Option<&str>]| {
            let mut number = ContentNumber::default();
            for part in parts {
                number.add_optional(*part);
            }
            number.finish()
        };
        assert_ne!(number(&[Some("ab"), Some("c")]), number(&[Some("a"), Some("bc")]));
        assert_ne!(number(&[Some("")]), number(&[None]));
        assert_eq!(number(&[Some("a"), None]), number(&[Some("a"), None]));
    }
}
