//! The changes that the user makes to the roots, and which servers see them.

/// A change, and the roots that are shared after it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Change {
    /// The verb of `rootward roots`.
    pub(super) verb: &'static str,
    pub(super) root: &'static str,
    pub(super) more: &'static [&'static str],
    /// The roots that all servers see.
    all: &'static [&'static str],
    /// The roots that only the server `python` sees.
    python: &'static [&'static str],
}

/// The first change is made before any server is connected.
pub(super) const CHANGES: &[Change] = &[
    Change { verb: "add", root: "one", more: &[], all: &["one"], python: &[] },
    Change { verb: "add", root: "two", more: &[], all: &["one", "two"], python: &[] },
    Change { verb: "add", root: "three", more: &["--for", "python"], all: &["one", "two"], python: &["three"] },
    Change { verb: "remove", root: "one", more: &[], all: &["two"], python: &["three"] },
    Change { verb: "remove", root: "three", more: &["--for", "python"], all: &["two"], python: &[] },
    Change { verb: "add", root: "one", more: &[], all: &["two", "one"], python: &[] },
];

impl Change {
    /// The roots that a server sees after the change.
    pub(super) fn seen_by(&self, server: &str) -> impl Iterator<Item = &'static str> {
        let own = if server == "python" { self.python } else { &[] };
        // In the order of the file: a new root is added at its end.
        self.all.iter().chain(own).copied()
    }
}
