//! The lists of a server: answered from cache until it runs, used for learning, and announced again if the real ones
//! differ.

use rootward_protocol::frame::{Envelope, Members, object};
use rootward_protocol::offer::{self, Offer, OfferedList};
use rootward_protocol::{Era, keys, message, method};
use serde_json::value::RawValue;

use super::child::{Owed, Phase};
use super::memory::Remembered;
use super::session::{Client, LISTS_WITHOUT_ROOTS, LISTS_WITHOUT_SERVER, Session, Way};

/// What a child will owe for a request.
pub(super) fn owed(envelope: &Envelope<'_>) -> Owed {
    match envelope.method().and_then(OfferedList::of) {
        None if envelope.method() == Some(method::DISCOVER) => Owed::Discovery,
        None => Owed::Plain,
        Some(list) if is_later_page(envelope) => Owed::Page(list.method),
        Some(list) => Owed::List(list.method),
    }
}

impl Session {
    /// The cached answer to a request for a list, if the server is not running yet.
    pub(super) fn remembered_list(&mut self, link: usize, envelope: &Envelope<'_>) -> Option<String> {
        let list = self.list_to_answer(link, envelope)?;
        let of = &mut self.links[link];
        let known = of.remembered.as_ref()?.lists.get(list.method)?.clone();
        of.told_list(list.method, known.get());
        Some(message::result(envelope.id()?.as_str(), known.get()))
    }

    /// An empty answer to a request for an unknown list, once the client has waited long enough for the server. The
    /// real list is announced when the server runs.
    pub(super) fn list_in_absence(&mut self, envelope: &Envelope<'_>, way: &Way) -> Option<String> {
        let list = self.list_to_answer(way.link, envelope)?;
        let of = &self.links[way.link];
        // A server that fails to run reports why. A modern client might never hear that there is more.
        if of.impossible.is_some() || of.failure.is_some() || self.era() == Era::Modern {
            return None;
        }
        let wait = if self.guard().is_some() { LISTS_WITHOUT_SERVER } else { LISTS_WITHOUT_ROOTS };
        let (_, nothing) = offer::nothing(list.method).filter(|_| self.now >= way.arrived + wait)?;
        self.links[way.link].told_list(list.method, nothing);
        Some(message::result(envelope.id()?.as_str(), nothing))
    }

    /// The list that a request asks for, if no running server could answer it.
    fn list_to_answer(&mut self, link: usize, envelope: &Envelope<'_>) -> Option<OfferedList> {
        // A legacy client without an answer to `initialize` gets its own child's answer.
        let has_begun = match &self.client {
            Client::Silent => false,
            Client::Legacy(legacy) => legacy.promised.is_some(),
            Client::Modern => true,
        };
        let list = envelope.method().and_then(OfferedList::of)?;
        // A later page is not the list.
        (has_begun && self.links[link].running().is_none() && !is_later_page(envelope)).then_some(list)
    }

    /// The client gets a list, or its first page.
    pub(super) fn list_for_client(&mut self, link: usize, list: &'static str, result: &RawValue) {
        self.learn_list(link, list, result);
        self.links[link].told_list(list, result.get());
        self.remember_list(link, list, result);
    }

    /// Rootward's own request for a list was answered; `None` if it was refused.
    pub(super) fn own_list(&mut self, link: usize, list: &'static str, result: Option<&RawValue>) {
        let Some(result) = result else {
            if list == method::LIST_TOOLS {
                self.links[link].tools.will_not_be_listed();
            }
            return;
        };
        self.learn_list(link, list, result);
        self.announce(link, list, result.get());
        self.remember_list(link, list, result);
    }

    /// Tells the client if a list differs from what it was told.
    fn announce(&mut self, link: usize, list: &str, result: &str) {
        if let Some(list) = OfferedList::of(list).filter(|list| self.links[link].is_news(list.method, result)) {
            self.tell_client(&message::notification(list.changed));
        }
    }

    /// Caches a list if it is complete; otherwise removes the cached one.
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

    /// Asks a new child for the lists that the client got from another one.
    pub(super) fn compare_lists(&mut self, link: usize, number: u64) {
        for list in offer::LISTS {
            let of = &self.links[link];
            let offers = of.handshake.as_ref().is_none_or(|known| Offer::read(known).has(list.capability));
            match offer::nothing(list.method) {
                _ if !of.is_told(list.method) => {}
                Some((_, nothing)) if !offers => self.announce(link, list.method, nothing),
                _ => self.ask_for_list(link, number, list.method),
            }
        }
    }

    /// Requests a list from a child, unless a request is already open.
    pub(super) fn ask_for_list(&mut self, link: usize, number: u64, list: &'static str) {
        let id = self.own_id("list");
        let meta = self.rounds.meta().filter(|_| self.era() == Era::Modern);
        let params = meta.map(|meta| object([(keys::META, meta)]));
        let Some(child) = self.links[link].children.get_mut(&number) else { return };
        if !child.owes.values().any(|owed| owed.list() == Some(list)) {
            child.ask(&id, Owed::OwnList(list), &message::request(&id, list, params.as_deref()));
        }
    }

    /// Whether a call waits for the list of tools, since a tool's schema says how it uses its arguments. Requests the
    /// list if nobody has. A server that does not answer delays calls only briefly.
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

    /// Caches a handshake.
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

/// Whether a result is the last page of a list. If it is also the first, it is the whole list.
pub(super) fn is_last_page(result: &RawValue) -> bool {
    let next = Members::read(result).map(|result| result.get("nextCursor").is_some_and(|next| next.get() != "null"));
    next == Some(false)
}

/// Whether a request asks for a page other than the first.
fn is_later_page(envelope: &Envelope<'_>) -> bool {
    let Some(params) = envelope.params().filter(|params| params.get() != "null") else { return false };
    let Some(params) = Members::read(params) else { return true };
    params.get("cursor").is_some_and(|cursor| cursor.get() != "null")
}
