//! Displays a peer's text or a file name safely: nothing in it can move the cursor or reverse the line, and no byte is
//! lost.

use std::ffi::OsStr;
use std::fmt::{self, Display};
use std::os::unix::ffi::OsStrExt;

use serde::{Serialize, Serializer};

/// Shows any bytes on one line: control and bidirectional characters are escaped, bytes that are not UTF-8 become
/// `\xNN`.
#[derive(Clone, Copy, Debug)]
pub struct Shown<'t>(&'t [u8]);

impl<'t> Shown<'t> {
    /// Wraps a path, a name or a text.
    pub fn new<T: AsRef<OsStr> + ?Sized>(text: &'t T) -> Shown<'t> {
        Shown(text.as_ref().as_bytes())
    }
}

impl Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for chunk in self.0.utf8_chunks() {
            let mut rest = chunk.valid();
            while !rest.is_empty() {
                // Write the plain part at once: this runs for every line of the audit log.
                let plain = rest.bytes().take_while(|byte| matches!(byte, b' '..=b'~')).count();
                let (plain, behind) = rest.split_at(plain);
                f.write_str(plain)?;
                let mut letters = behind.chars();
                if let Some(letter) = letters.next() {
                    Display::fmt(&letter.escape_debug(), f)?;
                }
                rest = letters.as_str();
            }
            for byte in chunk.invalid() {
                write!(f, "\\x{byte:02x}")?;
            }
        }
        Ok(())
    }
}

impl Serialize for Shown<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_moves_the_cursor() {
        let check = |bytes: &[u8], expect: &str| assert_eq!(Shown(bytes).to_string(), expect);
        check("/a b/käse".as_bytes(), "/a b/käse");
        check(b"a\\b'c\"", "a\\b'c\"");
        check(b"a\nb\x1b[31m", "a\\nb\\u{1b}[31m");
        check("ä\u{7f}é~ \t\u{301}x".as_bytes(), "ä\\u{7f}é~ \\t\\u{301}x");
        check("a\u{202e}b".as_bytes(), "a\\u{202e}b");
        check(b"a\xff\xfe", "a\\xff\\xfe");
    }
}
