//! The hub's configuration: the file that the user already has for a client, plus Rootward's settings.
//!
//! The file is JSON with comments. The servers are under `mcpServers` (Claude, Cursor, Windsurf) or `servers` (VS
//! Code). Unknown keys belong to the client and are ignored. Rootward's own settings are under the key `rootward`, in
//! a server and at the top of the file; there, an unknown key is an error. A file with an error is rejected as a
//! whole.
//!
//! ```
//! use std::path::PathBuf;
//!
//! use rootward_hub::config::{ConfigVariables, ExpandedKind, HubConfig, RootValues, Surroundings, expand};
//!
//! let config = HubConfig::read(r#"{
//!     "mcpServers": {
//!         "files": {
//!             "command": "npx",
//!             "args": ["-y", "@modelcontextprotocol/server-filesystem", "${roots}"],
//!             "rootward": {"access": "ro"}, // a comment
//!         },
//!     },
//! }"#)?;
//! let server = config.server("files").unwrap();
//! assert!(server.uses_roots());
//!
//! let environment: ConfigVariables = std::env::vars_os().collect();
//! let roots: [PathBuf; 2] = ["/home/me/app".into(), "/home/me/docs".into()];
//! let around = Surroundings { environment: &environment, home: None, roots: RootValues::At(&roots) };
//! let ExpandedKind::Stdio { args, .. } = expand(server, &around)?.what else { panic!() };
//! assert_eq!(args[2..], ["/home/me/app", "/home/me/docs"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! - [`HubConfig::read`]: reads the text of the file. [`ConfigError`] has the line, the column and a hint.
//! - [`ServerConfig`], [`ServerSettings`], [`HubSettings`]: the contents. [`SCHEMA`]: the same for editors.
//! - [`expand`]: a server with its variables filled in. [`ServerConfig::masked`]: a server with its secrets hidden.
//! - [`PathMap`]: translates paths for a child that sees different ones; [`PathPairs`] is the map before the roots
//!   are known.
//! - [`exposed_name`]: the name of a tool for clients. [`changes()`]: what differs in a new file.
//!
//! Nothing here opens a file or reads the environment.

mod changes;
mod env_file;
mod error;
mod expand;
mod expanded;
mod hub_settings;
mod masked;
mod naming;
mod path_map;
mod schema;
mod server;
mod settings;
mod surroundings;
mod template;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_of_clients;
mod tools;
mod tree;
mod vscode;

use std::collections::HashMap;

use rootward_core::Shown;

pub use changes::{ConfigChange, changes};
pub use env_file::read_env_file;
pub use error::{ConfigError, ConfigNote};
pub use expand::expand;
pub use expanded::{ExpandError, Expanded, ExpandedKind};
pub use hub_settings::{Catalog, HubSettings, Limits, Prefix};
pub use masked::MaskedServer;
pub use naming::exposed_name;
pub(crate) use path_map::is_relative;
pub use path_map::{PathMap, PathMapError, PathPairs};
pub use schema::SCHEMA;
pub use server::{Http, ServerConfig, ServerKind, Stdio};
pub use settings::{
    AllowedPlaces, DeniedPlaces, Isolation, PathPair, RecipeChoice, RootsFrom, SandboxLevel, ServerSettings,
    UnixSocketLevel,
};
pub use surroundings::{ConfigVariables, RootValues, Surroundings};
pub use template::Template;
pub use tools::{ToolFilter, ToolPattern};
pub use tree::LONGEST;

use tree::{Node, Section};
use vscode::Sandbox;

/// The top-level keys that are read.
#[cfg(test)]
const KEYS: [&str; 5] = ["mcpServers", "servers", "mcp", "sandbox", "rootward"];
/// The largest accepted number of servers.
const MOST_SERVERS: usize = 1000;

/// The hub's configuration. The default has no servers.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct HubConfig {
    /// All servers in file order, including disabled ones.
    pub servers: Vec<ServerConfig>,
    /// Settings of the hub itself.
    pub hub: HubSettings,
    /// Warnings: settings that were accepted but may not do what their author expects.
    pub notes: Vec<ConfigNote>,
}

