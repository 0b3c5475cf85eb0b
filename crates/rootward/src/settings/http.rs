//! The `[http]` table of the settings file: who may come in over HTTP, and what each of them gets.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rootward_core::Origin;
use rootward_core::env::{self, Environment, NamedRoot};
use serde::Deserialize;
use toml::Spanned;

use super::file::{Mistake, directory};
use super::limits::{LimitKeys, LimitSettings, WrittenLimits};
use super::{Setting, Source};

/// The longest name of a principal.
const LONGEST_NAME: usize = 64;

/// What is set for `--http`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct HttpSettings {
    /// Where the token comes from, if no principals are configured.
    pub(crate) token: Setting<TokenFrom>,
    pub(crate) tls_cert: Setting<Option<PathBuf>>,
    pub(crate) tls_key: Setting<Option<PathBuf>>,
    pub(crate) allow_hosts: Setting<Vec<String>>,
    pub(crate) allow_origins: Setting<Vec<String>>,
    pub(crate) principals: Setting<Vec<PrincipalSettings>>,
    pub(crate) limits: LimitSettings,
}

/// What there is where nothing is set.
impl Default for HttpSettings {
    fn default() -> HttpSettings {
        WrittenHttp::default().combine(&Environment::default())
    }
}

/// Where a token comes from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum TokenFrom {
    File(PathBuf),
    Variable(String),
    /// Made at the first start, in the state directory; on loopback only.
    Generated,
}

/// A principal as the file has it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct PrincipalSettings {
    pub(crate) name: String,
    pub(crate) token: TokenFrom,
    /// The ceiling.
    pub(crate) roots: Vec<NamedRoot>,
    /// The servers of the hub that it may use; all, where there is no list.
    pub(crate) servers: Option<Vec<String>>,
}

/// The table as its keys have it.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
pub(super) struct HttpKeys {
    token_file: Option<Spanned<String>>,
    tls_cert: Option<Spanned<String>>,
    tls_key: Option<Spanned<String>>,
    allow_hosts: Option<Vec<String>>,
    allow_origins: Option<Vec<String>>,
    #[serde(default)]
    principals: BTreeMap<Spanned<String>, PrincipalKeys>,
    #[serde(default)]
    limits: LimitKeys,
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

/// What the table says.
#[derive(Default, Debug)]
pub(super) struct WrittenHttp {
    token_file: Option<PathBuf>,
    tls_cert: Option<PathBuf>,
    tls_key: Option<PathBuf>,
    allow_hosts: Option<Vec<String>>,
    allow_origins: Option<Vec<String>>,
    principals: Vec<PrincipalSettings>,
    limits: WrittenLimits,
}

impl HttpKeys {
    pub(super) fn read(self, text: &str, home: Option<&Path>) -> Result<WrittenHttp, Mistake> {
        let path = |spot: Option<Spanned<String>>| {
            spot.map(|spot| directory(spot.get_ref(), home).map_err(|why| Mistake::about(text, &spot, &why)))
                .transpose()
        };
        let principals = self.principals.into_iter().map(|(name, keys)| keys.read(name, text, home));
        Ok(WrittenHttp {
            principals: principals.collect::<Result<_, _>>()?,
            token_file: path(self.token_file)?,
            tls_cert: path(self.tls_cert)?,
            tls_key: path(self.tls_key)?,
            allow_hosts: self.allow_hosts,
            allow_origins: self.allow_origins,
            limits: self.limits.read(text)?,
        })
    }
}

impl PrincipalKeys {
    fn read(self, name: Spanned<String>, text: &str, home: Option<&Path>) -> Result<PrincipalSettings, Mistake> {
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.@".contains(letter);
        if name.get_ref().is_empty() || name.get_ref().len() > LONGEST_NAME || !name.get_ref().chars().all(is_plain) {
            let expected = format!("expected up to {LONGEST_NAME} letters, digits, `-`, `_`, `.` or `@`");
            return Err(Mistake::about(text, &name, &expected));
        }
        let token = match (self.token_file, self.token_env) {
            (Some(spot), None) => {
                TokenFrom::File(directory(spot.get_ref(), home).map_err(|why| Mistake::about(text, &spot, &why))?)
            }
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
        let root = |spot: &Spanned<String>| {
            let named = NamedRoot::read(spot.get_ref().as_ref(), home, Origin::Config);
            named.map_err(|error| Mistake::at(text, spot.span().start, error.to_string()))
        };
        let roots = self.roots.iter().map(root).collect::<Result<_, _>>()?;
        Ok(PrincipalSettings { name: name.into_inner(), token, roots, servers: self.servers })
    }
}

impl WrittenHttp {
    pub(super) fn combine(self, environment: &Environment) -> HttpSettings {
        let variable = environment.get(env::TOKEN).map(|_| (TokenFrom::Variable(env::TOKEN.to_owned()), env::TOKEN));
        let principals = Some(self.principals).filter(|principals| !principals.is_empty());
        HttpSettings {
            token: Setting::first(variable, self.token_file.map(TokenFrom::File), TokenFrom::Generated),
            tls_cert: Setting::first(None, self.tls_cert.map(Some), None),
            tls_key: Setting::first(None, self.tls_key.map(Some), None),
            allow_hosts: Setting::first(None, self.allow_hosts, Vec::new()),
            allow_origins: Setting::first(None, self.allow_origins, Vec::new()),
            principals: Setting::first(None, principals, Vec::new()),
            limits: self.limits.combine(),
        }
    }
}

impl Setting<TokenFrom> {
    /// Where the token comes from, as `doctor` shows it; never the token.
    pub(crate) fn shown(&self) -> String {
        match (&self.value, self.source) {
            (TokenFrom::File(path), _) => rootward_core::Shown::new(path).to_string(),
            (TokenFrom::Variable(_), Source::Environment(_)) => "set".to_owned(),
            (TokenFrom::Variable(name), _) => format!("variable {name}"),
            (TokenFrom::Generated, _) => "generated at the first start".to_owned(),
        }
    }
}
