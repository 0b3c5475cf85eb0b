//! The limits of the client's own sandbox: requested in the handshake, removed from each message, and applied to its
//! paths by the gate.

use rootward_protocol::frame::{Envelope, Message};
use rootward_protocol::{HostLimits, message, offer, tells_limits};
use serde_json::value::RawValue;

use super::session::{Releases, Session};

impl Session {
    /// Handles a client message. Servers never see the limits in it; Rootward applies them.
    pub(super) fn client_message(&mut self, envelope: &Envelope<'_>) -> Releases {
        let Some((limits, text)) = HostLimits::take(envelope) else {
            return self.client_message_within(envelope, None);
        };
        // SECURITY: from here on, only the message without the limits is used (test: no_server_sees_the_limits)
        match Message::parse(text.as_bytes()) {
            Ok(Message::Single(envelope)) => return self.client_message_within(&envelope, Some(limits)),
            Ok(Message::Batch(_)) => {}
            Err(bad) => self.tell_client(&message::bad_frame(bad.id.as_deref(), &bad.reason)),
        }
        Releases::Nobody
    }

    /// Answers `initialize` or `server/discover` with the server's offer. A client that can send its limits is asked
    /// to.
    pub(super) fn tell_offer(&mut self, id: &str, result: &str) {
        let asking = self.asking_for_limits(result);
        self.tell_client(&message::result(id, asking.as_deref().unwrap_or(result)));
    }

    /// Like [`Session::tell_offer`], for an answer from the server itself.
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
