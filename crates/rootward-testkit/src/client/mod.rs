//! The MCP client of the tests.
//!
//! It sends what a test tells it to send, in that order, and keeps messages that arrive while the test waits for another one. A
//! failure shows the last lines received.
//!
//! - [`Client`]: over any [`Line`], with more methods over a [`Process`]. Methods panic on failure, except those named `try_`.
//! - [`http::HttpLine`]: a line over HTTP. [`Listening`]: the server at its other end.
//! - `DuplexClient`: the same for servers in the test's own async runtime (feature `tokio`).
//! - [`message`]: the messages, as JSON. [`ToolResult`]: the result of a tool call.
//!
//! ```no_run
//! use std::process::Command;
//!
//! use rootward_testkit::client::Client;
//! use serde_json::json;
//!
//! let mut client = Client::start(&mut Command::new("server"));
//! client.shake_hands(json!({"roots": {"listChanged": true}}));
//! client.share(["file:///project"]);
//! assert_eq!(client.says("read_file", json!({"path": "notes.txt"})), "hello");
//! assert_eq!(client.end(), Some(0));
//! ```

#![expect(clippy::panic, clippy::missing_panics_doc, reason = "a test that cannot go on has failed")]

#[macro_use]
mod speech;

mod answer;
#[cfg(feature = "tokio")]
mod duplex;
pub mod http;
mod line;
mod listening;
pub mod message;
mod process;
mod talk;

pub use answer::{ToolResult, said};
#[cfg(feature = "tokio")]
pub use duplex::DuplexClient;
pub use line::{Line, Received};
pub use listening::Listening;
pub use process::Process;

use std::borrow::Borrow;
use std::collections::VecDeque;
use std::fmt::Display;
use std::io::{self, Read};
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use talk::{Taken, Talk, answers};

/// How long a client waits for an expected message. No test measures time with it.
pub const PATIENCE: Duration = Duration::from_mins(1);

/// An MCP client.
#[derive(Debug)]
pub struct Client<L = Process> {
    /// The connection.
    pub line: L,
    /// Every line received, if the test set this.
    pub heard: Option<Vec<String>>,
    talk: Talk,
    patience: Duration,
    closed: bool,
}

impl<L: Line> Client<L> {
    /// A client that has sent nothing yet. It leaves all requests from the server to the test.
    pub fn over(line: L) -> Client<L> {
        Client { line, heard: None, talk: Talk::default(), patience: PATIENCE, closed: false }
    }

    /// Sets how long to wait for an expected message.
    #[must_use]
    pub fn with_patience(mut self, patience: Duration) -> Client<L> {
        self.patience = patience;
        self
    }

    /// Answers requests of this method from now on, with this `result` or `error` object. With `None`, never answers them.
    pub fn reply(&mut self, method: &str, reply: Option<Value>) {
        self.talk.reply(method, reply);
    }

    /// Answers `roots/list` with these roots from now on, without announcing a change.
    pub fn name_roots(&mut self, uris: impl IntoIterator<Item = impl Display>) {
        self.reply("roots/list", Some(json!({"result": message::roots(uris)})));
    }

    /// Changes the roots and sends `list_changed`.
    pub fn share(&mut self, uris: impl IntoIterator<Item = impl Display>) {
        self.name_roots(uris);
        self.list_changed();
    }

    /// Sends a line unchanged.
    pub fn try_send_line(&mut self, line: &str) -> io::Result<()> {
        self.line.send(line).map_err(|error| self.failure(&format!("cannot send: {error}")))
    }

    /// Sends a line unchanged.
    pub fn send_line(&mut self, line: &str) {
        sure(self.try_send_line(line));
    }

    /// The next message; `None` at the end of the connection. Answers requests as set with [`Client::reply`].
    pub fn try_next(&mut self) -> io::Result<Option<Value>> {
        loop {
            let line = match self.line.receive(self.patience)? {
                Received::Frame(line) => line,
                Received::End => return Ok(None),
                Received::Silence => return Err(self.failure(&format!("received nothing for {:?}", self.patience))),
            };
            self.heard.iter_mut().for_each(|heard| heard.push(line.clone()));
            match self.talk.take(&line)? {
                Taken::Message(message) => return Ok(Some(message)),
                // A client that has closed its side cannot answer.
                Taken::Question(Some(answer)) if !self.closed => self.try_send_line(&answer.to_string())?,
                Taken::Question(_) => {}
            }
        }
    }

    /// The next message; `None` at the end of the connection. Answers requests as set with [`Client::reply`].
    #[expect(clippy::should_implement_trait, reason = "a client waits, it does not iterate")]
    pub fn next(&mut self) -> Option<Value> {
        sure(self.try_next())
    }

