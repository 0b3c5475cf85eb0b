//! `subscriptions/listen`: a request that stays open and reports changes.
//!
//! It uses a stand-in without roots, and gets notifications from all stand-ins of its client. Resources are
//! subscribed to in each of them, because only the process with the right directories may know the resource.

use std::collections::BTreeSet;
use std::time::Duration;

use rootward_protocol::frame::{Envelope, Id, key};
use rootward_protocol::message::{self, INTERNAL_ERROR, INVALID_PARAMS};
use rootward_protocol::method;
use rootward_protocol::round::ModernRequest;
use rootward_protocol::subscription::{self, SubscriptionFilter};
use serde_json::json;
use serde_json::value::RawValue;

use super::super::Hub;
use super::stand_in::Roots;
use crate::engine::{ClientId, Effect};

/// A listening request.
#[derive(Debug)]
pub(super) struct Listener {
    connection: ClientId,
    id: Box<str>,
    pub(super) stand_in: ClientId,
    filter: SubscriptionFilter,
}

impl Listener {
    /// Whether it is the request with this id.
    pub(super) fn is_asked_as(&self, id: &str) -> bool {
        *key(&self.id) == *id
    }

    /// The answer when the hub ends.
    pub(super) fn ended(&self) -> String {
        message::result(&self.id, &subscription::ended(&self.id))
    }
}

impl Hub {
    /// A client starts to listen.
    pub(super) fn listen(
        &mut self,
        now: Duration,
        connection: ClientId,
        (envelope, request): (&Envelope<'_>, &ModernRequest<'_>),
        id: Id<'_>,
        effects: &mut Vec<Effect>,
    ) {
        let filter = match SubscriptionFilter::read(envelope.params().unwrap_or(RawValue::NULL)) {
            Ok(filter) => filter,
            Err(says) => return self.tell_error(connection, id, INVALID_PARAMS, &says),
        };
        let party = self.party_of(connection);
        let stand_in = match self.stand_in(now, &party, request, Roots::Unsupported, effects) {
            Ok(stand_in) => stand_in,
            Err(says) => return self.tell_error(connection, id, INTERNAL_ERROR, says),
        };
        self.tell(connection, &filter.acknowledged(id.as_str()));
        let number = self.modern.number();
        self.modern.attach(number, connection, stand_in);
        self.modern.listeners.insert(number, Listener { connection, id: id.as_str().into(), stand_in, filter });
        self.subscribe_family(now, stand_in);
    }

    /// A client stops listening.
    pub(super) fn stop_listening(&mut self, now: Duration, number: u64) {
        let Some(listener) = self.modern.listeners.remove(&number) else { return };
        self.modern.detach(number, listener.connection);
        self.subscribe_family(now, listener.stand_in);
        self.is_left(now, listener.stand_in, number);
    }

    /// All stand-ins of the same client, with any roots.
    fn family(&self, of: ClientId) -> Vec<ClientId> {
        let (Some(own), Some(client)) = (self.modern.stand_ins.get(&of), self.clients.get(&of)) else {
            return Vec::new();
        };
        // SECURITY: notifications from one principal's servers are not for another
        // (test: visits_of_two_principals_share_nothing)
        let is_kin = |id: &ClientId| self.is_of(*id, client.party());
        let alike = self.modern.stand_ins.iter().filter(|(_, other)| other.hello == own.hello);
        alike.map(|(id, _)| *id).filter(is_kin).collect()
    }

    fn subscribe_family(&mut self, now: Duration, of: ClientId) {
        for id in self.family(of) {
            self.subscribe(now, id);
        }
    }

    /// Subscribes a stand-in to exactly the resources that its client listens for.
    pub(super) fn subscribe(&mut self, now: Duration, id: ClientId) {
        let family = self.family(id);
        let listening = self.modern.listeners.values().filter(|listener| family.contains(&listener.stand_in));
        let wanted: BTreeSet<String> =
            listening.flat_map(|listener| listener.filter.resources().iter().cloned()).collect();
        let is_heard = self.modern.listeners.values().any(|listener| family.contains(&listener.stand_in));
        if let Some(client) = self.clients.get_mut(&id) {
            client.is_listened_to(is_heard);
            self.with_orders.insert(id);
        }
        let Some(stand_in) = self.modern.stand_ins.get_mut(&id) else { return };
        let before = std::mem::replace(&mut stand_in.subscribed, wanted.clone());
        let begin = wanted.difference(&before).map(|uri| (method::SUBSCRIBE, uri));
        let end = before.difference(&wanted).map(|uri| (method::UNSUBSCRIBE, uri));
        for (method, uri) in begin.chain(end) {
            let own = self.own_id();
            self.feed(now, id, &message::request(&own, method, Some(&json!({"uri": uri}).to_string())));
        }
    }

    /// A list of a stand-in has changed.
    pub(super) fn list_changed(&mut self, stand_in: ClientId, notification: &str) {
        self.tell_listeners(stand_in, |listener| {
            let wants = listener.filter.wants(notification);
            wants.then(|| subscription::list_changed(notification, &listener.id))
        });
    }

    /// A resource that a stand-in is subscribed to has changed.
    pub(super) fn resource_updated(&mut self, stand_in: ClientId, uri: &str) {
        self.tell_listeners(stand_in, |listener| {
            let wants = listener.filter.resources().contains(uri);
            wants.then(|| subscription::resource_updated(uri, &listener.id))
        });
    }

    fn tell_listeners(&mut self, stand_in: ClientId, told: impl Fn(&Listener) -> Option<String>) {
        let family = self.family(stand_in);
        let listening = self.modern.listeners.values().filter(|listener| family.contains(&listener.stand_in));
        let lines = listening.filter_map(|listener| Some((listener.connection, told(listener)?)));
        for (connection, line) in lines.collect::<Vec<_>>() {
            self.tell(connection, &line);
        }
    }
}
