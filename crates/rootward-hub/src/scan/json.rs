//! A cursor over JSON text that does not build values.
//!
//! The envelope reader already checked that the text is JSON, so this only finds where values start and end. It does
//! not rely on that check and returns an error for malformed text.

use std::borrow::Cow;

use memchr::memchr2;

use super::ScanError;

/// A position in JSON text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor<'j> {
    text: &'j str,
    at: usize,
}

/// The kind of value at a position.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Begins {
    Object,
    List,
    Text,
    /// A number, boolean or null.
    Plain,
}

/// A string without its quotes, escapes included.
#[derive(Clone, Copy, Debug)]
pub(super) struct RawText<'j>(&'j str);

impl<'j> Cursor<'j> {
    pub(super) fn new(text: &'j str) -> Cursor<'j> {
        Cursor { text, at: 0 }
    }

    /// The next byte that is not white space. Does not move past it.
    fn peek(&mut self) -> Result<u8, ScanError> {
        let rest = &self.text.as_bytes()[self.at..];
        let blank = rest.iter().position(|byte| !matches!(byte, b' ' | b'\t' | b'\r' | b'\n'));
        self.at += blank.ok_or(ScanError::Malformed)?;
        Ok(self.text.as_bytes()[self.at])
    }

    pub(super) fn begins(&mut self) -> Result<Begins, ScanError> {
        Ok(match self.peek()? {
            b'{' => Begins::Object,
            b'[' => Begins::List,
            b'"' => Begins::Text,
            _ => Begins::Plain,
        })
    }

    /// Moves past `byte`, or fails.
    pub(super) fn pass(&mut self, byte: u8) -> Result<(), ScanError> {
        if self.peek()? != byte {
            return Err(ScanError::Malformed);
        }
        self.at += 1;
        Ok(())
    }

    /// Moves past `byte` if it is next.
    pub(super) fn passes(&mut self, byte: u8) -> Result<bool, ScanError> {
        let is_next = self.peek()? == byte;
        self.at += usize::from(is_next);
        Ok(is_next)
    }

    /// After a member: true if a comma follows, false if `end` does.
    pub(super) fn goes_on(&mut self, end: u8) -> Result<bool, ScanError> {
        if self.passes(b',')? {
            return Ok(true);
        }
        self.pass(end)?;
        Ok(false)
    }

    /// Moves past a string.
    pub(super) fn text(&mut self) -> Result<RawText<'j>, ScanError> {
        self.pass(b'"')?;
        let (start, bytes) = (self.at, self.text.as_bytes());
        loop {
            let found = memchr2(b'"', b'\\', &bytes[self.at..]).ok_or(ScanError::Malformed)?;
            self.at += found;
            if bytes[self.at] == b'"' {
                self.at += 1;
                return self.text.get(start..self.at - 1).map(RawText).ok_or(ScanError::Malformed);
            }
            self.at += 2;
            if self.at > bytes.len() {
                return Err(ScanError::Malformed);
            }
        }
    }

    /// Moves past a number, boolean or null.
    pub(super) fn plain(&mut self) -> Result<(), ScanError> {
        let first = self.peek()?;
        let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.');
        if !is_plain(&first) {
            return Err(ScanError::Malformed);
        }
        let rest = &self.text.as_bytes()[self.at..];
        self.at += rest.iter().position(|byte| !is_plain(byte)).unwrap_or(rest.len());
        Ok(())
    }
}

