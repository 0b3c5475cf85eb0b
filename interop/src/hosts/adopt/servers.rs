//! The servers that a client's user adds.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::client::Client;
use crate::popular::readme;
use taskkit::install::{environment, node, packages};

/// A server in a client's config.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) name: &'static str,
    /// The scope in which the client keeps it. Empty if the client's command has no scopes.
    pub(super) scope: &'static str,
    pub(super) variables: Vec<(String, String)>,
    pub(super) command: Vec<String>,
    pub(super) fate: Fate,
    /// The expected number of tools, if known.
    pub(super) tools: Option<usize>,
}

/// Whether a server works.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fate {
    Works,
    /// Its script does not exist. This is the negative control.
    Broken,
}

/// An environment variable of one server, with spaces in its value. That server's tool `get-env` returns it.
pub(super) const VARIABLE: (&str, &str) = ("EXAMPLE_TOKEN", "the token of the user");

/// Where the few servers are installed. The client starts them by absolute paths.
#[derive(PartialEq, Eq, Debug)]
pub(super) struct Few {
    node: PathBuf,
    /// The `node_modules` with the servers.
    modules: PathBuf,
    python: PathBuf,
}

impl Few {
    pub(super) fn install(top: &Path) -> Result<Few> {
        Ok(Few {
            node: node(top)?,
            modules: packages(top, "servers")?.join("node_modules"),
            python: environment(top, "servers-python", "servers/requirements.txt")?,
        })
    }

    pub(super) fn to_json(&self) -> Value {
        json!({"node": self.node, "modules": self.modules, "python": self.python})
    }

    pub(super) fn from_json(value: &Value) -> Result<Few> {
        let path = |name: &str| value[name].as_str().map(PathBuf::from).context("a path is missing");
        Ok(Few { node: path("node")?, modules: path("modules")?, python: path("python")? })
    }

    /// The servers that the user adds, at least one in each of the client's scopes.
    pub(super) fn entries(&self, client: &Client, project: &Path) -> Vec<Entry> {
        let shown = |path: &Path| path.display().to_string();
        let npm = |name: &str| {
            vec![shown(&self.node), shown(&self.modules.join("@modelcontextprotocol").join(name).join("dist/index.js"))]
        };
        let python = |module: &str| vec![shown(&self.python), "-m".to_owned(), module.to_owned()];
        let scope = |position: usize| client.scopes.get(position).or(client.scopes.last()).copied().unwrap_or_default();
        let entry = |name: &'static str, position: usize, command: Vec<String>| Entry {
            name,
            scope: scope(position),
            variables: Vec::new(),
            command,
            fate: Fate::Works,
            tools: None,
        };
        let (variable, value) = VARIABLE;
        let variables = vec![(variable.to_owned(), value.to_owned())];
        let absent = vec![shown(&self.node), shown(&project.join("absent.js"))];
        vec![
            entry("files", 0, [npm("server-filesystem"), vec![shown(project)]].concat()),
            entry("git", 0, python("mcp_server_git")),
            Entry { variables, ..entry("everything", 0, npm("server-everything")) },
            entry("memory", 1, npm("server-memory")),
            entry("time", 2, python("mcp_server_time")),
            Entry { fate: Fate::Broken, ..entry("broken", 0, absent) },
        ]
    }
}

/// Ten popular servers: the name that the user gives each, and its row in `cargo xtask popular`.
const TEN: [(&str, &str); 10] = [
    ("files", "server-filesystem with arguments"),
    ("memory", "server-memory"),
    ("everything", "server-everything"),
    ("thinking", "server-sequential-thinking"),
    ("github", "server-github"),
    ("brave", "server-brave-search"),
    ("context7", "context7"),
    ("git", "mcp-server-git"),
    ("time", "mcp-server-time"),
    ("fetch", "mcp-server-fetch"),
];

/// Ten servers in the user's own scope, each as its README configures it.
pub(super) fn ten(client: &Client, project: &Path, url: &str) -> Result<Vec<Entry>> {
    let scope = client.scopes.first().copied().unwrap_or_default();
    let entry = |&(name, row): &(&'static str, &str)| -> Result<Entry> {
        let readme = readme(row, project, url)?;
        let (command, variables, tools) = (readme.command, readme.variables, Some(readme.tools));
        Ok(Entry { name, scope, variables, command, fate: Fate::Works, tools })
    };
    TEN.iter().map(entry).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::client::CLIENTS;
    use super::*;

    fn few() -> Few {
        Few { node: "node".into(), modules: "/m".into(), python: "/p/python".into() }
    }

    #[test]
    fn paths_survive_a_round_trip_through_json() {
        assert_eq!(Few::from_json(&few().to_json()).unwrap(), few());
        assert!(Few::from_json(&json!({"node": "node"})).is_err());
    }

    #[test]
    fn every_scope_has_a_server_that_works() {
        for client in &CLIENTS {
            let entries = few().entries(client, Path::new("/one"));
            let working = entries.iter().filter(|entry| entry.fate == Fate::Works);
            let used: BTreeSet<&str> = working.map(|entry| entry.scope).filter(|scope| !scope.is_empty()).collect();
            assert_eq!(used, client.scopes.iter().copied().collect(), "{}", client.name);
        }
    }

    #[test]
    fn the_ten_servers_are_different_packages() {
        let entries = ten(&CLIENTS[0], Path::new("/one"), "http://127.0.0.1:1").unwrap();
        let package = |entry: &Entry| {
            entry.command.iter().find(|word| word.starts_with('@') || word.starts_with("mcp-")).cloned().unwrap()
        };
        let packages: BTreeSet<String> = entries.iter().map(package).collect();
        assert_eq!(packages.len(), 10, "{packages:?}");
        assert!(!entries.iter().any(|entry| entry.command.iter().any(|word| word.contains('$'))));
    }
}
