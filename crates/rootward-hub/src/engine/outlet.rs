//! Bytes that wait to be written to a pipe.

use std::mem;

/// How much capacity an empty outlet keeps. One huge message must not hold its memory forever, but allocating again
/// for each large file would cost more than forwarding it.
const KEPT: usize = 1 << 21;

/// A byte queue.
#[derive(Debug, Default)]
pub(crate) struct Outlet {
    bytes: Vec<u8>,
    written: usize,
}

impl Outlet {
    /// Appends a message and a line break.
    pub(crate) fn push(&mut self, message: &str) {
        self.push_bytes(message.as_bytes());
    }

    /// Like [`Outlet::push`], for bytes.
    pub(crate) fn push_bytes(&mut self, message: &[u8]) {
        self.make_way();
        self.bytes.reserve(message.len() + 1);
        self.bytes.extend_from_slice(message);
        self.bytes.push(b'\n');
    }

    /// Like [`Outlet::push_bytes`]. If the outlet is empty, it swaps buffers with `message` instead of copying.
    pub(crate) fn push_buffer(&mut self, message: &mut Vec<u8>) {
        if self.is_empty() {
            self.clear();
            mem::swap(&mut self.bytes, message);
            self.bytes.push(b'\n');
        } else {
            self.push_bytes(message);
        }
    }

    /// Appends a message that `write` produces, and a line break.
    pub(crate) fn push_with(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        self.make_way();
        write(&mut self.bytes);
        self.bytes.push(b'\n');
    }

    /// The pending bytes.
    pub(crate) fn waiting(&self) -> &[u8] {
        &self.bytes[self.written..]
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.written == self.bytes.len()
    }

    /// Takes the pending bytes.
    pub(crate) fn take(&mut self) -> Vec<u8> {
        let mut taken = mem::take(&mut self.bytes);
        taken.drain(..mem::take(&mut self.written));
        taken
    }

    /// Removes bytes that were written.
    pub(crate) fn advance(&mut self, count: usize) {
        self.written += count;
        if self.is_empty() {
            self.clear();
        }
    }

    /// Drops written bytes before more are added, so that a reader that is always slightly behind does not make the
    /// buffer grow forever.
    fn make_way(&mut self) {
        if self.written > self.bytes.len() / 2 {
            self.bytes.drain(..self.written);
            self.written = 0;
        }
    }

    /// Drops everything: the reader is gone.
    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.bytes.shrink_to(KEPT);
        self.written = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_bytes_are_removed_in_order() {
        let mut outlet = Outlet::default();
        outlet.push("ab");
        outlet.push_with(|bytes| bytes.extend_from_slice(b"c"));
        outlet.advance(1);
        assert_eq!(outlet.waiting(), b"b\nc\n");
        outlet.push("d");
        outlet.advance(4);
        assert_eq!(outlet.waiting(), b"d\n");
        outlet.advance(2);
        assert!(outlet.is_empty());
    }

    #[test]
    fn an_empty_outlet_takes_the_buffer() {
        let (mut outlet, mut buffer) = (Outlet::default(), b"ab".to_vec());
        outlet.push_buffer(&mut buffer);
        assert_eq!((outlet.waiting(), buffer.as_slice()), (&b"ab\n"[..], &b""[..]));
        outlet.advance(2);
        buffer.extend_from_slice(b"c");
        outlet.push_buffer(&mut buffer);
        assert_eq!(outlet.waiting(), b"\nc\n");
        outlet.advance(3);
        outlet.push_buffer(&mut b"d".to_vec());
        assert_eq!(outlet.waiting(), b"d\n");
    }

    #[test]
    fn a_reader_that_is_always_behind_costs_no_memory() {
        let mut outlet = Outlet::default();
        outlet.push(&"x".repeat(1000));
        for _ in 0..10_000 {
            outlet.push(&"y".repeat(99));
            outlet.advance(100);
        }
        assert_eq!(outlet.waiting().len(), 1001);
        assert!(outlet.bytes.capacity() < 10_000, "{}", outlet.bytes.capacity());
    }
}
