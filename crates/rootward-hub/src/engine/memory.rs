//! The cached memory of a server: its answer to `initialize`, and its lists.
//!
//! A legacy client sends its roots only after `initialize` was answered, and a server starts only once they are
//! known. So the answer comes from the cache. This file holds only the values; the front stores them on disk.

use std::collections::BTreeMap;

use rootward_protocol::offer::Offer;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// How many handshakes are cached: each kind of client has its own.
const MOST_HANDSHAKES: usize = 8;

/// The largest answer that is cached, in bytes.
const LARGEST: usize = 256 << 10;

/// The memory of a server, keyed by what clients sent in `initialize`, oldest first.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Memory {
    handshakes: Vec<Handshake>,
    /// It refused `server/discover`: it speaks only the legacy era.
    #[serde(default)]
    legacy_only: bool,
}

/// Something learned about a server.
#[derive(Clone, Debug)]
pub(super) enum Learned {
    /// Its answers to a client with this fingerprint.
    Answers { fingerprint: String, remembered: Remembered },
    /// It refuses or ignores `server/discover`.
    LegacyOnly,
    /// It answers `server/discover` after all.
    BothEras,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Handshake {
    fingerprint: String,
    remembered: Remembered,
}

/// The answers of the last time.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Remembered {
    /// The result of `initialize`, as received.
    pub(super) result: Box<RawValue>,
    /// Whether the server asks for its roots on its own after it starts, if known.
    pub(super) asks_for_roots: Option<bool>,
    /// Its lists, by method.
    #[serde(default)]
    pub(super) lists: BTreeMap<String, Box<RawValue>>,
}

impl Memory {
    /// The server's last answers to a client with this fingerprint.
    pub(super) fn recall(&self, fingerprint: &str) -> Option<Remembered> {
        let found = self.handshakes.iter().find(|handshake| handshake.fingerprint == fingerprint);
        // SECURITY: an answer is one line; text after a line break would be a separate message
        // (test: cached_answers_are_one_line)
        found.map(|handshake| handshake.remembered.clone()).filter(Remembered::has_only_single_lines)
    }

    /// The server's last instructions for models.
    pub(crate) fn instructions(&self) -> Option<String> {
        Offer::read(&self.handshakes.last()?.remembered.result).instructions()
    }

    /// The same memory without these lists.
    #[must_use]
    pub(crate) fn without(mut self, lists: &[&str]) -> Memory {
        for handshake in &mut self.handshakes {
            handshake.remembered.lists.retain(|list, _| !lists.contains(&list.as_str()));
        }
        self
    }

    /// Whether the server speaks only the legacy era.
    pub(super) fn is_legacy_only(&self) -> bool {
        self.legacy_only
    }

    /// Stores something learned. Returns whether it is new.
    pub(super) fn keep(&mut self, learned: Learned) -> bool {
        match learned {
            Learned::Answers { fingerprint, remembered } => self.keep_answers(fingerprint, remembered),
            Learned::LegacyOnly => !std::mem::replace(&mut self.legacy_only, true),
            Learned::BothEras => std::mem::replace(&mut self.legacy_only, false),
        }
    }

    fn keep_answers(&mut self, fingerprint: String, mut remembered: Remembered) -> bool {
        remembered.lists.retain(|_, list| list.get().len() <= LARGEST);
        if remembered.result.get().len() > LARGEST {
            return false;
        }
        let before = self.handshakes.iter().position(|handshake| handshake.fingerprint == fingerprint);
        let before = before.map(|position| self.handshakes.remove(position));
        if before.as_ref().is_some_and(|before| before.remembered.result.get() != remembered.result.get()) {
            // Another version of the server, which may speak another era.
            self.legacy_only = false;
        }
        let news = before.is_none_or(|before| !before.remembered.is_same(&remembered));
        if self.handshakes.len() == MOST_HANDSHAKES {
            self.handshakes.remove(0);
        }
        self.handshakes.push(Handshake { fingerprint, remembered });
        news
    }
}

impl Remembered {
    /// Whether each answer is one line.
    fn has_only_single_lines(&self) -> bool {
        let mut answers = self.lists.values().chain([&self.result]);
        answers.all(|answer| !answer.get().contains(['\n', '\r']))
    }

    fn is_same(&self, other: &Remembered) -> bool {
        let lists = |remembered: &Remembered| -> Vec<(String, String)> {
            remembered.lists.iter().map(|(list, result)| (list.clone(), result.get().to_owned())).collect()
        };
        self.result.get() == other.result.get()
            && self.asks_for_roots == other.asks_for_roots
            && lists(self) == lists(other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answers(fingerprint: &str, remembered: Remembered) -> Learned {
        Learned::Answers { fingerprint: fingerprint.to_owned(), remembered }
    }

    fn remembered(result: &str) -> Remembered {
        let result = RawValue::from_string(result.to_owned()).unwrap();
        Remembered { result, asks_for_roots: Some(true), lists: BTreeMap::new() }
    }

    #[test]
    fn cached_answers_are_one_line() {
        let mut memory = Memory::default();
        let message = r#"{"jsonrpc":"2.0","id":"rootward-roots-1","method":"roots/list"}"#;
        for broken in ["\n", "\r"] {
            memory.keep(answers("f", remembered(&format!("{{{broken}}}"))));
            assert!(memory.recall("f").is_none());
            let mut list = remembered("{}");
            let text = format!("[{broken}{message}{broken}]");
            list.lists.insert("tools/list".to_owned(), RawValue::from_string(text).unwrap());
            memory.keep(answers("f", list));
            assert!(memory.recall("f").is_none());
        }
        memory.keep(answers("f", remembered(r#"{"instructions":"a\nb"}"#)));
        assert!(memory.recall("f").is_some());
    }

    #[test]
    fn answers_are_cached_per_question() {
        let mut memory = Memory::default();
        assert!(memory.keep(answers("f", remembered(r#"{ "a" : 1.0 }"#))));
        assert!(!memory.keep(answers("f", remembered(r#"{ "a" : 1.0 }"#))));
        assert!(memory.keep(answers("f", remembered(r#"{ "a" : 2.0 }"#))));
        assert_eq!(memory.recall("f").unwrap().result.get(), r#"{ "a" : 2.0 }"#);
        assert!(memory.recall("g").is_none());
        let text = serde_json::to_string(&memory).unwrap();
        let again: Memory = serde_json::from_str(&text).unwrap();
        assert_eq!(again.recall("f").unwrap().result.get(), r#"{ "a" : 2.0 }"#);
        assert!(!memory.is_legacy_only() && memory.keep(Learned::LegacyOnly) && !memory.keep(Learned::LegacyOnly));
        memory.keep(answers("f", remembered("{}")));
        assert!(!memory.is_legacy_only(), "another version of the server may speak another era");
        for client in 0..MOST_HANDSHAKES {
            memory.keep(answers(&client.to_string(), remembered("{}")));
        }
        assert!(memory.recall("f").is_none() && memory.handshakes.len() == MOST_HANDSHAKES);
    }
}
