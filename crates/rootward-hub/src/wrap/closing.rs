//! The client has closed its end: what it asked before is still answered, and nothing new is begun.

use std::time::Duration;

use rootward_protocol::message::{self, INTERNAL_ERROR};

use super::engine::{Asked, Engine};

impl Engine {
    /// The client says no more.
    pub(super) fn client_closed(&mut self, now: Duration) {
        self.now = now.max(self.now);
        self.closed = true;
        let open = self.asked.extract_if(|_, asked| matches!(asked, Asked::Roots(_)));
        let open: Vec<Asked> = open.map(|(_, asked)| asked).collect();
        for asked in open {
            if let Asked::Roots(request) = asked {
                self.report(|roots, now| roots.failed(now, request, "the client closed its end"));
            }
        }
        self.arrange();
        self.release();
    }

    /// The session ends: whoever waits is told.
    pub(super) fn give_up(&mut self) {
        self.closed = true;
        for id in std::mem::take(&mut self.waiting).into_iter().filter_map(|waiting| waiting.id) {
            self.tell_client(&message::error(&id, INTERNAL_ERROR, "the session ends", None));
        }
    }

    /// Whether everything that the client sent has reached a child, or was answered.
    pub(super) fn is_delivered(&self) -> bool {
        self.waiting.is_empty() && self.children.values().all(|child| child.input.is_empty())
    }

    /// Whether the client still awaits an answer of a child's.
    pub(super) fn owes(&self) -> bool {
        self.children.values().any(|child| child.owes.values().any(|owed| owed.is_clients()))
    }
}