    /// Sends a request and waits for the response, which may be an error.
    pub fn try_ask(&mut self, method: &str, params: Value) -> io::Result<Value> {
        let (id, request) = self.talk.request(method, params);
        self.try_send_line(&request.to_string())?;
        while let Some(message) = self.try_next()? {
            if answers(&message, &id.into()) {
                return Ok(message);
            }
            self.talk.kept.push_back(message);
        }
        Err(self.failure(&format!("no response to `{method}`")))
    }

    speech!(at_once);

    /// Closes the sending side. Messages from the server can still be received.
    pub fn close(&mut self) {
        self.closed = true;
        sure(self.line.close());
    }

    /// An error that shows the last lines received and the server's standard error.
    pub fn failure(&mut self, what: &str) -> io::Error {
        io::Error::other(format!("{}\n{}", self.talk.failure(what), self.line.complaint()))
    }
}

impl Client<Process> {
    /// Starts a program. The client has sent nothing yet.
    pub fn start(command: &mut Command) -> Client {
        Client::over(sure(Process::start(command)))
    }

    /// Starts a program whose output is read only when the test waits for a message. That wait has no timeout.
    pub fn start_unread(command: &mut Command) -> Client {
        Client::over(sure(Process::start_unread(command)))
    }

    /// Sends the program a signal, such as `TERM`.
    pub fn signal(&self, signal: &str) {
        let status = Command::new("kill").args([format!("-{signal}"), self.line.child.id().to_string()]).status();
        assert!(sure(status).success());
    }

    /// Closes the sending side, waits for the program to exit and returns its exit code.
    pub fn end(self) -> Option<i32> {
        self.end_with_rest().1
    }

    /// Like [`Client::end`], and also returns the messages that the test did not take.
    pub fn end_with_rest(mut self) -> (VecDeque<Value>, Option<i32>) {
        self.close();
        while let Some(message) = self.next() {
            self.talk.kept.push_back(message);
        }
        let code = sure(self.line.child.wait()).code();
        (self.talk.kept, code)
    }

    /// Like [`Client::end`], and also returns the program's standard error, which must be a pipe.
    pub fn end_with_errors(mut self) -> (Option<i32>, String) {
        self.close();
        let mut errors = Vec::new();
        let read = self.line.child.stderr.take().map(|mut pipe| pipe.read_to_end(&mut errors));
        sure(read.unwrap_or_else(|| Err(io::Error::other("standard error is not a pipe"))));
        (sure(self.line.child.wait()).code(), String::from_utf8_lossy(&errors).into_owned())
    }
}

fn sure<T>(outcome: io::Result<T>) -> T {
    outcome.unwrap_or_else(|error| panic!("{error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A program that reads a line, prints `lines`, and then echoes its input.
    fn client(lines: &str) -> Client {
        Client::start(Command::new("sh").args(["-c", "read line; printf '%s\n' $0; exec cat", lines]))
    }

    #[test]
    fn a_call_answers_requests_and_keeps_other_messages() {
        let lines =
            r#"{"method":"x"} {"id":"q","method":"roots/list"} {"id":"q","method":"never"} {"id":1,"result":{}}"#;
        let mut client = client(lines);
        client.name_roots(["file:///a"]);
        client.reply("never", None);
        assert_eq!(client.ask("ping", Value::Null), json!({"id": 1, "result": {}}));
        assert_eq!(client.answer_to("q")["result"], json!({"roots": [{"uri": "file:///a"}]}));
        client.send(json!({"id": "q", "method": "roots/list"}));
        // The program echoes the request, but the client has closed its side and cannot answer.
        assert_eq!(client.end_with_rest(), (VecDeque::from([json!({"method": "x"})]), Some(0)));
    }

    #[test]
    fn a_failure_shows_the_last_lines() {
        let failure =
            |lines: &str| client(lines).with_patience(Duration::from_millis(200)).try_ask("ping", Value::Null);
        let shown = |lines: &str| failure(lines).unwrap_err().to_string();
        assert_eq!(shown("[] {}"), "received nothing for 200ms\nlast lines received:\n  []\n  {}\n");
        assert!(shown("[] {").starts_with("not JSON: ") && shown("[] {").ends_with(":\n  []\n  {"));
    }

    #[test]
    fn unread_output_stays_in_the_pipe() {
        let mut client = Client::start_unread(Command::new("sh").args(["-c", "echo {}; cat"]));
        assert_eq!(client.next(), Some(json!({})));
        client.line.hang_up();
        assert_eq!((client.next(), client.end()), (None, Some(0)));
    }
}
