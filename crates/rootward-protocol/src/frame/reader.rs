//! Splits a stream of bytes into lines, independent of the chunks it arrives in.
//!
//! Bytes are read into the end of one buffer, and lines are returned as slices of it. The newline, a carriage return
//! before it and a byte order mark at the start are removed. Blank lines are skipped. Bytes that are not UTF-8, NUL and
//! other control characters stay in the line: the envelope refuses them with an answer. A line over the limit is not
//! stored, but the reader finds its end and its id, so that the sender gets an error.

use std::mem;

use memchr::memchr;

use super::id_finder::{Awaited, IdFinder};

/// A byte order mark in UTF-8.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// The minimum free space for reading. Less takes more reads for a large line; more exceeds the processor's nearer
/// caches.
pub const ROOM: usize = 1 << 18;

/// How much of the buffer is kept after a long line. Freeing and reallocating it for each large file would cost more
/// than passing the file on.
const KEPT: usize = 1 << 21;

/// Splits a stream into lines.
#[derive(Debug)]
pub struct FrameReader {
    limit: usize,
    buffer: Vec<u8>,
    /// Where the next line begins.
    start: usize,
    /// The position up to which a newline was searched.
    looked: usize,
    /// The buffer was handed out; its contents are dropped on the next call.
    spent: bool,
    /// A line over the limit whose end has not arrived yet.
    skipping: Option<Skipping>,
}

#[derive(Debug, Default)]
struct Skipping {
    finder: IdFinder,
    length: usize,
}

/// An item of the stream.
#[derive(Debug, PartialEq, Eq)]
pub enum Line<'f> {
    /// A line without its newline.
    Frame(&'f [u8]),
    /// A line over the limit, which was dropped.
    TooLong(TooLong),
}

/// A line, and how it lies in the buffer.
#[derive(Debug, PartialEq, Eq)]
pub enum Found<'f> {
    /// A line with others in the buffer.
    Among(&'f [u8]),
    /// A line alone in its buffer. The caller may take the buffer and leave another in its place.
    Alone(&'f mut Vec<u8>),
    /// The rest of the stream without a newline. It may be half a message.
    Unended(&'f [u8]),
    /// A line over the limit, which was dropped.
    TooLong(TooLong),
}

/// What is known about a line over the limit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TooLong {
    /// Who waits for an answer to it.
    pub awaited: Awaited,
    /// The id of the request that it answers, if it is an answer.
    pub answers: Option<Box<str>>,
    /// Its length.
    pub length: usize,
}

impl<'f> From<Found<'f>> for Line<'f> {
    fn from(found: Found<'f>) -> Line<'f> {
        match found {
            Found::Among(line) | Found::Unended(line) => Line::Frame(line),
            Found::Alone(line) => Line::Frame(line),
            Found::TooLong(long) => Line::TooLong(long),
        }
    }
}

impl FrameReader {
    /// A reader for lines of up to `limit` bytes.
    pub fn new(limit: usize) -> FrameReader {
        FrameReader { limit, buffer: Vec::new(), start: 0, looked: 0, spent: false, skipping: None }
    }

    /// Adds received bytes.
    pub fn add(&mut self, chunk: &[u8]) {
        self.forget_spent();
        self.buffer.extend_from_slice(chunk);
    }

    /// The buffer to append received bytes to, with room for [`ROOM`] more.
    pub fn room(&mut self) -> &mut Vec<u8> {
        self.forget_spent();
        self.buffer.reserve(ROOM);
        &mut self.buffer
    }

    /// The next complete line; `None` if there is no more.
    #[expect(clippy::should_implement_trait, reason = "a line is borrowed until the next call")]
    pub fn next(&mut self) -> Option<Line<'_>> {
        self.find().map(Line::from)
    }

    /// The same, and how the line lies in the buffer.
    pub fn find(&mut self) -> Option<Found<'_>> {
        self.forget_spent();
        loop {
            let Some(length) = memchr(b'\n', &self.buffer[self.looked..]) else {
                self.keep();
                return None;
            };
            let (start, end) = (self.start, self.looked + length);
            (self.start, self.looked) = (end + 1, end + 1);
            let piece = &self.buffer[start..end];
            if self.skipping.is_some() || piece.len() > self.limit {
                let mut skipping = self.skipping.take().unwrap_or_default();
                // A carriage return or a byte order mark may have exceeded the limit.
                skipping.add(piece);
                return Some(Found::TooLong(skipping.end()));
            }
            let length = stripped(piece).len();
            if is_blank(stripped(piece)) {
                continue;
            }
            if start == 0 && self.start == self.buffer.len() && !self.buffer.starts_with(MARK) {
                self.buffer.truncate(length);
                self.spent = true;
                return Some(Found::Alone(&mut self.buffer));
            }
            return Some(Found::Among(stripped(&self.buffer[start..end])));
        }
    }

    /// Ends the stream; returns the rest without a newline.
    pub fn finish(&mut self) -> Option<Line<'_>> {
        self.find_last().map(Line::from)
    }

    /// The same, and how it lies in the buffer.
    pub fn find_last(&mut self) -> Option<Found<'_>> {
        self.forget_spent();
        if let Some(skipping) = self.skipping.take() {
            return Some(Found::TooLong(skipping.end()));
        }
        self.spent = true;
        let line = stripped(&self.buffer[self.start..]);
        (!is_blank(line)).then_some(Found::Unended(line))
    }

    fn forget_spent(&mut self) {
        if mem::take(&mut self.spent) {
            self.start = self.buffer.len();
            self.make_way();
        }
    }

    /// Keeps the beginning of a line, unless it is already too long.
    fn keep(&mut self) {
        let begun = &self.buffer[self.start..];
        if self.skipping.is_some() || begun.len() > self.limit {
            self.skipping.get_or_insert_default().add(begun);
            self.start = self.buffer.len();
        }
        self.make_way();
    }

    /// Drops everything before the next line. The rest has been searched for a newline.
    fn make_way(&mut self) {
        if self.start > 0 {
            self.buffer.drain(..self.start);
            self.start = 0;
            // One huge message must not keep its memory for the whole session.
            self.buffer.shrink_to(KEPT);
        }
        self.looked = self.buffer.len();
    }
}

