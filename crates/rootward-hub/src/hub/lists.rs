//! The merged lists of all servers: requested when the client asks, waited for briefly, cached until a server
//! announces a change.

use std::sync::Arc;
use std::time::Duration;

use rootward_protocol::frame::{Envelope, Members};
use rootward_protocol::message::{self, INTERNAL_ERROR, INVALID_PARAMS};
use rootward_protocol::offer::{self, OfferedList};
use rootward_protocol::{method, shown};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::branch::{Own, Phase};
use super::catalog::{Merged, Part, members_of};
use super::client::{Client, LONGEST_SHOWN};
use super::own_tools;
use super::passing::Listens;

/// How long a client waits for servers that do not answer or start: hosts give up on a list after five seconds.
pub(super) const LISTS_WITHIN: Duration = Duration::from_millis(4500);

/// Maximum size of one server's list, in bytes: more than any model could read.
const MOST_BYTES: usize = 32 << 20;

/// Maximum number of pages: a server may return empty next pages forever.
const MOST_PAGES: usize = 1000;

/// A client's request for a list.
#[derive(Debug)]
pub(super) struct ListRequest {
    pub(super) id: Box<str>,
    list: OfferedList,
    cursor: Option<String>,
    pub(super) until: Duration,
}

/// A server's list, as far as it is known.
#[derive(Debug, Default)]
pub(super) struct Listing {
    state: State,
    entries: Vec<Box<RawValue>>,
    /// How many pages were received.
    pages: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum State {
    #[default]
    Unknown,
    /// It was requested; pages may have arrived.
    Asked,
    /// The server announced a change before it was complete.
    AskedAndChanged,
    Known,
}

impl Listing {
    /// Starts over with an empty list.
    fn begin(&mut self) {
        *self = Listing { state: State::Asked, ..Listing::default() };
    }

    pub(super) fn is_known(&self) -> bool {
        self.state == State::Known
    }

    /// Whether nothing was received.
    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Whether another page is acceptable.
    fn has_room(&self) -> bool {
        self.pages < MOST_PAGES && self.entries.iter().map(|entry| entry.get().len()).sum::<usize>() < MOST_BYTES
    }
}

impl Client {
    /// The client requests a list.
    pub(super) fn asks_for_list(&mut self, envelope: &Envelope<'_>, id: &str, list: OfferedList) {
        let cursor = envelope.params().and_then(Members::read).and_then(|params| params.text("cursor"));
        for server in self.order.clone() {
            // A later page belongs to the list that was already returned.
            if cursor.is_none() && self.branches[server].listens == Listens::Never {
                self.is_stale(server, list.method);
            }
        }
        self.load(list.method);
        self.lists.push(ListRequest { id: id.into(), list, cursor, until: self.now + LISTS_WITHIN });
    }

    /// Requests an unknown list from every server.
    pub(super) fn load(&mut self, list: &'static str) {
        for server in self.order.clone() {
            let listing = self.branches[server].listings.entry(list).or_default();
            if listing.state == State::Unknown {
                listing.begin();
                self.ask_for_list(server, list, None);
            }
        }
    }

