//! The MCP client of the tests.
//!
//! It says what a test tells it to, in that order, and keeps what comes while the test waits for something else. A failure shows
//! the last lines that came.
//!
//! - [`Client`]: over any [`Line`], and with more to it over a [`Process`]. Methods panic; those whose names begin with `try_` do not.
//! - [`http::HttpLine`]: a line over HTTP; [`Listening`]: the server at its other end.
//! - `DuplexClient`: the same for servers in the test's own async runtime (feature `tokio`).
//! - [`message`]: the messages, as JSON. [`ToolResult`]: what a tool answered.
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

/// How long a client waits for what must come. Nothing is measured by it.
pub const PATIENCE: Duration = Duration::from_mins(1);

/// A client.
#[derive(Debug)]
pub struct Client<L = Process> {
    /// The connection.
    pub line: L,
    /// Every line that came, where the test wants them.
    pub heard: Option<Vec<String>>,
    talk: Talk,
    patience: Duration,
    closed: bool,
}

impl<L: Line> Client<L> {
    /// A client that has said nothing yet, and leaves all questions to the test.
    pub fn over(line: L) -> Client<L> {
        Client { line, heard: None, talk: Talk::default(), patience: PATIENCE, closed: false }
    }

    /// Waits this long for what must come.
    #[must_use]
    pub fn with_patience(mut self, patience: Duration) -> Client<L> {
        self.patience = patience;
        self
    }

    /// From now on answers questions of this method, with a `result` or an `error`, or never.
    pub fn reply(&mut self, method: &str, reply: Option<Value>) {
        self.talk.reply(method, reply);
    }

    /// From now on names these roots when asked, and does not announce that.
    pub fn name_roots(&mut self, uris: impl IntoIterator<Item = impl Display>) {
        self.reply("roots/list", Some(json!({"result": message::roots(uris)})));
    }

    /// Names other roots, and announces that.
    pub fn share(&mut self, uris: impl IntoIterator<Item = impl Display>) {
        self.name_roots(uris);
        self.list_changed();
    }

    /// Sends a line as it is.
    pub fn try_send_line(&mut self, line: &str) -> io::Result<()> {
        self.line.send(line).map_err(|error| self.failure(&format!("cannot send: {error}")))
    }

    /// Sends a line as it is.
    pub fn send_line(&mut self, line: &str) {
        sure(self.try_send_line(line));
    }

    /// The next message; `None` at the end. Questions are answered as [`Client::reply`] says.
    pub fn try_next(&mut self) -> io::Result<Option<Value>> {
        loop {
            let line = match self.line.receive(self.patience)? {
                Received::Frame(line) => line,
                Received::End => return Ok(None),
                Received::Silence => return Err(self.failure(&format!("nothing came for {:?}", self.patience))),
            };
            self.heard.iter_mut().for_each(|heard| heard.push(line.clone()));
            match self.talk.take(&line)? {
                Taken::Message(message) => return Ok(Some(message)),
                // A client that has closed its end cannot answer.
                Taken::Question(Some(answer)) if !self.closed => self.try_send_line(&answer.to_string())?,
                Taken::Question(_) => {}
            }
        }
    }

    /// The next message; `None` at the end. Questions are answered as [`Client::reply`] says.
    #[expect(clippy::should_implement_trait, reason = "a client waits, it does not iterate")]
    pub fn next(&mut self) -> Option<Value> {
        sure(self.try_next())
    }

    /// Sends a request and waits for the answer, which may be an error.
    pub fn try_ask(&mut self, method: &str, params: Value) -> io::Result<Value> {
        let (id, request) = self.talk.request(method, params);
        self.try_send_line(&request.to_string())?;
        while let Some(message) = self.try_next()? {
            if answers(&message, &id.into()) {
                return Ok(message);
            }
            self.talk.kept.push_back(message);
        }
        Err(self.failure(&format!("`{method}` was not answered")))
    }

    speech!(at_once);

    /// Closes its end; what comes afterwards can still be received.
    pub fn close(&mut self) {
        self.closed = true;
        sure(self.line.close());
    }

    /// An error that shows what came, and what the other side complains of.
    pub fn failure(&mut self, what: &str) -> io::Error {
        io::Error::other(format!("{}\n{}", self.talk.failure(what), self.line.complaint()))
    }
}

impl Client<Process> {
    /// Starts a program; nothing is said yet.
    pub fn start(command: &mut Command) -> Client {
        Client::over(sure(Process::start(command)))
    }

    /// Starts a program whose output is read only when the test waits for a message, and then without a limit.
    pub fn start_unread(command: &mut Command) -> Client {
        Client::over(sure(Process::start_unread(command)))
    }

    /// Sends the program a signal, such as `TERM`.
    pub fn signal(&self, signal: &str) {
        let status = Command::new("kill").args([format!("-{signal}"), self.line.child.id().to_string()]).status();
        assert!(sure(status).success());
    }

    /// Closes its end and waits for the end of the program; the exit code.
    pub fn end(self) -> Option<i32> {
        self.end_with_rest().1
    }

    /// The same, with the messages that the test did not take.
    pub fn end_with_rest(mut self) -> (VecDeque<Value>, Option<i32>) {
        self.close();
        while let Some(message) = self.next() {
            self.talk.kept.push_back(message);
        }
        let code = sure(self.line.child.wait()).code();
        (self.talk.kept, code)
    }

    /// Closes its end and waits for the end of the program; the exit code, and its standard error, which must be a pipe.
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

    /// A program that reads a line, says these, and then repeats what it hears.
    fn client(lines: &str) -> Client {
        Client::start(Command::new("sh").args(["-c", "read line; printf '%s\n' $0; exec cat", lines]))
    }

    #[test]
    fn a_call_answers_questions_and_keeps_the_rest() {
        let lines =
            r#"{"method":"x"} {"id":"q","method":"roots/list"} {"id":"q","method":"never"} {"id":1,"result":{}}"#;
        let mut client = client(lines);
        client.name_roots(["file:///a"]);
        client.reply("never", None);
        assert_eq!(client.ask("ping", Value::Null), json!({"id": 1, "result": {}}));
        assert_eq!(client.answer_to("q")["result"], json!({"roots": [{"uri": "file:///a"}]}));
        client.send(json!({"id": "q", "method": "roots/list"}));
        // It comes back, and a client that has closed its end cannot answer.
        assert_eq!(client.end_with_rest(), (VecDeque::from([json!({"method": "x"})]), Some(0)));
    }

    #[test]
    fn a_failure_shows_what_came() {
        let failure =
            |lines: &str| client(lines).with_patience(Duration::from_millis(200)).try_ask("ping", Value::Null);
        let shown = |lines: &str| failure(lines).unwrap_err().to_string();
        assert_eq!(shown("[] {}"), "nothing came for 200ms\nthe last lines that came:\n  []\n  {}\n");
        assert!(shown("[] {").starts_with("not JSON: ") && shown("[] {").ends_with(":\n  []\n  {"));
    }

    #[test]
    fn what_nobody_reads_waits() {
        let mut client = Client::start_unread(Command::new("sh").args(["-c", "echo {}; cat"]));
        assert_eq!(client.next(), Some(json!({})));
        client.line.hang_up();
        assert_eq!((client.next(), client.end()), (None, Some(0)));
    }
}
