//! Routes requests to servers, under the servers' own names.

use std::time::Duration;

use rootward_protocol::frame::{Envelope, Members, Message, key};
use rootward_protocol::message::{self, INVALID_PARAMS, METHOD_NOT_FOUND, RESOURCE_NOT_FOUND};
use rootward_protocol::{method, shown};
use serde_json::Value;
use serde_json::value::RawValue;

use super::client::{Client, LONGEST_SHOWN, Parked};
use super::own_tools::OwnTool;

/// The target of a request.
enum Way<'j> {
    To(usize),
    /// A server with another name for it: replace this part of the request.
    Renamed(usize, &'j RawValue, String),
    /// Not known until these lists are available.
    After(&'static [&'static str]),
    /// No server: return this error.
    Nobody(i32, String),
}

const TOOLS: &[&str] = &[method::LIST_TOOLS];
const PROMPTS: &[&str] = &[method::LIST_PROMPTS];
const RESOURCES: &[&str] = &[method::LIST_RESOURCES, method::LIST_TEMPLATES];

impl Client {
    /// Forwards a request to its server. It waits until `until` for lists that show the owner.
    pub(super) fn part(&mut self, envelope: &Envelope<'_>, id: &str, until: Duration) {
        let method = envelope.method().unwrap_or_default();
        // SECURITY: with a duplicate key, the request could name one tool here and another one there
        // (test: an_ambiguous_request_reaches_no_server)
        let Some(params) = envelope.params().and_then(Members::read) else {
            let says = "the params are refused: not an object, or a duplicate key";
            return self.tell(&message::error(id, INVALID_PARAMS, says, None));
        };
        let way = match method {
            method::SET_LEVEL => return self.set_level(envelope, id),
            method::CALL_TOOL => match OwnTool::of(&params.text("name").unwrap_or_default(), self.is_compact()) {
                Some(tool) => return self.call_own(tool, &params, envelope, id, until),
                None => self.way_of_name(&params, TOOLS),
            },
            method::GET_PROMPT => self.way_of_name(&params, PROMPTS),
            method::READ_RESOURCE | method::SUBSCRIBE | method::UNSUBSCRIBE => self.way_of_resource(&params),
            method::COMPLETE => self.way_of_completion(&params),
            method::GET_TASK | method::TASK_RESULT | method::UPDATE_TASK | method::CANCEL_TASK => {
                self.way_of_task(&params)
            }
            _ => Way::Nobody(METHOD_NOT_FOUND, format!("no server has `{}`", shown(method, LONGEST_SHOWN))),
        };
        match way {
            Way::To(server) => self.forward(server, id, envelope.text().as_bytes().to_vec()),
            Way::Renamed(server, old, new) => {
                let mut line = Vec::new();
                envelope.write_replacing(old.get(), &new, &mut line);
                self.forward(server, id, line);
            }
            Way::After(lists) if self.now < until => {
                self.park(envelope, id, lists, until);
            }
            Way::After(_) => {
                let says = format!("no responding server offers what this `{method}` names");
                self.tell(&message::error(id, INVALID_PARAMS, &says, None));
            }
            Way::Nobody(code, says) => self.tell(&message::error(id, code, &says, None)),
        }
    }