impl HubConfig {
    /// Reads the text of a configuration file.
    ///
    /// # Errors
    ///
    /// If Rootward does not understand something that it reads. Then the whole file is rejected.
    pub fn read(text: &str) -> Result<HubConfig, ConfigError> {
        tree::with_top(text, read)
    }

    /// The servers that are not disabled.
    pub fn enabled(&self) -> impl Iterator<Item = &ServerConfig> {
        self.servers.iter().filter(|server| !server.disabled)
    }

    /// The server with this name.
    pub fn server(&self, name: &str) -> Option<&ServerConfig> {
        self.servers.iter().find(|server| server.name == name)
    }
}

fn read(top: &Node<'_, '_>) -> Result<HubConfig, ConfigError> {
    let file = top.section()?;
    file.refuse_misspelt("rootward")?;
    let hub = file.get("rootward").map(|node| HubSettings::read(&node)).transpose()?.unwrap_or_default();
    let (servers, sandbox) = servers(&file)?;
    let mut notes = Vec::new();
    let shared = sandbox.map(|node| Sandbox::read(&node, &mut notes)).transpose()?;
    if servers.len() > MOST_SERVERS {
        return Err(servers.wrong(format!("more than {MOST_SERVERS} servers"), "use several files, each with a hub"));
    }
    let mut all = Vec::with_capacity(servers.len());
    for (name, node) in servers.entries() {
        server::check_name(&servers, name)?;
        all.push(ServerConfig::read(name, &node, shared.as_ref(), &mut notes)?);
    }
    let config = HubConfig { servers: all, hub, notes };
    if config.hub.prefix != Prefix::Never {
        refuse_same_prefix(&config, &servers)?;
    }
    Ok(config)
}

/// The object with the servers, and the `sandbox` that applies to all of them.
fn servers<'n, 't>(file: &Section<'n, 't>) -> Result<(Section<'n, 't>, Option<Node<'n, 't>>), ConfigError> {
    let settings = file.given("mcp").filter(Node::is_object).map(|node| node.section()).transpose()?;
    let of_settings = settings.as_ref().and_then(|section| Some(("mcp", section.get("servers")?)));
    let mut found: Vec<(&str, Node<'_, '_>)> = ["mcpServers", "servers"]
        .into_iter()
        .filter_map(|key| Some((key, file.get(key)?)))
        .chain(of_settings)
        .collect();
    if let [(one, _), (other, _), ..] = found.as_slice() {
        let says = format!("the file has servers under `{one}` and under `{other}`");
        return Err(file.wrong_key(other, says, "keep one of the two"));
    }
    let Some((key, node)) = found.pop() else {
        let says = "the file has no servers: neither `mcpServers` nor `servers`";
        return Err(file.wrong(says, r#"write `"mcpServers": {…}`; `{}` in it for no servers"#));
    };
    // In other clients' files, a top-level `sandbox` is about the client itself.
    let sandbox = match (key, settings) {
        ("servers", _) => file.given("sandbox"),
        ("mcp", Some(settings)) => settings.given("sandbox"),
        _ => None,
    };
    Ok((node.section()?, sandbox.filter(Node::is_object)))
}

fn refuse_same_prefix(config: &HubConfig, servers: &Section<'_, '_>) -> Result<(), ConfigError> {
    let mut known: HashMap<String, &str> = HashMap::new();
    for server in config.enabled() {
        let prefix = server.prefix();
        if prefix.is_empty() {
            continue;
        }
        if let Some(other) = known.insert(prefix.clone(), &server.name) {
            let (one, other) = (Shown::new(&server.name), Shown::new(other));
            let says = format!("servers `{other}` and `{one}` have the same prefix `{prefix}`");
            let hint = "give one of them another: `\"rootward\": {\"prefix\": \"…\"}`";
            return Err(servers.wrong_key(&server.name, says, hint));
        }
    }
    Ok(())
}
