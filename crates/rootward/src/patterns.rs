//! Patterns among the operator's roots, expanded again while servers run: directories come and go.

use rootward_core::{Root, RootSet, Validation};

/// Patterns, and their last matches.
#[derive(Clone, Debug)]
pub(crate) struct Patterns {
    roots: Vec<Root>,
    validation: Validation,
    last: RootSet,
}

impl Patterns {
    /// The patterns among these roots. Does nothing if there are none.
    pub(crate) fn new_ambient(roots: impl IntoIterator<Item = Root>, validation: Validation) -> Patterns {
        let roots: Vec<Root> = roots.into_iter().collect();
        // All roots or none: whether a match adds something depends on the other roots.
        let roots = if roots.iter().any(|root| root.pattern().is_some()) { roots } else { Vec::new() };
        let last = RootSet::place_ambient(roots.iter().cloned(), &validation);
        Patterns { roots, validation, last }
    }

    /// Whether there are any.
    #[cfg(all(feature = "serve", feature = "roots"))]
    pub(crate) fn has_any(&self) -> bool {
        !self.roots.is_empty()
    }

    /// Whether they match other directories than before.
    pub(crate) fn changed_ambient(&mut self) -> bool {
        if self.roots.is_empty() {
            return false;
        }
        let now = RootSet::place_ambient(self.roots.iter().cloned(), &self.validation);
        let changed = now != self.last;
        self.last = now;
        changed
    }
}
