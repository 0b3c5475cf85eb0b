//! From the bytes of a terminal to keys.
//!
//! A terminal sends ESC for the key of that name and at the start of every arrow: which of them it is shows in what follows, or in that
//! nothing does. Whatever is none of the keys below is passed over as a whole, so that no part of it counts as another key.

/// A key, or what was pasted at one stroke.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Key {
    Up,
    Down,
    PageUp,
    PageDown,
    Home,
    End,
    Enter,
    Escape,
    Backspace,
    /// Ctrl-C.
    Interrupt,
    /// Ctrl-U.
    Erase,
    Letter(char),
    Pasted(String),
}

/// How much is kept of a sequence that has no end yet.
const LONGEST: usize = 64;
/// How much of a paste is taken.
const LONGEST_PASTE: usize = 1024;
const PASTE_BEGINS: &[u8] = b"\x1b[200~";
const PASTE_ENDS: &[u8] = b"\x1b[201~";

/// Bytes that are no whole key yet.
#[derive(Debug, Default)]
pub(super) struct Keys {
    waiting: Vec<u8>,
    /// What was pasted so far, while it is.
    paste: Option<Vec<u8>>,
}

/// What the next bytes are.
enum Next {
    /// A key, or something that is none, and how many bytes that is.
    Whole(Option<Key>, usize),
    /// The beginning of something.
    Part,
}

impl Keys {
    /// Takes what was read.
    pub(super) fn take(&mut self, bytes: &[u8]) -> Vec<Key> {
        self.waiting.extend_from_slice(bytes);
        let mut keys = Vec::new();
        while !self.waiting.is_empty() {
            if self.paste.is_some() {
                if !self.paste_on(&mut keys) {
                    break;
                }
                continue;
            }
            match next(&self.waiting) {
                Next::Part => {
                    // So long a sequence is no key, however it ends.
                    self.waiting.truncate(LONGEST);
                    break;
                }
                Next::Whole(key, taken) => {
                    if self.waiting.starts_with(PASTE_BEGINS) {
                        self.paste = Some(Vec::new());
                    }
                    keys.extend(key);
                    self.waiting.drain(..taken);
                }
            }
        }
        keys
    }

    /// Nothing followed for a while: what waits is all there is.
    pub(super) fn settle(&mut self) -> Vec<Key> {
        if self.paste.is_some() {
            return Vec::new();
        }
        let waiting = std::mem::take(&mut self.waiting);
        if waiting == [0x1b] { vec![Key::Escape] } else { Vec::new() }
    }

    /// Whether something began that is no key yet.
    pub(super) fn is_waiting(&self) -> bool {
        !self.waiting.is_empty() && self.paste.is_none()
    }

    /// Goes on with a paste; says whether it is over.
    fn paste_on(&mut self, keys: &mut Vec<Key>) -> bool {
        let end = self.waiting.windows(PASTE_ENDS.len()).position(|window| window == PASTE_ENDS);
        // The mark at the end may have come in part.
        let text = end.unwrap_or(self.waiting.len().saturating_sub(PASTE_ENDS.len() - 1));
        let pasted = self.paste.get_or_insert_default();
        let room = LONGEST_PASTE.saturating_sub(pasted.len());
        pasted.extend_from_slice(&self.waiting[..text.min(room)]);
        self.waiting.drain(..text + end.map_or(0, |_| PASTE_ENDS.len()));
        if end.is_some() {
            let pasted = self.paste.take().unwrap_or_default();
            keys.push(Key::Pasted(String::from_utf8_lossy(&pasted).into_owned()));
        }
        end.is_some()
    }
}

fn next(bytes: &[u8]) -> Next {
    match bytes {
        [0x1b] | [0x1b, b'O'] => Next::Part,
        [0x1b, b'[', rest @ ..] => control(rest),
        // Application mode.
        [0x1b, b'O', last, ..] => Next::Whole(cursor(*last), 3),
        [0x1b, 0x1b | 0x03, ..] => Next::Whole(Some(Key::Escape), 1),
        // A letter with Alt is no letter.
        [0x1b, rest @ ..] => match next(rest) {
            Next::Whole(_, taken) => Next::Whole(None, taken + 1),
            Next::Part => Next::Part,
        },
        [b'\r' | b'\n', ..] => Next::Whole(Some(Key::Enter), 1),
        [0x7f | 0x08, ..] => Next::Whole(Some(Key::Backspace), 1),
        [0x03, ..] => Next::Whole(Some(Key::Interrupt), 1),
        [0x15, ..] => Next::Whole(Some(Key::Erase), 1),
        [0..0x20, ..] | [] => Next::Whole(None, 1),
        _ => letter(bytes),
    }
}

