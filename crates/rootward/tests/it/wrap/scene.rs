//! Fixtures for `rootward wrap`: directories, the program and a client.

use std::ops::Deref;
use std::path::Path;
use std::process::Command;

use rootward_testkit::client::{Client, message};
use serde_json::{Value, json};

use crate::place::{Place, until};

/// A project, something outside it, a home.
pub(crate) struct Scene(Place);

impl Deref for Scene {
    type Target = Place;

    fn deref(&self) -> &Place {
        &self.0
    }
}

impl Scene {
    pub(crate) fn new() -> Scene {
        let names = ["project", "other", "outside", "home"];
        let scene = Scene(Place::with(&names));
        for name in names {
            std::fs::write(scene.path(name).join("file.txt"), name).unwrap();
        }
        scene
    }

    /// `rootward wrap` with these arguments, in front of the test server.
    pub(crate) fn wrap(&self, words: &[&str]) -> Command {
        self.wrap_server("server.py", words)
    }

    /// The same for another server in this directory.
    pub(crate) fn wrap_server(&self, server: &str, words: &[&str]) -> Command {
        let server = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/wrap").join(server);
        self.wrap_command(words, &["python3", server.to_str().unwrap()])
    }

    /// `rootward wrap` with these arguments, in front of this command.
    pub(crate) fn wrap_command(&self, words: &[&str], server: &[&str]) -> Command {
        let mut command = self.rootward(&[&["wrap"], words, &["--"], server].concat());
        command.current_dir(self.path("outside"));
        command
    }

    /// Has the server start a process that outlives it unless Rootward kills it.
    pub(crate) fn mark(&self, client: &mut Client) -> Mark {
        let mark = Mark::new(self);
        let started = client.text("start", json!({"mark": mark.words}));
        assert!(started.parse::<u32>().is_ok(), "{started}");
        let server = client.text("process", json!({})).parse().unwrap();
        Mark { server: Some(server), ..mark }
    }
}

/// Finds the processes of a server.
pub(crate) struct Mark {
    pub(crate) words: String,
    server: Option<u32>,
}

impl Mark {
    pub(crate) fn new(scene: &Scene) -> Mark {
        let top = scene.path("");
        Mark { words: format!("mark of {}", top.file_name().unwrap().display()), server: None }
    }

    /// Waits until no process of the server is left.
    pub(crate) fn is_gone(&self) {
        until("a process is left", || self.left().is_none());
    }

    fn left(&self) -> Option<u32> {
        let processes = std::fs::read_dir("/proc").unwrap().flatten();
        let mut numbers = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        numbers.find(|number| {
            // A zombie has no command line.
            let words = std::fs::read(format!("/proc/{number}/cmdline")).unwrap_or_default();
            let marked = String::from_utf8_lossy(&words).split('\0').any(|word| word == self.words);
            marked || (self.server == Some(*number) && !words.is_empty())
        })
    }
}

/// What the client declares about roots.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Says {
    Nothing,
    Roots,
}

/// Starts the program without a handshake. The client has no roots.
pub(crate) fn start(command: &mut Command) -> Client {
    let mut client = Client::start(command);
    client.name_roots([] as [&str; 0]);
    client
}

/// Starts it and does the handshake.
pub(crate) fn begin(command: &mut Command, says: Says, roots: &[String]) -> Client {
    begin_with(command, says, Some(json!({"result": message::roots(roots)})))
}

/// The same, with another answer to requests for roots.
pub(crate) fn begin_with(command: &mut Command, says: Says, reply: Option<Value>) -> Client {
    let mut client = Client::start(command);
    client.reply("roots/list", reply);
    let capabilities = if says == Says::Roots { json!({"roots": {"listChanged": true}}) } else { json!({}) };
    let hello = json!({"protocolVersion": "2025-06-18", "capabilities": capabilities});
    let answer = client.ask("initialize", hello);
    assert_eq!(answer["result"]["serverInfo"]["name"], "server", "{answer}");
    client.notify("notifications/initialized", ());
    client
}
