//! The client for tests that run a server in their own async runtime, over an in-memory pipe.

#![expect(clippy::panic, clippy::missing_panics_doc, reason = "a test that cannot go on has failed")]

use std::borrow::Borrow;
use std::collections::VecDeque;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf};
use tokio::time::timeout;

use super::answer::{ToolResult, said};
use super::talk::{Taken, Talk, answers};
use super::{PATIENCE, message};

/// A client in the same process as the server. It leaves all requests from the server to the test.
#[derive(Debug)]
pub struct DuplexClient {
    /// What the server sends.
    pub lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    /// What the client sends.
    pub write: WriteHalf<DuplexStream>,
    talk: Talk,
}

impl DuplexClient {
    /// A client at this end of a pipe. It has sent nothing yet.
    pub fn over(here: DuplexStream) -> DuplexClient {
        let (read, write) = tokio::io::split(here);
        DuplexClient { lines: BufReader::new(read).lines(), write, talk: Talk::default() }
    }

    /// Runs `serve` at the other end of a new pipe. Each direction buffers up to `room` bytes.
    pub fn connect<F>(room: usize, serve: impl FnOnce(DuplexStream) -> F) -> DuplexClient
    where
        F: Future<Output: Send> + Send + 'static,
    {
        let (here, there) = tokio::io::duplex(room);
        tokio::spawn(serve(there));
        DuplexClient::over(here)
    }

    /// Sends a line unchanged.
    pub async fn send_line(&mut self, line: &str) {
        if let Err(error) = self.write.write_all(format!("{line}\n").as_bytes()).await {
            panic!("{}", self.talk.failure(&format!("cannot send: {error}")));
        }
    }

    /// The next message; `None` at the end of the connection.
    pub async fn next(&mut self) -> Option<Value> {
        let failure = match timeout(PATIENCE, self.lines.next_line()).await {
            Ok(Ok(Some(line))) => match self.talk.take(&line) {
                Ok(Taken::Message(message)) => return Some(message),
                Ok(Taken::Question(_)) => unreachable!("no reply was set"),
                Err(error) => error,
            },
            Ok(Ok(None)) => return None,
            Ok(Err(error)) => error,
            Err(_) => self.talk.failure(&format!("received nothing for {PATIENCE:?}")),
        };
        panic!("{failure}");
    }

    speech!(awaited async);
}
