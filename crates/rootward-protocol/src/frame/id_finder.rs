//! Finds the id of a message that cannot be parsed because it is too long or broken.
//!
//! It scans the bytes as they arrive and stores almost nothing. The result is only good for addressing an error,
//! because the bytes were not validated as JSON.

/// Longer ids are ignored.
const LONGEST_ID: usize = 1024;

/// The longest relevant key.
const LONGEST_KEY: usize = 8;

/// Scans the bytes of one message.
#[derive(Debug, Default)]
pub struct IdFinder {
    depth: usize,
    text: Text,
    /// The last string at the top level. It is a key if a colon follows.
    key: Vec<u8>,
    /// The position in `{"key": value}` at the top level.
    side: Side,
    id: Vec<u8>,
    ids: usize,
    has_method: bool,
    has_outcome: bool,
    /// The message does not begin as an object.
    hopeless: bool,
}

#[derive(Debug, Default, PartialEq, Eq, Clone, Copy)]
enum Text {
    #[default]
    No,
    Within,
    AfterBackslash,
}

#[derive(Debug, Default, PartialEq, Eq, Clone, Copy)]
enum Side {
    #[default]
    Key,
    Value,
    IdValue,
}

/// Who waits for an answer to a message that cannot be parsed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Awaited {
    /// Nobody: it is a notification, or an answer itself.
    ByNobody,
    /// The sender of the request with this id.
    By(Box<str>),
    /// Unknown.
    Unknown,
}

impl Awaited {
    /// The id to send an error to, as JSON; `null` if it is unknown.
    pub fn id(&self) -> Option<&str> {
        match self {
            Awaited::ByNobody => None,
            Awaited::By(id) => Some(id),
            Awaited::Unknown => Some("null"),
        }
    }
}

impl IdFinder {
    /// Scans a whole message.
    pub fn over(message: &[u8]) -> IdFinder {
        let mut finder = IdFinder::default();
        finder.add(message);
        finder
    }

    /// Scans the next bytes.
    pub fn add(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            if self.hopeless {
                return;
            }
            self.step(byte);
        }
    }

    fn step(&mut self, byte: u8) {
        let at_top = self.depth == 1;
        if at_top && self.side == Side::IdValue && !(self.text == Text::No && matches!(byte, b',' | b'}')) {
            if self.id.len() > LONGEST_ID {
                self.hopeless = true;
            }
            self.id.push(byte);
        }
        match self.text {
            Text::AfterBackslash => {
                self.text = Text::Within;
                self.note_key(byte);
            }
            Text::Within => match byte {
                b'\\' => {
                    self.text = Text::AfterBackslash;
                    self.note_key(byte);
                }
                b'"' => self.text = Text::No,
                _ => self.note_key(byte),
            },
            Text::No => match byte {
                b'"' => {
                    self.text = Text::Within;
                    if at_top && self.side == Side::Key {
                        self.key.clear();
                    }
                }
                b'{' | b'[' => {
                    // An id is never an object, and a batch has no id itself.
                    self.hopeless |= self.side == Side::IdValue || (self.depth == 0 && byte == b'[');
                    self.depth += 1;
                }
                b'}' | b']' => self.depth = self.depth.saturating_sub(1),
                b':' if at_top && self.side == Side::Key => {
                    self.side = Side::Value;
                    if self.key == b"id" {
                        self.side = Side::IdValue;
                        self.ids += 1;
                        self.id.clear();
                    }
                    self.has_method |= self.key == b"method";
                    self.has_outcome |= self.key == b"result" || self.key == b"error";
                }
                b',' if at_top => self.side = Side::Key,
                _ => {}
            },
        }
        if self.depth == 0 {
            self.side = Side::Key;
        }
    }

    fn note_key(&mut self, byte: u8) {
        if self.depth == 1 && self.side == Side::Key && self.key.len() < LONGEST_KEY {
            self.key.push(byte);
        }
    }

    /// Whether the message has a method.
    pub fn has_method(&self) -> bool {
        self.has_method
    }

    /// Whether the message has a result or an error, so that somebody may wait for it.
    pub fn has_outcome(&self) -> bool {
        self.has_outcome
    }

    /// Who waits for an answer to it.
    pub fn awaited(&self) -> Awaited {
        match (self.has_method, self.has_outcome, self.found()) {
            (false, true, _) | (true, _, None) => Awaited::ByNobody,
            (_, _, Some(id)) => Awaited::By(id),
            (false, false, None) => Awaited::Unknown,
        }
    }

    /// The id as written, if there is exactly one and it is a number, a string or null.
    pub fn found(&self) -> Option<Box<str>> {
        if self.hopeless || self.ids != 1 {
            return None;
        }
        let text = std::str::from_utf8(&self.id).ok()?;
        super::Id::read(text.trim()).map(|id| id.as_str().into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(message: &str, id: Option<&str>) {
        assert_eq!(IdFinder::over(message.as_bytes()).found().as_deref(), id, "{message}");
    }

    #[test]
    fn ids_that_are_clear() {
        check(r#"{"id":1}"#, Some("1"));
        check(r#"{"id":1"#, Some("1"));
        check(r#"{"jsonrpc":"2.0","params":{"id":2,"x":[{"id":3}]},"id":"s,}"}"#, Some(r#""s,}""#));
        check(r#"{"a":"\"id\":5","id":null , "b":"#, Some("null"));
        check(r#"{"id":-1.5e300,"params":broken"#, Some("-1.5e300"));
        check("\u{feff}{\"id\":0}", Some("0"));
    }

    #[test]
    fn answers_are_told_from_questions() {
        let check = |message: &str, method: bool, outcome: bool| {
            let finder = IdFinder::over(message.as_bytes());
            assert_eq!((finder.has_method(), finder.has_outcome()), (method, outcome), "{message}");
        };
        check(r#"{"id":1,"method":"x","params":{"result":1}}"#, true, false);
        check(r#"{"id":1,"result":{"method":"x"}"#, false, true);
        check(r#"{"id":1,"error":broken"#, false, true);
        check(r#"{"id":1,"result":1,"method":"x"}"#, true, true);
        check(r#"{"id":1,"results":1,"text":"result","\"result":1}"#, false, false);
    }

    #[test]
    fn the_sender_is_found() {
        let check = |message: &str, expect: Option<&str>| {
            assert_eq!(IdFinder::over(message.as_bytes()).awaited().id(), expect, "{message}");
        };
        check(r#"{"id":7,"method":"x"}"#, Some("7"));
        check(r#" { "method" : "x" , "params" : {"id":1,"a":[{"id":2}]} , "id" : "a b" } "#, Some(r#""a b""#));
        check(r#"{"params":{"a":"}\"],{\\"},"id":7,"method":"x"}"#, Some("7"));
        check("nothing of the kind", Some("null"));
        check(r#"{"method":"x"}"#, None);
        check(r#"{"id":7,"result":{"method":"x"}}"#, None);
        check(r#"{"id":7,"error":{}}"#, None);
    }

    #[test]
    fn ids_that_are_not() {
        check("", None);
        check("id", None);
        check(r#"{"id":1,"id":2}"#, None);
        check(r#"{"id":{"a":1}}"#, None);
        check(r#"{"id":[1]}"#, None);
        check(r#"{"id":true}"#, None);
        check(r#"{"id":"broken"#, None);
        check(r#"[{"id":1}]"#, None);
        check(r#"{"ID":1,"idx":2}"#, None);
        check(&format!(r#"{{"id":"{}"}}"#, "x".repeat(LONGEST_ID)), None);
    }
}
