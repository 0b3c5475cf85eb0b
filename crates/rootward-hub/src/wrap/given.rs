//! What the operator and the user give, which may change while the server runs.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use rootward_core::Restrictions;
use rootward_core::session::Sources;

use super::engine::{Client, Engine};

/// Their roots, and what is closed. Together: roots are never decided with what was closed for others.
#[derive(Clone, Debug)]
pub struct Given {
    /// The roots of the operator, the user's saved choice, the fallback.
    pub sources: Sources,
    /// The places that stay closed. The same value as before where that did not change: servers that were started with another are
    /// started anew.
    pub restrictions: Arc<Restrictions>,
}

/// Looks what is given, whenever it is asked to.
pub trait Follow: fmt::Debug {
    /// What is given from now on; none where nothing changed. It should not take long: whatever passes through waits meanwhile.
    fn look_ambient(&mut self) -> Option<Given>;
}

impl Engine {
    /// The operator's or the user's roots changed, or what is closed.
    pub(super) fn given(&mut self, now: Duration, given: Given) {
        self.now = now.max(self.now);
        self.rules.sources = given.sources;
        self.rules.guard.restrictions = given.restrictions;
        let Some(roots) = &mut self.roots else { return };
        let questions = roots.given(&self.rules, self.now);
        let guard = roots.guard().clone();
        let generation = guard.generation();
        self.put(questions);
        self.note_revoked(&guard);
        // SECURITY: a modern client's next request would start another child, but until then this one could read what was taken
        // back (test: a_child_of_a_modern_client_goes_with_the_roots_that_were_taken_back)
        let modern = matches!(self.client, Client::Modern);
        if modern && self.running().is_some_and(|child| child.guard.generation() != generation) {
            self.current.take().into_iter().for_each(|number| self.retire(number));
        }
    }
}
