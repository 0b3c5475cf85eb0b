//! A home, two directories, and a client of the server.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rootward_testkit::client::{Client, ToolResult, message};
use serde_json::{Value, json};
use tempfile::TempDir;

pub(crate) struct Scene {
    directory: TempDir,
}

impl Scene {
    /// `project` and `other`, and an empty home.
    pub(crate) fn new() -> Scene {
        let scene = Scene { directory: tempfile::tempdir().unwrap() };
        for name in ["project", "other", "home"] {
            std::fs::create_dir_all(scene.path(name)).unwrap();
        }
        scene
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    pub(crate) fn uri(&self, name: &str) -> String {
        uri(&self.path(name))
    }

    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_knowledge-base"));
        command.env("HOME", self.path("home")).stderr(Stdio::inherit());
        for (name, _) in std::env::vars_os() {
            let name_text = name.to_string_lossy();
            if ["ROOTWARD_", "SWI_MCP_", "XDG_"].iter().any(|prefix| name_text.starts_with(prefix)) {
                command.env_remove(name);
            }
        }
        command
    }

    /// A client that shares `project` under a name.
    pub(crate) fn client(&self) -> Client {
        let mut client = self.client_with(&[]);
        client.shake_hands(json!({"roots": {"listChanged": true}}));
        self.share(&mut client, &["project"]);
        client
    }

    /// A client that has said nothing yet, of a server with these variables.
    pub(crate) fn client_with(&self, variables: &[(&str, &str)]) -> Client {
        Client::start(self.command().envs(variables.iter().copied()))
    }

    /// From now on these are shared, each under its own name.
    pub(crate) fn share(&self, client: &mut Client, names: &[&str]) {
        let roots: Vec<Value> =
            names.iter().map(|name| json!({"uri": self.uri(name), "name": format!("My {name}")})).collect();
        client.reply("roots/list", Some(json!({"result": {"roots": roots}})));
        client.list_changed();
    }
}

pub(crate) fn uri(path: &Path) -> String {
    format!("file://{}", path.display())
}

/// What a query says, whether or not it fails.
pub(crate) fn query(client: &mut Client, goal: &str) -> String {
    client.text("query", json!({"query": goal}))
}

/// What a query that must fail says.
pub(crate) fn fails(client: &mut Client, goal: &str) -> String {
    client.fails("query", json!({"query": goal}))
}

/// What a query that would go on for ever says after a second.
pub(crate) fn fails_late(client: &mut Client, goal: &str) -> String {
    client.fails("query", json!({"query": goal, "timeout_ms": 1000}))
}

/// A tool call of a modern client that shares these, round by round.
pub(crate) fn modern(client: &mut Client, tool: &str, arguments: Value, uris: &[String]) -> ToolResult {
    let capabilities = json!({"roots": {}});
    let params = message::modern(&capabilities, message::call(tool, arguments));
    let answer = client.ask("tools/call", params.clone());
    let state = &answer["result"]["requestState"];
    if state.is_null() {
        return ToolResult::of(answer);
    }
    let again = message::again(params, state, &message::roots(uris));
    ToolResult::of(client.ask("tools/call", again))
}