    /// Makes a request wait for lists.
    pub(super) fn park(&mut self, envelope: &Envelope<'_>, id: &str, lists: &'static [&'static str], until: Duration) {
        for list in lists {
            self.load(list);
        }
        self.parked.push(Parked { text: envelope.text().into(), id: id.into(), lists, until });
    }

    /// Forwards requests whose lists have arrived, or that have waited long enough.
    pub(super) fn part_parked(&mut self) {
        if self.parked.is_empty() {
            return;
        }
        for parked in std::mem::take(&mut self.parked) {
            let is_due = self.now >= parked.until || parked.lists.iter().all(|list| self.is_loaded(list));
            match Message::parse(parked.text.as_bytes()) {
                Ok(Message::Single(envelope)) if is_due => self.part(&envelope, &parked.id, parked.until),
                _ => self.parked.push(parked),
            }
        }
    }

    /// Hands a request to a server.
    pub(super) fn forward(&mut self, server: usize, id: &str, line: Vec<u8>) {
        if self.passing.as_ref().is_some_and(|passing| !passing.may_get(server, id)) {
            return self.refuse_state(id);
        }
        let key = key(id);
        self.calls.insert(key.clone(), server);
        self.send(server, line, Some(&key));
    }

    fn way_of_name<'j>(&mut self, params: &Members<'j>, lists: &'static [&'static str]) -> Way<'j> {
        let (Some(raw), Some(name)) = (params.get("name"), params.text("name")) else {
            return Way::Nobody(INVALID_PARAMS, "`name` is missing".to_owned());
        };
        let Some(list) = lists.first() else { return Way::After(lists) };
        match self.merged(list).owner(&name) {
            Some(owner) if *owner.name == *name => Way::To(owner.server),
            Some(owner) => Way::Renamed(owner.server, raw, Value::from(&*owner.name).to_string()),
            None if self.is_loaded(list) => {
                let what = if lists == PROMPTS { "prompt" } else { "tool" };
                Way::Nobody(INVALID_PARAMS, format!("unknown {what} `{}`", shown(&name, LONGEST_SHOWN)))
            }
            None => Way::After(lists),
        }
    }

    fn way_of_resource<'j>(&mut self, params: &Members<'j>) -> Way<'j> {
        let Some(uri) = params.text("uri") else {
            return Way::Nobody(INVALID_PARAMS, "`uri` is missing".to_owned());
        };
        let listed = self.merged(method::LIST_RESOURCES).owner(&uri).map(|owner| owner.server);
        let owner = listed.or_else(|| self.merged(method::LIST_TEMPLATES).owner_by_template(&uri));
        match owner {
            Some(server) => Way::To(server),
            None if !RESOURCES.iter().all(|list| self.is_loaded(list)) => Way::After(RESOURCES),
            None => {
                // A server may have more resources than it lists.
                let offers = |server: &&usize| self.branches[**server].offers("resources");
                let mut offering = self.order.iter().filter(offers).copied();
                match (offering.next(), offering.next()) {
                    (Some(only), None) => Way::To(only),
                    _ => {
                        let says = format!("no server has the resource `{}`", shown(&uri, LONGEST_SHOWN));
                        Way::Nobody(RESOURCE_NOT_FOUND, says)
                    }
                }
            }
        }
    }

    fn way_of_completion<'j>(&mut self, params: &Members<'j>) -> Way<'j> {
        let Some(reference) = params.object("ref") else {
            return Way::Nobody(INVALID_PARAMS, "`ref` is missing".to_owned());
        };
        match reference.text("uri") {
            None => self.way_of_name(&reference, PROMPTS),
            Some(template) => match self.merged(method::LIST_TEMPLATES).owner(&template).map(|owner| owner.server) {
                Some(server) => Way::To(server),
                None => self.way_of_resource(&reference),
            },
        }
    }

    fn way_of_task<'j>(&mut self, params: &Members<'j>) -> Way<'j> {
        let task = params.text(rootward_protocol::keys::TASK_ID).unwrap_or_default();
        match self.tasks.get(&task) {
            Some(server) => Way::To(*server),
            None => Way::Nobody(INVALID_PARAMS, format!("unknown task `{}`", shown(&task, LONGEST_SHOWN))),
        }
    }

    /// The client sets its log level: all servers get it, including those that start later.
    fn set_level(&mut self, envelope: &Envelope<'_>, id: &str) {
        self.level = envelope.params().map(ToOwned::to_owned);
        for server in 0..self.branches.len() {
            let branch = &self.branches[server];
            if branch.is_ready() && branch.offers("logging") {
                self.tell_level(server);
            }
        }
        self.tell(&message::result(id, "{}"));
    }
}