/// After `ESC [`: parameters up to a last byte (ECMA-48, 5.4).
fn control(rest: &[u8]) -> Next {
    let Some(end) = rest.iter().position(|byte| !(0x20..0x40).contains(byte)) else {
        return Next::Part;
    };
    let key = match (&rest[..end], rest[end]) {
        (b"1" | b"7", b'~') => Some(Key::Home),
        (b"4" | b"8", b'~') => Some(Key::End),
        (b"5", b'~') => Some(Key::PageUp),
        (b"6", b'~') => Some(Key::PageDown),
        (b"", last) => cursor(last),
        _ => None,
    };
    // What is not a last byte was never part of it: a key that broke in.
    let taken = if (0x40..0x7f).contains(&rest[end]) { end + 1 } else { end };
    Next::Whole(key, taken + 2)
}

fn cursor(last: u8) -> Option<Key> {
    match last {
        b'A' => Some(Key::Up),
        b'B' => Some(Key::Down),
        b'H' => Some(Key::Home),
        b'F' => Some(Key::End),
        b'M' => Some(Key::Enter),
        _ => None,
    }
}

/// A letter in UTF-8; a byte that is none is passed over.
fn letter(bytes: &[u8]) -> Next {
    let Some(chunk) = bytes.utf8_chunks().next() else { return Next::Part };
    match chunk.valid().chars().next() {
        // The controls of Latin-1.
        Some(letter) if letter.is_control() => Next::Whole(None, letter.len_utf8()),
        Some(letter) => Next::Whole(Some(Key::Letter(letter)), letter.len_utf8()),
        // `utf8_chunks` gives the longest beginning of a letter at once: at the end of what was read, the rest may follow.
        None if chunk.invalid().len() == bytes.len() && begins_a_letter(bytes) => Next::Part,
        None => Next::Whole(None, chunk.invalid().len().max(1)),
    }
}

fn begins_a_letter(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn letters(text: &str) -> Vec<Key> {
        text.chars().map(Key::Letter).collect()
    }

    /// The same keys, however the bytes come in.
    fn check(bytes: &[u8], expect: &[Key]) {
        for size in [1, 2, 3, bytes.len().max(1)] {
            let mut keys = Keys::default();
            let mut seen: Vec<Key> = bytes.chunks(size).flat_map(|bytes| keys.take(bytes)).collect();
            seen.extend(keys.settle());
            assert_eq!(seen, expect, "{} in pieces of {size}", bytes.escape_ascii());
        }
    }

    #[test]
    fn keys_of_a_terminal() {
        use Key::{Backspace, Down, End, Enter, Erase, Escape, Home, Interrupt, PageDown, PageUp, Up};
        check(b"\x1b[A\x1b[B\x1bOA\x1bOB", &[Up, Down, Up, Down]);
        check(b"\x1b[5~\x1b[6~\x1b[H\x1b[F\x1b[1~\x1b[4~\x1bOH", &[PageUp, PageDown, Home, End, Home, End, Home]);
        check(b"\r\n\x7f\x08\x03\x15", &[Enter, Enter, Backspace, Backspace, Interrupt, Erase]);
        check(b"\x1b", &[Escape]);
        check(b"\x1b\x1b[A\x1b\x03", &[Escape, Up, Escape, Interrupt]);
        check("j k\u{e4}\u{4e16}\u{1f980}".as_bytes(), &letters("j k\u{e4}\u{4e16}\u{1f980}"));
    }

    #[test]
    fn what_is_no_key_is_passed_over_as_a_whole() {
        // Arrows with Shift, keys with Alt, mouse, answers of a terminal, broken UTF-8, what stays unfinished.
        check(b"\x1b[1;2Aj\x1bq\x1b[<0;3;4Mk\x1b[?62;1;6cx", &letters("jkx"));
        check("\x1b\u{e4}j".as_bytes(), &letters("j"));
        check(b"\x00\x1a\xffj\xe4\xb8k\xc2\x85", &letters("jk"));
        check(b"\x1b[12", &[]);
        check(b"\x1bO", &[]);
        check(b"\x1b[1\x03", &[Key::Interrupt]);
        check(&[b"\x1b[".as_slice(), &[b'1'; 200], b"Aj"].concat(), &letters("j"));
    }

    #[test]
    fn a_paste_is_no_keys() {
        check(b"\x1b[200~q\ry\n\x03\x1b[A\x1b[201~j", &[Key::Pasted("q\ry\n\x03\x1b[A".to_owned()), Key::Letter('j')]);
        check(b"\x1b[200~never ends\x1b\r", &[]);
        let mut keys = Keys::default();
        keys.take(b"\x1b[200~");
        for _ in 0..1000 {
            assert!(keys.take(&[b'x'; 1000]).is_empty() && keys.waiting.len() < 10);
        }
        let Some(Key::Pasted(text)) = keys.take(PASTE_ENDS).pop() else { panic!() };
        assert_eq!(text.len(), LONGEST_PASTE);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn any_bytes_end(bytes in prop::collection::vec(prop_oneof![Just(0x1b), Just(b'['), any::<u8>()], 0..64)) {
            let mut keys = Keys::default();
            keys.take(&bytes);
            keys.settle();
            prop_assert!(keys.paste.is_some() || keys.waiting.is_empty());
        }
    }
}
