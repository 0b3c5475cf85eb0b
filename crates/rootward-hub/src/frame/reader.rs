//! Cuts a stream of bytes into lines, whatever the chunks it arrives in.
//!
//! A line that lies within one chunk is handed out as it lies there; only one that spans chunks is copied, once. What is taken
//! off is what no message can begin or end with: the line's end, a carriage return before it, a byte order mark before it.
//! Blank lines are nobody's message and are skipped. Bytes that are not UTF-8, NUL and other control characters stay in the line:
//! the envelope refuses them, with an answer. A line over the limit is not kept, but its end is found and its id looked for, so
//! that whoever waits for an answer gets an error.

use std::mem;

use memchr::memchr;

use super::id_finder::IdFinder;

/// A byte order mark in UTF-8.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// Cuts a stream into lines.
#[derive(Debug)]
pub struct FrameReader {
    limit: usize,
    /// The beginning of a line whose end has not come yet.
    begun: Vec<u8>,
    /// The line in `begun` was handed out: it goes with the next call.
    spent: bool,
    /// A line over the limit whose end has not come yet.
    skipping: Option<Skipping>,
}

#[derive(Debug)]
struct Skipping {
    finder: IdFinder,
    length: usize,
}

/// What a stream holds.
#[derive(Debug, PartialEq, Eq)]
pub enum Line<'f> {
    /// A line, without its end.
    Frame(&'f [u8]),
    /// A line that was longer than allowed; it is gone.
    TooLong(TooLong),
}

/// What is known of a line that was longer than allowed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TooLong {
    /// The id in it, as it was written, if it has one and was clear.
    pub id: Option<Box<str>>,
    /// Whether it named a method: with an id, somebody waits for an answer; without a method, it was an answer.
    pub has_method: bool,
    /// How long it was.
    pub length: usize,
}

impl FrameReader {
    /// A reader of lines of up to `limit` bytes.
    pub fn new(limit: usize) -> FrameReader {
        FrameReader { limit, begun: Vec::new(), spent: false, skipping: None }
    }

    /// The next line, if `chunk` completes one; what was used is taken off `chunk`. `None` means that all of it was used.
    pub fn next<'f, 'c: 'f>(&'f mut self, chunk: &mut &'c [u8]) -> Option<Line<'f>> {
        self.forget_spent();
        loop {
            let Some(end) = memchr(b'\n', chunk) else {
                self.keep(mem::take(chunk));
                return None;
            };
            let piece = &chunk[..end];
            *chunk = &chunk[end + 1..];
            if let Some(mut skipping) = self.skipping.take() {
                skipping.add(piece);
                return Some(Line::TooLong(skipping.end()));
            }
            if self.begun.len() + piece.len() > self.limit {
                let mut skipping = Skipping::new(&mem::take(&mut self.begun));
                skipping.add(piece);
                // A carriage return or a mark may be what was too much.
                return Some(Line::TooLong(skipping.end()));
            }
            if self.begun.is_empty() {
                let line = stripped(piece);
                if is_blank(line) {
                    continue;
                }
                return Some(Line::Frame(line));
            }
            self.begun.extend_from_slice(piece);
            if is_blank(stripped(&self.begun)) {
                self.begun.clear();
                continue;
            }
            self.spent = true;
            return Some(Line::Frame(stripped(&self.begun)));
        }
    }

    /// The stream has ended: what is left without an end of line.
    pub fn finish(&mut self) -> Option<Line<'_>> {
        self.forget_spent();
        if let Some(skipping) = self.skipping.take() {
            return Some(Line::TooLong(skipping.end()));
        }
        self.spent = true;
        let line = stripped(&self.begun);
        (!is_blank(line)).then_some(Line::Frame(line))
    }

    fn forget_spent(&mut self) {
        if mem::take(&mut self.spent) {
            self.begun.clear();
            // One huge message must not hold its memory for as long as the session lasts.
            self.begun.shrink_to(KEPT);
        }
    }

    fn keep(&mut self, piece: &[u8]) {
        if let Some(skipping) = &mut self.skipping {
            skipping.add(piece);
        } else if self.begun.len() + piece.len() > self.limit {
            let mut skipping = Skipping::new(&mem::take(&mut self.begun));
            skipping.add(piece);
            self.skipping = Some(skipping);
        } else {
            self.begun.extend_from_slice(piece);
        }
    }
}

/// How much room stays for lines that span chunks: to give it back after each large file and take it again costs more than passing
/// the file on.
const KEPT: usize = 1 << 21;

impl Skipping {
    fn new(begun: &[u8]) -> Skipping {
        let mut skipping = Skipping { finder: IdFinder::default(), length: 0 };
        skipping.add(begun);
        skipping
    }

    fn add(&mut self, piece: &[u8]) {
        self.length += piece.len();
        self.finder.add(piece);
    }

    fn end(self) -> TooLong {
        let has_method = self.finder.has_method();
        TooLong { id: self.finder.id(), has_method, length: self.length }
    }
}

fn stripped(line: &[u8]) -> &[u8] {
    let line = line.strip_prefix(MARK).unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// Only what JSON takes for white space.
fn is_blank(line: &[u8]) -> bool {
    line.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r'))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines of `stream`, in chunks of `size` bytes.
    fn lines(limit: usize, stream: &[u8], size: usize) -> Vec<String> {
        let mut reader = FrameReader::new(limit);
        let mut lines = Vec::new();
        for mut chunk in stream.chunks(size) {
            while let Some(line) = reader.next(&mut chunk) {
                lines.push(shown(&line));
            }
        }
        lines.extend(reader.finish().as_ref().map(shown));
        assert_eq!(reader.finish(), None, "an end is told once");
        lines
    }

    fn shown(line: &Line<'_>) -> String {
        match line {
            Line::Frame(frame) => frame.escape_ascii().to_string(),
            Line::TooLong(long) => format!("{} bytes, id {:?}, method {}", long.length, long.id, long.has_method),
        }
    }

    #[track_caller]
    fn check(limit: usize, stream: &[u8], expected: &[&str]) {
        for size in 1..=stream.len().max(1) {
            assert_eq!(lines(limit, stream, size), expected, "in chunks of {size}");
        }
    }

    #[test]
    fn lines_are_cut_whatever_the_chunks() {
        check(9, b"", &[]);
        check(9, b"{}\n[1]\n", &["{}", "[1]"]);
        check(9, b"{}\r\n\r\n \t\n\n{ }\r\n", &["{}", "{ }"]);
        check(9, b"{}\nlast", &["{}", "last"]);
        check(9, b"\xef\xbb\xbf{}\n\xef\xbb\xbf\n[]\n", &["{}", "[]"]);
        check(9, b"a\0b\n\xff\n \xc2\x85\n", &["a\\x00b", "\\xff", " \\xc2\\x85"]);
        check(9, b"a\rb\n", &["a\\rb"]);
    }

    #[test]
    fn a_long_line_is_answered_for_and_skipped() {
        check(8, b"12345678\n123456789\n1\n", &["12345678", "9 bytes, id None, method false", "1"]);
        let stream = br#"{"id": 7 ,"method":"x","params":{"id":8}}"#;
        check(8, stream, &[r#"41 bytes, id Some("7"), method true"#]);
        let stream = b"{\"result\":{\"text\":\"\\\"id\\\":1\"},\"id\":\"a\\\"b\"}\n{}\n";
        check(8, stream, &[r#"42 bytes, id Some("\"a\\\"b\""), method false"#, "{}"]);
    }
}
