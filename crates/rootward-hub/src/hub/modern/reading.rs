//! Parses a modern request, and decides what to do with it.

use std::time::Duration;

use rootward_protocol::bridge::unsupported_version;
use rootward_protocol::era::MODERN_REVISION;
use rootward_protocol::frame::{Envelope, Id};
use rootward_protocol::message::{self, INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND};
use rootward_protocol::offer::{self, OfferedList};
use rootward_protocol::passing::{is_about_task, knows_tasks, tasks_required};
use rootward_protocol::round::ModernRequest;
use rootward_protocol::{keys, method, shown, tells_limits};

use super::super::Hub;
use super::super::client::LONGEST_SHOWN;
use super::super::sharing::LEVELS;
use super::stand_in::Roots;
use super::visit::{Asked, Begun};
use crate::engine::{ClientId, Effect};

impl Hub {
    /// Handles a modern client's request.
    pub(super) fn modern_request(
        &mut self,
        now: Duration,
        connection: ClientId,
        envelope: &Envelope<'_>,
        id: Id<'_>,
        effects: &mut Vec<Effect>,
    ) {
        let method = envelope.method().unwrap_or_default();
        if method == method::INITIALIZE {
            let says = format!("this connection speaks revision {MODERN_REVISION}, which has no `initialize`");
            return self.tell_error(connection, id, METHOD_NOT_FOUND, &says);
        }
        let request = match self.read_request(connection, envelope, id) {
            Ok(request) => request,
            Err(answer) => return self.tell(connection, &answer),
        };
        if method == method::DISCOVER {
            return self.discover(connection, &request, id);
        }
        // From here on, this connection is modern.
        self.modern.connections.entry(connection).or_default();
        let level = match read_level(&request) {
            Ok(level) => level,
            Err(says) => return self.tell_error(connection, id, INVALID_PARAMS, &says),
        };
        let asked = Asked::new(connection, id, request.meta_member(keys::PROGRESS_TOKEN), level);
        match method {
            method::LISTEN => self.listen(now, connection, (envelope, &request), id, effects),
            _ if method::RETRIED.contains(&method) => self.next_round(now, asked, (envelope, &request), effects),
            _ if OfferedList::of(method).is_some() || method == method::COMPLETE => {
                self.begin_visit(now, asked, (envelope, &request), Begun::new(Roots::Unsupported), effects);
            }
            _ if is_about_task(method) && !knows_tasks(&request) => {
                self.tell(connection, &tasks_required(id.as_str()));
            }
            _ if is_about_task(method) => self.visit_task(now, asked, (envelope, &request)),
            _ => {
                let says = format!("revision {MODERN_REVISION} has no `{}` here", shown(method, LONGEST_SHOWN));
                self.tell_error(connection, id, METHOD_NOT_FOUND, &says);
            }
        }
    }

    /// Parses a request. Returns the error answer if it cannot be parsed or accepted.
    fn read_request<'m>(
        &self,
        connection: ClientId,
        envelope: &Envelope<'m>,
        id: Id<'_>,
    ) -> Result<ModernRequest<'m>, String> {
        let error = |code: i32, says: &str| message::error(id.as_str(), code, says, None);
        if id.is_null() {
            return Err(error(INVALID_REQUEST, "the id of a request must not be null"));
        }
        // SECURITY: with two requests under one id, one answer could pass for the other's
        // (test: an_id_in_use_is_refused_in_both_eras)
        if self.modern.request_on(connection, &id.key()).is_some() {
            return Err(error(INVALID_REQUEST, "this id is in use"));
        }
        let request = envelope.params().and_then(ModernRequest::read);
        let request = request.ok_or_else(|| {
            let says = format!("the params are refused: `{}` is missing, or a duplicate key", keys::VERSION);
            error(INVALID_PARAMS, &says)
        })?;
        match request.revision() {
            Some(revision) if revision == MODERN_REVISION => {}
            Some(revision) => return Err(unsupported_version(id.as_str(), &shown(&revision, LONGEST_SHOWN))),
            None => return Err(error(INVALID_PARAMS, &format!("`{}` is not a string", keys::VERSION))),
        }
        if request.capabilities().is_none() {
            let says = format!("`{}` is missing, not an object, or has a duplicate key", keys::CAPABILITIES);
            return Err(error(INVALID_PARAMS, &says));
        }
        if self.modern.open_on(connection).count() >= self.settings.limits.queued_calls {
            return Err(error(INTERNAL_ERROR, "too many requests are open (`limits.queued_calls`)"));
        }
        Ok(request)
    }

    /// Answers `server/discover` about the hub itself, whatever its servers are.
    fn discover(&mut self, connection: ClientId, request: &ModernRequest<'_>, id: Id<'_>) {
        let Some(client) = self.clients.get(&connection) else { return };
        let result = offer::discovered_hub(&client.instructions());
        let asked = request.client().as_deref().is_some_and(tells_limits);
        let asking = if asked { offer::asking_for_limits(&result) } else { None };
        self.tell(connection, &message::result(id.as_str(), &asking.unwrap_or(result)));
    }
}

/// The lowest log level that a request wants, as an index.
fn read_level(request: &ModernRequest<'_>) -> Result<Option<usize>, String> {
    let Some(level) = request.meta_member(keys::LOG_LEVEL) else { return Ok(None) };
    let named: Option<String> = serde_json::from_str(level.get()).ok();
    let position = named.and_then(|named| LEVELS.iter().position(|known| *known == named));
    match position {
        Some(position) => Ok(Some(position)),
        None => Err(format!("`{}` is not a valid log level", keys::LOG_LEVEL)),
    }
}
