//! Each setting with its value and where it came from, as `doctor` shows them.

use std::fmt::Display;
use std::path::PathBuf;
use std::time::Duration;

use rootward_core::session::{NoRoots, Policy};
use rootward_core::{Closed, Shown};
use rootward_protocol::RefusalForm;
use rootward_sandbox::Network;
use serde::Serialize;
use serde_json::Value;

use crate::answer::text;
use crate::ground::Ground;
use crate::settings::{HttpSettings, PrincipalSettings, Restrict, SandboxSettings, ServeSettings, Setting, Source};

/// One setting.
#[derive(Debug, Serialize)]
pub(super) struct Line {
    pub(super) name: &'static str,
    value: Value,
    #[serde(rename = "source")]
    source_word: &'static str,
    /// The variable, where that is the source.
    #[serde(skip_serializing_if = "Option::is_none")]
    variable: Option<&'static str>,
    /// Value and source as people read them.
    #[serde(skip)]
    pub(super) shown: String,
    #[serde(skip)]
    pub(super) source: Source,
    /// What does not fit into one line.
    #[serde(skip)]
    pub(super) more: Vec<String>,
}

/// A restriction for programs, in the words of the settings file.
#[derive(Serialize)]
struct RestrictValue<'r> {
    pattern: &'r str,
    closed: &'static str,
    below: Option<std::borrow::Cow<'r, str>>,
}

/// Each setting as one line.
pub(super) fn values(ground: &Ground) -> Vec<Line> {
    let all = &ground.settings;
    let policy: Policy = all.policy();
    let roots: Vec<&str> = all.roots.value.iter().map(|named| named.text.as_str()).collect();
    let roots_shown = match roots.as_slice() {
        [] => "none".to_owned(),
        [one] => (*one).to_owned(),
        more => format!("{} roots", more.len()),
    };
    let more_roots = if roots.len() > 1 { roots.iter().map(|text| (*text).to_owned()).collect() } else { Vec::new() };
    // Where it is not set, the lifetime for all clients counts.
    let ttl_announced = match all.roots_ttl_announced.value {
        None => Setting { value: policy.lifetime_announced, source: all.roots_ttl.source },
        value => Setting { value, source: all.roots_ttl_announced.source },
    };
    let lifetime = |time: Option<Duration>| (time.map(milliseconds), shown_time(time));
    let (ttl, ttl_shown) = lifetime(policy.lifetime);
    let (announced, announced_shown) = lifetime(policy.lifetime_announced);
    let no_roots = match policy.no_roots {
        NoRoots::Deny => "deny",
        NoRoots::AllowAll => "allow-all",
    };
    let refusal = match all.refusal.value {
        RefusalForm::ToolError => "result",
        RefusalForm::ProtocolError => "error",
    };
    let fallback = all.fallback_dir.value.as_ref().map(|named| named.text.as_str());
    let restrict: Vec<_> = all.restrict.value.iter().map(restrict_value).collect();
    let restrict_shown = match restrict.len() {
        0 => "standard places only".to_owned(),
        count => format!("standard places and {count} more"),
    };
    let mut lines = vec![
        Line { more: more_roots, ..value("roots", &all.roots, &roots, roots_shown) },
        plain("mode", &all.mode, policy.mode.word()),
        plain("strict", &all.strict, all.strict.value),
        plain("ignore_client", &all.ignore_client, all.ignore_client.value),
        value("fallback_dir", &all.fallback_dir, &fallback, fallback.unwrap_or("none").to_owned()),
        plain("fallback_only", &all.fallback_only, all.fallback_only.value),
        plain("no_roots", &all.no_roots, no_roots),
        plain("refusal", &all.refusal, refusal),
        value("roots_ttl_ms", &all.roots_ttl, &ttl, ttl_shown),
        value("roots_ttl_announced_ms", &ttl_announced, &announced, announced_shown),
        plain("roots_timeout_ms", &all.roots_timeout, milliseconds(policy.timeout)),
        plain("debounce_ms", &all.debounce, milliseconds(policy.debounce)),
        plain("revoked_grace_ms", &all.revoked_grace, milliseconds(policy.revoked_grace)),
        Line {
            more: all.restrict.value.iter().map(shown_restrict).collect(),
            ..value("restrict", &all.restrict, &restrict, restrict_shown)
        },
        list("treat", &all.treat, &all.treat.value.iter().map(ToString::to_string).collect::<Vec<_>>()),
        plain("get_roots", &all.get_roots, all.get_roots.value),
    ];
    lines.extend(sandbox(&all.sandbox));
    lines.extend(http(&all.http));
    lines.extend(serve(&all.serve));
    lines
}

