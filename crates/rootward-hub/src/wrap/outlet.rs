//! What waits to be written to a pipe.

/// How much room an outlet keeps that has nothing to write: one large message must not hold its memory for ever.
const KEPT: usize = 1 << 18;

/// Bytes in order, written from the front.
#[derive(Debug, Default)]
pub(super) struct Outlet {
    bytes: Vec<u8>,
    written: usize,
}

impl Outlet {
    /// Adds a message and the end of its line.
    pub(super) fn push(&mut self, message: &str) {
        self.bytes.reserve(message.len() + 1);
        self.bytes.extend_from_slice(message.as_bytes());
        self.bytes.push(b'\n');
    }

    /// Adds a message that `write` writes, and the end of its line.
    pub(super) fn push_with(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        write(&mut self.bytes);
        self.bytes.push(b'\n');
    }

    /// What waits.
    pub(super) fn waiting(&self) -> &[u8] {
        &self.bytes[self.written..]
    }

    pub(super) fn is_empty(&self) -> bool {
        self.written == self.bytes.len()
    }

    /// So much was written.
    pub(super) fn advance(&mut self, count: usize) {
        self.written += count;
        if self.is_empty() {
            self.clear();
        } else if self.written > KEPT && self.written > self.bytes.len() / 2 {
            // Where one side is always a little behind, nothing is ever all written.
            self.bytes.drain(..std::mem::take(&mut self.written));
        }
    }

    /// Nobody is left to write to.
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.bytes.shrink_to(KEPT);
        self.written = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_gone_and_the_rest_keeps_its_order() {
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
    fn an_outlet_that_is_never_empty_does_not_grow() {
        let mut outlet = Outlet::default();
        let message = "x".repeat(KEPT - 1);
        outlet.push(&message);
        for _ in 0..64 {
            outlet.push(&message);
            outlet.advance(KEPT);
        }
        assert_eq!(outlet.waiting().len(), KEPT);
        assert!(outlet.bytes.len() <= 4 * KEPT, "{}", outlet.bytes.len());
    }
}
