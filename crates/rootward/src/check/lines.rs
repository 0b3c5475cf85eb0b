//! Lines of a stream, one at a time, with a length limit.

use std::io::{self, BufRead, Read};

/// The longest line to read: far more than a path and its roots need, and small enough to hold in memory.
pub(super) const LONGEST_LINE: usize = 1 << 20;

/// A line, or what happened to it.
#[derive(PartialEq, Eq, Debug)]
pub(super) enum Line<'l> {
    /// Without its line ending.
    Whole(&'l [u8]),
    /// Longer than the limit: skipped to its end and dropped.
    TooLong,
}

/// Reads lines into one buffer.
#[derive(Debug, Default)]
pub(super) struct Lines {
    buffer: Vec<u8>,
}

impl Lines {
    /// The next line; `None` at the end of the stream.
    pub(super) fn next<'l>(&'l mut self, input: &mut impl BufRead) -> io::Result<Option<Line<'l>>> {
        self.buffer.clear();
        let limit = LONGEST_LINE as u64 + 1;
        if input.by_ref().take(limit).read_until(b'\n', &mut self.buffer)? == 0 {
            return Ok(None);
        }
        if self.buffer.ends_with(b"\n") {
            self.buffer.pop();
        } else if self.buffer.len() > LONGEST_LINE {
            // Free the buffer: its content is useless, and the caller may never send such a line again.
            self.buffer = Vec::new();
            input.skip_until(b'\n')?;
            return Ok(Some(Line::TooLong));
        }
        Ok(Some(Line::Whole(&self.buffer)))
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    #[test]
    fn lines_of_every_length() {
        let longest = "x".repeat(LONGEST_LINE);
        let check = |text: &str, expect: &[Line<'_>]| {
            // A small buffer, so that lines cross its boundaries.
            let mut input = BufReader::with_capacity(7, text.as_bytes());
            let mut lines = Lines::default();
            for line in expect {
                assert_eq!(lines.next(&mut input).unwrap().as_ref(), Some(line));
            }
            assert_eq!(lines.next(&mut input).unwrap(), None);
        };
        check("", &[]);
        check("a", &[Line::Whole(b"a")]);
        check("a\n", &[Line::Whole(b"a")]);
        check("a\n\nbcdefghij\n", &[Line::Whole(b"a"), Line::Whole(b""), Line::Whole(b"bcdefghij")]);
        check(&longest, &[Line::Whole(longest.as_bytes())]);
        check(&format!("{longest}\nb"), &[Line::Whole(longest.as_bytes()), Line::Whole(b"b")]);
        check(&format!("{longest}x\nb\n"), &[Line::TooLong, Line::Whole(b"b")]);
        check(&format!("{longest}{longest}{longest}"), &[Line::TooLong]);
    }
}
