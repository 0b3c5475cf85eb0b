//! How far a scan goes, so that no tree keeps it for ever.

use std::time::Duration;

use serde::Serialize;

/// How far a scan goes at the most. Where a limit is met, the result says so ([`Bound`]).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// How many directories down; 0 looks at the directory itself only.
    pub depth: usize,
    /// How many files and directories are seen.
    pub entries: u64,
    /// How long it takes.
    pub time: Duration,
    /// How many suggestions are made.
    pub suggestions: usize,
    /// The largest manifest that is read, in bytes; a larger one counts without its name.
    pub manifest: u64,
}

/// Eight directories down, two million entries, half a minute, ten thousand suggestions, manifests of a mebibyte.
impl Default for Limits {
    fn default() -> Limits {
        Limits { depth: 8, entries: 2_000_000, time: Duration::from_secs(30), suggestions: 10_000, manifest: 1 << 20 }
    }
}

/// A limit that was met: there may be more to find.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    /// Some directories lie deeper.
    Depth,
    /// There are more entries.
    Entries,
    /// It took too long.
    Time,
    /// There are more suggestions.
    Suggestions,
}
