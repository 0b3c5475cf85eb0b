//! The state between two rounds of a modern call. The client only carries a name for it.

use std::collections::VecDeque;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::Duration;

use rootward_protocol::round::{Said, call_identity};
use rootward_protocol::session::Given;
use serde_json::Value;
use serde_json::value::RawValue;

/// How many rounds may be open; the oldest are dropped.
const MOST: usize = 1024;
/// The prefix of every name, in other processes as well.
const NAME: &str = "rootward-";
/// Maximum total size in bytes.
const MOST_BYTES: usize = 16 << 20;
/// How long a client may take to send a call again; the same as in the library.
pub(crate) const LIFETIME: Duration = Duration::from_mins(10);

/// State that is kept between two rounds of a call.
pub(crate) trait Kept: Clone {
    /// Approximate size in bytes.
    fn bytes(&self) -> usize;
}

/// Identifies the call that a round belongs to. Calls with the same method and params are the same call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct CallIdentity(u64);

/// A call between two rounds.
#[derive(Clone, Debug, Default)]
pub(super) struct Round {
    /// The server's own state, as JSON.
    pub(super) state: Option<Box<str>>,
    /// Answers to the server's own questions: the client sends only the latest ones.
    pub(super) responses: Vec<(String, Box<str>)>,
    /// The keys of the server's requests for roots, which Rootward answers.
    pub(super) roots: Vec<String>,
    /// What the client has said about its roots.
    pub(super) said: Said,
}

/// A request as the child got it.
#[derive(Clone, Debug)]
pub(super) struct Sent {
    /// The whole message.
    pub(super) text: Box<str>,
    /// What the client has said about its roots.
    pub(super) said: Said,
    /// Whether the call's roots are known. If not, the client is asked when the child wants them.
    pub(super) known: bool,
    /// The root sources when the call was checked.
    pub(super) given: Arc<Given>,
    /// How often the child has asked for roots.
    pub(super) asked: u8,
}

/// The open rounds.
#[derive(Debug)]
pub(crate) struct Rounds<R> {
    /// The prefix of names in this process. It is unguessable, so that no server can make up the name of another's
    /// round.
    prefix: String,
    open: VecDeque<Open<R>>,
    last: u64,
    /// The client's latest metadata, for Rootward's own requests.
    meta: Option<Box<str>>,
    hasher: RandomState,
}

/// An open round.
#[derive(Debug)]
struct Open<R> {
    name: String,
    /// The call that it belongs to.
    call: CallIdentity,
    round: R,
    bytes: usize,
    /// When it was stored.
    at: Duration,
}

impl<R> Default for Rounds<R> {
    fn default() -> Rounds<R> {
        // Its keys come from the system's random source.
        let hasher = RandomState::new();
        let prefix = format!("{NAME}{:016x}-", hasher.hash_one(0));
        Rounds { prefix, open: VecDeque::new(), last: 0, meta: None, hasher }
    }
}

impl Kept for Round {
    fn bytes(&self) -> usize {
        let responses = self.responses.iter().map(|(key, value)| key.len() + value.len());
        let roots = self.roots.iter().map(String::len).sum::<usize>() + self.said.bytes();
        self.state.as_ref().map_or(0, |state| state.len()) + responses.sum::<usize>() + roots
    }
}

impl<R: Kept> Rounds<R> {
    /// Stores a round of a call. Returns the name that the client carries, as JSON.
    pub(crate) fn keep(&mut self, at: Duration, call: CallIdentity, round: R) -> String {
        self.last += 1;
        let name = format!("{}{}", self.prefix, self.last);
        let held = |open: &VecDeque<Open<R>>| open.iter().map(|open| open.bytes).sum::<usize>();
        while self.open.len() == MOST || (!self.open.is_empty() && held(&self.open) > MOST_BYTES) {
            self.open.pop_front();
        }
        let state = format!("\"{name}\"");
        let bytes = round.bytes();
        self.open.push_back(Open { name, call, round, bytes, at });
        state
    }

    /// The round with this name; `None` if it is unknown, belongs to another call, is too old, or was dropped.
    pub(crate) fn find(&self, now: Duration, name: &str, call: CallIdentity) -> Option<R> {
        let found = self.open.iter().find(|open| open.name == name)?;
        // SECURITY: an answer is valid only for its own call, and only for a limited time
        // (test: a_state_belongs_to_its_call)
        let is_its = found.call == call && now <= found.at + LIFETIME;
        is_its.then(|| found.round.clone())
    }

    /// Identifies a call.
    pub(crate) fn identity(&self, method: &str, params: &RawValue) -> CallIdentity {
        let params: Value = serde_json::from_str(params.get()).unwrap_or_default();
        CallIdentity(self.hasher.hash_one(call_identity(method, params).to_string()))
    }

    /// Whether a name was created by this module.
    pub(crate) fn is_own(name: &str) -> bool {
        name.starts_with(NAME)
    }

    pub(super) fn note_meta(&mut self, meta: &RawValue) {
        if self.meta.as_deref() != Some(meta.get()) {
            self.meta = Some(meta.get().into());
        }
    }

    pub(super) fn meta(&self) -> Option<&str> {
        self.meta.as_deref()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use serde_json::value::to_raw_value;

    use super::*;

    #[test]
    fn a_state_belongs_to_its_call() {
        let mut rounds = Rounds::<Round>::default();
        let params = |path: &str| to_raw_value(&json!({"name": "read", "arguments": {"path": path}})).unwrap();
        let then = Duration::from_secs(7);
        let call = rounds.identity("tools/call", &params("a"));
        let state = rounds.keep(then, call, Round::default());
        let name: String = serde_json::from_str(&state).unwrap();
        let find = |now: Duration, name: &str, method: &str, path: &str| {
            rounds.find(now, name, rounds.identity(method, &params(path))).is_some()
        };
        assert!(Rounds::<Round>::is_own(&name) && find(then + LIFETIME, &name, "tools/call", "a"));
        assert!(!find(then + LIFETIME + Duration::from_millis(1), &name, "tools/call", "a"));
        assert!(!find(then, &name, "tools/call", "b") && !find(then, &name, "prompts/get", "a"));
        assert!(!find(then, "rootward-x", "tools/call", "a"));
    }
}
