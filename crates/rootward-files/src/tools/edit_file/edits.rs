//! Finds and replaces text, whatever the line ends.
//!
//! Texts are compared with `\n` line ends. The original line ends are stored separately and restored: a file keeps its
//! `\r\n`, and a file that mixes both keeps the mix.

use thiserror::Error;

/// A text being edited.
#[derive(Debug)]
pub(super) struct Text {
    /// The text with `\n` line ends.
    plain: String,
    /// The original line ends.
    ends: Vec<End>,
}

/// A line end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum End {
    Newline,
    ReturnAndNewline,
}

/// Why an edit failed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub(super) enum EditError {
    #[error("nothing to find")]
    Empty,
    #[error("not found")]
    NotFound,
    #[error("too large")]
    TooLarge,
}

impl Text {
    pub(super) fn new(text: &str) -> Text {
        let mut ends = Vec::new();
        let mut before = None;
        for byte in text.bytes() {
            if byte == b'\n' {
                ends.push(if before == Some(b'\r') { End::ReturnAndNewline } else { End::Newline });
            }
            before = Some(byte);
        }
        Text { plain: plain(text), ends }
    }

    /// The text with `\n` line ends.
    pub(super) fn as_str(&self) -> &str {
        &self.plain
    }

    /// The text with the file's line ends.
    pub(super) fn with_line_ends(&self) -> String {
        let mut text = String::with_capacity(self.plain.len() + self.ends.len());
        let mut ends = self.ends.iter();
        for line in self.plain.split_inclusive('\n') {
            match (line.strip_suffix('\n'), ends.next()) {
                (Some(line), Some(End::ReturnAndNewline)) => {
                    text.push_str(line);
                    text.push_str("\r\n");
                }
                _ => text.push_str(line),
            }
        }
        text
    }

    /// Replaces the first occurrence of `old` and returns the number of occurrences. The text stays within `limit`
    /// bytes.
    pub(super) fn replace(&mut self, old: &str, new: &str, limit: usize) -> Result<usize, EditError> {
        let (old, new) = (plain(old), plain(new));
        if old.is_empty() {
            return Err(EditError::Empty);
        }
        if let Some(start) = self.plain.find(&old) {
            let places = self.plain.matches(&old).count();
            self.put(start, old.len(), &new, limit)?;
            return Ok(places);
        }
        let (first, places) = find_lines(&self.plain, &old).ok_or(EditError::NotFound)?;
        let lines = old.split('\n').count();
        let mut starts = std::iter::once(0).chain(self.plain.match_indices('\n').map(|(at, _)| at + 1)).skip(first);
        let start = starts.next().unwrap_or(0);
        // Up to the end of the last line, without its newline.
        let end = starts.nth(lines - 1).map_or(self.plain.len(), |next| next - 1);
        let new = indented(&self.plain[start..], &old, &new, limit)?;
        self.put(start, end - start, &new, limit)?;
        Ok(places)
    }

    fn put(&mut self, start: usize, length: usize, new: &str, limit: usize) -> Result<(), EditError> {
        if self.plain.len() - length + new.len() > limit {
            return Err(EditError::TooLarge);
        }
        let count = |text: &str| memchr::memchr_iter(b'\n', text.as_bytes()).count();
        let first = count(&self.plain[..start]);
        let old = count(&self.plain[start..start + length]);
        // New lines get the line end of the line where they start, or else of the one before.
        let usual = self.ends.get(first).or_else(|| self.ends.get(first.checked_sub(1)?)).copied();
        let usual = usual.unwrap_or(End::Newline);
        let kept = self.ends[first..first + old].to_vec();
        let ends = (0..count(new)).map(|index| kept.get(index).copied().unwrap_or(usual));
        self.ends.splice(first..first + old, ends);
        self.plain.replace_range(start..start + length, new);
        Ok(())
    }
}

fn plain(text: &str) -> String {
    text.replace("\r\n", "\n")
}

/// Whitespace as defined by the reference server's language.
fn is_blank(letter: char) -> bool {
    (letter.is_whitespace() && letter != '\u{85}') || letter == '\u{feff}'
}

/// The first line where the lines of `old` occur, ignoring whitespace at their ends, and the number of occurrences.
///
/// One search over all lines, in time linear in their total length.
fn find_lines(text: &str, old: &str) -> Option<(usize, usize)> {
    let trimmed = |text: &str| {
        let lines = text.split('\n').map(|line| line.trim_matches(is_blank));
        // Put each line between two newlines, so that a match begins and ends with a line.
        lines.fold(String::from("\n"), |all, line| all + line + "\n")
    };
    let (text, old) = (trimmed(text), trimmed(old));
    let start = text.find(&old)?;
    let first = text[..start].matches('\n').count();
    Some((first, text.matches(&old).count()))
}

