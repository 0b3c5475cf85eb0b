//! The messages of one stream: first those that were read and are kept, then those that were not read yet.

use std::collections::VecDeque;

use bytes::Bytes;

/// The messages of one stream. Positions start at 1; the event without a message at the start of a stream has
/// position 0.
#[derive(Debug, Default)]
pub(super) struct Log {
    messages: VecDeque<Bytes>,
    bytes: usize,
    /// How many messages were dropped before the first one that is kept.
    dropped: u64,
    /// How many of the messages in the log were read.
    taken: usize,
    taken_bytes: usize,
}

/// What a reader gets.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Next {
    /// The message at this position.
    Message(u64, Bytes),
    /// None yet.
    Pending,
    /// No more.
    End,
}

impl Log {
    pub(super) fn push(&mut self, message: Bytes) {
        self.bytes += message.len();
        self.messages.push_back(message);
    }

    /// The next unread message, and its position.
    pub(super) fn take(&mut self) -> Option<(u64, Bytes)> {
        let message = self.messages.get(self.taken)?.clone();
        self.taken += 1;
        self.taken_bytes += message.len();
        Some((self.dropped + self.taken as u64, message))
    }

    /// Goes back, so that the next message is the one after this position, or the first one that is left.
    pub(super) fn rewind(&mut self, position: u64) {
        let taken = usize::try_from(position.saturating_sub(self.dropped)).unwrap_or(usize::MAX);
        self.taken = taken.min(self.messages.len());
        self.taken_bytes = self.messages.iter().take(self.taken).map(Bytes::len).sum();
    }

    /// The number and total size of messages that are kept only for resumption. Without a reader, all are.
    pub(super) fn kept(&self, has_reader: bool) -> (usize, usize) {
        if has_reader { (self.taken, self.taken_bytes) } else { (self.messages.len(), self.bytes) }
    }

    /// Drops the oldest message. Returns its size.
    pub(super) fn drop_first(&mut self) -> usize {
        let Some(message) = self.messages.pop_front() else { return 0 };
        self.dropped += 1;
        self.bytes -= message.len();
        if self.taken > 0 {
            self.taken -= 1;
            self.taken_bytes -= message.len();
        }
        message.len()
    }

    /// Whether too many messages wait for the reader. A single one may wait, whatever its size.
    pub(super) fn is_over(&self, most: usize, most_bytes: usize) -> bool {
        let waiting = self.messages.len() - self.taken;
        waiting > most || (waiting > 1 && self.bytes - self.taken_bytes > most_bytes)
    }

    pub(super) fn is_read(&self) -> bool {
        self.taken == self.messages.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(messages: &[&'static str]) -> Log {
        let mut log = Log::default();
        for message in messages {
            log.push(Bytes::from_static(message.as_bytes()));
        }
        log
    }

    fn taken(log: &mut Log) -> Vec<(u64, String)> {
        std::iter::from_fn(|| log.take())
            .map(|(at, message)| (at, String::from_utf8_lossy(&message).into_owned()))
            .collect()
    }

    #[test]
    fn a_log_goes_back_as_far_as_it_is_kept() {
        let mut log = log(&["a", "bb", "ccc"]);
        assert_eq!(taken(&mut log).len(), 3);
        assert_eq!((log.kept(true), log.is_read()), ((3, 6), true));
        let check = |log: &mut Log, position: u64, expect: &[(u64, &str)]| {
            log.rewind(position);
            let expect: Vec<_> = expect.iter().map(|(at, message)| (*at, (*message).to_owned())).collect();
            assert_eq!(taken(log), expect, "after {position}");
        };
        check(&mut log, 0, &[(1, "a"), (2, "bb"), (3, "ccc")]);
        check(&mut log, 2, &[(3, "ccc")]);
        check(&mut log, 3, &[]);
        check(&mut log, 99, &[]);
        assert_eq!(log.drop_first(), 1);
        check(&mut log, 0, &[(2, "bb"), (3, "ccc")]);
        check(&mut log, 2, &[(3, "ccc")]);
        log.rewind(2);
        assert_eq!((log.kept(true), log.kept(false)), ((1, 2), (2, 5)));
    }

    #[test]
    fn one_message_may_wait_whatever_its_size() {
        assert!(!log(&["aaaa"]).is_over(1, 2));
        assert!(log(&["a", "aa"]).is_over(5, 2));
        assert!(!log(&["a", "a"]).is_over(2, 2));
        assert!(log(&["a", "a", "a"]).is_over(2, 20));
        let mut read = log(&["a", "a", "a"]);
        read.take();
        assert!(!read.is_over(2, 20));
    }
}
