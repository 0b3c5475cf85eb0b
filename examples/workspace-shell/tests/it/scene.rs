//! Two directories, a server over either transport, and its clients.

use std::ops::Deref;
use std::process::Command;

use rootward_testkit::client::http::{HttpLine, OwnStream};
use rootward_testkit::client::{Client, Line, Listening};
use rootward_testkit::place::Place;
use serde_json::json;

pub(crate) struct Scene(Place);

impl Deref for Scene {
    type Target = Place;

    fn deref(&self) -> &Place {
        &self.0
    }
}

impl Scene {
    /// `project`, `other` and a home, with a file in each.
    pub(crate) fn new() -> Scene {
        let scene = Scene(Place::with(&[]));
        for name in ["project/notes.txt", "project/src/main.lua", "other/secret.txt", "home/.ssh/id"] {
            scene.write(name, &format!("this is {name}\n"));
        }
        scene
    }

    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_workspace-shell"));
        self.alone(&mut command);
        command
    }

    /// A client over stdio that has sent nothing yet.
    pub(crate) fn stdio(&self) -> Client {
        Client::start(&mut self.command())
    }

    /// A server over HTTP.
    pub(crate) fn http(&self) -> Listening {
        Listening::start(self.command().args(["--http", "127.0.0.1:0"])).unwrap()
    }
}

/// A client over HTTP that has sent nothing yet.
pub(crate) fn client(server: &Listening, own_stream: OwnStream) -> Client<HttpLine> {
    Client::over(HttpLine::new(server.endpoint(""), own_stream))
}

/// Begins a session that shares `project`.
pub(crate) fn begin<L: Line>(scene: &Scene, mut client: Client<L>) -> Client<L> {
    client.shake_hands(json!({"roots": {"listChanged": true}}));
    client.name_roots([scene.uri("project")]);
    client
}

pub(crate) fn shell<L: Line>(client: &mut Client<L>, command: &str) -> String {
    client.text("shell", json!({"command": command}))
}
