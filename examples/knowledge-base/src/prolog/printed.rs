//! The beginning of what a program prints, up to a limit. A mark at the end says that the output is complete.

use std::fmt::Write;
use std::io::Read;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The maximum length to keep.
const MOST: usize = 64 << 10;

/// How much of the end to search for the mark.
const TAIL: usize = 256;

/// The output since the last request began.
#[derive(Debug, Default)]
pub(super) struct Printed {
    kept: Mutex<Kept>,
    came: Condvar,
}

#[derive(Debug, Default)]
struct Kept {
    beginning: Vec<u8>,
    tail: Vec<u8>,
    missing: usize,
    ended: bool,
}

impl Printed {
    /// Collects all output until the end of the stream, in a thread.
    pub(super) fn take_all(self: &Arc<Printed>, mut from: impl Read + Send + 'static) {
        let printed = Arc::clone(self);
        std::thread::spawn(move || {
            let mut buffer = [0; 16 << 10];
            while let Ok(read @ 1..) = from.read(&mut buffer) {
                printed.add(&buffer[..read]);
            }
            printed.lock().ended = true;
            printed.came.notify_all();
        });
    }

    fn add(&self, bytes: &[u8]) {
        let mut kept = self.lock();
        let room = bytes.len().min(MOST - kept.beginning.len());
        kept.beginning.extend_from_slice(&bytes[..room]);
        kept.missing += bytes.len() - room;
        kept.tail.extend_from_slice(bytes);
        let surplus = kept.tail.len().saturating_sub(TAIL);
        kept.tail.drain(..surplus);
        drop(kept);
        self.came.notify_all();
    }

    /// Discards the output before this request.
    pub(super) fn begin(&self) {
        let mut kept = self.lock();
        let ended = kept.ended;
        *kept = Kept { ended, ..Kept::default() };
    }

    /// The output up to this mark, or to the end of the stream.
    pub(super) fn up_to(&self, mark: &str, patience: Duration) -> String {
        let mark = format!("{mark}\n");
        let until = Instant::now() + patience;
        let mut kept = self.lock();
        while !kept.ended && !ends_with_mark(&kept.tail, &mark) {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            kept = self.came.wait_timeout(kept, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        let mut text = String::from_utf8_lossy(&kept.beginning).into_owned();
        if let Some(end) = text.rfind(&mark) {
            text.truncate(end);
        } else if kept.missing > 0 {
            let missing = kept.missing.saturating_sub(mark.len());
            // Writing to a string cannot fail.
            let _ = write!(text, "\n[{missing} more bytes not shown]\n");
        }
        text
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn ends_with_mark(tail: &[u8], mark: &str) -> bool {
    String::from_utf8_lossy(tail).contains(mark)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_output_is_cut_and_its_mark_is_found() {
        let printed = Arc::new(Printed::default());
        printed.add(&vec![b'a'; 3 * MOST]);
        printed.add(b"\nnonce\n");
        let text = printed.up_to("nonce", Duration::from_mins(1));
        assert!(text.starts_with("aaa") && text.ends_with(&format!("\n[{} more bytes not shown]\n", 2 * MOST + 1)));
        printed.begin();
        printed.add(b"hello\nnonce\n");
        assert_eq!(printed.up_to("nonce", Duration::from_mins(1)), "hello\n");
    }
}
