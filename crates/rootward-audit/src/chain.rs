//! The hash chain of a log: each line carries a hash over itself and the line before it.
//!
//! Changing, removing or adding a line in the middle breaks the chain from that line on. Cutting lines off the end
//! leaves a valid chain; to detect that, keep the last hash somewhere else.

use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use thiserror::Error;

/// The text before a line's hash. The hash is the last member of the line.
const MEMBER: &str = r#","chain":""#;
/// The text after a line's hash.
const END: &str = r#""}"#;

/// The hash of the last line; empty at the start of a log.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Chain(String);

/// Why a line does not continue the one before it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum Broken {
    /// It cannot be parsed.
    #[error("not a line of an audit log")]
    Unreadable,
    /// It has no hash.
    #[error("no `chain`")]
    Unchained,
    /// Its hash does not match.
    #[error("the line, or one before it, was changed")]
    Changed,
    /// It starts a file, and the file before that one is missing.
    #[error("the file before this one is missing")]
    Missing,
}

impl Chain {
    /// The hash after the last line.
    pub(crate) fn last(&self) -> &str {
        &self.0
    }

    /// A chain that continues after the last hash of another file.
    pub(crate) fn after(last: &str) -> Chain {
        Chain(last.to_owned())
    }

    /// Adds the hash to a JSON object with at least one member, and returns the line without its newline.
    ///
    /// The hash covers the text. Hashing the parsed members would differ between programs, because any crate in a build
    /// can turn on the `serde_json` feature that keeps the order of members.
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

/// Avoids `format!`, which would take as long as the hash.
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

    /// The check covers the text as written, whatever the order of the members and the form of the numbers.
    #[test]
    fn a_line_is_json_and_is_checked_as_written() {
        let mut chain = Chain::default();
        let line = chain.link(r#"{"z":1.50,"a":"\"},\"chain\":\"x\"}","m":1e2}"#);
        assert_eq!(check(std::slice::from_ref(&line)), Ok(()));
        let line: Value = serde_json::from_str(&line).unwrap();
        assert_eq!((&line["chain"], &line["a"]), (&Value::from(chain.last()), &Value::from(r#""},"chain":"x"}"#)));
    }
}
