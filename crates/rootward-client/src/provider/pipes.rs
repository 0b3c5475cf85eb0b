//! Keeps the cursor of a request: rmcp parses `roots/list` into a type that has no field for it.
//!
//! If a server's lines pass through here as bytes, the cursor is copied to `_meta`, which rmcp keeps.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use rootward_protocol::keep_cursor;
use tokio::io::{AsyncRead, ReadBuf};

/// No `roots/list` request is longer than this: longer lines pass unchanged.
const LONGEST_QUESTION: usize = 64 << 10;
const CHUNK: usize = 8 << 10;

/// The server's output, with cursors copied to where rmcp keeps them.
#[derive(Debug)]
pub(super) struct KeepCursors<R> {
    inner: R,
    /// The beginning of an incomplete line.
    line: Vec<u8>,
    /// Whether that beginning was already passed on, because the line is too long.
    passing: bool,
    /// What can be read, from `read` on.
    ready: Vec<u8>,
    read: usize,
}

impl<R> KeepCursors<R> {
    pub(super) fn new(inner: R) -> KeepCursors<R> {
        KeepCursors { inner, line: Vec::new(), passing: false, ready: Vec::new(), read: 0 }
    }

    /// The line with its cursor copied; `None` if there is nothing to do.
    fn kept(&self) -> Option<Vec<u8>> {
        if self.line.len() > LONGEST_QUESTION { None } else { keep_cursor(&self.line) }
    }

    /// Takes bytes, and makes complete lines readable.
    fn take(&mut self, bytes: &[u8]) {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            let ends = part.ends_with(b"\n");
            if self.passing {
                self.ready.extend_from_slice(part);
                self.passing = !ends;
                continue;
            }
            self.line.extend_from_slice(part);
            if ends {
                match self.kept() {
                    Some(kept) => self.ready.extend(kept.into_iter().chain(*b"\n")),
                    None => self.ready.extend_from_slice(&self.line),
                }
                self.line.clear();
            } else if self.line.len() > LONGEST_QUESTION {
                // SECURITY: a line that never ends must not use up all memory
                // (test: long_lines_pass_as_they_come)
                self.ready.append(&mut self.line);
                self.passing = true;
            }
        }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for KeepCursors<R> {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, out: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        while this.read == this.ready.len() {
            this.ready.clear();
            this.read = 0;
            let mut chunk = [0; CHUNK];
            let mut buffer = ReadBuf::new(&mut chunk);
            ready!(Pin::new(&mut this.inner).poll_read(context, &mut buffer))?;
            if buffer.filled().is_empty() {
                // The end of the stream. An incomplete line is not a request.
                this.ready.append(&mut this.line);
                if this.ready.is_empty() {
                    return Poll::Ready(Ok(()));
                }
            }
            this.take(buffer.filled());
        }
        let rest = &this.ready[this.read..];
        let count = rest.len().min(out.remaining());
        out.put_slice(&rest[..count]);
        this.read += count;
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use rootward_protocol::keys;
    use serde_json::{Value, json};
    use tokio::io::AsyncReadExt;

    use super::*;

    /// The output if the bytes arrive in pieces of this size.
    async fn read(bytes: &[u8], piece: usize) -> Vec<u8> {
        let (mut sending, receiving) = tokio::io::duplex(piece);
        let bytes = bytes.to_vec();
        let sent = tokio::spawn(async move { tokio::io::AsyncWriteExt::write_all(&mut sending, &bytes).await });
        let mut all = Vec::new();
        KeepCursors::new(receiving).read_to_end(&mut all).await.unwrap();
        sent.await.unwrap().unwrap();
        all
    }

    #[tokio::test]
    async fn only_questions_for_roots_are_touched() {
        let question = r#"{"jsonrpc":"2.0","id":7,"method":"roots/list","params":{"cursor":"c"}}"#;
        let others = [
            r#"{"id":7,"method":"roots/list"}"#,
            r#"{"id":7,"method":"roots/list","params":{}}"#,
            r#"{"id":7,"method":"roots/list","params":["cursor"]}"#,
            r#"{"id":7,"method":"tools/list","params":{"cursor":"c"}}"#,
            r#"{"id":7,"result":{"list":"roots/list","cursor":"c"}}"#,
            r#"["cursor","roots/list"]"#,
            "cursor list {",
            "",
        ];
        let text = format!("{}\n{question}\n{}", others.join("\n"), "no end");
        for piece in [1, 7, 100_000] {
            let all = String::from_utf8(read(text.as_bytes(), piece).await).unwrap();
            let lines: Vec<&str> = all.split('\n').collect();
            assert_eq!(&lines[..others.len()], &others[..]);
            let kept: Value = serde_json::from_str(lines[others.len()]).unwrap();
            assert_eq!(kept["params"], json!({"cursor": "c", "_meta": {keys::CURSOR: "c"}}));
            assert_eq!(lines[others.len() + 1..], ["no end"]);
        }
    }

    #[tokio::test]
    async fn long_lines_pass_as_they_come() {
        let long = format!(r#"{{"method":"roots/list","params":{{"cursor":"{}"}}}}"#, "x".repeat(3 * LONGEST_QUESTION));
        let text = format!("{long}\n{{}}\n");
        assert_eq!(read(text.as_bytes(), 1000).await, text.as_bytes());
        let mut keeping = KeepCursors::new(());
        for _ in 0..100 {
            keeping.take(&vec![b'x'; LONGEST_QUESTION]);
            assert!(keeping.line.len() <= LONGEST_QUESTION + CHUNK);
            keeping.ready.clear();
        }
    }
}
