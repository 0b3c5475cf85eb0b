//! A model that follows a script, in the place of the one that a host would reach over the network.
//!
//! It makes its calls in order, one a turn, and keeps what the host sends back for each. It remembers nothing else between turns: a
//! host sends the whole conversation every time.

mod anthropic;
mod chat;
mod dialect;
mod gemini;
mod http;
mod responses;
mod said;

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::{Context, Result};
use serde_json::Value;

use dialect::{Dialect, Reply, Turn};
pub(super) use said::words;

/// A call that the model makes.
#[derive(Clone, Debug)]
pub(super) struct Call {
    /// What the host calls the server.
    pub(super) server: &'static str,
    pub(super) tool: &'static str,
    pub(super) arguments: Value,
}

/// What became of a call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Outcome {
    /// The host sent this back to the model.
    Sent(String),
    /// The host did not offer the tool, but so many others.
    NotOffered(usize),
    /// The conversation ended before.
    NotReached,
}

/// The model, which listens until the program ends.
#[derive(Debug)]
pub(super) struct Model {
    /// Where it listens.
    pub(super) address: String,
    script: Arc<Mutex<Script>>,
}

/// The calls, and what is known of them.
#[derive(Debug, Default)]
struct Script {
    calls: Vec<Call>,
    outcomes: Vec<Outcome>,
}

impl Model {
    /// Starts to listen on loopback.
    pub(super) fn start() -> Result<Model> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).context("the model cannot listen on loopback")?;
        let address = format!("http://{}", listener.local_addr()?);
        let script = Arc::new(Mutex::new(Script::default()));
        let followed = Arc::clone(&script);
        http::serve(listener, move |request| {
            let mut script = locked(&followed);
            dialect::answer(request, |dialect, turn| script.reply(dialect, turn))
        });
        Ok(Model { address, script })
    }

    /// Has it make these calls in the next conversation.
    pub(super) fn will_call(&self, calls: Vec<Call>) {
        let outcomes = vec![Outcome::NotReached; calls.len()];
        *locked(&self.script) = Script { calls, outcomes };
    }

    /// What became of the calls, in their order.
    pub(super) fn outcomes(&self) -> Vec<Outcome> {
        locked(&self.script).outcomes.clone()
    }
}

/// A thread that panicked leaves the script as it was.
fn locked(script: &Mutex<Script>) -> MutexGuard<'_, Script> {
    script.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The id of a call's turn, from which its result is known again.
fn id(kind: &str, position: usize) -> String {
    format!("{kind}_{position}")
}

impl Script {
    fn reply(&mut self, dialect: Dialect, turn: &Turn) -> Reply {
        // Hosts also ask for titles and summaries, and offer no tools then.
        if turn.tools.is_empty() {
            return Reply::Done;
        }
        let results: BTreeMap<&str, &str> =
            turn.results.iter().map(|(id, text)| (id.as_str(), text.as_str())).collect();
        for (position, call) in self.calls.iter().enumerate() {
            if let Some(text) = results.get(id("call", position).as_str()) {
                self.outcomes[position] = Outcome::Sent((*text).to_owned());
                continue;
            }
            if let Some(tool) = turn.tools.iter().find(|tool| tool.is(call.server, call.tool)) {
                return Reply::Call { id: id("call", position), tool: tool.clone(), arguments: call.arguments.clone() };
            }
            let search = id("search", position);
            if !results.contains_key(search.as_str())
                && let Some((tool, arguments)) = dialect.search(turn, call)
            {
                return Reply::Call { id: search, tool, arguments };
            }
            self.outcomes[position] = Outcome::NotOffered(turn.tools.len());
        }
        Reply::Done
    }
}
