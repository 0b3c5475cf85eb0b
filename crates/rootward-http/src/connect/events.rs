//! Parses `text/event-stream` incrementally by the WHATWG rules, with a limit on the size of an event.

use std::time::Duration;

use thiserror::Error;

/// The longest pause that a server can request before its stream is reopened.
const LONGEST_RETRY: Duration = Duration::from_mins(1);
/// The longest event id.
const LONGEST_ID: usize = 4096;

/// Splits a stream into events.
#[derive(Debug)]
pub(super) struct Events {
    limit: usize,
    buffer: Vec<u8>,
    /// Where the next line starts in the buffer.
    start: usize,
    /// How far the buffer was searched for the line's end.
    looked: usize,
    /// Whether the last line ended in a carriage return: a line feed right after it belongs to it.
    after_return: bool,
    /// Whether the first line was read.
    begun: bool,
    data: Option<Vec<u8>>,
    /// Whether the event has a name other than `message`.
    is_other: bool,
    id: Option<String>,
    last_id: Option<String>,
    retry: Option<Duration>,
}

/// An event exceeds the maximum message size.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("it sent a message of more than {} MiB", .0 >> 20)]
pub(super) struct TooLong(usize);

impl Events {
    /// A parser for events of up to `limit` bytes. `last_id` is the id of the last event if this stream resumes
    /// another.
    pub(super) fn new(limit: usize, last_id: Option<String>) -> Events {
        Events {
            limit,
            buffer: Vec::new(),
            start: 0,
            looked: 0,
            after_return: false,
            begun: false,
            data: None,
            is_other: false,
            id: last_id.clone(),
            last_id,
            retry: None,
        }
    }

    /// Sets a pause that the server requested earlier.
    pub(super) fn asking(self, retry: Option<Duration>) -> Events {
        Events { retry, ..self }
    }

    /// The id of the last event, for resuming the stream.
    pub(super) fn last_id(&self) -> Option<&str> {
        self.last_id.as_deref()
    }

    /// How long the server asks to wait before the stream is reopened.
    pub(super) fn retry(&self) -> Option<Duration> {
        self.retry
    }

    /// Adds received bytes.
    pub(super) fn add(&mut self, chunk: &[u8]) {
        self.buffer.drain(..self.start);
        self.looked -= self.start;
        self.start = 0;
        self.buffer.extend_from_slice(chunk);
    }

    /// The data of the next message event; `None` until more bytes arrive.
    pub(super) fn next(&mut self) -> Result<Option<Vec<u8>>, TooLong> {
        while let Some((from, to)) = self.line()? {
            if from == to {
                if let Some(data) = self.end_event() {
                    return Ok(Some(data));
                }
            } else {
                self.field(from, to)?;
            }
        }
        Ok(None)
    }

    /// The next line, without its end.
    fn line(&mut self) -> Result<Option<(usize, usize)>, TooLong> {
        if self.after_return && self.buffer.get(self.start) == Some(&b'\n') {
            self.start += 1;
            self.looked = self.looked.max(self.start);
        }
        self.after_return &= self.start == self.buffer.len();
        let Some(length) = memchr::memchr2(b'\n', b'\r', &self.buffer[self.looked..]) else {
            self.looked = self.buffer.len();
            // A field's name is short.
            return if self.looked - self.start > self.limit + 64 { Err(TooLong(self.limit)) } else { Ok(None) };
        };
        let (mut from, to) = (self.start, self.looked + length);
        self.after_return = self.buffer[to] == b'\r';
        self.start = to + 1;
        self.looked = self.start;
        if !self.begun {
            self.begun = true;
            from += if self.buffer[from..to].starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        }
        Ok(Some((from, to)))
    }

    fn field(&mut self, from: usize, to: usize) -> Result<(), TooLong> {
        let line = &self.buffer[from..to];
        let colon = memchr::memchr(b':', line).unwrap_or(line.len());
        let value = line.get(colon + 1..).unwrap_or_default();
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match &line[..colon] {
            b"data" => {
                let data = match &mut self.data {
                    Some(data) => {
                        data.push(b'\n');
                        data
                    }
                    None => self.data.insert(Vec::new()),
                };
                if data.len() + value.len() > self.limit {
                    return Err(TooLong(self.limit));
                }
                data.extend_from_slice(value);
            }
            b"event" => self.is_other = !matches!(value, b"" | b"message"),
            b"id" if !value.contains(&0) && value.len() <= LONGEST_ID => {
                self.id = std::str::from_utf8(value).ok().filter(|id| !id.is_empty()).map(str::to_owned);
            }
            b"retry" => {
                let milliseconds = std::str::from_utf8(value).ok().and_then(|text| text.parse().ok());
                self.retry = milliseconds.map(|time| Duration::from_millis(time).min(LONGEST_RETRY)).or(self.retry);
            }
            // A comment, or an unknown field.
            _ => {}
        }
        Ok(())
    }

    /// Handles an empty line, which ends an event. An event without data only sets the id.
    fn end_event(&mut self) -> Option<Vec<u8>> {
        self.last_id.clone_from(&self.id);
        let is_other = std::mem::take(&mut self.is_other);
        self.data.take().filter(|data| !is_other && !data.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the events of a stream that arrives in pieces of any size.
    fn check(stream: &str, expect: &[&str], last_id: Option<&str>) {
        for size in [1, 2, 3, 7, 1 << 20] {
            let mut events = Events::new(100, None);
            let mut found = Vec::new();
            for chunk in stream.as_bytes().chunks(size) {
                events.add(chunk);
                while let Some(data) = events.next().unwrap() {
                    found.push(String::from_utf8(data).unwrap());
                }
            }
            assert_eq!(found, expect, "{stream:?} by {size}");
            assert_eq!(events.last_id(), last_id, "{stream:?} by {size}");
        }
    }

    #[test]
    fn events_are_cut_from_a_stream() {
        check("data: a\n\ndata:b\r\n\r\ndata: c\r\rdata: d", &["a", "b", "c"], None);
        check("\u{feff}data: a\n\n", &["a"], None);
        check("data: a\ndata: b\n\n", &["a\nb"], None);
        check(": comment\n\nid: 7\ndata:\n\n", &[], Some("7"));
        check("id: 7\ndata: x\n\nid\ndata: y\n\n", &["x", "y"], None);
        check("id: 7\ndata: x\n\nid: 8\ndata: y\n", &["x"], Some("7"));
        check("event: ping\ndata: x\n\nevent: message\ndata: y\n\ndata: z\n\n", &["y", "z"], None);
        check("unknown: x\ndata\ndata: y\n\n", &["\ny"], None);
    }

    #[test]
    fn an_event_over_the_limit_is_an_error() {
        for stream in [format!("data: {}\n\n", "x".repeat(200)), "data: 0123456789\n".repeat(20), "x".repeat(200)] {
            let mut events = Events::new(100, None);
            events.add(stream.as_bytes());
            assert_eq!(events.next(), Err(TooLong(100)), "{stream}");
        }
    }

    #[test]
    fn the_pause_that_a_server_asks_for() {
        let mut events = Events::new(100, None);
        events.add(b"retry: 1500\nretry: soon\n\n");
        assert_eq!(events.next(), Ok(None));
        assert_eq!(events.retry(), Some(Duration::from_millis(1500)));
        events.add(b"retry: 86400000\n\n");
        assert_eq!(events.next(), Ok(None));
        assert_eq!(events.retry(), Some(LONGEST_RETRY));
    }
}
