//! After the client has closed its end: earlier requests are still answered, and nothing new is started.

use rootward_core::session::RequestNumber;
use rootward_protocol::message::{self, INTERNAL_ERROR};

use super::session::{Asked, Session};

impl Session {
    /// The client has closed its end.
    pub(super) fn client_closed(&mut self) {
        self.closed = true;
        let open = self.asked.extract_if(|_, asked| matches!(asked, Asked::Roots(_)));
        let open: Vec<RequestNumber> = open
            .filter_map(|(_, asked)| match asked {
                Asked::Roots(question) => Some(question),
                Asked::Child { .. } => None,
            })
            .collect();
        for question in open {
            self.report(|roots, now| roots.failed(now, question, "the client closed its end"));
        }
    }

    /// The session is closing: every waiting message gets an error.
    pub(super) fn give_up(&mut self) {
        self.closed = true;
        for id in std::mem::take(&mut self.waiting).into_iter().filter_map(|waiting| waiting.id) {
            self.tell_client(&message::error(&id, INTERNAL_ERROR, "the session is closing", None));
        }
    }

    /// Whether everything that the client sent has reached a child or was answered.
    pub(crate) fn is_delivered(&self) -> bool {
        self.waiting.is_empty() && self.children().all(|(_, child)| child.input.is_empty())
    }

    /// Whether the client is still waiting for a child's answer.
    pub(crate) fn owes(&self) -> bool {
        self.children().any(|(_, child)| child.owes.values().any(|owed| owed.is_clients()))
    }
}
