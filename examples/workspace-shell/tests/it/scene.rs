//! Two directories, a server over either transport, and its clients.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use rootward_testkit::client::http::{Endpoint, HttpLine, OwnStream};
use rootward_testkit::client::{Client, Line, ToolResult, message};
use serde_json::{Value, json};
use tempfile::TempDir;

pub(crate) struct Scene {
    directory: TempDir,
}

impl Scene {
    /// `project`, `other` and a home, with a file in each.
    pub(crate) fn new() -> Scene {
        let scene = Scene { directory: tempfile::tempdir().unwrap() };
        for name in ["project/notes.txt", "project/src/main.lua", "other/secret.txt", "home/.ssh/id"] {
            let path = scene.path(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, format!("this is {name}\n")).unwrap();
        }
        scene
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub(crate) fn text(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }

    pub(crate) fn uri(&self, name: &str) -> String {
        format!("file://{}", self.text(name))
    }

    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_workspace-shell"));
        command.env("HOME", self.path("home"));
        for (name, _) in std::env::vars_os() {
            let text = name.to_string_lossy();
            if text.starts_with("ROOTWARD_") || text.starts_with("XDG_") {
                command.env_remove(name);
            }
        }
        command
    }

    /// A client over stdio that has said nothing yet.
    pub(crate) fn stdio(&self) -> Client {
        Client::start(&mut self.command())
    }

    /// A server that listens.
    pub(crate) fn http(&self) -> Server {
        let mut child = self.command().args(["--http", "127.0.0.1:0"]).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("listening on http://").and_then(|rest| rest.strip_suffix("/mcp"));
        let address = address.unwrap_or_else(|| panic!("{line}")).parse().unwrap();
        Server { child, endpoint: Endpoint { address, token: String::new() } }
    }
}

pub(crate) struct Server {
    child: Child,
    endpoint: Endpoint,
}

impl Server {
    pub(crate) fn client(&self, own_stream: OwnStream) -> Client<HttpLine> {
        Client::over(HttpLine::new(self.endpoint.clone(), own_stream))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Begins a session in which `project` is shared.
pub(crate) fn begin<L: Line>(scene: &Scene, mut client: Client<L>) -> Client<L> {
    client.shake_hands(json!({"roots": {"listChanged": true}}));
    client.name_roots([scene.uri("project")]);
    client
}

pub(crate) fn shell<L: Line>(client: &mut Client<L>, command: &str) -> String {
    client.text("shell", json!({"command": command}))
}

/// A tool call of a modern client that shares these, round by round.
pub(crate) fn modern<L: Line>(client: &mut Client<L>, tool: &str, arguments: Value, uris: &[String]) -> ToolResult {
    let params = message::modern(&json!({"roots": {}}), message::call(tool, arguments));
    let answer = client.ask("tools/call", params.clone());
    let state = &answer["result"]["requestState"];
    if state.is_null() {
        return ToolResult::of(answer);
    }
    let again = message::again(params, state, &message::roots(uris));
    ToolResult::of(client.ask("tools/call", again))
}