    /// Requests lists again from a server that has recovered. The client is notified when they are available.
    pub(super) fn ask_again(&mut self, server: usize, lists: &[&'static str]) {
        for list in lists {
            let Some(branch) = self.branches.get_mut(server) else { return };
            if let Some(listing) = branch.listings.get_mut(list).filter(|listing| listing.is_known()) {
                listing.begin();
                branch.missed.insert(list);
                self.ask_for_list(server, list, None);
            }
        }
    }

    fn ask_for_list(&mut self, server: usize, list: &'static str, cursor: Option<&str>) {
        let id = self.own_id();
        let params = cursor.map(|cursor| json!({"cursor": cursor}).to_string());
        let line = message::request(&id, list, params.as_deref());
        self.own.insert(id, Own::List(server, list));
        self.send(server, line.into_bytes(), None);
    }

    /// A server has answered with a list, or a page of it.
    pub(super) fn listed(&mut self, server: usize, list: &'static str, envelope: &Envelope<'_>) {
        let (_, member) = members_of(list);
        let result = envelope.result().and_then(Members::read);
        let page: Vec<Box<RawValue>> =
            result.as_ref().and_then(|result| serde_json::from_str(result.get(member)?.get()).ok()).unwrap_or_default();
        let next = result.and_then(|result| result.text("nextCursor"));
        let Some(branch) = self.branches.get_mut(server) else { return };
        // A server that ends before it answers still has a handshake: the engine answered in its place.
        let is_internal =
            |error: &Members<'_>| error.get("code").is_some_and(|code| code.get() == INTERNAL_ERROR.to_string());
        let error = envelope.error().and_then(Members::read).filter(is_internal);
        branch.trouble = error.and_then(|error| error.text("message"));
        let Some(listing) = branch.listings.get_mut(list) else { return };
        // Every entry must be one line.
        listing.pages += 1;
        listing.entries.extend(page.into_iter().filter(|entry| !entry.get().contains(['\n', '\r'])));
        match (listing.state, next) {
            (State::AskedAndChanged, _) => {
                listing.begin();
                self.ask_for_list(server, list, None);
            }
            (_, Some(next)) if listing.has_room() => self.ask_for_list(server, list, Some(&next)),
            _ => {
                listing.state = State::Known;
                self.forget(list);
                self.announce_missed(server, list);
            }
        }
    }

    /// Notifies the client about a list that it got without this server.
    fn announce_missed(&mut self, server: usize, list: &'static str) {
        let missed = self.branches.get_mut(server).is_some_and(|branch| branch.missed.remove(list));
        if let Some(list) = OfferedList::of(list).filter(|_| missed) {
            self.tell_changed(list.changed);
        }
    }

    /// A server announces a changed list. The client gets the same notification.
    pub(super) fn list_changed(&mut self, server: usize, notification: &'static str) {
        for list in offer::LISTS.iter().filter(|list| list.changed == notification) {
            let Some(branch) = self.branches.get_mut(server) else { return };
            if let Some(listing) = branch.listings.get_mut(list.method) {
                listing.state = match listing.state {
                    State::Unknown | State::Known => State::Unknown,
                    State::Asked | State::AskedAndChanged => State::AskedAndChanged,
                };
            }
            self.forget(list.method);
        }
        self.tell_changed(notification);
    }

    /// Tells the client that a list changed. In the compact form the list of tools never changes.
    pub(super) fn tell_changed(&mut self, notification: &str) {
        if self.initialized && !(self.is_compact() && notification == method::TOOLS_CHANGED) {
            self.tell(&message::notification(notification));
        }
    }

    /// Marks a server's list as possibly outdated.
    pub(super) fn is_stale(&mut self, server: usize, list: &'static str) {
        let listing = self.branches.get_mut(server).and_then(|branch| branch.listings.get_mut(list));
        if let Some(listing) = listing.filter(|listing| listing.is_known()) {
            listing.state = State::Unknown;
            self.forget(list);
        }
    }

    fn forget(&mut self, list: &'static str) {
        self.merged.remove(list);
        self.generation += 1;
    }

    /// Drops all merged lists: servers were added or removed.
    pub(super) fn forget_merged(&mut self) {
        self.merged.clear();
        self.generation += 1;
    }

    /// Whether there is nothing to wait for: each server's list is known, or the server cannot begin.
    pub(super) fn is_loaded(&self, list: &str) -> bool {
        self.order.iter().map(|server| &self.branches[*server]).all(|branch| {
            matches!(branch.phase, Phase::Failed { .. })
                || branch.listings.get(list).is_some_and(|listing| listing.state == State::Known)
        })
    }

    /// Answers requests for lists that are complete or have waited long enough.
    pub(super) fn answer_lists(&mut self) {
        if self.lists.is_empty() {
            return;
        }
        let (now, compact) = (self.now, self.is_compact());
        let of_hub = |request: &ListRequest| compact && request.list.method == method::LIST_TOOLS;
        let requests = std::mem::take(&mut self.lists);
        for request in requests {
            if !of_hub(&request) && !self.is_loaded(request.list.method) && now < request.until {
                self.lists.push(request);
                continue;
            }
            self.answer_list(&request);
        }
    }

    fn answer_list(&mut self, request: &ListRequest) {
        let list = request.list.method;
        for server in &self.order {
            let branch = &mut self.branches[*server];
            let known = branch.listings.get(list).is_some_and(|listing| listing.state == State::Known);
            if !known {
                branch.missed.insert(list);
            }
        }
        let merged = self.merged(list);
        let answer = match merged.page(list, self.generation, request.cursor.as_deref()) {
            Some(result) => message::result(&request.id, &result),
            None => {
                let cursor = shown(request.cursor.as_deref().unwrap_or_default(), LONGEST_SHOWN);
                let says =
                    format!("cursor `{cursor}` belongs to a list that has changed; request the first page again");
                message::error(&request.id, INVALID_PARAMS, &says, None)
            }
        };
        self.tell(&answer);
    }

    /// A list of all servers, as far as their lists are known.
    pub(super) fn merged(&mut self, list: &'static str) -> Arc<Merged> {
        if let Some(merged) = self.merged.get(list) {
            return Arc::clone(merged);
        }
        let merged = Arc::new(self.merge(list));
        for says in &merged.left_out {
            self.say(says);
        }
        // A list without a server's part is rebuilt when that part arrives.
        self.merged.insert(list, Arc::clone(&merged));
        merged
    }

    fn merge(&self, list: &'static str) -> Merged {
        let own: Vec<Value> = match list {
            method::LIST_TOOLS => own_tools::listed(self.is_compact()),
            _ => Vec::new(),
        };
        if self.is_compact() && list == method::LIST_TOOLS {
            return Merged::of(list, &own, &[], &self.settings);
        }
        let part = |position: &usize| {
            let server = self.servers.get(*position)?;
            Some(Part { position: *position, server, entries: self.entries(*position, list) })
        };
        let parts: Vec<Part<'_>> = self.order.iter().filter_map(part).collect();
        Merged::of(list, &own, &parts, &self.settings)
    }

    /// A server's entries, as it sent them.
    pub(super) fn entries(&self, server: usize, list: &str) -> &[Box<RawValue>] {
        let listing = self.branches.get(server).and_then(|branch| branch.listings.get(list));
        listing.filter(|listing| listing.state == State::Known).map_or(&[], |listing| &listing.entries)
    }
}
