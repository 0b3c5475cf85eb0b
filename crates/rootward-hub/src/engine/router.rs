//! Routes messages to servers. With one server nothing is renamed: every message goes to it.

use rootward_protocol::frame::{Envelope, Members, key};
use rootward_protocol::keys;
use serde_json::value::RawValue;

use super::child::ChildId;
use super::session::{Asked, Session};

impl Session {
    /// The link for a client's request or notification.
    #[expect(clippy::unused_self, reason = "with several servers, the tool's name would decide")]
    pub(super) fn route(&self, _envelope: &Envelope<'_>) -> usize {
        0
    }

    /// The child that owes the answer to this client request.
    pub(super) fn child_that_owes(&self, id: &str) -> Option<ChildId> {
        self.children().find(|(_, child)| child.owes.contains_key(id)).map(|(id, _)| id)
    }

    /// The child that gets progress notifications with this token.
    pub(super) fn child_of_token(&self, envelope: &Envelope<'_>) -> Option<ChildId> {
        let token =
            envelope.params().and_then(Members::read)?.get(keys::PROGRESS_TOKEN).map(|token| key(token.get()))?;
        self.asked.values().find_map(|asked| match asked {
            Asked::Child { child, token: Some(known), .. } if *known == token => Some(*child),
            _ => None,
        })
    }
}

/// The progress token of a request.
pub(super) fn progress_token(envelope: &Envelope<'_>) -> Option<Box<str>> {
    let params = envelope.params().and_then(Members::read)?;
    params.object(keys::META)?.get(keys::PROGRESS_TOKEN).map(RawValue::get).map(key)
}
