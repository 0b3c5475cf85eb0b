//! The configuration of `rootward hub` changes while a client keeps calling: servers that did not change answer every call.
//!
//! One round of changes by default; as many as fit into a minute if `ROOTWARD_LONG` is `1`, which `cargo xtask prove` sets.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::time::{Duration, Instant};

use rootward_testkit::client::Client;
use serde_json::{Value, json};

use super::{begin, hub, server};
use crate::place::PATIENCE;
use crate::wrap::scene::Scene;

/// The servers that never change.
const UNTOUCHED: [&str; 2] = ["a", "b"];

/// How many calls are open at all times.
const OPEN: usize = 6;

/// How often the file changes without waiting for the hub.
const IN_A_ROW: u32 = 40;

/// What the hub prints on standard error when it accepts a file, and when it refuses one.
const TAKEN: &str = "rootward: the configuration changed";
const REFUSED: &str = "rootward: the servers stay as they are";

/// How the file is changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Manner {
    /// Its content is overwritten: a reader may see half of it.
    InPlace,
    /// Another file is renamed over it.
    Renamed,
}

/// A client that keeps calling, and the file.
struct Load<'s> {
    scene: &'s Scene,
    client: Client,
    /// The open calls, each with the expected answer. A server that comes and goes may answer with an error.
    open: BTreeMap<u64, Option<String>>,
    /// The processes of the untouched servers.
    processes: [String; 2],
    /// A server that comes and goes, if there is one now.
    guest: Option<&'static str>,
    calls: usize,
}