/// The new text, indented as the reference server does it: the first line gets the indentation of the line it replaces,
/// later lines keep the indentation they have beyond their counterparts in the old text.
fn indented(place: &str, old: &str, new: &str, limit: usize) -> Result<String, EditError> {
    let indent = |line: &str| line.len() - line.trim_start_matches(is_blank).len();
    let letters = |blanks: &str| blanks.encode_utf16().count();
    let kept = &place[..indent(place.split('\n').next().unwrap_or_default())];
    let mut old = old.split('\n');
    let mut text = String::new();
    for (index, line) in new.split('\n').enumerate() {
        let before = old.next().map_or(0, |line| letters(&line[..indent(line)]));
        let (blanks, rest) = line.split_at(indent(line));
        if index == 0 {
            text.push_str(kept);
            text.push_str(rest);
        } else {
            text.push('\n');
            if before > 0 && !blanks.is_empty() {
                text.push_str(kept);
                let more = letters(blanks).saturating_sub(before);
                // A line of the file may be indented by megabytes, and the new text may have many lines.
                if text.len() + more > limit {
                    return Err(EditError::TooLarge);
                }
                text.extend(std::iter::repeat_n(' ', more));
                text.push_str(rest);
            } else {
                text.push_str(line);
            }
        }
        if text.len() > limit {
            return Err(EditError::TooLarge);
        }
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: usize = 1 << 20;

    fn edited(text: &str, old: &str, new: &str) -> Result<(String, usize), EditError> {
        let mut text = Text::new(text);
        let places = text.replace(old, new, LIMIT)?;
        Ok((text.with_line_ends(), places))
    }

    #[test]
    fn what_is_found_is_replaced() {
        let check = |text: &str, old: &str, new: &str, expect: &str, places: usize| {
            assert_eq!(edited(text, old, new), Ok((expect.to_owned(), places)), "{text:?} {old:?} {new:?}");
        };
        check("a b c", "b", "B", "a B c", 1);
        check("aXbX", "X", "$& $1", "a$& $1bX", 2);
        check("one\ntwo\n", "one\ntwo", "1\n2\n3", "1\n2\n3\n", 1);
        check("one\n", "one\n", "", "", 1);
        check("ünï\n", "ï", "i", "üni\n", 1);
        // Whole lines, ignoring whitespace at their ends; indented exactly like the reference server.
        check("  a\n  b\n", "a\nb", "x\ny", "  x\ny\n", 1);
        check(
            "\tif a {\n\t\tb\n\t}\n",
            "if a {\n    b\n}",
            "if a {\n    c\n      d\n}",
            "\tif a {\n\tc\n      d\n}\n",
            1,
        );
        check("    a\n    b\n", "  a\n  b", "  x\n    y", "    x\n      y\n", 1);
        check("a  \nb\n", "a\nb", "c", "c\n", 1);
        check("  a\n\n", "a \n", "b", "  b\n", 1);
        check("\u{feff}  a\nb", " a\nb ", "c", "\u{feff}  c", 1);
    }

    #[test]
    fn what_is_not_found_changes_nothing() {
        let check =
            |text: &str, old: &str, expect: EditError| assert_eq!(edited(text, old, "x"), Err(expect), "{old:?}");
        check("abc", "", EditError::Empty);
        check("abc", "d", EditError::NotFound);
        // Lines are compared as a whole.
        check("abc d", " abc ", EditError::NotFound);
        check("a\nb", "a\nb\nc", EditError::NotFound);
        check("", "a", EditError::NotFound);
        check("a  b", "a b", EditError::NotFound);
    }

    #[test]
    fn line_ends_stay_as_they_are() {
        let check = |text: &str, old: &str, new: &str, expect: &str| {
            assert_eq!(edited(text, old, new).map(|(text, _)| text), Ok(expect.to_owned()), "{text:?}");
        };
        check("a\r\nb\r\nc", "b", "x\ny", "a\r\nx\r\ny\r\nc");
        check("a\r\nb\r\n", "a\nb\n", "x\n", "x\r\n");
        check("a\r\nb\r\n", "a\r\nb", "x\r\ny", "x\r\ny\r\n");
        check("a\nb\n", "b", "x\r\ny", "a\nx\ny\n");
        check("a\r\nb\nc\r\n", "b", "B", "a\r\nB\nc\r\n");
        check("a\r\nb\nc\r\n", "a\nb\nc", "A\nB\nC", "A\r\nB\nC\r\n");
        check("a\r\nb", "b", "x\ny", "a\r\nx\r\ny");
        check("a\rb\n", "b", "x", "a\rx\n");
        check("  a\r\n  b\r\n", "a\nb", "x\ny", "  x\r\ny\r\n");
        check("a\r\n", "a\n", "", "");
    }

    /// A naive implementation takes hours or all memory for each of these.
    #[test]
    fn hostile_texts_end_soon_and_small() {
        let blank = "\n".repeat(1 << 20);
        let mut text = Text::new(&blank);
        let old = format!("{}x", " \n".repeat(1 << 18));
        assert_eq!(text.replace(&old, "", 4 << 20), Err(EditError::NotFound));
        let wide = format!("{}a\n{}", " ".repeat(1 << 19), "b\n".repeat(1 << 16));
        let mut text = Text::new(&wide);
        let (old, new) = (format!("\ta\n{}", " b\n".repeat(1 << 16)), " x\n".repeat(1 << 16));
        assert_eq!(text.replace(&old, &new, LIMIT), Err(EditError::TooLarge));
        assert_eq!(text.as_str(), wide);
        let mut text = Text::new("a");
        assert_eq!(text.replace("a", &"b".repeat(11), 10), Err(EditError::TooLarge));
        assert_eq!(text.as_str(), "a");
    }
}