impl Skipping {
    fn add(&mut self, piece: &[u8]) {
        self.length += piece.len();
        self.finder.add(piece);
    }

    fn end(self) -> TooLong {
        let asks = self.finder.has_method() && !self.finder.has_outcome();
        let id = self.finder.found();
        TooLong { answers: id.filter(|_| !asks), awaited: self.finder.awaited(), length: self.length }
    }
}

fn stripped(line: &[u8]) -> &[u8] {
    let line = line.strip_prefix(MARK).unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// Only what JSON treats as whitespace.
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
        for chunk in stream.chunks(size) {
            reader.add(chunk);
            while let Some(line) = reader.next() {
                lines.push(shown(&line));
            }
        }
        lines.extend(reader.finish().as_ref().map(shown));
        assert_eq!(reader.finish(), None, "the end is reported once");
        lines
    }

    fn shown(line: &Line<'_>) -> String {
        match line {
            Line::Frame(frame) => frame.escape_ascii().to_string(),
            Line::TooLong(long) => {
                format!("{} bytes, awaited by {:?}, answers {:?}", long.length, long.awaited.id(), long.answers)
            }
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
        check(8, b"12345678\n123456789\n1\n", &["12345678", r#"9 bytes, awaited by Some("null"), answers None"#, "1"]);
        let stream = br#"{"id": 7 ,"method":"x","params":{"id":8}}"#;
        check(8, stream, &[r#"41 bytes, awaited by Some("7"), answers None"#]);
        let stream = b"{\"result\":{\"text\":\"\\\"id\\\":1\"},\"id\":\"a\\\"b\"}\n{}\n";
        check(8, stream, &[r#"42 bytes, awaited by None, answers Some("\"a\\\"b\"")"#, "{}"]);
    }

    #[test]
    fn a_line_alone_is_handed_out_with_its_buffer() {
        let mut reader = FrameReader::new(9);
        let mut check = |stream: &[u8], expected: Option<&str>| {
            reader.add(stream);
            let found = reader.find().map(|found| match found {
                Found::Alone(buffer) => {
                    format!("alone: {}", mem::replace(buffer, b"another buffer".to_vec()).escape_ascii())
                }
                found => shown(&found.into()),
            });
            assert_eq!(found.as_deref(), expected, "{}", stream.escape_ascii());
        };
        check(b"{}\n", Some("alone: {}"));
        check(b"{", None);
        check(b" }\r\n", Some("alone: { }"));
        check(b" \r\n", None);
        check(b"1\n2\n3", Some("1"));
        check(b"", Some("2"));
        check(b"", None);
        check(b"4\n", Some("alone: 34"));
        check(b"\xef\xbb\xbf5\n", Some("5"));
        check(b"", None);
        check(b"123456789\n", Some("alone: 123456789"));
        check(b"1234567890\n", Some(r#"10 bytes, awaited by Some("null"), answers None"#));
        check(b"12", None);
        assert_eq!(reader.find_last(), Some(Found::Unended(b"12")));
    }

    #[test]
    fn a_huge_line_does_not_keep_its_memory() {
        let mut reader = FrameReader::new(KEPT * 4);
        for end in [&b"\n"[..], b"\n1"] {
            reader.add(&vec![b'x'; KEPT * 2]);
            assert_eq!(reader.next(), None);
            reader.add(end);
            assert!(matches!(reader.next(), Some(Line::Frame(line)) if line.len() == KEPT * 2));
            assert_eq!(reader.next(), None);
            assert!(reader.buffer.capacity() <= KEPT, "{}", reader.buffer.capacity());
        }
    }
}