/// A configuration with these servers, in this order. Another value of the variable makes it another server.
fn config(servers: &[(&str, Option<u32>)]) -> String {
    let entry = |(name, variable): &(&str, Option<u32>)| {
        let mut entry = server(&json!({}));
        if let Some(value) = variable {
            entry["env"] = json!({"NUMBER": value.to_string()});
        }
        format!(r#""{name}": {entry}"#)
    };
    let entries: Vec<String> = servers.iter().map(entry).collect();
    format!(r#"{{"mcpServers": {{{}}}}}"#, entries.join(", "))
}

#[test]
fn servers_that_did_not_change_answer_every_call_while_the_configuration_changes() {
    let scene = Scene::new();
    let mut load = Load::begin(&scene);
    let begun = Instant::now();
    let long = std::env::var_os("ROOTWARD_LONG").is_some_and(|value| value == "1");
    for round in 0.. {
        load.change(Manner::InPlace, &[("a", None), ("b", None), ("c", Some(round))], Some("c"));
        load.change(Manner::Renamed, &[("a", None), ("b", None), ("c", Some(round + 1000))], Some("c"));
        load.spoil(|file| fs::write(file, r#"{"mcpServers": {"a": {"comma"#).unwrap());
        load.spoil(|file| fs::remove_file(file).unwrap());
        load.change(Manner::Renamed, &[("b", None), ("d", None), ("a", None)], Some("d"));
        load.change(Manner::InPlace, &[("a", None), ("b", None)], None);
        if !long || begun.elapsed() > Duration::from_mins(1) {
            break;
        }
    }
    for number in 0..IN_A_ROW {
        let text = match number % 4 {
            0 => config(&[("a", None), ("b", None), ("c", Some(number))]),
            1 => config(&[("c", None), ("b", None), ("a", None)]),
            2 => r#"{"mcpServers": {"a": {"command": "x", "rootward": {"isolaton": 1}}}}"#.to_owned(),
            _ => config(&[("a", None), ("b", None)]),
        };
        load.write(Manner::InPlace, &text);
        load.turns(20);
    }
    load.change(Manner::Renamed, &[("e", None), ("b", None), ("a", None)], Some("e"));
    load.end(&["e", "b", "a"]);
}

impl Load<'_> {
    fn begin(scene: &Scene) -> Load<'_> {
        let two = json!({"mcpServers": {"a": server(&json!({})), "b": server(&json!({}))}});
        let mut command = hub(scene, &two, &[]);
        command.stderr(File::create(scene.path("errors.txt")).unwrap());
        let mut client = begin(&mut command, &[scene.uri("project")]);
        let processes = UNTOUCHED.map(|name| client.text(&format!("{name}__process"), json!({})));
        Load { scene, client, open: BTreeMap::new(), processes, guest: None, calls: 0 }
    }

    fn write(&self, manner: Manner, text: &str) {
        let (file, beside) = (self.scene.path("home/servers.json"), self.scene.path("home/beside.json"));
        match manner {
            Manner::InPlace => fs::write(file, text).unwrap(),
            Manner::Renamed => {
                fs::write(&beside, text).unwrap();
                fs::rename(beside, file).unwrap();
            }
        }
    }

    /// Configures these servers, and keeps calling until the hub lists them.
    fn change(&mut self, manner: Manner, servers: &[(&str, Option<u32>)], guest: Option<&'static str>) {
        let said = self.said(TAKEN);
        self.write(manner, &config(servers));
        self.guest = guest;
        self.turns_until("the configuration is taken", |load| load.said(TAKEN) > said);
        let expect: Vec<&str> = servers.iter().map(|(name, _)| *name).collect();
        self.turns_until("the lists are right", |load| load.listed() == expect);
    }

    /// Makes the file unusable, and keeps calling until the hub reports it. The servers do not change.
    fn spoil(&mut self, how: impl FnOnce(&std::path::Path)) {
        let (said, listed) = (self.said(REFUSED), self.listed());
        how(&self.scene.path("home/servers.json"));
        self.turns_until("the file is refused", |load| load.said(REFUSED) > said);
        assert_eq!(self.listed(), listed);
    }

    /// How often the hub has printed this.
    fn said(&self, what: &str) -> usize {
        fs::read_to_string(self.scene.path("errors.txt")).unwrap().matches(what).count()
    }

    /// The servers whose tools are listed, in order.
    fn listed(&mut self) -> Vec<String> {
        let id = self.client.begin("tools/list", json!({}));
        let answer = loop {
            let message = self.client.receive();
            if message.get("method").is_none() && message["id"] == id {
                break message;
            }
            self.take(&message);
        };
        let tools = answer["result"]["tools"].as_array().unwrap();
        let names = tools.iter().filter_map(|tool| Some(tool["name"].as_str()?.split_once("__")?.0.to_owned()));
        let mut servers: Vec<String> = names.collect();
        servers.dedup();
        servers
    }

    fn turns_until(&mut self, what: &str, is_so: impl Fn(&mut Self) -> bool) {
        let begun = Instant::now();
        while !is_so(self) {
            let errors = || fs::read_to_string(self.scene.path("errors.txt")).unwrap();
            assert!(begun.elapsed() < PATIENCE, "{what}: {}", errors());
            self.turns(10);
        }
    }

    /// Keeps calls open while it receives `count` messages. It pauses, because other tests run at the same time.
    fn turns(&mut self, count: u32) {
        for _ in 0..count {
            while self.open.len() < OPEN {
                self.call();
            }
            let message = self.client.receive();
            self.take(&message);
        }
        std::thread::sleep(Duration::from_millis(5));
    }

    fn call(&mut self) {
        self.calls += 1;
        let position = self.calls % 2;
        let name = UNTOUCHED[position];
        let (tool, arguments, expect) = match (self.calls % 7, self.guest) {
            (0, Some(guest)) => (format!("{guest}__where"), json!({}), None),
            (1..=3, _) => (format!("{name}__process"), json!({}), Some(self.processes[position].clone())),
            _ => {
                let path = self.scene.path("project/file.txt");
                (format!("{name}__read"), json!({"path": path}), Some("project".to_owned()))
            }
        };
        self.open.insert(self.client.begin_call(&tool, arguments), expect);
    }

    /// Handles a message. An answer must be the expected one.
    fn take(&mut self, message: &Value) {
        let (None, Some(id)) = (message.get("method"), message["id"].as_u64()) else { return };
        let expect = self.open.remove(&id);
        assert!(expect.is_some(), "unknown call, or a second answer: {message}");
        match expect.flatten() {
            Some(text) => assert_eq!(message["result"]["content"][0]["text"], text, "{message}"),
            None => assert!(message["result"].is_object() || message["error"].is_object(), "{message}"),
        }
    }

    /// Checks that all calls are answered, and that exactly the servers of the last configuration run.
    fn end(mut self, names: &[&str]) {
        while !self.open.is_empty() {
            let message = self.client.receive();
            self.take(&message);
        }
        assert!(self.calls > 100, "{} calls", self.calls);
        for name in names {
            assert_eq!(self.client.text(&format!("{name}__where"), json!({})), self.scene.text("project"));
        }
        let run = self.scene.rootward(&["status", "--json"]).output().unwrap();
        let told: Value = serde_json::from_slice(&run.stdout).unwrap();
        let mut running: Vec<&str> =
            told[0]["servers"].as_array().unwrap().iter().filter_map(|server| server["name"].as_str()).collect();
        let mut expect = names.to_vec();
        running.sort_unstable();
        expect.sort_unstable();
        assert_eq!(running, expect, "{told}");
        assert_eq!(self.client.end(), Some(0));
    }
}
