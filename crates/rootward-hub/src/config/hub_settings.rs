//! The key `rootward` at the top of the file: settings of the hub itself.

use std::time::Duration;

use rootward_core::Shown;

use super::error::ConfigError;
use super::naming::is_plain;
use super::tree::{Node, Section};

/// The keys.
pub(super) const KEYS: [&str; 5] = ["catalog", "prefix", "separator", "idle_seconds", "limits"];
/// The keys of `limits`.
pub(super) const LIMIT_KEYS: [&str; 4] = ["sessions", "children", "queued_calls", "open_questions"];
/// The values of `catalog`.
pub(super) const CATALOG: [(Catalog, &str); 2] = [(Catalog::Merged, "merged"), (Catalog::Compact, "compact")];
/// The values of `prefix`.
pub(super) const PREFIX: [(Prefix, &str); 3] =
    [(Prefix::Always, "always"), (Prefix::Collisions, "collisions"), (Prefix::Never, "never")];

/// The longest separator.
const LONGEST_SEPARATOR: usize = 4;
/// The largest accepted value of a limit.
const LARGEST_LIMIT: u64 = 100_000;
/// The longest accepted idle time: one year.
const LONGEST_IDLE: u64 = 365 * 24 * 60 * 60;

/// Settings of the hub.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HubSettings {
    /// How clients see the servers' tools.
    pub catalog: Catalog,
    /// When a tool's name gets the server's prefix.
    pub prefix: Prefix,
    /// The text between prefix and name.
    pub separator: String,
    /// How long a child may be idle before it is stopped.
    pub idle: Duration,
    /// Upper limits.
    pub limits: Limits,
}

/// How clients see the servers' tools.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Catalog {
    /// As one list.
    #[default]
    Merged,
    /// As a few tools that find and call the others.
    Compact,
}

/// When a tool's name gets the server's prefix.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Prefix {
    /// Always: a name never changes because another server was added.
    #[default]
    Always,
    /// Only if two servers have a tool of the same name.
    Collisions,
    /// Never: if two tools have the same name, clients see only the first.
    Never,
}

/// Upper limits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Limits {
    /// Concurrent sessions.
    pub sessions: usize,
    /// Concurrent processes and connections, of all servers.
    pub children: usize,
    /// Queued calls per session.
    pub queued_calls: usize,
    /// Server requests that the client has not answered, per session.
    pub open_questions: usize,
}

impl Default for HubSettings {
    fn default() -> HubSettings {
        HubSettings {
            catalog: Catalog::default(),
            prefix: Prefix::default(),
            separator: "__".to_owned(),
            idle: Duration::from_mins(10),
            limits: Limits::default(),
        }
    }
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { sessions: 64, children: 256, queued_calls: 1024, open_questions: 64 }
    }
}

impl HubSettings {
    /// Reads the value of the top-level key `rootward`.
    pub(super) fn read(node: &Node<'_, '_>) -> Result<HubSettings, ConfigError> {
        let section = node.section()?;
        section.allow_only(&KEYS)?;
        let mut settings = HubSettings::default();
        if let Some(node) = section.get("catalog") {
            settings.catalog = node.word(&CATALOG)?;
        }
        if let Some(node) = section.get("prefix") {
            settings.prefix = node.word(&PREFIX)?;
        }
        if let Some(node) = section.get("separator") {
            settings.separator = separator(&node)?;
        }
        if let Some(node) = section.get("idle_seconds") {
            settings.idle = Duration::from_secs(node.count(LONGEST_IDLE)?);
        }
        if let Some(node) = section.get("limits") {
            settings.limits = Limits::read(&node.section()?)?;
        }
        Ok(settings)
    }
}

impl Limits {
    fn read(section: &Section<'_, '_>) -> Result<Limits, ConfigError> {
        section.allow_only(&LIMIT_KEYS)?;
        let mut limits = Limits::default();
        let all = [&mut limits.sessions, &mut limits.children, &mut limits.queued_calls, &mut limits.open_questions];
        for (key, limit) in LIMIT_KEYS.into_iter().zip(all) {
            if let Some(node) = section.get(key) {
                *limit = usize::try_from(node.count(LARGEST_LIMIT)?).unwrap_or(usize::MAX);
            }
        }
        Ok(limits)
    }
}

fn separator(node: &Node<'_, '_>) -> Result<String, ConfigError> {
    let text = node.string()?;
    if text.is_empty() || text.len() > LONGEST_SEPARATOR || !text.chars().all(is_plain) {
        let says = format!("`{}`: `{}` is not usable", node.key(), Shown::new(text));
        let hint = format!(
            "use letters, digits, `_` and `-`, from 1 to {LONGEST_SEPARATOR}; models accept nothing else in names"
        );
        return Err(node.wrong(says, hint));
    }
    Ok(text.to_owned())
}
