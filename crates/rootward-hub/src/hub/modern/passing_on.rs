//! Forwards answers of modern servers to modern clients, and requests about the tasks in such answers.
//!
//! A server's state and task names are meaningful only to that server. A client gets the hub's own names for them,
//! which are valid for its principal and for the call or stand-in they belong to.

use std::time::Duration;

use rootward_protocol::frame::{Envelope, Id, Members};
use rootward_protocol::input::read_input;
use rootward_protocol::message::{self, INTERNAL_ERROR, INVALID_PARAMS};
use rootward_protocol::passing::{asks, is_about_task, passed_result, task_of};
use rootward_protocol::round::ModernRequest;
use rootward_protocol::{keys, shown};
use serde_json::Value;
use serde_json::value::RawValue;

use super::super::Hub;
use super::super::client::LONGEST_SHOWN;
use super::super::passing::ServerState;
use super::rounds::ServerRound;
use super::visit::{Asked, Begun};
use crate::engine::ClientId;

/// The prefix of the hub's own task names.
const TASK: &str = "rootward-task-";

impl Hub {
    /// A visit with this stand-in id has ended. Returns the modern server that answered it, if one did.
    pub(super) fn end_passing(&mut self, stand_in: ClientId, own: &str) -> Option<usize> {
        self.clients.get_mut(&stand_in)?.passing.as_mut()?.end(own)
    }

    /// A modern server's answer to a visit, in the form for its client.
    pub(super) fn passed_answer(
        &mut self,
        now: Duration,
        number: u64,
        server: usize,
        envelope: &Envelope<'_>,
    ) -> String {
        let Some(visit) = self.modern.visits.get(&number) else { return String::new() };
        let (stand_in, method, call) = (visit.stand_in, visit.method.clone(), visit.call);
        let Some((id, connection)) = visit.asked.as_ref().map(|asked| (asked.id.clone(), asked.connection)) else {
            return String::new();
        };
        let refused = |says: &str| message::error(&id, INTERNAL_ERROR, says, None);
        let Some(result) = envelope.result() else { return with_id(envelope, &id) };
        // The engine has already refused these.
        let Ok(input) = read_input(result) else { return refused("the server's answer is ambiguous") };
        let is_round = input.result.as_ref().is_some_and(asks) || !input.questions.is_empty();
        let state = input.result.as_ref().and_then(|result| result.get(keys::REQUEST_STATE));
        // A task returns its questions when it is queried, and another request answers them.
        let state = match call {
            Some(call) if is_round => {
                let state = ServerState { server, state: state.map(|state| state.get().into()) };
                let roots = self.modern.stand_ins.get(&stand_in).map(|stand_in| stand_in.roots.clone());
                let Some(roots) = roots else { return refused("the client is gone") };
                let party = self.party_of(connection);
                // SECURITY: with the server's own state, a client could send it to another server, or forge one
                // (test: a_server_begins_a_round_and_its_state_stays_in_the_hub)
                Some(self.keep_server_round(now, &party, call, ServerRound { roots, state }))
            }
            _ if is_round && !is_about_task(&method) => {
                return refused("the server asked a question in an answer that cannot contain questions");
            }
            _ => None,
        };
        let task = task_of(&method, result).map(|task| own_task(stand_in, server, &task));
        match passed_result(result, state.as_deref(), task.as_deref()) {
            Some(result) => message::result(&id, &result),
            None => refused("the server's answer is ambiguous"),
        }
    }

    /// Handles a request about a task: it goes to the process that has the task.
    pub(super) fn visit_task(
        &mut self,
        now: Duration,
        asked: Asked,
        (envelope, request): (&Envelope<'_>, &ModernRequest<'_>),
    ) {
        let named = envelope.params().and_then(Members::read).and_then(|params| params.text(keys::TASK_ID));
        let named = named.unwrap_or_default();
        let party = self.party_of(asked.connection);
        let known = read_task(&named).filter(|(stand_in, server, task)| {
            let has =
                |id: &ClientId| self.clients.get(id).is_some_and(|client| client.tasks.get(*task) == Some(server));
            // SECURITY: a task belongs to its principal (test: a_task_of_another_principal_is_unknown)
            self.modern.stand_ins.contains_key(stand_in) && self.is_of(*stand_in, &party) && has(stand_in)
        });
        let Some((stand_in, _, task)) = known else {
            let says = format!("unknown task `{}`", shown(&named, LONGEST_SHOWN));
            return self.tell(asked.connection, &message::error(&asked.id, INVALID_PARAMS, &says, None));
        };
        let roots = self.modern.stand_ins.get(&stand_in).map(|stand_in| stand_in.roots.clone());
        let Some(roots) = roots else { return };
        let begun = Begun { task: Some(task.to_owned()), ..Begun::new(roots) };
        self.begin_visit_of(now, stand_in, asked, (envelope, request), begun);
    }
}

/// The hub's own name for a task, as JSON: two processes may use the same name.
fn own_task(stand_in: ClientId, server: usize, task: &str) -> String {
    Value::from(format!("{TASK}{}-{server}-{task}", stand_in.0)).to_string()
}

/// The stand-in and server of a task, and the server's own name for it.
fn read_task(named: &str) -> Option<(ClientId, usize, &str)> {
    let mut parts = named.strip_prefix(TASK)?.splitn(3, '-');
    let (stand_in, server) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    Some((ClientId(stand_in), server, parts.next()?))
}

/// The params with the server's own task name.
pub(super) fn with_task(params: &str, task: &str) -> Option<String> {
    let params: &RawValue = serde_json::from_str(params).ok()?;
    Some(Members::read(params)?.with(keys::TASK_ID, &Value::from(task).to_string()))
}

fn with_id(envelope: &Envelope<'_>, id: &str) -> String {
    let mut text = Vec::new();
    if let Some(id) = Id::read(id) {
        envelope.write_with_id(id, &mut text);
    }
    String::from_utf8(text).unwrap_or_default()
}
