//! Gives messages new ids and progress tokens, because two peers may use the same.

use rootward_protocol::frame::{Envelope, Id, Members, Message};
use rootward_protocol::keys;
use serde_json::value::RawValue;

/// A request under another id. Its progress token, if any, becomes the same as the id.
pub(super) fn renamed(envelope: &Envelope<'_>, own: &str) -> (Vec<u8>, Option<Box<RawValue>>) {
    let mut line = Vec::new();
    if let Some(own) = Id::read(own) {
        envelope.write_with_id(own, &mut line);
    }
    let Some(token) = token_of(envelope) else { return (line, None) };
    let mut with_token = Vec::new();
    if let Ok(Message::Single(renamed)) = Message::parse(&line)
        && let Some(token) = token_of(&renamed)
    {
        renamed.write_replacing(token.get(), own, &mut with_token);
        return (with_token, Some(token.to_owned()));
    }
    (line, Some(token.to_owned()))
}

fn token_of<'f>(envelope: &Envelope<'f>) -> Option<&'f RawValue> {
    envelope.params().and_then(Members::read)?.object(keys::META)?.get(keys::PROGRESS_TOKEN)
}
