//! The difference between two states of the store, for the audit log and for running processes.

use std::path::Path;

use rootward_core::{ChangeEvent, Closed, RootChange, Shown, Yes};

use super::Record;
use super::saved::{Insistence, Kept, Restrict, SavedRoot};

/// What happened to one root.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SavedChange {
    /// It is new.
    Added(SavedRoot),
    /// It is gone.
    Removed(SavedRoot),
    /// It still exists, and something about it is different.
    Changed {
        /// As it was.
        before: SavedRoot,
        /// As it is.
        after: SavedRoot,
    },
}

/// The differences, in file order; removed roots first.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Changes(Vec<SavedChange>);

impl Changes {
    /// Compares two states. Entries are matched by path and audience, and otherwise by path.
    pub fn between(before: &Kept, after: &Kept) -> Changes {
        let mut old: Vec<Option<&SavedRoot>> = before.roots.iter().map(Some).collect();
        let mut pairs: Vec<(Option<&SavedRoot>, &SavedRoot)> = after.roots.iter().map(|root| (None, root)).collect();
        let same_path = |one: &SavedRoot, other: &SavedRoot| one.path == other.path;
        let same_entry = |one: &SavedRoot, other: &SavedRoot| same_path(one, other) && one.audience == other.audience;
        for same in [&same_entry as &dyn Fn(&SavedRoot, &SavedRoot) -> bool, &same_path] {
            for (found, new) in pairs.iter_mut().filter(|(found, _)| found.is_none()) {
                *found = old.iter_mut().find(|root| root.is_some_and(|root| same(root, new))).and_then(Option::take);
            }
        }
        let removed = old.into_iter().flatten().cloned().map(SavedChange::Removed);
        let others = pairs.into_iter().filter_map(|(found, new)| match found {
            None => Some(SavedChange::Added(new.clone())),
            Some(old) if old == new => None,
            Some(old) => Some(SavedChange::Changed { before: old.clone(), after: new.clone() }),
        });
        Changes(removed.chain(others).collect())
    }

    /// Each of them.
    pub fn iter(&self) -> std::slice::Iter<'_, SavedChange> {
        self.0.iter()
    }

    /// Whether nothing differs.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Each of them as an event for the audit log.
    pub(super) fn events(&self, record: &Record<'_>) -> impl Iterator<Item = ChangeEvent> {
        self.iter().flat_map(move |change| change.events(record))
    }
}

impl<'c> IntoIterator for &'c Changes {
    type Item = &'c SavedChange;
    type IntoIter = std::slice::Iter<'c, SavedChange>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl SavedChange {
    /// A name and access that changed together are two events.
    fn events(&self, record: &Record<'_>) -> Vec<ChangeEvent> {
        let event = |change, root| event(change, root, Yes::Always, record);
        match self {
            SavedChange::Added(root) => vec![event(RootChange::Add, root)],
            SavedChange::Removed(root) => vec![event(RootChange::Remove, root)],
            SavedChange::Changed { before, after } => {
                let renamed = (before.name != after.name).then(|| event(RootChange::Rename, after));
                let but_for_the_name = SavedRoot { name: after.name.clone(), ..before.clone() };
                let granted = (but_for_the_name != *after).then(|| event(RootChange::Grant, after));
                renamed.into_iter().chain(granted).collect()
            }
        }
    }
}

/// A change as an event for the audit log.
pub(crate) fn event(change: RootChange, root: &SavedRoot, consent: Yes, record: &Record<'_>) -> ChangeEvent {
    let restrict = |restrict: &Restrict| match restrict.closed {
        Closed::Entirely => restrict.pattern.clone(),
        Closed::ForWriting => format!("{} (writing)", restrict.pattern),
    };
    ChangeEvent {
        time: record.time,
        requester: record.requester.to_owned(),
        change,
        root: shown(&root.path),
        name: root.name.clone(),
        access: root.access,
        restrict: root.restrict.iter().map(restrict).collect(),
        peers: root.audience.names().map(<[String]>::to_vec),
        forced: root.insistence == Insistence::Forced,
        consent,
    }
}

fn shown(path: &Path) -> String {
    Shown::new(path).to_string()
}
