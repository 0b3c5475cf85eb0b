//! Fixtures for `rootward serve` and `rootward wrap`: directories, the program and a client.

use std::fs;
use std::ops::Deref;
use std::process::Command;
use std::time::{Duration, Instant};

use rootward_testkit::client::Client;
pub(crate) use rootward_testkit::client::PATIENCE;
use rootward_testkit::place;
use serde_json::{Value, json};

/// Directories: `root` is served, `outside` is not, and there is a `home`.
pub(crate) struct Place(place::Place);

impl Deref for Place {
    type Target = place::Place;

    fn deref(&self) -> &place::Place {
        &self.0
    }
}

impl Place {
    pub(crate) fn new() -> Place {
        let place = Place::with(&["root", "outside", "home"]);
        place.write("outside/secret.txt", "SECRET");
        place
    }

    /// With these directories.
    pub(crate) fn with(names: &[&str]) -> Place {
        Place(place::Place::with(names))
    }

    /// The binary, without the developer's environment.
    pub(crate) fn rootward(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rootward"));
        command.args(words);
        self.alone(&mut command);
        command
    }

    /// A session of a client without roots. These are the operator's roots.
    pub(crate) fn serve(&self, roots: &[&str]) -> Client {
        let mut words = vec!["serve"];
        words.extend(roots);
        begin(&mut self.rootward(&words), json!({}))
    }

    /// The lines of the audit log that are decisions.
    pub(crate) fn decisions(&self) -> Vec<Value> {
        let files = fs::read_dir(self.path("home/.local/state/rootward/audit")).into_iter().flatten().flatten();
        let text: String = files.map(|file| fs::read_to_string(file.path()).unwrap()).collect();
        let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let mut decisions: Vec<Value> = lines.filter(|line| line.get("decision").is_some()).collect();
        // Each process has its own file, and `read_dir` has no order. The sort is stable within a file.
        decisions.sort_by_key(|line| line["time"].as_u64());
        decisions
    }
}

/// Starts the program and does the handshake.
pub(crate) fn begin(command: &mut Command, capabilities: Value) -> Client {
    let mut client = Client::start(command);
    client.shake_hands(capabilities);
    client
}

/// A number from `/proc/PID/status`, in kilobytes.
pub(crate) fn memory(process: u32, name: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with(name)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// Waits until `is_so` is true. Fails with `what` otherwise.
pub(crate) fn until(what: &str, is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < PATIENCE, "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}
