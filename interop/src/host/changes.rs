//! What the user does to the roots, and who sees it.

/// A change, and what is shared after it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Change {
    /// The verb of `rootward roots`.
    pub(super) verb: &'static str,
    pub(super) root: &'static str,
    pub(super) more: &'static [&'static str],
    /// What is for all.
    all: &'static [&'static str],
    /// What is for the server `python` alone.
    python: &'static [&'static str],
}

/// The first is there before anybody is connected.
pub(super) const CHANGES: &[Change] = &[
    Change { verb: "add", root: "one", more: &[], all: &["one"], python: &[] },
    Change { verb: "add", root: "two", more: &[], all: &["one", "two"], python: &[] },
    Change { verb: "add", root: "three", more: &["--for", "python"], all: &["one", "two"], python: &["three"] },
    Change { verb: "remove", root: "one", more: &[], all: &["two"], python: &["three"] },
    Change { verb: "remove", root: "three", more: &["--for", "python"], all: &["two"], python: &[] },
    Change { verb: "add", root: "one", more: &[], all: &["two", "one"], python: &[] },
];

impl Change {
    /// What a server sees after it.
    pub(super) fn seen_by(&self, server: &str) -> impl Iterator<Item = &'static str> {
        let own = if server == "python" { self.python } else { &[] };
        // In the order of the file, to which a new root is added last.
        self.all.iter().chain(own).copied()
    }
}
