//! The output of `rootward hub --check`: what would run, with which directories, variables and network.

use std::io::{self, Write};

use anyhow::Error;
use rootward_core::session::{Follow, Policy};
use rootward_core::{Mode, RootSet, Shown, WhyRefused};
use rootward_hub::config::ServerConfig;
use rootward_hub::hub::HubServer;
use rootward_hub::scan::Protection;
use rootward_hub::wrap::{Confine, Runs};
use rootward_sandbox::{Network, UnixSockets};
use serde::Serialize;

use crate::Outcome;
use crate::message;

/// A server as it would run.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Checked {
    name: String,
    /// The command, with secrets hidden.
    command: Vec<String>,
    /// The names of the headers of a remote server.
    headers: Vec<String>,
    /// The names of the variables that the configuration sets.
    variables: Vec<String>,
    /// The names of the environment variables passed to it.
    passed: Vec<String>,
    /// Which directories it gets.
    directories: &'static str,
    ceiling: Vec<String>,
    network: &'static str,
    unix_sockets: String,
    confined: bool,
    /// Whether paths in its calls are checked.
    judges_paths: bool,
    /// Whether it is remote.
    remote: bool,
    read: Vec<String>,
    write: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

impl Checked {
    pub(super) fn new(server: &ServerConfig, prepared: Result<&HubServer, &Error>) -> Checked {
        let masked = server.masked();
        let address = masked.url.into_iter();
        let command = masked.command.into_iter().chain(masked.args).chain(address).collect();
        let mut checked = Checked {
            name: server.name.clone(),
            command,
            headers: masked.headers.into_iter().map(|(name, _)| name).collect(),
            variables: masked.env.into_iter().map(|(name, _)| name).collect(),
            passed: Vec::new(),
            directories: "",
            ceiling: Vec::new(),
            network: "on",
            unix_sockets: String::new(),
            confined: false,
            judges_paths: true,
            remote: false,
            read: Vec::new(),
            write: Vec::new(),
            error: None,
        };
        match prepared {
            Ok(prepared) => checked.add(prepared),
            Err(error) => checked.error = Some(message::in_one_line(error)),
        }
        checked
    }

    fn add(&mut self, prepared: &HubServer) {
        let policy = &prepared.rules.policy;
        let ceiling = &prepared.rules.sources.ceiling;
        let shown = |path: &std::path::Path| Shown::new(path).to_string();
        self.directories = directories(policy, ceiling);
        // The fallback directory alone has no ceiling.
        if policy.follow != Follow::FallbackOnly {
            self.ceiling =
                ceiling.roots().iter().map(|root| format!("{} ({})", shown(&root.place), root.root.access)).collect();
        }
        self.judges_paths = prepared.rules.protection != Protection::Elsewhere;
        if prepared.launch.runs == Runs::Elsewhere {
            self.remote = true;
            return;
        }
        self.variables = prepared.launch.variables.iter().map(|(name, _)| Shown::new(name).to_string()).collect();
        let Confine::To(options) = &prepared.launch.confine else { return };
        self.confined = true;
        self.passed = options.variables.iter().map(ToString::to_string).collect();
        self.network = if options.network == Network::On { "on" } else { "off" };
        self.unix_sockets = match &options.unix_sockets {
            UnixSockets::Open => "all".to_owned(),
            UnixSockets::None => "none".to_owned(),
            UnixSockets::Named(named) => named.iter().map(|path| shown(path)).collect::<Vec<_>>().join(", "),
        };
        self.read = options.filesystem.allow_read.iter().map(|path| shown(path)).collect();
        self.write = options.filesystem.allow_write.iter().map(|path| shown(path)).collect();
    }

    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let names = |list: &[String]| if list.is_empty() { "none".to_owned() } else { list.join(", ") };
        writeln!(out, "{}: {}", Shown::new(&self.name), Shown::new(&self.command.join(" ")))?;
        if let Some(error) = &self.error {
            return writeln!(out, "  cannot run: {error}");
        }
        writeln!(out, "  directories: {}", self.directories)?;
        for root in &self.ceiling {
            writeln!(out, "    {root}")?;
        }
        if self.remote {
            let checked = if self.judges_paths { "are checked" } else { "are not checked: it sees no files here" };
            writeln!(out, "  headers: {}", names(&self.headers))?;
            return writeln!(out, "  runs elsewhere, reached over the network; paths in its calls {checked}");
        }
        writeln!(
            out,
            "  variables set: {}; passed from your environment: {}",
            names(&self.variables),
            names(&self.passed)
        )?;
        let confined =
            if self.confined { "confined by the kernel" } else { "not confined: only its calls are checked" };
        writeln!(out, "  network: {}; {confined}", self.network)?;
        for (what, list) in [("reads", &self.read), ("writes", &self.write)] {
            if !list.is_empty() {
                writeln!(out, "  also {what}: {}", list.join(", "))?;
            }
        }
        if !self.unix_sockets.is_empty() && self.unix_sockets != "none" {
            writeln!(out, "  connects to: {}", self.unix_sockets)?;
        }
        Ok(())
    }
}

