//! Identifies the sender of a request by its token.

use sha2::{Digest, Sha256};
use subtle::{Choice, ConditionallySelectable, ConstantTimeEq};

use crate::config::Credential;
use crate::wire::PrincipalId;

/// The tokens of all principals, as digests.
#[derive(Debug)]
pub(crate) struct Tokens(Vec<[u8; 32]>);

impl Tokens {
    pub(crate) fn new(principals: &[Credential]) -> Tokens {
        Tokens(principals.iter().map(|principal| digest(principal.token.as_bytes())).collect())
    }

    /// The principal that an `Authorization` header identifies. The time it takes depends neither on which token it
    /// is nor on how much of it is right.
    pub(crate) fn principal(&self, authorization: Option<&[u8]>) -> Option<PrincipalId> {
        let given = digest(bearer(authorization?)?);
        let (mut found, mut position) = (Choice::from(0), 0u64);
        for (index, known) in (0u64..).zip(&self.0) {
            // SECURITY: an ordinary comparison stops at the first difference, so its duration reveals how much was
            // right; a loop that stops at a match reveals whose token it was
            // (test: only_a_whole_token_opens)
            let same = known.ct_eq(&given);
            position.conditional_assign(&index, same);
            found |= same;
        }
        let position = usize::try_from(position).ok()?;
        bool::from(found).then_some(PrincipalId(position))
    }
}

fn digest(token: &[u8]) -> [u8; 32] {
    Sha256::digest(token).into()
}

/// The token in `Bearer <token>`. An empty token counts as missing.
fn bearer(authorization: &[u8]) -> Option<&[u8]> {
    let (scheme, token) = authorization.split_at_checked(7)?;
    let token = token.trim_ascii();
    (scheme.eq_ignore_ascii_case(b"bearer ") && !token.is_empty()).then_some(token)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_whole_token_opens() {
        let principal = |name: &str, token: &str| Credential { name: name.to_owned(), token: token.to_owned() };
        let tokens = Tokens::new(&[principal("ada", "one-token"), principal("bob", "two-token")]);
        let check = |header: &str, expect: Option<usize>| {
            assert_eq!(tokens.principal(Some(header.as_bytes())), expect.map(PrincipalId), "{header}");
        };
        check("Bearer one-token", Some(0));
        check("Bearer two-token", Some(1));
        check("bearer  two-token ", Some(1));
        check("Bearer one-toke", None);
        check("Bearer one-token2", None);
        check("Bearer ", None);
        check("Bearer", None);
        check("Basic one-token", None);
        check("one-token", None);
        check("", None);
        assert_eq!(tokens.principal(None), None);
        assert_eq!(Tokens::new(&[principal("nobody", "")]).principal(Some(b"Bearer ")), None);
        assert_eq!(Tokens::new(&[]).principal(Some(b"Bearer x")), None);
    }
}
