//! What a choice changes, and how the store is updated.

use rootward_core::Access;
use thiserror::Error;

use super::{Choice, Choices, Mark};
use crate::store::{Document, Kept, Record, SavedRoot, YesOnRecord};

/// What a choice changes.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ChoiceChanges<'c> {
    /// New roots.
    pub added: Vec<&'c SavedRoot>,
    /// Roots whose access changes: the old access, and the root as it will be.
    pub granted: Vec<(Access, &'c SavedRoot)>,
    /// Roots whose name changes: the old name, and the root as it will be.
    pub renamed: Vec<(Option<&'c str>, &'c SavedRoot)>,
    /// Roots that are no longer shared.
    pub removed: Vec<&'c SavedRoot>,
}

impl ChoiceChanges<'_> {
    /// Whether nothing changes.
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.granted.is_empty() && self.renamed.is_empty() && self.removed.is_empty()
    }
}

/// The store has changed since the choice was made.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("another program changed the saved roots")]
pub struct ChangedMeanwhile;

impl Choices {
    /// What would change.
    pub fn difference(&self) -> ChoiceChanges<'_> {
        let mut difference = ChoiceChanges::default();
        for choice in &self.list {
            let was = choice.saved.and_then(|at| self.kept.roots.get(at));
            if let Some(was) = was.filter(|was| choice.mark == Mark::Chosen && was.name != choice.root.name) {
                difference.renamed.push((was.name.as_deref(), &choice.root));
            }
            match (choice.before, choice.mark) {
                (None, Mark::Chosen) => difference.added.push(&choice.root),
                (Some(before), Mark::Chosen) if before != choice.root.access => {
                    difference.granted.push((before, &choice.root));
                }
                (Some(_), Mark::Left) => {
                    // Report the saved access: one that was only tried in the list was never given.
                    difference.removed.extend(choice.saved.and_then(|at| self.kept.roots.get(at)));
                }
                (Some(_), Mark::Chosen) | (None, Mark::Left) => {}
            }
        }
        difference
    }

    /// What was saved when the list was built.
    pub fn kept(&self) -> &Kept {
        &self.kept
    }

    /// What would be saved.
    pub fn result(&self) -> Kept {
        let mut roots: Vec<Option<SavedRoot>> = self.kept.roots.iter().cloned().map(Some).collect();
        for choice in &self.list {
            if let Some(slot) = choice.saved.and_then(|at| roots.get_mut(at)) {
                *slot = (choice.mark == Mark::Chosen).then(|| choice.root.clone());
            }
        }
        let added = self.difference().added.into_iter().cloned();
        Kept { roots: roots.into_iter().flatten().chain(added).collect(), record: self.kept.record.clone() }
    }

    /// Applies the choice in one edit of the store. `record` adds its consent to new roots and to those that get
    /// more access.
    pub fn save(&self, document: &mut Document, record: &Record<'_>) -> Result<(), ChangedMeanwhile> {
        // SECURITY: the user agreed to changes to the state shown then; any other state needs another consent
        // (test: a_store_that_changed_meanwhile_is_left_alone)
        if document.roots() != self.kept.roots {
            return Err(ChangedMeanwhile);
        }
        let given = YesOnRecord { by: record.requester.to_owned(), at: record.time };
        let mut saved: Vec<(usize, &Choice)> =
            self.list.iter().filter_map(|choice| choice.saved.map(|at| (at, choice))).collect();
        // From the end, because a removal moves the entries after it.
        saved.sort_unstable_by_key(|(at, _)| std::cmp::Reverse(*at));
        for (at, choice) in saved {
            let before = document.roots()[at].access;
            if choice.mark == Mark::Left {
                document.remove(at);
                continue;
            }
            if document.roots()[at].name != choice.root.name {
                document.rename(at, choice.root.name.as_deref());
            }
            if before != choice.root.access {
                document.grant(at, choice.root.access);
                if !before.contains(choice.root.access) {
                    document.give(at, &given);
                }
            }
        }
        for root in self.difference().added {
            document.add(&root.clone().given(record));
        }
        Ok(())
    }
}
