//! Removed roots: a child that is still processing calls in one gets a short time to finish them.

use std::path::Path;
use std::time::Duration;

use rootward_core::{Access, Guard, PlacedRoot, RootSet};

use super::Effect;
use super::child::ChildId;
use super::failure::Failure;
use super::link::Change;
use super::session::Session;

impl Session {
    /// Notes which calls run in roots that are no longer shared, now that these are.
    pub(super) fn note_revoked(&mut self, guard: &Guard) {
        let until = self.now + self.terms.policy.revoked_grace;
        for link in &mut self.links {
            let confined = link.change == Change::NewChild;
            for child in link.children.values_mut() {
                let is_known = |compared: &Guard| compared.decides_as(guard);
                if child.guard.decides_as(guard) || child.compared.as_ref().is_some_and(is_known) {
                    continue;
                }
                child.compared = Some(guard.clone());
                if takes_away(child.guard.root_set(), guard.root_set()) {
                    for (id, _) in child.owes.iter().filter(|(_, owed)| owed.is_clients()) {
                        child.revoked.entry(id.clone()).or_insert(until);
                    }
                } else if confined {
                    // The removed root is shared again.
                    child.revoked.clear();
                }
            }
        }
    }

    /// Stops children that have not finished such calls in time.
    pub(super) fn end_revoked(&mut self) {
        let now = self.now;
        for child in self.links.iter_mut().flat_map(|link| link.children.values_mut()) {
            child.revoked.retain(|id, _| child.owes.contains_key(id));
        }
        let overdue = self.children().filter(|(_, child)| child.revoked.values().any(|until| *until <= now));
        let overdue: Vec<ChildId> = overdue.map(|(id, _)| id).collect();
        for child in overdue {
            self.end_for_revoked_root(child);
        }
    }

    // SECURITY: the kernel confines a child to the roots it was started with, for as long as it runs
    // (test: a_server_that_still_works_in_a_removed_root_is_ended)
    fn end_for_revoked_root(&mut self, child: ChildId) {
        let grace = self.terms.policy.revoked_grace.as_millis();
        self.say(format!(
            "a root was removed, and the server did not finish its calls within {grace} ms, so it is stopped"
        ));
        let says =
            format!("a root was removed, and the server did not finish this call within {grace} ms, so it was stopped");
        self.lost(child, &Failure::new(says));
        self.push(Effect::Kill(child));
    }

    /// When a child has to be stopped.
    pub(super) fn revoked_at(&self) -> Option<Duration> {
        self.children().filter_map(|(_, child)| child.revoked.values().min().copied()).min()
    }
}

/// Whether some place has less access in `newer` than in `older`, or is a different object on disk. Access changes
/// only where a root begins, so only differing roots are compared.
fn takes_away(older: &RootSet, newer: &RootSet) -> bool {
    let access = |set: &RootSet, place: &Path| set.governing(place).map_or(Access::NONE, |root| root.root.access);
    let is_less = |root: &PlacedRoot| !access(newer, &root.place).contains(access(older, &root.place));
    let difference = older.difference(newer);
    difference.removed.iter().any(is_less)
        || difference.changed.iter().any(|change| change.before.id != change.after.id || is_less(&change.after))
        || difference.added.iter().any(is_less)
}

#[cfg(test)]
mod tests {
    use rootward_core::{Origin, Root, Validation};

    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "tests build the trees that clients share")]
    fn changes_that_revoke_access() {
        let directory = tempfile::tempdir().unwrap();
        let top = directory.path().canonicalize().unwrap();
        std::fs::create_dir_all(top.join("a/b")).unwrap();
        std::fs::create_dir(top.join("c")).unwrap();
        let set = |roots: &str| {
            let root = |text: &str| Root::from_typed(text.as_ref(), &top, None, Origin::Flag).unwrap();
            RootSet::place_ambient(roots.split_whitespace().map(root), &Validation::new(None))
        };
        let check = |older: &str, newer: &str, expect: bool| {
            assert_eq!(takes_away(&set(older), &set(newer)), expect, "{older} -> {newer}");
        };
        check("a", "", true);
        check("a c", "c", true);
        check("a", "a/b", true);
        check("a", "a:ro", true);
        check("a", "a a/b:ro", true);
        check("a:ro a/b", "a:ro", true);
        check("", "a", false);
        check("a", "a c", false);
        check("a c", "c a", false);
        check("a/b", "a", false);
        check("a:ro", "a", false);
        check("a a/b:ro", "a", false);
        check("a a/b", "a", false);
    }
}
