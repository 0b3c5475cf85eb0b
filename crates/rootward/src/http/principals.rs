//! Who may connect over HTTP, each with a token and a ceiling.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;

use anyhow::{Result, anyhow};
use rootward_core::Mode;
use rootward_core::session::Follow;

use super::token::{self, Reach};
use crate::ground::{Ground, PlacedRoots};
use crate::message::Hinted;
use crate::settings::{PrincipalSettings, TokenFrom};

/// The principal's name if none is configured.
const DEFAULT: &str = "default";

/// Somebody who may connect.
pub(crate) struct Principal {
    pub(crate) name: String,
    token: String,
    /// The most that it can share or use; at least one of these directories exists.
    pub(crate) ceiling: PlacedRoots,
    /// The servers of the hub that it may use; all if `None`.
    #[cfg_attr(not(feature = "wrap"), expect(dead_code, reason = "for the hub"))]
    pub(crate) servers: Option<Vec<String>>,
}

impl fmt::Debug for Principal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Principal").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Principal {
    pub(super) fn to_config(&self) -> rootward_http::Credential {
        rootward_http::Credential { name: self.name.clone(), token: self.token.clone() }
    }
}

/// All principals, sorted by name. `roots` and `token_file` come from the command line.
pub(super) fn read_ambient(
    ground: &Ground,
    roots: &[OsString],
    token_file: Option<PathBuf>,
    is_loopback: bool,
) -> Result<Vec<Principal>> {
    refuse_unbounded(ground)?;
    let reach = if is_loopback { Reach::Loopback } else { Reach::Beyond };
    let configured = &ground.settings.http.principals.value;
    if configured.is_empty() {
        let from = token_file.map_or_else(|| ground.settings.http.token.value.clone(), TokenFrom::File);
        let ceiling = ground.ceiling(roots)?;
        let hint = "name the directories it may reach: `rootward serve --http ADDR DIR`";
        return Ok(vec![principal(ground, DEFAULT, ceiling, &from, None, reach, hint)?]);
    }
    if !roots.is_empty() {
        let says =
            "the settings file has principals, each with its own directories, so none can be named here".to_owned();
        let hint = "add them to `roots` of a principal in `config.toml`".to_owned();
        return Err(Hinted { says, hint }.into());
    }
    if token_file.is_some() {
        let says =
            "the settings file has principals, each with its own token, so `--token-file` applies to none of them"
                .to_owned();
        return Err(Hinted { says, hint: "set `token_file` of a principal in `config.toml`".to_owned() }.into());
    }
    let mut principals: Vec<Principal> = Vec::new();
    for PrincipalSettings { name, token, roots, servers } in configured {
        let ceiling = ground.place(roots, ground.settings.http.principals.source);
        let hint = format!(
            "name the directories it may reach, in `config.toml`:\n\n  [http.principals.{name}]\n  roots = [\"~/project\", \"~/notes:ro\"]"
        );
        let next = principal(ground, name, ceiling, token, servers.clone(), reach, &hint)?;
        // SECURITY: otherwise the order of names would decide whose session it is
        // (test: two_principals_with_one_token_are_refused)
        if let Some(same) = principals.iter().find(|known| known.token == next.token) {
            return Err(anyhow!("principals `{}` and `{name}` have the same token", same.name));
        }
        principals.push(next);
    }
    Ok(principals)
}

fn principal(
    ground: &Ground,
    name: &str,
    ceiling: PlacedRoots,
    token: &TokenFrom,
    servers: Option<Vec<String>>,
    reach: Reach,
    hint: &str,
) -> Result<Principal> {
    ceiling.warn();
    // SECURITY: without a ceiling, a client on the network could name any directory
    // (test: a_principal_without_a_ceiling_is_refused)
    if ceiling.set.is_empty() {
        let why = if ceiling.set.names_any() { "none of its roots can be used" } else { "it has no roots" };
        let says =
            format!("principal `{name}` is refused: {why}, and a client on the network could name any directory");
        return Err(Hinted { says, hint: hint.to_owned() }.into());
    }
    let token = token::read_ambient(ground, token, reach)?;
    Ok(Principal { name: name.to_owned(), token, ceiling, servers })
}

/// Refuses settings that let a client's own roots exceed the ceiling.
// SECURITY: with them, a client on the network could name any directory
// (test: modes_that_widen_are_refused_over_http)
fn refuse_unbounded(ground: &Ground) -> Result<()> {
    let settings = &ground.settings;
    let (setting, source) = match (settings.mode.value, settings.follow()) {
        (mode @ (Mode::Replace | Mode::Union), Follow::Client | Follow::Strict) => {
            (format!("mode = {}", mode.word()), settings.mode.source)
        }
        (_, Follow::FallbackOnly) => ("fallback_only = true".to_owned(), settings.fallback_only.source),
        _ => return Ok(()),
    };
    let says =
        format!("`{setting}` ({source}) cannot be used over HTTP: each principal is confined to its own directories");
    Err(Hinted { says, hint: "use `mode = narrow`, the default".to_owned() }.into())
}
