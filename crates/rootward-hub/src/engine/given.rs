//! Root sources from the operator and the user, which may change while servers run.

use std::fmt;
use std::sync::Arc;

use rootward_protocol::Era;
use rootward_protocol::session::Given;

use super::session::Session;

/// Checks the root sources for changes.
pub trait SourceWatcher: fmt::Debug {
    /// The new sources; `None` if nothing changed. Must be quick: all traffic waits for it.
    fn look_ambient(&mut self) -> Option<Given>;
}

impl Session {
    /// The operator's or user's roots or restrictions have changed.
    pub(super) fn take_given(&mut self, given: &Arc<Given>) {
        let given = &self.party.limited(given);
        self.given = Arc::clone(given);
        self.report(|roots, now| roots.given(now, given));
        // SECURITY: a waiting request is checked against the sources at the time it is forwarded
        // (test: a_waiting_modern_call_is_decided_by_the_current_roots)
        let now = self.now;
        for modern in self.waiting.iter_mut().filter_map(|waiting| waiting.way.modern.as_mut()) {
            modern.roots.given(now, given);
        }
        let guard = match (self.guard().cloned(), self.era()) {
            (Some(guard), _) => guard,
            // The last request did not need roots, so they are not known; its child may have more than is allowed
            // now.
            (None, Era::Modern) => self.nothing(),
            (None, Era::Legacy) => return,
        };
        self.note_revoked(&guard);
        // SECURITY: a modern client's next request would start another child, but until then this one could still
        // read the removed roots
        // (test: a_modern_clients_child_ends_when_its_roots_are_removed)
        if self.era() == Era::Modern {
            for link in 0..self.links.len() {
                if self.links[link].running().is_some_and(|child| !child.guard.decides_as(&guard)) {
                    self.links[link].current.take().into_iter().for_each(|number| self.retire(link, number));
                }
            }
        }
    }
}
