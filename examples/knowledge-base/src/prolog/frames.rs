//! What passes between the server and Prolog. Prolog's side is in `harness.pl`; nothing that comes from there is trusted.

use std::fmt::Write;
use std::io::{self, BufRead, Read};

/// The longest reply, in bytes.
const LONGEST: u64 = 8 << 20;

/// A reply: the request that it belongs to, what it is, and what it says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Reply {
    pub(super) nonce: String,
    pub(super) kind: String,
    pub(super) fields: Vec<String>,
}

/// A request: a line with the lengths of the texts, in characters, then the texts as they are. Nothing in them needs quoting, so nothing
/// in them can be mistaken for anything else.
pub(super) fn request(nonce: &str, verb: &str, texts: &[&str]) -> Vec<u8> {
    let mut line = format!("{nonce} {verb}");
    for text in texts {
        // Writing to a text cannot fail.
        let _ = write!(line, " {}", text.chars().count());
    }
    line.push('\n');
    line.extend(texts.iter().copied());
    line.into_bytes()
}

/// The next reply; none at the end.
pub(super) fn reply(from: &mut impl BufRead) -> io::Result<Option<Reply>> {
    let mut line = Vec::new();
    if from.by_ref().take(LONGEST).read_until(b'\n', &mut line)? == 0 {
        return Ok(None);
    }
    let broken = |what: &str| io::Error::new(io::ErrorKind::InvalidData, what.to_owned());
    if line.last() != Some(&b'\n') {
        return Err(broken("a reply without an end"));
    }
    let text = String::from_utf8_lossy(&line);
    let fields: Vec<String> = serde_json::from_str(&text).map_err(|_| broken("something that is not a reply"))?;
    let mut fields = fields.into_iter();
    match (fields.next(), fields.next()) {
        (Some(nonce), Some(kind)) => Ok(Some(Reply { nonce, kind, fields: fields.collect() })),
        _ => Err(broken("something that is not a reply")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_sent_as_they_are() {
        let sent = request("n", "query", &["a(\"é\").\nhalt", ""]);
        assert_eq!(String::from_utf8(sent).unwrap(), "n query 12 0\na(\"é\").\nhalt");
    }

    #[test]
    fn what_is_no_reply_is_an_error() {
        let read = |bytes: &[u8]| reply(&mut io::BufReader::new(bytes));
        let expect = Reply { nonce: "n".to_owned(), kind: "done".to_owned(), fields: vec!["1".to_owned()] };
        assert_eq!(read(b"[\"n\",\"done\",\"1\"]\nx").unwrap(), Some(expect));
        assert_eq!(read(b"").unwrap(), None);
        for bytes in [&b"hello\n"[..], b"[]\n", b"[\"n\"]\n", b"[\"n\",1]\n", b"{}\n", b"[\"n\",\"done\"]", b"\xff\n"] {
            assert!(read(bytes).is_err(), "{bytes:?}");
        }
    }

    #[test]
    fn a_reply_has_a_longest_length() {
        let endless = io::repeat(b'x');
        assert!(reply(&mut io::BufReader::new(endless)).is_err());
    }
}
