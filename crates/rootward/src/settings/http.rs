//! Who may connect over HTTP, and what each of them gets: the values of the table `[http]`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rootward_core::Origin;
use rootward_core::env::NamedRoot;
use serde::Deserialize;
use toml::Spanned;

use super::file::{Found, Mistake};
use super::parsers::{Parsed, one_path, path, root};

/// The maximum length of a principal's name.
const LONGEST_NAME: usize = 64;

/// Where a token comes from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum TokenFrom {
    File(PathBuf),
    Variable(String),
    /// Created at the first start, in the state directory; only on loopback.
    Generated,
}

/// A principal as configured in the file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct PrincipalSettings {
    pub(crate) name: String,
    pub(crate) token: TokenFrom,
    /// The ceiling.
    pub(crate) roots: Vec<NamedRoot>,
    /// The servers of the hub that it may use; all if `None`.
    pub(crate) servers: Option<Vec<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PrincipalKeys {
    token_file: Option<Spanned<String>>,
    token_env: Option<Spanned<String>>,
    #[serde(default)]
    roots: Vec<Spanned<String>>,
    servers: Option<Vec<String>>,
}

/// The file with the token.
pub(super) fn token_file(found: Found<'_>) -> Parsed<TokenFrom> {
    Ok(one_path(found)?.flatten().map(TokenFrom::File))
}

/// The principals by name; an empty table configures none.
pub(super) fn principals(found: Found<'_>) -> Parsed<Vec<PrincipalSettings>> {
    let (text, home) = (found.text, found.home);
    let all: BTreeMap<Spanned<String>, PrincipalKeys> = found.read()?;
    let principals = all.into_iter().map(|(name, keys)| keys.read(name, text, home));
    Ok(Some(principals.collect::<Result<Vec<_>, _>>()?).filter(|principals| !principals.is_empty()))
}

impl PrincipalKeys {
    fn read(self, name: Spanned<String>, text: &str, home: Option<&Path>) -> Result<PrincipalSettings, Mistake> {
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.@".contains(letter);
        if name.get_ref().is_empty() || name.get_ref().len() > LONGEST_NAME || !name.get_ref().chars().all(is_plain) {
            let expected = format!("expected up to {LONGEST_NAME} letters, digits, `-`, `_`, `.` or `@`");
            return Err(Mistake::about(text, &name, &expected));
        }
        let token = match (self.token_file, self.token_env) {
            (Some(spot), None) => TokenFrom::File(path(text, home, &spot)?),
            (None, Some(spot)) => TokenFrom::Variable(spot.into_inner()),
            (Some(_), Some(spot)) => {
                return Err(Mistake::about(
                    text,
                    &spot,
                    "a token comes from `token_file` or from `token_env`, not both",
                ));
            }
            (None, None) => {
                return Err(Mistake::about(text, &name, "its token is missing: add `token_file` or `token_env`"));
            }
        };
        let root = |spot: &Spanned<String>| root(text, home, spot, Origin::Config);
        let roots = self.roots.iter().map(root).collect::<Result<_, _>>()?;
        Ok(PrincipalSettings { name: name.into_inner(), token, roots, servers: self.servers })
    }
}
