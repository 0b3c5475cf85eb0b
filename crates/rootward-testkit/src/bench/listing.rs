//! A parallel listing like `fd`'s, with the same crate: `ignore`, with gitignore on.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use ignore::{DirEntry, ParallelVisitor, ParallelVisitorBuilder, WalkBuilder, WalkState};

/// Counts all entries. Like Rootward's own walks, it includes hidden files and does not need a repository, and it ignores rules
/// from parent directories and the global file.
pub fn list(top: &Path, threads: usize) -> u64 {
    let mut builder = WalkBuilder::new(top);
    builder.hidden(false).parents(false).git_global(false).require_git(false).threads(threads);
    let total = AtomicU64::new(0);
    builder.build_parallel().visit(&mut Counting(&total));
    total.into_inner()
}

struct Counting<'t>(&'t AtomicU64);

/// One thread's count, so that the threads do not compete for one number.
struct Counter<'t> {
    total: &'t AtomicU64,
    seen: u64,
}

impl<'t> ParallelVisitorBuilder<'t> for Counting<'t> {
    fn build(&mut self) -> Box<dyn ParallelVisitor + 't> {
        Box::new(Counter { total: self.0, seen: 0 })
    }
}

impl ParallelVisitor for Counter<'_> {
    fn visit(&mut self, entry: Result<DirEntry, ignore::Error>) -> WalkState {
        // Entries that cannot be listed do not count; the benchmark compares the totals.
        if let Ok(entry) = entry {
            std::hint::black_box(entry.path());
            // The start itself does not count.
            self.seen += u64::from(entry.depth() > 0);
        }
        WalkState::Continue
    }
}

impl Drop for Counter<'_> {
    fn drop(&mut self) {
        self.total.fetch_add(self.seen, Ordering::Relaxed);
    }
}
