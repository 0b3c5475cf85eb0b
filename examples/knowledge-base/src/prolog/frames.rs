//! The messages between the server and Prolog. Prolog's side is in `harness.pl`; the server trusts nothing that it sends.

use std::fmt::Write;
use std::io::{self, BufRead, Read};

/// The maximum length of a reply, in bytes.
const LONGEST: u64 = 8 << 20;

/// A reply: the nonce of its request, its kind, and its fields.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Reply {
    pub(super) nonce: String,
    pub(super) kind: String,
    pub(super) fields: Vec<String>,
}

/// A request: a line with the lengths of the texts in characters, then the texts, unchanged. They need no quoting, so nothing in them
/// can be mistaken for anything else.
pub(super) fn request(nonce: &str, verb: &str, texts: &[&str]) -> Vec<u8> {
    let mut line = format!("{nonce} {verb}");
    for text in texts {
        // Writing to a string cannot fail.
        let _ = write!(line, " {}", text.chars().count());
    }
    line.push('\n');
    line.extend(texts.iter().copied());
    line.into_bytes()
}

/// The next reply; `None` at the end of the stream.
pub(super) fn reply(from: &mut impl BufRead) -> io::Result<Option<Reply>> {
    let mut line = Vec::new();
    if from.by_ref().take(LONGEST).read_until(b'\n', &mut line)? == 0 {
        return Ok(None);
    }
    let broken = |what: &str| io::Error::new(io::ErrorKind::InvalidData, what.to_owned());
    if line.last() != Some(&b'\n') {
        return Err(broken("an incomplete reply"));
    }
    let text = String::from_utf8_lossy(&line);
    let fields: Vec<String> = serde_json::from_str(&text).map_err(|_| broken("an invalid reply"))?;
    let mut fields = fields.into_iter();
    match (fields.next(), fields.next()) {
        (Some(nonce), Some(kind)) => Ok(Some(Reply { nonce, kind, fields: fields.collect() })),
        _ => Err(broken("an invalid reply")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_sent_unchanged() {
        let sent = request("n", "query", &["a(\"é\").\nhalt", ""]);
        assert_eq!(String::from_utf8(sent).unwrap(), "n query 12 0\na(\"é\").\nhalt");
    }

    #[test]
    fn invalid_replies_are_errors() {
        let read = |bytes: &[u8]| reply(&mut io::BufReader::new(bytes));
        let expect = Reply { nonce: "n".to_owned(), kind: "done".to_owned(), fields: vec!["1".to_owned()] };
        assert_eq!(read(b"[\"n\",\"done\",\"1\"]\nx").unwrap(), Some(expect));
        assert_eq!(read(b"").unwrap(), None);
        for bytes in [&b"hello\n"[..], b"[]\n", b"[\"n\"]\n", b"[\"n\",1]\n", b"{}\n", b"[\"n\",\"done\"]", b"\xff\n"] {
            assert!(read(bytes).is_err(), "{bytes:?}");
        }
    }

    #[test]
    fn long_replies_are_errors() {
        let endless = io::repeat(b'x');
        assert!(reply(&mut io::BufReader::new(endless)).is_err());
    }
}
