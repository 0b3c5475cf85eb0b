//! What the operator and the user give, which may change while servers run.

use std::fmt;
use std::sync::Arc;

use rootward_protocol::Era;
use rootward_protocol::session::Given;

use super::session::Session;

/// Looks what is given, whenever it is asked to.
pub trait Lookout: fmt::Debug {
    /// What is given from now on; none where nothing changed. It should not take long: whatever passes through waits meanwhile.
    fn look_ambient(&mut self) -> Option<Given>;
}

impl Session {
    /// The operator's or the user's roots changed, or what is closed.
    pub(super) fn take_given(&mut self, given: &Arc<Given>) {
        let given = &self.party.held(given);
        self.given = Arc::clone(given);
        self.report(|roots, now| roots.given(now, given));
        // SECURITY: a request that waits is decided by what is given when it leaves
        // (test: a_modern_call_that_waits_is_decided_by_what_is_given_by_then)
        let now = self.now;
        for modern in self.waiting.iter_mut().filter_map(|waiting| waiting.way.modern.as_mut()) {
            modern.roots.given(now, given);
        }
        let guard = match (self.guard().cloned(), self.era()) {
            (Some(guard), _) => guard,
            // What the last request did not need is not known; what its child was given before may be more than is given now.
            (None, Era::Modern) => self.nothing(),
            (None, Era::Legacy) => return,
        };
        self.note_revoked(&guard);
        // SECURITY: a modern client's next request would start another child, but until then this one could read what was taken
        // back (test: a_child_of_a_modern_client_goes_with_the_roots_that_were_taken_back)
        if self.era() == Era::Modern {
            for link in 0..self.links.len() {
                if self.links[link].running().is_some_and(|child| !child.guard.decides_as(&guard)) {
                    self.links[link].current.take().into_iter().for_each(|number| self.retire(link, number));
                }
            }
        }
    }
}
