//! The progress of a long scan: one line on standard error, if that is a terminal.

use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rootward_client::detect::Progress;
use rootward_core::Shown as Safe;

/// A scan that ends sooner needs no progress line.
const AFTER: Duration = Duration::from_millis(300);

/// How much of a path to show, so that it fits in one line.
const LONGEST: usize = 40;

pub(super) struct Shown {
    terminal: bool,
    dirty: AtomicBool,
}

impl Shown {
    pub(super) fn on_terminal() -> Shown {
        Shown { terminal: io::stderr().is_terminal(), dirty: AtomicBool::new(false) }
    }

    pub(super) fn tell(&self, progress: &Progress<'_>) {
        if self.terminal && progress.elapsed >= AFTER {
            self.dirty.store(true, Ordering::Relaxed);
            let at: String = Safe::new(progress.at).to_string().chars().take(LONGEST).collect();
            put(&format!("\r{} files seen, {} found: {at}\x1b[K", progress.visited, progress.found));
        }
    }

    /// Erases the line.
    pub(super) fn clear(&self) {
        if self.dirty.load(Ordering::Relaxed) {
            put("\r\x1b[K");
        }
    }
}

fn put(text: &str) {
    // If standard error is closed, there is nobody left to tell.
    let mut stderr = io::stderr().lock();
    let _ = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
}
