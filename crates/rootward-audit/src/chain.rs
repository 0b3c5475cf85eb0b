//! The chain that holds a log together: each line carries a hash over itself and the line before it.
//!
//! Whoever changes, removes or adds a line in the middle breaks the chain from there on. The end can still be cut off: the last
//! hash, kept elsewhere, tells.

use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use thiserror::Error;

/// What stands before a line's hash, which is the line's last member.
const MEMBER: &str = r#","chain":""#;
/// What stands after it.
const END: &str = r#""}"#;

/// The hash of the last line; that of none at the start.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Chain(String);

/// Why a line does not continue the one before it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
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
    /// It is the first of its file, and the file before that is not there.
    #[error("the file before this one is missing")]
    Missing,
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

    /// Makes the next line of an object that has members, without its end.
    ///
    /// The hash is over the text. One over members that were read again would differ between programs: whether they keep their
    /// order is a switch of `serde_json` that any crate of a build may turn.
    pub(crate) fn link(&mut self, object: &str) -> String {
        self.0 = hash(&self.0, object);
        let members = object.strip_suffix('}').unwrap_or(object);
        format!("{members}{MEMBER}{}{END}", self.0)
    }

    /// Checks the next line.
    pub(crate) fn follow(&mut self, line: &[u8]) -> Result<(), Broken> {
        let line = str::from_utf8(line).map_err(|_| Broken::Unreadable)?;
        serde_json::from_str::<Map<String, Value>>(line).map_err(|_| Broken::Unreadable)?;
        let (members, said) = line.rsplit_once(MEMBER).ok_or(Broken::Unchained)?;
        let said = said.strip_suffix(END).ok_or(Broken::Unchained)?;
        let found = hash(&self.0, &format!("{members}}}"));
        if found != said {
            return Err(Broken::Changed);
        }
        self.0 = found;
        Ok(())
    }
}

fn hash(before: &str, line: &str) -> String {
    let mut hasher = Sha256::new();
    hasher.update(before.as_bytes());
    hasher.update(b"\n");
    hasher.update(line.as_bytes());
    let mut text = String::with_capacity(64);
    for byte in hasher.finalize() {
        text.push(digit(byte >> 4));
        text.push(digit(byte & 0xF));
    }
    text
}

/// Without the machinery of formatting, which would take as long as the hash.
fn digit(half: u8) -> char {
    char::from_digit(half.into(), 16).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(count: u64) -> Vec<String> {
        let mut chain = Chain::default();
        (0..count).map(|number| chain.link(&format!(r#"{{"number":{number},"path":"/a"}}"#))).collect()
    }

    fn check(lines: &[String]) -> Result<(), Broken> {
        let mut chain = Chain::default();
        lines.iter().try_for_each(|line| chain.follow(line.as_bytes()))
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
        assert_eq!(check(&["[]".to_owned()]), Err(Broken::Unreadable));
        assert_eq!(check(&["{}".to_owned()]), Err(Broken::Unchained));
        assert_eq!(check(&[r#"{"a":0,"chain":""} "#.to_owned()]), Err(Broken::Unchained));
        assert_eq!(Chain::default().follow(b"\xff"), Err(Broken::Unreadable));
    }

    /// Members in any order and numbers in any form: what was written is what is checked, not what a parser makes of it.
    #[test]
    fn a_line_is_a_line_of_json_and_holds_as_it_is_written() {
        let mut chain = Chain::default();
        let line = chain.link(r#"{"z":1.50,"a":"\"},\"chain\":\"x\"}","m":1e2}"#);
        assert_eq!(check(std::slice::from_ref(&line)), Ok(()));
        let line: Value = serde_json::from_str(&line).unwrap();
        assert_eq!((&line["chain"], &line["a"]), (&Value::from(chain.last()), &Value::from(r#""},"chain":"x"}"#)));
    }
}