/// The settings of confined commands, by their keys.
fn sandbox(all: &SandboxSettings) -> Vec<Line> {
    let variables: Vec<String> = all.variables.value.iter().map(ToString::to_string).collect();
    let switch = |on: bool| if on { "on" } else { "off" };
    let mut lines = vec![
        plain("sandbox.network", &all.network, switch(all.network.value == Network::On)),
        plain("sandbox.unix_sockets", &all.unix_sockets, all.unix_sockets.value.word()),
        list("sandbox.env", &all.variables, &variables),
    ];
    for (name, setting) in all.paths() {
        let paths: Vec<String> = setting.value.iter().map(|path| text(path.as_os_str()).into_owned()).collect();
        lines.push(list(name, setting, &paths));
    }
    lines
}

/// The settings of `--http`, by their keys. Tokens are not shown.
fn http(all: &HttpSettings) -> Vec<Line> {
    let path = |setting: &Setting<Option<PathBuf>>| {
        setting.value.iter().map(|path| text(path.as_os_str()).into_owned()).collect::<Vec<_>>()
    };
    let principals: Vec<String> = all.principals.value.iter().map(shown_principal).collect();
    let mut lines = vec![
        plain("http.token", &all.token, all.token.shown()),
        list("http.tls_cert", &all.tls_cert, &path(&all.tls_cert)),
        list("http.tls_key", &all.tls_key, &path(&all.tls_key)),
        list("http.allow_hosts", &all.allow_hosts, &all.allow_hosts.value),
        list("http.allow_origins", &all.allow_origins, &all.allow_origins.value),
        list("http.principals", &all.principals, &principals),
    ];
    lines.extend(all.limits.all().into_iter().map(|(key, setting)| plain(key, setting, setting.value)));
    lines
}

/// The settings of the file server, by their keys.
fn serve(all: &ServeSettings) -> Vec<Line> {
    vec![
        list("serve.tools", &all.tools, &all.tools.value),
        plain("serve.resources", &all.resources, &all.resources.value),
    ]
}

/// A principal, and what it may reach.
fn shown_principal(principal: &PrincipalSettings) -> String {
    let roots: Vec<&str> = principal.roots.iter().map(|named| named.text.as_str()).collect();
    let roots = if roots.is_empty() { "no roots".to_owned() } else { roots.join(", ") };
    let servers = principal.servers.as_ref().map(|servers| format!("; servers: {}", servers.join(", ")));
    format!("{}: {roots}{}", principal.name, servers.unwrap_or_default())
}

/// A list: one entry in the line itself, more below it.
fn list<T>(name: &'static str, setting: &Setting<T>, entries: &[String]) -> Line {
    let shown: Vec<String> = entries.iter().map(|entry| Shown::new(entry).to_string()).collect();
    let in_line = match shown.as_slice() {
        [] => "none".to_owned(),
        [one] => one.clone(),
        more => more.len().to_string(),
    };
    let more = if shown.len() > 1 { shown } else { Vec::new() };
    Line { more, ..value(name, setting, &entries, in_line) }
}

fn value<T>(name: &'static str, setting: &Setting<T>, value: &impl Serialize, shown: String) -> Line {
    Line {
        name,
        value: serde_json::to_value(value).unwrap_or_default(),
        source_word: setting.source.word(),
        variable: setting.source.variable(),
        shown,
        source: setting.source,
        more: Vec::new(),
    }
}

pub(super) fn closed_word(closed: Closed) -> &'static str {
    match closed {
        Closed::Entirely => "all",
        Closed::ForWriting => "writing",
    }
}

fn restrict_value(restrict: &Restrict) -> RestrictValue<'_> {
    RestrictValue {
        pattern: &restrict.pattern,
        closed: closed_word(restrict.closed),
        below: restrict.below.as_ref().map(|place| text(place.as_os_str())),
    }
}

fn shown_restrict(restrict: &Restrict) -> String {
    let below = restrict.below.as_ref().map(|place| format!(", below {}", Shown::new(place)));
    let (pattern, closed) = (Shown::new(&restrict.pattern), closed_word(restrict.closed));
    format!("{pattern} (closed: {closed}{})", below.unwrap_or_default())
}

/// A value that people and programs read alike.
fn plain<T>(name: &'static str, setting: &Setting<T>, it: impl Serialize + Display) -> Line {
    value(name, setting, &it, it.to_string())
}

/// What was set as a number of milliseconds.
fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

fn shown_time(time: Option<Duration>) -> String {
    time.map_or_else(|| "no limit".to_owned(), |time| milliseconds(time).to_string())
}
