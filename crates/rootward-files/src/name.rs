//! File names in a list with one name per line, and the same names in a call.
//!
//! A name need not be UTF-8, but JSON is. Such a name is shown with each invalid byte as `\xNN`, and a client can send
//! it back in that form. Every shown form belongs to exactly one name: a backslash in such a name becomes `\x5c`, and
//! so does one in a name that looks like an escape itself.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::fmt::Write;
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use rootward_core::Shown;
use rootward_server::{NewReading, OtherReading};

/// Starts an escaped byte; two lowercase hexadecimal digits follow.
const MARK: &[u8] = br"\x";

/// A name or a path, unchanged unless it would break or reverse its line, is not UTF-8 or looks like an escape; then
/// the offending parts are escaped.
///
/// [`Shown`] escapes more, such as combining marks, and a client could not send such a name back.
pub(crate) fn on_one_line(path: &OsStr) -> Cow<'_, str> {
    match path.to_str() {
        Some(path) if !path.chars().any(breaks) && !holds_escape(path) => Cow::Borrowed(path),
        _ => {
            let names: Vec<String> = path.as_bytes().split(|byte| *byte == b'/').map(shown).collect();
            Cow::Owned(names.join("/"))
        }
    }
}

fn shown(name: &[u8]) -> String {
    escaped(name).unwrap_or_else(|| match str::from_utf8(name) {
        Ok(name) if !name.chars().any(breaks) => name.to_owned(),
        _ => Shown::new(OsStr::from_bytes(name)).to_string(),
    })
}

fn breaks(letter: char) -> bool {
    letter.is_control() || matches!(letter, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A name that is not UTF-8, or looks like an escape, with `\xNN` in it; `None` for any other name.
pub(crate) fn escaped(name: &[u8]) -> Option<String> {
    if str::from_utf8(name).is_ok_and(|name| !holds_escape(name)) {
        return None;
    }
    let mut text = String::with_capacity(name.len() + 16);
    for chunk in name.utf8_chunks() {
        for letter in chunk.valid().chars() {
            if letter == '\\' || breaks(letter) {
                escape(&mut text, letter.encode_utf8(&mut [0; 4]).as_bytes());
            } else {
                text.push(letter);
            }
        }
        escape(&mut text, chunk.invalid());
    }
    Some(text)
}

fn escape(text: &mut String, bytes: &[u8]) {
    for byte in bytes {
        // Writing to a string cannot fail.
        let _ = write!(text, "\\x{byte:02x}");
    }
}

fn holds_escape(text: &str) -> bool {
    let text = text.as_bytes();
    memchr::memmem::find_iter(text, MARK).any(|at| byte_at(text, at).is_some())
}

/// The byte that is escaped at this position.
fn byte_at(text: &[u8], at: usize) -> Option<u8> {
    let [high, low] = *text.get(at..)?.strip_prefix(MARK)?.first_chunk()?;
    let digit = |digit: u8| match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    };
    Some((digit(high)? << 4) | digit(low)?)
}

/// The name that is shown in this form; `None` if there is none.
fn decoded(shown: &str) -> Option<Vec<u8>> {
    let text = shown.as_bytes();
    let mut name = Vec::with_capacity(text.len());
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        match byte_at(text, at) {
            Some(escaped) => {
                name.push(escaped);
                at += MARK.len() + 2;
            }
            None => {
                name.push(*byte);
                at += 1;
            }
        }
    }
    // SECURITY: decode only the exact form that a list shows. A list never shows a separator, a dot or any other plain
    // character as an escape, and no name contains a NUL (test: an_escape_never_becomes_a_separator_a_dot_or_a_nul)
    let is_name = !name.iter().any(|byte| matches!(byte, b'/' | 0));
    (is_name && escaped(&name).as_deref() == Some(shown)).then_some(name)
}

