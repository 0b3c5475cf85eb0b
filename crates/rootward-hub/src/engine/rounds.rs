//! What is kept between two rounds of a modern call: the client carries a name for it, and nothing else.

use std::collections::VecDeque;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::Duration;

use rootward_protocol::round::{Said, call_identity};
use rootward_protocol::session::Given;
use serde_json::Value;
use serde_json::value::RawValue;

/// How many rounds may be open; the oldest are forgotten.
const MOST: usize = 1024;
/// What every name begins with, of other processes too.
const NAME: &str = "rootward-";
/// How many bytes they may hold.
const MOST_BYTES: usize = 16 << 20;
/// How long a client may take to send a call again: as long as with the library.
pub(crate) const LIFETIME: Duration = Duration::from_mins(10);

/// What is kept of a call between two rounds.
pub(crate) trait Kept: Clone {
    /// How many bytes it takes, counted roughly.
    fn bytes(&self) -> usize;
}

/// Which call a round is of: two calls with the same method and params are the same.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct CallIdentity(u64);

/// A call between two rounds.
#[derive(Clone, Debug, Default)]
pub(super) struct Round {
    /// The server's own state, as JSON.
    pub(super) state: Option<Box<str>>,
    /// Answers to the server's own questions: the client sends only its last ones.
    pub(super) responses: Vec<(String, Box<str>)>,
    /// The server's questions for roots, which are Rootward's to answer.
    pub(super) roots: Vec<String>,
    /// What the client has said of its roots.
    pub(super) said: Said,
}

/// A request as the child got it.
#[derive(Clone, Debug)]
pub(super) struct Sent {
    /// The whole message.
    pub(super) text: Box<str>,
    /// What the client has said of its roots.
    pub(super) said: Said,
    /// Whether the roots of the call are known: otherwise the client is asked where the child wants them.
    pub(super) known: bool,
    /// What the operator and the user gave when the call was decided.
    pub(super) given: Arc<Given>,
    /// How often the child has asked for roots.
    pub(super) asked: u8,
}

/// The rounds that are open.
#[derive(Debug)]
pub(crate) struct Rounds<R> {
    /// What names begin with: nobody can guess it, so that no server makes up the name of another's round.
    prefix: String,
    open: VecDeque<Open<R>>,
    last: u64,
    /// What the client last said of itself, for questions of Rootward's own.
    meta: Option<Box<str>>,
    hasher: RandomState,
}

/// A round that is open.
#[derive(Debug)]
struct Open<R> {
    name: String,
    /// Which call it is of.
    call: CallIdentity,
    round: R,
    bytes: usize,
    /// When it was kept.
    at: Duration,
}

impl<R> Default for Rounds<R> {
    fn default() -> Rounds<R> {
        // It has keys of its own, from the system's randomness.
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
    /// Keeps a round of a call; the name that the client carries, as JSON.
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

    /// The round of this name: `None` where it is not one of these, belongs to another call, is too old, or was forgotten.
    pub(crate) fn find(&self, now: Duration, name: &str, call: CallIdentity) -> Option<R> {
        let found = self.open.iter().find(|open| open.name == name)?;
        // SECURITY: what was said for one call says nothing about another, and what was said long ago nothing about now
        // (test: a_state_belongs_to_its_call)
        let is_its = found.call == call && now <= found.at + LIFETIME;
        is_its.then(|| found.round.clone())
    }

    /// Which call this is.
    pub(crate) fn identity(&self, method: &str, params: &RawValue) -> CallIdentity {
        let params: Value = serde_json::from_str(params.get()).unwrap_or_default();
        CallIdentity(self.hasher.hash_one(call_identity(method, params).to_string()))
    }

    /// Whether a name is one that this file makes.
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
