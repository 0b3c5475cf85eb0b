//! VS Code's sandbox settings: `sandboxEnabled`, and `sandbox` of a server or of the whole file.
//!
//! Rootward confines every server, so these settings only open or close additional places. VS Code also filters the
//! network by domain, which Rootward cannot do: a file that relies on it is an error until the user decides.

use rootward_core::Shown;
use rootward_sandbox::Network;

use super::error::{ConfigError, ConfigNote};
use super::settings::{SandboxLevel, ServerSettings, each, place};
use super::template::Template;
use super::tree::{Node, Section};

/// The keys of `sandbox`.
pub(super) const KEYS: [&str; 2] = ["filesystem", "network"];
/// The keys of `sandbox.filesystem`.
pub(super) const FILESYSTEM_KEYS: [&str; 4] = ["allowRead", "allowWrite", "denyRead", "denyWrite"];
/// The keys of `sandbox.network`.
pub(super) const NETWORK_KEYS: [&str; 2] = ["allowedDomains", "deniedDomains"];

/// The contents of a `sandbox` object.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Sandbox {
    allow_read: Vec<Template>,
    allow_write: Vec<Template>,
    deny_read: Vec<Template>,
    deny_write: Vec<Template>,
    domains: Domains,
    /// The error to report if the domain filter matters.
    filtered: Option<ConfigError>,
}

/// What the object says about the network.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Domains {
    /// Nothing.
    #[default]
    Unsaid,
    /// No domain is allowed.
    NoneAllowed,
    /// Some are allowed or denied.
    Listed,
}

impl Sandbox {
    /// Reads a `sandbox` object. Unknown keys have no effect and produce a warning.
    pub(super) fn read(node: &Node<'_, '_>, notes: &mut Vec<ConfigNote>) -> Result<Sandbox, ConfigError> {
        let section = node.section()?;
        note_others(&section, &KEYS, notes);
        let mut sandbox = Sandbox::default();
        if let Some(node) = section.given("filesystem") {
            let section = node.section()?;
            // Ignoring an unknown rule could leave open what its author meant to close.
            section.allow_only(&FILESYSTEM_KEYS)?;
            let of = |key: &str| each(&section, key, place);
            sandbox.allow_read = of("allowRead")?;
            sandbox.allow_write = of("allowWrite")?;
            sandbox.deny_read = of("denyRead")?;
            sandbox.deny_write = of("denyWrite")?;
        }
        if let Some(node) = section.given("network") {
            let section = node.section()?;
            note_others(&section, &NETWORK_KEYS, notes);
            let count =
                |key: &str| each(&section, key, |node| node.string().map(str::to_owned)).map(|names| names.len());
            let (allowed, denied) = (count("allowedDomains")?, count("deniedDomains")?);
            sandbox.domains = match (section.given("allowedDomains").is_some(), allowed, denied) {
                (true, 0, _) => Domains::NoneAllowed,
                (false, _, 0) => Domains::Unsaid,
                _ => Domains::Listed,
            };
            let says = format!("`{}`: Rootward cannot filter the network by domain", node.key());
            let hint = "set `\"network\": \"on\"` or `\"off\"` under the server's key `rootward`";
            sandbox.filtered = Some(section.wrong(says, hint));
        }
        Ok(sandbox)
    }

    /// Adds these rules to a server's settings.
    pub(super) fn apply(
        &self,
        settings: &mut ServerSettings,
        written: WrittenAt,
        by_client: ByClient,
        notes: &mut Vec<ConfigNote>,
    ) -> Result<(), ConfigError> {
        let enabled = by_client == ByClient::Confined;
        settings.deny.read.extend(self.deny_read.iter().cloned());
        settings.deny.write.extend(self.deny_write.iter().cloned());
        // Top-level allow rules apply only to servers that VS Code confines.
        if enabled || written == WrittenAt::Server {
            settings.allow.read.extend(self.allow_read.iter().cloned());
            settings.allow.write.extend(self.allow_write.iter().cloned());
        }
        if settings.network.is_some() {
            return Ok(());
        }
        match (self.domains, &self.filtered) {
            (Domains::NoneAllowed, _) if enabled => settings.network = Some(Network::Off),
            // SECURITY: without the filter, the server could reach every host
            // (test: domains_are_for_the_user_to_decide)
            (Domains::Listed, Some(error)) if enabled => return Err(error.clone()),
            (Domains::Listed, Some(error)) => notes.push(error.clone().into()),
            _ => {}
        }
        Ok(())
    }
}

/// Where a `sandbox` is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum WrittenAt {
    /// At the server.
    Server,
    /// At the top of the file.
    File,
}

/// Whether VS Code itself confines a server.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ByClient {
    /// It confines the server: `sandboxEnabled` is `true`.
    Confined,
    /// It does not confine the server.
    Unconfined,
}

/// Reads `sandboxEnabled` of a server.
pub(super) fn confined(
    section: &Section<'_, '_>,
    settings: &ServerSettings,
    notes: &mut Vec<ConfigNote>,
) -> Result<ByClient, ConfigError> {
    let Some(node) = section.given("sandboxEnabled") else { return Ok(ByClient::Unconfined) };
    match (node.boolean()?, settings.sandbox) {
        (true, SandboxLevel::Off) => {
            Err(node.wrong("`sandboxEnabled` is `true`, but `rootward.sandbox` is `off`", "remove one of the two"))
        }
        (false, SandboxLevel::Auto) => {
            let says = "`sandboxEnabled` is about VS Code's own sandbox; Rootward confines the server anyway";
            let hint = "set `\"rootward\": {\"sandbox\": \"off\"}` to run it unconfined";
            notes.push(node.wrong(says, hint).into());
            Ok(ByClient::Unconfined)
        }
        (true, _) => Ok(ByClient::Confined),
        (false, _) => Ok(ByClient::Unconfined),
    }
}

fn note_others(section: &Section<'_, '_>, known: &[&str], notes: &mut Vec<ConfigNote>) {
    for (name, node) in section.entries().filter(|(name, _)| !known.contains(name)) {
        let says = format!("`{}` has no effect", Shown::new(node.key()));
        notes.push(section.wrong_key(name, says, "Rootward's own settings are under the key `rootward`").into());
    }
}
