//! The id of a session: random, in characters that a header can carry.

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;

/// Length of an id in bytes: 192 bits.
const LENGTH: usize = 24;

/// The id of a session.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct SessionId([u8; LENGTH]);

impl SessionId {
    /// A new id. An error means that the system provides no random bytes.
    pub(crate) fn random() -> Result<SessionId, getrandom::Error> {
        let mut bytes = [0; LENGTH];
        // SECURITY: a guessable id would open another session of the same principal (test: ids_do_not_repeat)
        getrandom::fill(&mut bytes)?;
        Ok(SessionId(bytes))
    }

    /// Parses an id as a client sends it back.
    pub(crate) fn read(text: &[u8]) -> Option<SessionId> {
        let mut bytes = [0; LENGTH];
        let length = BASE64_URL_SAFE_NO_PAD.decode_slice(text, &mut bytes).ok()?;
        (length == LENGTH).then_some(SessionId(bytes))
    }

    /// The id in the form that is sent.
    pub(crate) fn text(self) -> String {
        BASE64_URL_SAFE_NO_PAD.encode(self.0)
    }
}

impl std::fmt::Debug for SessionId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Enough to distinguish sessions in a log, too little to use one.
        let shown: String = self.text().chars().take(6).collect();
        write!(f, "SessionId({shown}…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_do_not_repeat() {
        let ids: std::collections::HashSet<SessionId> = (0..1000).map(|_| SessionId::random().unwrap()).collect();
        assert_eq!(ids.len(), 1000);
        for id in ids {
            let text = id.text();
            assert!(text.len() == 32 && text.bytes().all(|byte| (0x21..=0x7e).contains(&byte)), "{text}");
            assert_eq!(SessionId::read(text.as_bytes()), Some(id));
        }
    }

    #[test]
    fn invalid_ids_are_not_read() {
        for text in ["", "a", &"a".repeat(31), &"a".repeat(33), &"a".repeat(64), &"é".repeat(16), &"=".repeat(32)] {
            assert_eq!(SessionId::read(text.as_bytes()), None, "{text}");
        }
    }
}
