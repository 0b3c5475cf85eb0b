//! What is kept between two rounds of a modern call: the client carries a name for it, and nothing else.

use std::collections::VecDeque;
use std::hash::{BuildHasher, RandomState};

use rootward_protocol::Pages;
use serde_json::value::RawValue;

/// How many rounds may be open; the oldest are forgotten.
const MOST: usize = 1024;
/// What every name begins with, of other processes too.
const NAME: &str = "rootward-";
/// How many bytes they may hold.
const MOST_BYTES: usize = 16 << 20;

/// A call between two rounds.
#[derive(Clone, Debug, Default)]
pub(super) struct Round {
    /// The server's own state.
    pub(super) state: Option<Box<str>>,
    /// Answers to the server's own questions: the client sends only its last ones.
    pub(super) responses: Vec<(String, Box<str>)>,
    /// The server's questions for roots, which are Rootward's to answer.
    pub(super) roots: Vec<String>,
    /// Whether the client was asked for its roots.
    pub(super) asks_for_roots: bool,
    /// The pages of its list that have come.
    pub(super) pages: Pages,
}

/// Who is to say what the roots of a call are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Asks {
    /// The client: it has not been asked.
    Client,
    /// They are known, and the child's.
    Child,
}

/// A request as the child got it.
#[derive(Clone, Debug)]
pub(super) struct Sent {
    /// The whole message.
    pub(super) text: Box<str>,
    /// Who is asked where the child wants roots.
    pub(super) asks: Asks,
    /// How often the child has asked for roots.
    pub(super) asked: u8,
}

/// The rounds that are open.
#[derive(Debug)]
pub(super) struct Rounds {
    /// What names begin with: nobody can guess it, so that no server makes up the name of another's round.
    prefix: String,
    open: VecDeque<(String, Round)>,
    last: u64,
    /// What the client last said of itself, for questions of Rootward's own.
    meta: Option<Box<str>>,
}

impl Default for Rounds {
    fn default() -> Rounds {
        // Each of these has keys of its own, from the system's randomness.
        let random = RandomState::new().hash_one(0);
        Rounds { prefix: format!("{NAME}{random:016x}-"), open: VecDeque::new(), last: 0, meta: None }
    }
}

impl Round {
    fn bytes(&self) -> usize {
        let responses = self.responses.iter().map(|(key, value)| key.len() + value.len());
        let roots = self.roots.iter().map(String::len).sum::<usize>() + self.pages.bytes();
        self.state.as_ref().map_or(0, |state| state.len()) + responses.sum::<usize>() + roots
    }
}

impl Rounds {
    /// Keeps a round; the name that the client carries, as JSON.
    pub(super) fn keep(&mut self, round: Round) -> String {
        self.last += 1;
        let name = format!("{}{}", self.prefix, self.last);
        let bytes = |open: &VecDeque<(String, Round)>| open.iter().map(|(_, round)| round.bytes()).sum::<usize>();
        while self.open.len() == MOST || (!self.open.is_empty() && bytes(&self.open) > MOST_BYTES) {
            self.open.pop_front();
        }
        let state = format!("\"{name}\"");
        self.open.push_back((name, round));
        state
    }

    /// The round of this name: `None` where it is not one of these, or was forgotten.
    pub(super) fn find(&self, name: &str) -> Option<Round> {
        self.open.iter().find(|(known, _)| known == name).map(|(_, round)| round.clone())
    }

    /// Whether a name is one that this file makes.
    pub(super) fn is_own(name: &str) -> bool {
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
