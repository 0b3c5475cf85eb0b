//! The lists of a server: answered from memory until it is up, learned from, and told again if the real ones differ.

use rootward_protocol::frame::{Envelope, Members, object};
use rootward_protocol::{Era, keys, message, method};
use serde_json::value::RawValue;

use super::child::{Owed, Phase};
use super::memory::Remembered;
use super::session::{Client, Session};

/// The lists that are remembered, and how a change of one is told.
const LISTS: [(&str, &str); 4] = [
    (method::LIST_TOOLS, method::TOOLS_CHANGED),
    (method::LIST_PROMPTS, method::PROMPTS_CHANGED),
    (method::LIST_RESOURCES, method::RESOURCES_CHANGED),
    (method::LIST_TEMPLATES, method::RESOURCES_CHANGED),
];

/// What is owed to a request.
pub(super) fn owed(envelope: &Envelope<'_>) -> Owed {
    match LISTS.iter().find(|(list, _)| Some(*list) == envelope.method()) {
        None => Owed::Plain,
        Some((list, _)) if is_later_page(envelope) => Owed::Page(list),
        Some((list, _)) => Owed::List(list),
    }
}

impl Session {
    /// The answer to a question for a list, from the last time, where the server is not up yet.
    pub(super) fn remembered_list(&mut self, link: usize, envelope: &Envelope<'_>) -> Option<String> {
        // A client that has no answer to `initialize` yet gets what its own child says.
        let is_promised = matches!(&self.client, Client::Legacy(legacy) if legacy.promised.is_some());
        if !is_promised || self.links[link].running().is_some() {
            return None;
        }
        let (list, _) = *LISTS.iter().find(|(list, _)| Some(*list) == envelope.method())?;
        // A page is not the list.
        if is_later_page(envelope) {
            return None;
        }
        let of = &mut self.links[link];
        let known = of.remembered.as_ref()?.lists.get(list)?.clone();
        of.told_list(list, &known);
        Some(message::result(envelope.id()?.as_str(), known.get()))
    }

    /// The client gets a list, or its first page.
    pub(super) fn list_for_client(&mut self, link: usize, list: &'static str, result: &RawValue) {
        self.learn_list(link, list, result);
        self.links[link].told_list(list, result);
        self.remember_list(link, list, result);
    }

    /// Rootward's own question for a list was answered; nothing where it was refused.
    pub(super) fn own_list(&mut self, link: usize, list: &'static str, result: Option<&RawValue>) {
        let Some(result) = result else {
            if list == method::LIST_TOOLS {
                self.links[link].tools.will_not_be_listed();
            }
            return;
        };
        self.learn_list(link, list, result);
        let told = LISTS.iter().find(|(known, _)| *known == list).map(|(_, told)| *told);
        if let Some(told) = told.filter(|_| self.links[link].is_news(list, result)) {
            self.tell_client(&message::notification(told));
        }
        self.remember_list(link, list, result);
    }

    /// Remembers a list that is whole; of any other, nothing.
    fn remember_list(&mut self, link: usize, list: &'static str, result: &RawValue) {
        let Some(remembered) = &mut self.links[link].remembered else { return };
        if !is_last_page(result) {
            if remembered.lists.remove(list).is_some() {
                self.learn(link);
            }
            return;
        }
        if remembered.lists.get(list).is_none_or(|known| known.get() != result.get()) {
            remembered.lists.insert(list.to_owned(), result.to_owned());
            self.learn(link);
        }
    }

    /// Asks a new child for the lists that the client was told, which were another's.
    pub(super) fn compare_lists(&mut self, link: usize, number: u64) {
        for (list, _) in LISTS {
            if self.links[link].is_told(list) {
                self.ask_for_list(link, number, list);
            }
        }
    }

    /// Asks a child for a list, unless that is under way.
    pub(super) fn ask_for_list(&mut self, link: usize, number: u64, list: &'static str) {
        let id = self.own_id("list");
        let meta = self.rounds.meta().filter(|_| self.era() == Era::Modern);
        let params = meta.map(|meta| object([(keys::META, meta)]));
        let Some(child) = self.links[link].children.get_mut(&number) else { return };
        if !child.owes.values().any(|owed| owed.list() == Some(list)) {
            child.ask(&id, Owed::OwnList(list), &message::request(&id, list, params.as_deref()));
        }
    }

    /// Whether a call waits for the list of tools, which is asked for where nobody has: what a tool does with an argument is in its
    /// schema. A server that does not answer holds nobody up for long.
    pub(super) fn waits_for_tools(&mut self, link: usize, arrived: std::time::Duration) -> bool {
        let overdue = self.now >= arrived + self.terms.policy.timeout;
        let of = &mut self.links[link];
        if overdue {
            of.tools.will_not_be_listed();
        }
        if of.tools.are_listed() {
            return false;
        }
        if let Some(number) = of.current.filter(|_| of.current().is_some_and(|child| child.phase == Phase::Running)) {
            self.ask_for_list(link, number, method::LIST_TOOLS);
        }
        true
    }

    /// Keeps a handshake for the next time.
    pub(super) fn remember(&mut self, link: usize, result: &RawValue) {
        let known = self.links[link].remembered.as_ref();
        if known.is_some_and(|known| known.result.get() == result.get()) {
            return;
        }
        let asks_for_roots = known.and_then(|known| known.asks_for_roots);
        let lists = known.map(|known| known.lists.clone()).unwrap_or_default();
        self.links[link].remembered = Some(Remembered { result: result.to_owned(), asks_for_roots, lists });
        self.learn(link);
    }
}

/// Whether a result is the last page of a list: if it is the first as well, it is the whole list.
pub(super) fn is_last_page(result: &RawValue) -> bool {
    let next = Members::read(result).map(|result| result.get("nextCursor").is_some_and(|next| next.get() != "null"));
    next == Some(false)
}

/// Whether a question asks for another page than the first.
fn is_later_page(envelope: &Envelope<'_>) -> bool {
    envelope.params().is_some_and(|params| Members::read(params).is_none_or(|params| params.get("cursor").is_some()))
}
