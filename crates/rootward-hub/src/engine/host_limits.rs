//! What the client's own sandbox allows a request to touch: asked for in the handshake, taken out of each message, held against its
//! paths by the gate.

use rootward_protocol::frame::{Envelope, Message};
use rootward_protocol::{HostLimits, message, offer, tells_limits};
use serde_json::value::RawValue;

use super::session::{Session, Stirs};

impl Session {
    /// A message of the client's. No server gets to see the limits in it: they are Rootward's to hold.
    pub(super) fn client_message(&mut self, envelope: &Envelope<'_>) -> Stirs {
        let Some((limits, text)) = HostLimits::take(envelope) else {
            return self.client_message_within(envelope, None);
        };
        // SECURITY: from here on there is only the message without them (test: no_server_sees_the_limits)
        match Message::parse(text.as_bytes()) {
            Ok(Message::Single(envelope)) => return self.client_message_within(&envelope, Some(limits)),
            Ok(Message::Batch(_)) => {}
            Err(bad) => self.tell_client(&message::bad_frame(bad.id.as_deref(), &bad.reason)),
        }
        Stirs::Nobody
    }

    /// Answers `initialize` or `server/discover` with what the server offers. A client that can tell its limits is asked to.
    pub(super) fn tell_offer(&mut self, id: &str, result: &str) {
        let asking = self.asking_for_limits(result);
        self.tell_client(&message::result(id, asking.as_deref().unwrap_or(result)));
    }

    /// The same, where the server itself has answered.
    pub(super) fn pass_offer(&mut self, answer: &Envelope<'_>) {
        let asking = answer.result().and_then(|result| self.asking_for_limits(result.get()));
        match asking.and_then(|asking| RawValue::from_string(asking).ok()) {
            Some(asking) => self.out.push_with(|bytes| answer.write_with_result(&asking, bytes)),
            None => self.tell_client(answer.text()),
        }
    }

    fn asking_for_limits(&self, result: &str) -> Option<String> {
        self.client_name.as_deref().filter(|client| tells_limits(client))?;
        offer::asking_for_limits(result)
    }
}
