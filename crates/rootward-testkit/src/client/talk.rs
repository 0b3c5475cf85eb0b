//! The state of a client's conversation. It does no I/O, so that both clients can use it.

use std::collections::{BTreeMap, VecDeque};
use std::io;

use serde_json::Value;

use super::message;

/// How many of the last lines a failure shows, and how many characters of each.
const SHOWN: (usize, usize) = (8, 400);

/// The state of a conversation.
#[derive(Debug, Default)]
pub(super) struct Talk {
    last_id: u64,
    /// The replies to requests from the server, by method. `None`: such requests are never answered.
    replies: BTreeMap<String, Option<Value>>,
    pub(super) kept: VecDeque<Value>,
    recent: VecDeque<String>,
}

/// A line received, parsed.
pub(super) enum Taken {
    Message(Value),
    /// A request that the client answers by itself with this, or never answers.
    Question(Option<Value>),
}

impl Talk {
    /// A request with a new id.
    pub(super) fn request(&mut self, method: &str, params: Value) -> (u64, Value) {
        self.last_id += 1;
        (self.last_id, message::request(self.last_id, method, params))
    }

    pub(super) fn reply(&mut self, method: &str, reply: Option<Value>) {
        self.replies.insert(method.to_owned(), reply);
    }

    /// Parses a line received.
    pub(super) fn take(&mut self, line: &str) -> io::Result<Taken> {
        self.recent.push_back(line.chars().take(SHOWN.1).collect());
        if self.recent.len() > SHOWN.0 {
            self.recent.pop_front();
        }
        let message: Value = serde_json::from_str(line).map_err(|error| self.failure(&format!("not JSON: {error}")))?;
        let reply = message["method"].as_str().and_then(|method| self.replies.get(method));
        let Some(reply) = reply else { return Ok(Taken::Message(message)) };
        Ok(Taken::Question(reply.clone().map(|mut answer| {
            answer["jsonrpc"] = "2.0".into();
            answer["id"] = message["id"].clone();
            answer
        })))
    }

    /// Removes the first kept message that fits.
    pub(super) fn take_kept(&mut self, fits: impl Fn(&Value) -> bool) -> Option<Value> {
        let position = self.kept.iter().position(fits)?;
        self.kept.remove(position)
    }

    /// An error that shows the last lines received.
    pub(super) fn failure(&self, what: &str) -> io::Error {
        let lines = self.recent.iter().map(String::as_str).collect::<Vec<_>>().join("\n  ");
        io::Error::other(format!("{what}\nlast lines received:\n  {lines}"))
    }
}

/// Whether a message answers the request with this id.
pub(super) fn answers(message: &Value, id: &Value) -> bool {
    message.get("method").is_none() && message["id"] == *id
}
