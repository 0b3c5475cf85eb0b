//! A home, two directories, and a client of the server.

use std::ops::Deref;
use std::process::{Command, Stdio};

use rootward_testkit::client::Client;
use rootward_testkit::place::Place;
use serde_json::{Value, json};

pub(crate) struct Scene(Place);

impl Deref for Scene {
    type Target = Place;

    fn deref(&self) -> &Place {
        &self.0
    }
}

impl Scene {
    /// `project` and `other`, and an empty home.
    pub(crate) fn new() -> Scene {
        Scene(Place::with(&["project", "other", "home"]))
    }

    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_knowledge-base"));
        self.alone(&mut command);
        command.stderr(Stdio::inherit());
        command
    }

    /// A client that shares `project` under a name.
    pub(crate) fn client(&self) -> Client {
        let mut client = self.client_with(&[]);
        client.shake_hands(json!({"roots": {"listChanged": true}}));
        self.share(&mut client, &["project"]);
        client
    }

    /// A client that has sent nothing yet, of a server with these variables.
    pub(crate) fn client_with(&self, variables: &[(&str, &str)]) -> Client {
        Client::start(self.command().envs(variables.iter().copied()))
    }

    /// Shares these directories from now on, each under its own name.
    pub(crate) fn share(&self, client: &mut Client, names: &[&str]) {
        let roots: Vec<Value> =
            names.iter().map(|name| json!({"uri": self.uri(name), "name": format!("My {name}")})).collect();
        client.reply("roots/list", Some(json!({"result": {"roots": roots}})));
        client.list_changed();
    }
}

/// The text of a query, whether or not it fails.
pub(crate) fn query(client: &mut Client, goal: &str) -> String {
    client.text("query", json!({"query": goal}))
}

/// The text of a query that must fail.
pub(crate) fn fails(client: &mut Client, goal: &str) -> String {
    client.fails("query", json!({"query": goal}))
}

/// The text of an endless query that times out after a second.
pub(crate) fn fails_late(client: &mut Client, goal: &str) -> String {
    client.fails("query", json!({"query": goal, "timeout_ms": 1000}))
}
