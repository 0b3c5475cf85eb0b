//! The client of tests that run a server in their own async runtime, over a pipe in memory.

#![expect(clippy::panic, clippy::missing_panics_doc, reason = "a test that cannot go on has failed")]

use std::borrow::Borrow;
use std::collections::VecDeque;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf};
use tokio::time::timeout;

use super::answer::{ToolResult, said};
use super::talk::{Taken, Talk, answers};
use super::{PATIENCE, message};

/// A client in the same process as the server. It leaves all questions to the test.
#[derive(Debug)]
pub struct DuplexClient {
    /// What the other side says.
    pub lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    /// What this side says.
    pub write: WriteHalf<DuplexStream>,
    talk: Talk,
}

impl DuplexClient {
    /// A client at this end of a pipe. It has said nothing yet.
    pub fn over(here: DuplexStream) -> DuplexClient {
        let (read, write) = tokio::io::split(here);
        DuplexClient { lines: BufReader::new(read).lines(), write, talk: Talk::default() }
    }

    /// A client of what `serve` does with the other end, with room for this many bytes on their way in each direction.
    pub fn connect<F>(room: usize, serve: impl FnOnce(DuplexStream) -> F) -> DuplexClient
    where
        F: Future<Output: Send> + Send + 'static,
    {
        let (here, there) = tokio::io::duplex(room);
        tokio::spawn(serve(there));
        DuplexClient::over(here)
    }

    /// Sends a line as it is.
    pub async fn send_line(&mut self, line: &str) {
        if let Err(error) = self.write.write_all(format!("{line}\n").as_bytes()).await {
            panic!("{}", self.talk.failure(&format!("cannot send: {error}")));
        }
    }

    /// The next message; `None` at the end.
    pub async fn next(&mut self) -> Option<Value> {
        let failure = match timeout(PATIENCE, self.lines.next_line()).await {
            Ok(Ok(Some(line))) => match self.talk.take(&line) {
                Ok(Taken::Message(message)) => return Some(message),
                Ok(Taken::Question(_)) => unreachable!("no answer was set"),
                Err(error) => error,
            },
            Ok(Ok(None)) => return None,
            Ok(Err(error)) => error,
            Err(_) => self.talk.failure(&format!("nothing came for {PATIENCE:?}")),
        };
        panic!("{failure}");
    }

    speech!(awaited async);
}
