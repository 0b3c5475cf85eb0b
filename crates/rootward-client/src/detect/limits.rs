//! Limits on a scan, so that it always ends.

use std::time::Duration;

use serde::Serialize;

/// How far a scan goes at most. If a limit is reached, the result says so ([`Bound`]).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// How many directories deep; 0 looks only at the directory itself.
    pub depth: usize,
    /// How many files and directories to visit.
    pub entries: u64,
    /// How long it may take.
    pub time: Duration,
    /// How many suggestions to make.
    pub suggestions: usize,
    /// The largest manifest to read, in bytes; a larger one counts without its name.
    pub manifest: u64,
}

/// Eight directories down, two million entries, half a minute, ten thousand suggestions, manifests of a mebibyte.
impl Default for Limits {
    fn default() -> Limits {
        Limits { depth: 8, entries: 2_000_000, time: Duration::from_secs(30), suggestions: 10_000, manifest: 1 << 20 }
    }
}

/// A limit that was reached: there may be more to find.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    /// Some directories are deeper.
    Depth,
    /// There are more entries.
    Entries,
    /// It took too long.
    Time,
    /// There are more suggestions.
    Suggestions,
}
