//! Decodes the bytes of a file to text.
//!
//! UTF-8 stays as it is, including line ends and byte order mark. UTF-16 is recognized by its byte order mark and
//! decoded. In other text, each invalid byte becomes a replacement character. A file that contains a NUL is not text.

use memchr::memchr;

/// The maximum size of file content in one answer, in bytes.
pub(crate) const MOST_BYTES: u64 = 4 << 20;

/// How many bytes at the start of a file to inspect to tell text from binary.
pub(crate) const BEGINNING: usize = 8 << 10;

/// A text encoding.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Encoding {
    /// UTF-8, or something close to it.
    Utf8,
    /// UTF-16, little-endian.
    Utf16Little,
    /// UTF-16, big-endian.
    Utf16Big,
}

impl Encoding {
    /// The encoding of a file that begins with these bytes; `None` if it is not text.
    pub(crate) fn of(beginning: &[u8]) -> Option<Encoding> {
        match beginning {
            // UTF-32.
            [0xff, 0xfe, 0, 0, ..] => None,
            [0xff, 0xfe, ..] => Some(Encoding::Utf16Little),
            [0xfe, 0xff, ..] => Some(Encoding::Utf16Big),
            _ if memchr(0, beginning).is_some() => None,
            _ => Some(Encoding::Utf8),
        }
    }

    /// The decoded text; `None` if it contains a NUL.
    pub(crate) fn decode(self, bytes: Vec<u8>) -> Option<String> {
        match self {
            Encoding::Utf8 if memchr(0, &bytes).is_some() => None,
            Encoding::Utf8 => Some(String::from_utf8(bytes).unwrap_or_else(|error| lossy(error.as_bytes()))),
            Encoding::Utf16Little => wide(&bytes, u16::from_le_bytes),
            Encoding::Utf16Big => wide(&bytes, u16::from_be_bytes),
        }
    }

    /// The positions just after each newline. `bytes` must start at a character boundary.
    pub(crate) fn line_ends(self, bytes: &[u8]) -> impl DoubleEndedIterator<Item = usize> {
        let newline = match self {
            Encoding::Utf8 | Encoding::Utf16Little => [b'\n', 0],
            Encoding::Utf16Big => [0, b'\n'],
        };
        let wide = self != Encoding::Utf8;
        memchr::memchr_iter(b'\n', bytes).filter_map(move |found| {
            if !wide {
                return Some(found + 1);
            }
            let unit = found & !1;
            (bytes.get(unit..unit + 2) == Some(&newline)).then_some(unit + 2)
        })
    }
}

/// The text of a whole file; `None` if it is not text.
pub(crate) fn of(bytes: Vec<u8>) -> Option<String> {
    Encoding::of(&bytes[..bytes.len().min(BEGINNING)])?.decode(bytes)
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn wide(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Option<String> {
    let (pairs, odd) = bytes.as_chunks::<2>();
    let units = pairs.iter().copied().map(unit);
    let letters = char::decode_utf16(units).map(|letter| letter.unwrap_or(char::REPLACEMENT_CHARACTER));
    let mut text: String = letters.collect();
    if !odd.is_empty() {
        text.push(char::REPLACEMENT_CHARACTER);
    }
    if memchr(0, text.as_bytes()).is_some() {
        return None;
    }
    // The byte order mark is not part of the text.
    Some(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_become_text() {
        let check = |bytes: &[u8], expect: Option<&str>| assert_eq!(of(bytes.to_vec()).as_deref(), expect, "{bytes:?}");
        check(b"", Some(""));
        check(b"a\r\nb\n", Some("a\r\nb\n"));
        check("\u{feff}käse".as_bytes(), Some("\u{feff}käse"));
        check(b"k\xe4se", Some("k\u{fffd}se"));
        check(b"a\0b", None);
        check(b"\xff\xfea\0\n\0\xe4\0", Some("a\nä"));
        check(b"\xfe\xff\0a\0\n\xd8\x3d\xde\x00", Some("a\n😀"));
        // Half a surrogate pair, half a unit.
        check(b"\xfe\xff\xd8\x3d", Some("\u{fffd}"));
        check(b"\xff\xfea\0b", Some("a\u{fffd}"));
        check(b"\xff\xfe\0\0a\0\0\0", None);
        check(b"\xff\xfea\0\0\0", None);
        check(b"\xff\xfe", Some(""));
        let late = [vec![b'a'; BEGINNING], vec![0]].concat();
        check(&late, None);
    }

    #[test]
    fn line_ends_are_found_in_every_encoding() {
        let check = |encoding: Encoding, bytes: &[u8], expect: &[usize]| {
            assert_eq!(encoding.line_ends(bytes).collect::<Vec<_>>(), expect, "{encoding:?} {bytes:?}");
        };
        check(Encoding::Utf8, b"a\nb\r\n\n", &[2, 5, 6]);
        check(Encoding::Utf16Little, b"a\0\n\0b\0", &[4]);
        check(Encoding::Utf16Big, b"\0a\0\n\0b", &[4]);
        // U+0A41 and U+410A contain a byte that looks like a newline.
        check(Encoding::Utf16Little, b"\x41\x0a\x0a\x41\n\0", &[6]);
        check(Encoding::Utf16Big, b"\x0a\x41\x41\x0a\0\n", &[6]);
        check(Encoding::Utf16Little, b"a\0\n", &[]);
    }
}