/// The second reading of a client's path, if some of its names are in the form that lists show.
pub(crate) fn other_reading(text: &str) -> Option<OtherReading> {
    // A URI has its own escapes.
    let is_uri = text.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("file:"));
    if is_uri || !holds_escape(text) {
        return None;
    }
    let names: Vec<&str> = text.split('/').collect();
    let last = names.iter().rposition(|name| !name.is_empty())?;
    let decoded: Vec<Option<Vec<u8>>> = names.iter().map(|name| decoded(name)).collect();
    let path = |from: &[Option<Vec<u8>>]| {
        let names: Vec<&[u8]> =
            from.iter().zip(&names).map(|(decoded, name)| decoded.as_deref().unwrap_or(name.as_bytes())).collect();
        OsString::from_vec(names.join(&b'/'))
    };
    let directory = decoded[..last].iter().rposition(Option::is_some);
    if directory.is_none() && decoded[last].is_none() {
        return None;
    }
    let new = directory.map(|above| {
        let mut all_but_last = decoded.clone();
        all_but_last[last] = None;
        NewReading {
            path: path(&all_but_last),
            directory: path(&decoded[..=above]),
            as_text: names[..=above].join("/"),
        }
    });
    Some(OtherReading { existing: path(&decoded), new })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_keep_to_their_line() {
        let check = |name: &[u8], expect: &str| assert_eq!(on_one_line(OsStr::from_bytes(name)), expect);
        check("e\u{301} 'x'".as_bytes(), "e\u{301} 'x'");
        check(b"a\n[DIR] b", "a\\n[DIR] b");
        check("a\u{202e}b".as_bytes(), "a\\u{202e}b");
        check(b"a\xff", "a\\xff");
        check(b"a\\b\\x", "a\\b\\x");
        check(b"a\\xff", "a\\x5cxff");
        check(b"a\\\xff\n", "a\\x5c\\xff\\x0a");
        // Each name separately.
        check("/e\u{301}/a\\b/\u{202e}".as_bytes(), "/e\u{301}/a\\b/\\u{202e}");
        check(b"/e\xcc\x81/a\\b/\xff/c", "/e\u{301}/a\\b/\\xff/c");
    }

    #[test]
    fn a_name_can_be_given_as_it_is_shown() {
        for name in
            [&b"\xff"[..], b"caf\xe9.txt", b"\xe2\x80", b"\xff\n", b"a\\\xff", b"\\xff", b"\\xff\xff", b"\\x5c\\x5cxff"]
        {
            let shown = on_one_line(OsStr::from_bytes(name)).into_owned();
            assert_eq!(decoded(&shown).as_deref(), Some(name), "{shown}");
        }
        let check = |text: &str, existing: &[u8], new: Option<(&[u8], &[u8], &str)>| {
            let OtherReading { existing: found, new: found_new } = other_reading(text).unwrap();
            assert_eq!(found.as_bytes(), existing, "{text}");
            let found_new = found_new.as_ref();
            let found_new = found_new.map(|new| (new.path.as_bytes(), new.directory.as_bytes(), new.as_text.as_str()));
            assert_eq!(found_new, new, "{text}");
        };
        check("a\\xff", b"a\xff", None);
        check("/b/a\\xff/", b"/b/a\xff/", None);
        check("/a\\xff/../b\\xfe/", b"/a\xff/../b\xfe/", Some((b"/a\xff/../b\\xfe/", b"/a\xff", "/a\\xff")));
        check("d\\xff/in/new", b"d\xff/in/new", Some((b"d\xff/in/new", b"d\xff", "d\\xff")));
        for text in ["a", "a\\b", "a\\x", "a\\xf", "a\\xFF", "a\\xfg", "file:///a\\xff", "FILE:a\\xff", "", "/"] {
            assert_eq!(other_reading(text), None, "{text}");
        }
    }

    #[test]
    fn an_escape_never_becomes_a_separator_a_dot_or_a_nul() {
        // Alone, and next to a real escaped byte.
        for text in [
            "\\x2f",
            "\\x2e\\x2e",
            ".\\x2e",
            "\\x2e",
            "\\x00",
            "a\\x00b",
            "\\x41",
            "\\x5c",
            "\\x7e",
            "\\x2f\\xff",
            "\\x2e\\x2e\\xff",
            "\\x00\\xff",
            "\\xff\\x00",
            "\\x41\\xff",
            "\\xff\\x2f..\\x2fb",
            "\\xc3\\xa9",
            "a\\xff\\b",
        ] {
            assert_eq!(decoded(text), None, "{text}");
            assert_eq!(other_reading(&format!("in/{text}/b")), None, "{text}");
        }
        // However bytes are escaped, a path keeps the same number of names and the same dots.
        for high in 0..=255_u8 {
            for low in 0..=255_u8 {
                let text = format!("../\\x{high:02x}\\x{low:02x}/x");
                let Some(OtherReading { existing, .. }) = other_reading(&text) else { continue };
                let names: Vec<&[u8]> = existing.as_bytes().split(|byte| *byte == b'/').collect();
                assert!(names.len() == 3 && names[0] == b".." && names[2] == b"x", "{text}");
                assert!(str::from_utf8(names[1]).is_err() && !names[1].contains(&0), "{text}");
            }
        }
    }
}
