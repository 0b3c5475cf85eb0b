//! What is kept between two rounds of a modern call: the client carries a name for it, and nothing else.

use std::collections::VecDeque;

use serde_json::value::RawValue;

/// How many rounds may be open; the oldest are forgotten.
const MOST: usize = 1024;

/// The beginning of a name.
const NAME: &str = "rootward/";

/// A call between two rounds.
#[derive(Clone, Debug, Default)]
pub(super) struct Round {
    /// The server's own state.
    pub(super) state: Option<Box<str>>,
    /// Answers to the server's own questions: the client sends only its last ones.
    pub(super) responses: Vec<(String, Box<str>)>,
    /// The server's questions for roots, which are Rootward's to answer.
    pub(super) roots: Vec<String>,
}

/// A request as the child got it.
#[derive(Clone, Debug)]
pub(super) struct Sent {
    /// The whole message.
    pub(super) text: Box<str>,
    /// How often the child has asked for roots.
    pub(super) asked: u8,
}

/// The rounds that are open.
#[derive(Debug, Default)]
pub(super) struct Rounds {
    open: VecDeque<(String, Round)>,
    last: u64,
    /// What the client last said of itself, for questions of Rootward's own.
    meta: Option<Box<str>>,
}

impl Rounds {
    /// Keeps a round; the name that the client carries, as JSON.
    pub(super) fn keep(&mut self, round: Round) -> String {
        self.last += 1;
        let name = format!("{NAME}{}", self.last);
        if self.open.len() == MOST {
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
