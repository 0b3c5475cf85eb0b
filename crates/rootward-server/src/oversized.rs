//! Whose a message is that is too long to be kept: its `id` is found while it passes, wherever it stands.

use rmcp::model::RequestId;

/// The longest key and the longest id that are looked at.
const LONGEST: usize = 256;

/// A message that passes.
#[derive(Default)]
pub(crate) struct Oversized {
    depth: usize,
    /// Within a string, and whether its next byte is escaped.
    string: Option<Escaped>,
    /// The key of the member that passes, with its quotes, or the value of `id`.
    taken: Vec<u8>,
    at: At,
    has_method: bool,
    has_result: bool,
    id: Option<RequestId>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Escaped {
    No,
    Yes,
}

/// Which part of the outermost object passes.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
enum At {
    #[default]
    Key,
    Id,
    Other,
}

impl Oversized {
    /// Looks at the next bytes.
    pub(crate) fn pass(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.pass_byte(*byte);
        }
    }

    fn pass_byte(&mut self, byte: u8) {
        if let Some(escaped) = self.string {
            self.take(byte);
            self.string = match (escaped, byte) {
                (Escaped::No, b'"') => None,
                (Escaped::No, b'\\') => Some(Escaped::Yes),
                _ => Some(Escaped::No),
            };
            return;
        }
        match byte {
            b'"' => {
                self.string = Some(Escaped::No);
                self.take(byte);
            }
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => {
                if self.depth == 1 {
                    self.member_ends();
                }
                self.depth = self.depth.saturating_sub(1);
            }
            b',' if self.depth == 1 => self.member_ends(),
            b':' if self.depth == 1 && self.at == At::Key => {
                self.at = if self.taken == b"\"id\"" { At::Id } else { At::Other };
                self.has_method |= self.taken == b"\"method\"";
                self.has_result |= self.taken == b"\"result\"" || self.taken == b"\"error\"";
                self.taken.clear();
            }
            b' ' | b'\t' | b'\r' | b'\n' => {}
            _ => self.take(byte),
        }
    }

    fn take(&mut self, byte: u8) {
        if self.depth == 1 && self.at != At::Other && self.taken.len() < LONGEST {
            self.taken.push(byte);
        }
    }

    fn member_ends(&mut self) {
        if self.at == At::Id {
            self.id = serde_json::from_slice(&self.taken).ok();
        }
        self.at = At::Key;
        self.taken.clear();
    }

    /// Who waits for an answer to what passed.
    pub(crate) fn sender(self) -> Sender {
        match (self.has_method, self.has_result, self.id) {
            (false, true, _) | (true, _, None) => Sender::Nobody,
            (_, _, Some(id)) => Sender::Request(id),
            (false, false, None) => Sender::Unknown,
        }
    }
}

/// Who waits for an answer to a message.
#[derive(PartialEq, Eq, Debug)]
pub(crate) enum Sender {
    /// Nobody: it is a notification, or an answer itself.
    Nobody,
    /// This request.
    Request(RequestId),
    /// It cannot be told.
    Unknown,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sender(text: &str) -> Sender {
        let mut oversized = Oversized::default();
        // However it is cut.
        for byte in text.as_bytes() {
            oversized.pass(&[*byte]);
        }
        oversized.sender()
    }

    #[test]
    fn the_id_is_found_wherever_it_stands() {
        let number = Sender::Request(RequestId::Number(7));
        for text in [
            r#"{"id":7,"method":"x"}"#,
            r#" { "method" : "x" , "params" : {"id":1,"a":[{"id":2}]} , "id" : 7 } "#,
            r#"{"params":{"a":"}\"],{\\"},"id":7,"method":"x"}"#,
            r#"{"\"id\"":1,"id":7,"method":"x"}"#,
        ] {
            assert_eq!(sender(text), number, "{text}");
        }
        assert_eq!(sender(r#"{"id":"a b","method":"x"}"#), Sender::Request(RequestId::String("a b".into())));
        assert_eq!(sender("nothing of the kind"), Sender::Unknown);
        for nobody in [r#"{"method":"x"}"#, r#"{"id":7,"result":{"method":"x"}}"#, r#"{"id":7,"error":{}}"#] {
            assert_eq!(sender(nobody), Sender::Nobody, "{nobody}");
        }
    }
}
