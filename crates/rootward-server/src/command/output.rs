//! The output of a command, limited to its beginning and its end.

use std::collections::VecDeque;

/// How much to keep of the beginning, and how much of the end.
const HALF: usize = 128 << 10;

/// The output of a command on one stream: at most 256 KiB, from the beginning and the end.
#[derive(Debug, Default)]
pub struct CommandOutput {
    beginning: Vec<u8>,
    end: VecDeque<u8>,
    /// How many bytes in the middle were dropped.
    missing: u64,
}

impl CommandOutput {
    pub(super) fn add(&mut self, bytes: &[u8]) {
        let (first, rest) = bytes.split_at(bytes.len().min(HALF - self.beginning.len()));
        self.beginning.extend_from_slice(first);
        self.end.extend(rest);
        let surplus = self.end.len().saturating_sub(HALF);
        self.end.drain(..surplus);
        self.missing += surplus as u64;
    }

    /// How many bytes were dropped.
    pub fn missing(&self) -> u64 {
        self.missing
    }

    /// The output as text, with a note where bytes were dropped. Invalid UTF-8 is replaced.
    pub fn into_text(self) -> String {
        self.text()
    }

    /// Like [`CommandOutput::into_text`], by reference.
    pub(super) fn text(&self) -> String {
        let mut bytes = self.beginning.clone();
        if self.missing > 0 {
            let says = format!("\n[{} bytes are not shown here: write to a file and read parts of it]\n", self.missing);
            bytes.extend_from_slice(says.as_bytes());
        }
        bytes.extend(&self.end);
        String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_gives_way() {
        let mut output = CommandOutput::default();
        for piece in [100, HALF, HALF - 100] {
            output.add(&vec![b'a'; piece]);
        }
        assert_eq!((output.missing(), output.beginning.len() + output.end.len()), (0, 2 * HALF));
        output.add(b"the end");
        assert_eq!(output.missing(), 7);
        output.add(&vec![b'b'; 10 * HALF]);
        assert_eq!(output.beginning.len() + output.end.len(), 2 * HALF);
        let text = output.into_text();
        assert!(text.starts_with("aaa") && text.ends_with("bbb"));
        assert!(text.contains(&format!("[{} bytes are not shown here", 10 * HALF + 7)));
    }

    #[test]
    fn invalid_utf8_is_replaced() {
        let mut output = CommandOutput::default();
        output.add(b"a\xffb");
        assert_eq!(output.into_text(), "a\u{fffd}b");
    }
}
