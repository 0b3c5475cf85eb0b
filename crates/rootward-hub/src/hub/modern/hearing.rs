//! Messages for a stand-in, and the requests that get them.

use std::time::Duration;

use rootward_protocol::frame::{Envelope, Id, Kind, Members, Message};
use rootward_protocol::offer::LISTS;
use rootward_protocol::{keys, method};

use super::super::Hub;
use super::super::sharing::LEVELS;
use super::visit::number_of;
use crate::engine::{ClientId, Outlet};

impl Hub {
    /// Forwards messages for a stand-in. Other clients get theirs on their connections.
    pub(in super::super) fn hear_stand_in(&mut self, now: Duration, id: ClientId) {
        if !self.modern.stand_ins.contains_key(&id) {
            return;
        }
        let said = self.clients.get_mut(&id).map(|client| Outlet::take(&mut client.out)).unwrap_or_default();
        for line in said.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            let Ok(Message::Single(envelope)) = Message::parse(line) else { continue };
            match (envelope.kind(), envelope.id()) {
                (Kind::Response | Kind::ErrorResponse, Some(answered)) => self.answered(now, id, &envelope, answered),
                (Kind::Request, Some(question)) => self.server_asks(now, id, &envelope, question),
                (Kind::Notification, _) => self.told(id, &envelope),
                _ => {}
            }
        }
    }

    fn answered(&mut self, now: Duration, stand_in: ClientId, envelope: &Envelope<'_>, id: Id<'_>) {
        if let Some(number) = number_of(id.as_str()).filter(|number| self.is_visit(*number, stand_in)) {
            self.answer_visit(now, number, envelope);
        }
    }

    /// Whether this visit belongs to this stand-in.
    // SECURITY: a server chooses the tokens of its notifications itself (test: progress_goes_to_its_own_visit)
    fn is_visit(&self, number: u64, stand_in: ClientId) -> bool {
        self.modern.visits.get(&number).is_some_and(|visit| visit.stand_in == stand_in)
    }

    fn told(&mut self, stand_in: ClientId, envelope: &Envelope<'_>) {
        let method = envelope.method().unwrap_or_default();
        let params = envelope.params().and_then(Members::read);
        let text = |key: &str| params.as_ref().and_then(|params| params.text(key));
        match method {
            method::PROGRESS => {
                let Some(token) = params.as_ref().and_then(|params| params.get(keys::PROGRESS_TOKEN)) else { return };
                let number = number_of(token.get()).filter(|number| self.is_visit(*number, stand_in));
                let visit = number.and_then(|number| self.modern.visits.get(&number));
                let Some(asked) = visit.and_then(|visit| visit.asked.as_ref()) else { return };
                let (Some(own), connection) = (&asked.token, asked.connection) else { return };
                let mut line = Vec::new();
                envelope.write_replacing(token.get(), own.get(), &mut line);
                self.tell(connection, &String::from_utf8_lossy(&line));
            }
            method::MESSAGE => {
                let level = text("level").and_then(|level| LEVELS.iter().position(|known| *known == level));
                self.tell_log(stand_in, level, envelope);
            }
            method::RESOURCE_UPDATED => self.resource_updated(stand_in, &text("uri").unwrap_or_default()),
            method::CANCELLED => {
                let id = params.as_ref().and_then(|params| params.get(keys::REQUEST_ID));
                if let Some(id) = id {
                    self.question_cancelled(stand_in, id.get());
                }
            }
            _ if LISTS.iter().any(|list| list.changed == method) => self.list_changed(stand_in, method),
            // The modern era has no equivalent.
            _ => {}
        }
    }

    /// A log goes to all requests of this stand-in that want its level, because the request it is about is not known.
    fn tell_log(&mut self, stand_in: ClientId, level: Option<usize>, envelope: &Envelope<'_>) {
        let Some(stand_in) = self.modern.stand_ins.get(&stand_in) else { return };
        let asked = stand_in.asked(&self.modern.visits);
        let wanting = asked.filter(|asked| asked.level.is_some_and(|wanted| level.is_none_or(|level| level >= wanted)));
        let mut connections: Vec<ClientId> = wanting.map(|asked| asked.connection).collect();
        connections.sort_unstable();
        connections.dedup();
        for connection in connections {
            self.tell(connection, envelope.text());
        }
    }
}