/// Which directories a server gets. "These" are those of the ceiling, which are listed below.
fn directories(policy: &Policy, ceiling: &RootSet) -> &'static str {
    match (policy.follow, policy.mode) {
        (Follow::FallbackOnly, _) => "the fallback directory alone",
        (Follow::IgnoreClient, _) if !ceiling.names_any() => "none",
        (Follow::IgnoreClient, _) | (_, Mode::Narrow) if ceiling.is_empty() && ceiling.names_any() => {
            if ceiling.refused().iter().all(|refused| refused.reason == WhyRefused::NoMatch) {
                "none yet: no directory matches the patterns named for it"
            } else {
                "none: every root named for it was left out, so nothing is shared"
            }
        }
        (Follow::IgnoreClient, _) => "these, regardless of the client",
        _ if ceiling.is_empty() => "those that the client names",
        (_, Mode::Narrow) => "those that the client names, within these",
        (Follow::Strict, Mode::Replace) => "those that the client names; these do not limit it",
        (Follow::Strict, Mode::Union) => "these, and those that the client names; none if it names none",
        (_, Mode::Replace) => "those that the client names; these if it names none",
        (_, Mode::Union) => "these, and those that the client names",
    }
}

/// Prints the findings; fails if a server cannot run.
pub(super) fn write(checked: &[Checked], json: bool, out: &mut impl Write) -> anyhow::Result<Outcome> {
    if json {
        writeln!(out, "{}", serde_json::to_string_pretty(checked)?)?;
    } else if checked.is_empty() {
        writeln!(out, "no server is configured")?;
    } else {
        for checked in checked {
            checked.write(out)?;
        }
    }
    Ok(if checked.iter().any(|checked| checked.error.is_some()) { Outcome::Failed } else { Outcome::Done })
}

#[cfg(test)]
mod tests {
    use rootward_core::{FileId, Origin, PlacedRoot, RefusedRoot, Root, RootKind};

    use super::*;

    fn ceiling() -> RootSet {
        let id = FileId { device: 0, inode: 0, born: None };
        let root = Root::from_path("/a", Origin::Flag).unwrap();
        RootSet::new([PlacedRoot { root, place: "/a".into(), kind: RootKind::Directory, id }], [])
    }

    fn refused(reasons: &[WhyRefused]) -> RootSet {
        let refused = |reason: &WhyRefused| RefusedRoot { text: "x".to_owned(), root: None, reason: reason.clone() };
        RootSet::new([], reasons.iter().map(refused))
    }

    #[test]
    fn directories_by_mode_and_client() {
        let check = |follow, mode, ceiling: &RootSet, expect: &str| {
            let policy = Policy { follow, mode, ..Policy::default() };
            assert_eq!(directories(&policy, ceiling), expect, "{follow:?} {mode:?}");
        };
        let client = Follow::Client;
        check(client, Mode::Narrow, &ceiling(), "those that the client names, within these");
        check(client, Mode::Replace, &ceiling(), "those that the client names; these if it names none");
        check(client, Mode::Union, &ceiling(), "these, and those that the client names");
        check(Follow::Strict, Mode::Narrow, &ceiling(), "those that the client names, within these");
        check(Follow::Strict, Mode::Replace, &ceiling(), "those that the client names; these do not limit it");
        check(Follow::Strict, Mode::Union, &ceiling(), "these, and those that the client names; none if it names none");
        for mode in [Mode::Narrow, Mode::Replace, Mode::Union] {
            check(client, mode, &RootSet::default(), "those that the client names");
            check(Follow::IgnoreClient, mode, &RootSet::default(), "none");
            check(Follow::IgnoreClient, mode, &ceiling(), "these, regardless of the client");
            check(Follow::FallbackOnly, mode, &ceiling(), "the fallback directory alone");
            check(Follow::FallbackOnly, mode, &RootSet::default(), "the fallback directory alone");
        }
    }

    #[test]
    fn directories_of_a_ceiling_that_has_none() {
        let check = |follow, mode, ceiling: &RootSet, expect: &str| {
            let policy = Policy { follow, mode, ..Policy::default() };
            assert_eq!(directories(&policy, ceiling), expect, "{follow:?} {mode:?}");
        };
        let left_out = "none: every root named for it was left out, so nothing is shared";
        let no_match = "none yet: no directory matches the patterns named for it";
        for (follow, mode) in [(Follow::Client, Mode::Narrow), (Follow::IgnoreClient, Mode::Union)] {
            check(follow, mode, &refused(&[WhyRefused::Missing]), left_out);
            check(follow, mode, &refused(&[WhyRefused::NoMatch, WhyRefused::Special]), left_out);
            check(follow, mode, &refused(&[WhyRefused::NoMatch]), no_match);
        }
        for mode in [Mode::Replace, Mode::Union] {
            check(Follow::Client, mode, &refused(&[WhyRefused::NoMatch]), "those that the client names");
        }
    }
}
