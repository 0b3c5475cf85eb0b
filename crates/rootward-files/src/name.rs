//! A name on disk, in a list that has one name a line.

use std::borrow::Cow;
use std::ffi::OsStr;

use rootward_core::Shown;

/// The name as it is, unless it would break its line, reverse it or is no text; then what cannot stand there is escaped.
///
/// [`Shown`] escapes more, marks that combine with a letter for one, and such a name could not be asked for again.
pub(crate) fn on_one_line(name: &OsStr) -> Cow<'_, str> {
    match name.to_str() {
        Some(name) if !name.chars().any(breaks) => Cow::Borrowed(name),
        _ => Cow::Owned(Shown::new(name).to_string()),
    }
}

fn breaks(letter: char) -> bool {
    letter.is_control() || matches!(letter, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStrExt;

    use super::*;

    #[test]
    fn names_keep_to_their_line() {
        let check = |name: &[u8], expect: &str| assert_eq!(on_one_line(OsStr::from_bytes(name)), expect);
        check("e\u{301} 'x'".as_bytes(), "e\u{301} 'x'");
        check(b"a\n[DIR] b", "a\\n[DIR] b");
        check("a\u{202e}b".as_bytes(), "a\\u{202e}b");
        check(b"a\xff", "a\\xff");
    }
}
