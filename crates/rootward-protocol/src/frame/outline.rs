//! Large messages without the contents of their long strings: enough to parse the envelope, in a fraction of the time.
//!
//! A large result is usually one long string in a small frame: a file. Parsing it as JSON takes longer than copying it.
//! So long strings are removed first, and the rest is parsed as JSON. Each removed string is checked separately, so the
//! whole message is valid if the rest is.

use memchr::{memchr, memchr2};

/// The length from which a string is removed. No key of an envelope is that long, even with escapes.
const LONG: usize = 1024;

/// The maximum length of an outline. A message of many short strings exceeds it early and has none.
const LONGEST: usize = 1 << 14;

/// The message with its long strings emptied. `None` if that saves nothing, or if a string, byte or escape may be
/// invalid; then the message itself must be parsed.
///
/// The outline is a valid message if and only if `line` is. It has the same kind and id, unless the id is an empty
/// string.
pub fn outline(line: &[u8]) -> Option<String> {
    let mut short = Vec::new();
    let (mut copied, mut at) = (0, 0);
    while let Some(quote) = memchr(b'"', &line[at..]) {
        let begins = at + quote + 1;
        let ends = end_of_string(line, begins)?;
        if ends - begins >= LONG {
            short.extend_from_slice(&line[copied..begins]);
            copied = ends;
        }
        at = ends + 1;
        if short.len() + (at - copied) > LONGEST {
            return None;
        }
    }
    short.extend_from_slice(&line[copied..]);
    // SECURITY: the removed strings are checked here and nowhere else (test: an_outline_reads_as_the_message_does)
    let is_valid = short.len() <= LONGEST && !has_control_character(line) && simdutf8::basic::from_utf8(line).is_ok();
    if is_valid { String::from_utf8(short).ok() } else { None }
}

/// The position of the closing quote of a string that begins at `at`. `None` if there is none, or if an escape is not a
/// whole character.
fn end_of_string(line: &[u8], mut at: usize) -> Option<usize> {
    loop {
        let found = at + memchr2(b'"', b'\\', &line[at..])?;
        if line[found] == b'"' {
            return Some(found);
        }
        at = found
            + match line.get(found + 1)? {
                b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => 2,
                b'u' if is_a_whole_character(line.get(found + 2..found + 6)?) => 6,
                _ => return None,
            };
    }
}

/// Whether the four digits of an escape are a whole character, not half of a pair. In a key or a method, a lone half is
/// an error.
fn is_a_whole_character(digits: &[u8]) -> bool {
    let is_half = matches!(digits, [b'd' | b'D', second, ..] if *second >= b'8');
    digits.iter().all(u8::is_ascii_hexdigit) && !is_half
}

/// Whether there is a byte that JSON does not allow in strings: one below a space, such as a carriage return.
///
/// Processes four words of eight bytes at a time. Subtracting 32 from each byte of a word sets the highest bit of the
/// first smaller one, unless the byte already had that bit set.
fn has_control_character(line: &[u8]) -> bool {
    const BLANKS: u64 = u64::from_ne_bytes([b' '; 8]);
    const HIGHEST: u64 = u64::from_ne_bytes([0x80; 8]);
    let smaller = |word: &[u8; 8]| {
        let word = u64::from_ne_bytes(*word);
        word.wrapping_sub(BLANKS) & !word
    };
    let (words, rest) = line.as_chunks();
    let (fours, last) = words.as_chunks();
    let found = fours.iter().fold(0, |found, [a, b, c, d]| found | smaller(a) | smaller(b) | smaller(c) | smaller(d));
    let found = last.iter().fold(found, |found, word| found | smaller(word));
    found & HIGHEST != 0 || rest.iter().any(|byte| *byte < b' ')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_strings_are_left_out_and_nothing_else() {
        let check = |line: String, expected: Option<&str>| {
            let shown: String = line.chars().take(60).collect();
            assert_eq!(outline(line.as_bytes()).as_deref(), expected, "{shown}");
        };
        let long = "x".repeat(LONG);
        check(format!(r#"{{"id":1,"result":{{"text":"{long}"}}}}"#), Some(r#"{"id":1,"result":{"text":""}}"#));
        check(format!(r#"{{"id":1,"{long}":"{long}","a":"b"}}"#), Some(r#"{"id":1,"":"","a":"b"}"#));
        check(format!(r#""\"{long}\\" {{"#), Some(r#""" {"#));
        check(format!(r#""\u00e9{long}é""#), Some(r#""""#));
        check(format!(r#""{}""#, &long[1..]), Some(&format!(r#""{}""#, &long[1..])));
        check(format!(r#""{long}"#), None);
        check(format!(r#""{long}\""#), None);
        check(format!(r#""{long}\x""#), None);
        check(format!(r#""{long}\u00g0""#), None);
        check(format!(r#""{long}\u00"#), None);
        check(format!(r#""\ud7ff\uE000{long}""#), Some(r#""""#));
        check(format!(r#""{long}\ud83d\ude00""#), None);
        check(format!(r#""{long}\uDBff""#), None);
        check(format!("\"{long}\t\""), None);
        for at in 0..24 {
            let mut line = format!("\"{long}\"").into_bytes();
            line[at + 7] = 0x1f;
            assert_eq!(outline(&line), None, "{at}");
        }
        check(format!("\"{long}\" \r"), None);
        check(r#"{"a":"b"},"#.repeat(LONGEST), None);
        check(" ".repeat(LONGEST + 1), None);
        assert_eq!(outline(format!("\"{long}\u{fffd}\"").replace('\u{fffd}', "é").as_bytes()).as_deref(), Some("\"\""));
        assert_eq!(outline(&[b"\"", long.as_bytes(), b"\xff\""].concat()), None);
    }
}
