//! The roots of the client: what their owner orders, carried out.

use std::time::Duration;

use rootward_core::Guard;
use rootward_protocol::message;
use rootward_protocol::session::{Order, Published, SessionGuard};

use super::session::{Asked, Client, Session};
use super::{Effect, Place};

impl Session {
    /// Tells the owner of the client's roots of something, and does what it orders.
    pub(super) fn report(&mut self, event: impl FnOnce(&mut SessionGuard, Duration) -> Vec<Order>) {
        let now = self.now;
        let Some(roots) = &mut self.roots else { return };
        for order in event(roots, now) {
            self.carry_out(order);
        }
    }

    fn carry_out(&mut self, order: Order) {
        match order {
            // A modern client is asked by the answer to its call.
            _ if !matches!(self.client, Client::Legacy(_)) => {}
            Order::Place(placing) => self.push(Effect::Place(Place::Session(self.id), placing)),
            Order::Ask { question, .. } if self.closed => {
                self.report(|roots, now| roots.failed(now, question, "the client closed its end"));
            }
            Order::Ask { question, cursor } => {
                let id = self.own_id("roots");
                self.tell_client(&message::list_roots(&id, cursor.as_deref()));
                self.asked.insert(id.into(), Asked::Roots(question));
            }
            Order::Cancel { question } => {
                let asked = self.asked.iter().find(|(_, asked)| **asked == Asked::Roots(question));
                if let Some(id) = asked.map(|(id, _)| id.clone()) {
                    self.asked.remove(&id);
                    self.tell_client(&message::cancelled(&id, "the answer is not awaited any more"));
                }
            }
        }
    }

    /// The roots in force, once they are known.
    pub(super) fn published(&self) -> Option<&Published> {
        self.roots.as_ref()?.published()
    }

    /// Their guard, once they are known.
    pub(super) fn guard(&self) -> Option<&Guard> {
        self.published().map(Published::guard)
    }

    /// The guard over nothing, for a server whose roots are not known yet.
    pub(super) fn nothing(&self) -> Guard {
        self.terms.nothing(&self.given)
    }
}
