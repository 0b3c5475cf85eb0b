//! Server-sent events: their ids, and how a message is written as one.

use std::fmt::Write as _;

use bytes::{BufMut, Bytes, BytesMut};
use memchr::memchr2;

/// Messages of at least this size are sent from their own buffer instead of being copied into the event.
const LARGE: usize = 1 << 14;

/// How long a client waits before it resumes a broken stream.
const RETRY_MILLISECONDS: u32 = 1000;

/// Sent so that intermediaries see that a stream is alive.
pub(crate) const KEEP_ALIVE: Bytes = Bytes::from_static(b":\n\n");

/// The id of an event: a stream of the session, and a position in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct EventId {
    pub(crate) stream: u32,
    pub(crate) position: u64,
}

impl EventId {
    /// Parses an id that this front wrote.
    pub(crate) fn read(text: &str) -> Option<EventId> {
        let (stream, position) = text.split_once('-')?;
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        if !is_number(stream) || !is_number(position) {
            return None;
        }
        Some(EventId { stream: stream.parse().ok()?, position: position.parse().ok()? })
    }
}

/// An event in pieces, so that a large message is not copied.
pub(crate) type Pieces = smallvec::SmallVec<[Bytes; 3]>;

/// The event for a message.
pub(crate) fn event(id: Option<EventId>, message: &Bytes) -> Pieces {
    let mut head = BytesMut::with_capacity(if message.len() < LARGE { message.len() + 40 } else { 40 });
    if let Some(EventId { stream, position }) = id {
        // Writing to memory does not fail.
        let _ = writeln!(head, "id: {stream}-{position}");
    }
    head.put_slice(b"data: ");
    if message.len() < LARGE {
        head.put_slice(message);
        head.put_slice(b"\n\n");
        return Pieces::from_iter([head.freeze()]);
    }
    Pieces::from_iter([head.freeze(), message.clone(), Bytes::from_static(b"\n\n")])
}

/// The event without a message at the start of a stream. With its id, a client can resume before the first message.
pub(crate) fn priming(stream: u32) -> Bytes {
    Bytes::from(format!("id: {stream}-0\nretry: {RETRY_MILLISECONDS}\ndata: \n\n"))
}

/// Puts a message on one line. Outside strings a JSON line break is only white space, and strings contain none.
pub(crate) fn in_one_line(message: Bytes) -> Bytes {
    if memchr2(b'\n', b'\r', &message).is_none() {
        return message;
    }
    let line: Vec<u8> = message.iter().map(|byte| if matches!(byte, b'\n' | b'\r') { b' ' } else { *byte }).collect();
    Bytes::from(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_read_as_it_was_written() {
        let check = |text: &str, expect: Option<(u32, u64)>| {
            assert_eq!(EventId::read(text).map(|id| (id.stream, id.position)), expect, "{text}");
        };
        check("0-0", Some((0, 0)));
        check("12-345", Some((12, 345)));
        for text in
            ["", "-", "1", "1-", "-1", "+1-2", "1-+2", "1--2", "1-2-3", "a-b", "1-99999999999999999999", "4294967296-1"]
        {
            check(text, None);
        }
    }

    #[test]
    fn a_message_is_one_event_whatever_its_size() {
        let id = EventId { stream: 3, position: 7 };
        for length in [0, 10, LARGE - 1, LARGE, LARGE * 2] {
            let message = Bytes::from("x".repeat(length));
            let whole = event(Some(id), &message).concat();
            assert_eq!(whole, format!("id: 3-7\ndata: {}\n\n", "x".repeat(length)).into_bytes());
        }
        assert_eq!(event(None, &Bytes::from_static(b"{}")).concat(), b"data: {}\n\n");
    }

    #[test]
    fn a_message_of_several_lines_becomes_one() {
        let check =
            |text: &'static str, expect: &str| assert_eq!(in_one_line(Bytes::from_static(text.as_bytes())), expect);
        check("{\r\n \"a\": 1\n}", "{   \"a\": 1 }");
        check("{}", "{}");
    }
}