impl<'j> RawText<'j> {
    /// Decodes the string's escapes.
    pub(super) fn decode(self) -> Cow<'j, str> {
        match self.0.split_once('\\') {
            None => Cow::Borrowed(self.0),
            Some((before, _)) => Cow::Owned(unescape(self.0, before.len())),
        }
    }

    /// Whether the decoded string may start with `word`, ignoring leading characters for which `is_skipped` is true.
    /// Does not allocate, so long strings need not be decoded.
    pub(super) fn may_begin(self, word: &str, is_skipped: impl Fn(char) -> bool) -> bool {
        let mut rest = self.0;
        loop {
            rest = rest.trim_start_matches(|c| c != '\\' && is_skipped(c));
            let Some(escape) = rest.strip_prefix('\\') else { break };
            let said = match escape.chars().next() {
                Some('b' | 'f' | 'n' | 'r' | 't') => '\n',
                Some(c @ ('"' | '/' | '\\')) => c,
                // `\u` can encode any character.
                _ => return true,
            };
            if !is_skipped(said) {
                return word.starts_with(said);
            }
            rest = &escape[1..];
        }
        let start = rest.as_bytes().get(..word.len()).unwrap_or(rest.as_bytes());
        start.contains(&b'\\') || start.eq_ignore_ascii_case(word.as_bytes())
    }
}

/// Decodes escapes; the first is at `first`. A lone surrogate is replaced, since no path contains one and parsers
/// differ in how they treat it.
fn unescape(text: &str, first: usize) -> String {
    let mut said = String::with_capacity(text.len());
    said.push_str(&text[..first]);
    let mut rest = &text[first..];
    while let Some(at) = rest.find('\\') {
        said.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let Some(escape) = rest.chars().next() else { break };
        rest = &rest[escape.len_utf8()..];
        match escape {
            'b' => said.push('\u{8}'),
            'f' => said.push('\u{c}'),
            'n' => said.push('\n'),
            'r' => said.push('\r'),
            't' => said.push('\t'),
            'u' => said.push(unescape_unit(&mut rest)),
            other => said.push(other),
        }
    }
    said.push_str(rest);
    said
}

/// Decodes `\uXXXX`, or a pair of them; `rest` starts after the `u`.
fn unescape_unit(rest: &mut &str) -> char {
    let unit = |text: &str| text.get(..4).and_then(|digits| u32::from_str_radix(digits, 16).ok());
    let Some(high) = unit(rest) else { return char::REPLACEMENT_CHARACTER };
    *rest = &rest[4..];
    if let Some(c) = char::from_u32(high) {
        return c;
    }
    let low = rest.strip_prefix("\\u").and_then(unit).filter(|low| (0xdc00..0xe000).contains(low));
    match low {
        Some(low) if high < 0xdc00 => {
            *rest = &rest[6..];
            char::from_u32(0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00)).unwrap_or(char::REPLACEMENT_CHARACTER)
        }
        _ => char::REPLACEMENT_CHARACTER,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(json: &str, said: &str) {
        assert_eq!(Cursor::new(json).text().unwrap().decode(), said, "{json}");
    }

    #[test]
    fn escapes_are_undone() {
        check(r#""plain""#, "plain");
        check(r#"" \/etc\u002Fpasswd\\\"\b\f\n\r\t""#, " /etc/passwd\\\"\u{8}\u{c}\n\r\t");
        check(r#""\ud83d\ude00\u00e9""#, "\u{1f600}\u{e9}");
        check(r#""\ud83d/\ude00\ud83d\ud83d\ude00""#, "\u{fffd}/\u{fffd}\u{fffd}\u{1f600}");
    }

    #[test]
    fn invalid_json_is_an_error() {
        for text in ["", "\"", "\"\\", "\"a\\\"", "x"] {
            assert!(Cursor::new(text).text().is_err(), "{text}");
        }
        assert!(Cursor::new(" ").begins().is_err() && Cursor::new("}").plain().is_err());
    }

    proptest! {
        #[test]
        fn strings_are_read_as_serde_reads_them(text in any::<String>()) {
            let json = serde_json::to_string(&text).unwrap();
            prop_assert_eq!(Cursor::new(&json).text().unwrap().decode(), text);
        }

        #[test]
        fn nothing_panics(text in r#"[ \\u"dD8cC0-9a-f{}\[\]:,é]{0,24}"#) {
            let _ = Cursor::new(&text).text().map(|text| text.decode().len());
        }
    }
}
