//! What the operator and the user give, which may change while the server runs.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use rootward_protocol::session::Given;

use super::engine::{Client, Engine};

/// Looks what is given, whenever it is asked to.
pub trait Lookout: fmt::Debug {
    /// What is given from now on; none where nothing changed. It should not take long: whatever passes through waits meanwhile.
    fn look_ambient(&mut self) -> Option<Given>;
}

impl Engine {
    /// The operator's or the user's roots changed, or what is closed.
    pub(super) fn given(&mut self, now: Duration, given: Given) {
        self.now = now.max(self.now);
        self.given = Arc::new(given);
        let given = Arc::clone(&self.given);
        self.report(|roots, now| roots.given(now, &given));
        let Some(guard) = self.guard().cloned() else { return };
        self.note_revoked(&guard);
        // SECURITY: a modern client's next request would start another child, but until then this one could read what was taken
        // back (test: a_child_of_a_modern_client_goes_with_the_roots_that_were_taken_back)
        let modern = matches!(self.client, Client::Modern);
        if modern && self.running().is_some_and(|child| !child.guard.decides_as(&guard)) {
            self.current.take().into_iter().for_each(|number| self.retire(number));
        }
    }
}
