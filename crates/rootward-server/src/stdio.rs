//! Standard input and output of a server that may be told its roots in pages.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use rmcp::transport::io::{StdioReader, StdioWriter, stdio_pipes};
use tokio::io::{AsyncRead, ReadBuf};

use crate::keep_cursor::keep_cursor;

/// The longest line that is looked at; longer ones pass unread.
const LONGEST_LINE: usize = 4 << 20;
const CHUNK: usize = 8 << 10;

/// The transport of a server on standard input and output: rmcp's, and cursors of `roots/list` survive it. Needs a tokio
/// runtime with I/O.
pub fn stdio() -> (KeepCursors<StdioReader>, StdioWriter) {
    let (read, write) = stdio_pipes();
    (KeepCursors::new(read), write)
}

/// A stream of lines in which cursors of `roots/list` are kept.
#[derive(Debug)]
pub struct KeepCursors<R> {
    inner: R,
    /// The line that is being read.
    line: Vec<u8>,
    /// What is ready to be taken, and how much of it was.
    ready: Vec<u8>,
    taken: usize,
    /// The rest of a line that is too long to be looked at.
    passing: bool,
    ended: bool,
}

impl<R> KeepCursors<R> {
    /// Keeps the cursors in what `inner` yields.
    pub fn new(inner: R) -> KeepCursors<R> {
        KeepCursors { inner, line: Vec::new(), ready: Vec::new(), taken: 0, passing: false, ended: false }
    }

    /// Sorts bytes that came in: whole lines become ready, the rest waits for its end.
    fn take(&mut self, mut bytes: &[u8]) {
        while let Some(end) = memchr::memchr(b'\n', bytes) {
            let (line, rest) = bytes.split_at(end + 1);
            bytes = rest;
            self.line.extend_from_slice(line);
            self.line_ends();
        }
        self.line.extend_from_slice(bytes);
        if self.line.len() > LONGEST_LINE {
            self.passing = true;
        }
        if self.passing {
            self.ready.append(&mut self.line);
        }
    }

    fn line_ends(&mut self) {
        let kept = if self.passing { None } else { keep_cursor(&self.line) };
        match kept {
            Some(kept) => {
                self.ready.extend_from_slice(&kept);
                self.ready.push(b'\n');
                self.line.clear();
            }
            None => self.ready.append(&mut self.line),
        }
        self.passing = false;
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for KeepCursors<R> {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        while this.taken == this.ready.len() && !this.ended {
            (this.taken, this.ready) = (0, std::mem::take(&mut this.ready));
            this.ready.clear();
            let mut chunk = [0; CHUNK];
            let mut chunk = ReadBuf::new(&mut chunk);
            ready!(Pin::new(&mut this.inner).poll_read(context, &mut chunk))?;
            if chunk.filled().is_empty() {
                // A last line without an end.
                this.ended = true;
                this.ready.append(&mut this.line);
            } else {
                this.take(chunk.filled());
            }
        }
        let fresh = &this.ready[this.taken..];
        let length = fresh.len().min(into.remaining());
        into.put_slice(&fresh[..length]);
        this.taken += length;
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt;

    use super::*;

    async fn read(bytes: &[u8]) -> Vec<u8> {
        let mut seen = Vec::new();
        KeepCursors::new(bytes).read_to_end(&mut seen).await.unwrap();
        seen
    }

    #[tokio::test]
    async fn everything_else_passes_as_it_came() {
        for text in ["", "\n", "a", "a\nb", "a\r\n\n{}\n", "{\"nextCursor\": 1}\n", "no end nextCursor"] {
            assert_eq!(read(text.as_bytes()).await, text.as_bytes());
        }
        let long = [b"x".repeat(3 * CHUNK + 1), b"\n".to_vec(), b"y".repeat(LONGEST_LINE + 3 * CHUNK), b"\nz".to_vec()];
        assert!(read(&long.concat()).await == long.concat());
    }

    #[tokio::test]
    async fn cursors_are_kept() {
        let list = br#"{"id":1,"result":{"nextCursor":"c","roots":[]}}"#;
        let text = [&list[..], b"\nother\n", &b" ".repeat(CHUNK), list, b"\n"].concat();
        let seen = String::from_utf8(read(&text).await).unwrap();
        assert_eq!(seen.matches("rootward.dev/nextCursor").count(), 2);
        assert_eq!(seen.lines().nth(1), Some("other"));
    }
}
