//! The chain that holds a log together: each line carries a hash over itself and the line before it.
//!
//! Whoever changes, removes or adds a line in the middle breaks the chain from there on. The end can still be cut off: the last
//! hash, kept elsewhere, tells.

use std::fmt::Write;

use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use thiserror::Error;

/// The member of a line that holds its hash.
pub(crate) const CHAIN: &str = "chain";

/// The hash of the last line; that of none at the start.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Chain(String);

/// Why a line does not continue the one before it.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum Broken {
    /// It cannot be read.
    #[error("not a line of an audit log")]
    Unreadable,
    /// It has no hash.
    #[error("no `chain`")]
    Unchained,
    /// Its hash is another.
    #[error("the line, or one before it, was changed")]
    Changed,
}

impl Chain {
    /// The hash after the last line.
    pub(crate) fn last(&self) -> &str {
        &self.0
    }

    /// Where another file ended.
    pub(crate) fn after(last: &str) -> Chain {
        Chain(last.to_owned())
    }

    /// Makes the next line of an object, without its end.
    pub(crate) fn link(&mut self, mut line: Map<String, Value>) -> String {
        line.remove(CHAIN);
        let text = Value::Object(line.clone()).to_string();
        self.0 = hash(&self.0, &text);
        line.insert(CHAIN.to_owned(), Value::String(self.0.clone()));
        Value::Object(line).to_string()
    }

    /// Checks the next line.
    pub(crate) fn follow(&mut self, line: &str) -> Result<Map<String, Value>, Broken> {
        let Ok(Value::Object(mut line)) = serde_json::from_str(line) else {
            return Err(Broken::Unreadable);
        };
        let Some(Value::String(said)) = line.remove(CHAIN) else {
            return Err(Broken::Unchained);
        };
        let found = hash(&self.0, &Value::Object(line.clone()).to_string());
        if found != said {
            return Err(Broken::Changed);
        }
        self.0 = found;
        Ok(line)
    }
}

fn hash(before: &str, line: &str) -> String {
    let mut hasher = Sha256::new();
    hasher.update(before.as_bytes());
    hasher.update(b"\n");
    hasher.update(line.as_bytes());
    let mut text = String::with_capacity(64);
    for byte in hasher.finalize() {
        // Writing to a text cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn lines(count: u64) -> Vec<String> {
        let mut chain = Chain::default();
        let line = |number| json!({"number": number, "path": "/a"}).as_object().cloned().unwrap();
        (0..count).map(|number| chain.link(line(number))).collect()
    }

    fn check(lines: &[String]) -> Result<(), Broken> {
        let mut chain = Chain::default();
        lines.iter().try_for_each(|line| chain.follow(line).map(drop))
    }

    #[test]
    fn a_chain_holds_or_breaks() {
        let whole = lines(4);
        assert_eq!(check(&whole), Ok(()));
        for number in 0..whole.len() {
            let mut changed = whole.clone();
            changed[number] = changed[number].replace("/a", "/b");
            assert_eq!(check(&changed), Err(Broken::Changed), "{number}");
            if number + 1 < whole.len() {
                let mut removed = whole.clone();
                removed.remove(number);
                assert_eq!(check(&removed), Err(Broken::Changed), "{number}");
                let mut swapped = whole.clone();
                swapped.swap(number, number + 1);
                assert_eq!(check(&swapped), Err(Broken::Changed), "{number}");
            }
        }
        assert_eq!(check(&["{".to_owned()]), Err(Broken::Unreadable));
        assert_eq!(check(&["{}".to_owned()]), Err(Broken::Unchained));
    }
}
