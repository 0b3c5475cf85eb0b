//! The client's roots: carries out the orders of the session guard.

use std::time::Duration;

use rootward_core::Guard;
use rootward_protocol::session::{Order, Published, SessionGuard};
use rootward_protocol::{message, method};

use super::session::{Asked, Client, Session};
use super::{Effect, Entries, MessageNumber, Place};

impl Session {
    /// Reports an event to the session guard, and carries out its orders.
    pub(super) fn report(&mut self, event: impl FnOnce(&mut SessionGuard, Duration) -> Vec<Order>) {
        let now = self.now;
        let Some(roots) = &mut self.roots else { return };
        for order in event(roots, now) {
            self.carry_out(order);
        }
    }

    fn carry_out(&mut self, order: Order) {
        match order {
            // A modern client is asked in the answer to its call.
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
                    self.tell_client(&message::cancelled(&id, "the answer is no longer needed"));
                }
            }
        }
    }

    /// Tells the operator which of the client's roots are not used, and audits it. Nothing waits for that entry.
    pub(super) fn tell_left_out(&mut self) {
        let published = self.roots.as_ref().and_then(SessionGuard::published);
        let Some(news) = &mut self.left_out else { return };
        let left_out = news.take(published);
        if left_out.is_empty() {
            return;
        }
        let generation = published.map_or(0, Published::generation);
        let occasion = self.occasion(0, method::LIST_ROOTS, generation);
        let events = left_out.iter().map(|root| root.event(occasion)).collect();
        self.push(Effect::Record(self.id, MessageNumber::NONE, Entries { child: None, events }));
        for root in left_out {
            self.say(root.to_string());
        }
    }

    /// The current roots, once known.
    pub(super) fn published(&self) -> Option<&Published> {
        self.roots.as_ref()?.published()
    }

    /// Their guard, once known.
    pub(super) fn guard(&self) -> Option<&Guard> {
        self.published().map(Published::guard)
    }

    /// The guard over nothing, for a server whose roots are not known yet.
    pub(super) fn nothing(&self) -> Guard {
        self.terms.nothing(&self.given)
    }
}
