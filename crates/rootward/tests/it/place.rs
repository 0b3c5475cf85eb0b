//! Where `rootward serve` and `rootward wrap` are tested: directories, the program, a client before it.

use std::fs;
use std::ops::Deref;
use std::process::Command;
use std::time::{Duration, Instant};

use rootward_testkit::client::Client;
pub(crate) use rootward_testkit::client::PATIENCE;
use rootward_testkit::place;
use serde_json::{Value, json};

/// Directories: `root` to be served, `outside` not, and a `home`.
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

    /// The binary, with nothing of the tester's environment.
    pub(crate) fn rootward(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rootward"));
        command.args(words);
        self.alone(&mut command);
        command
    }

    /// A session of a client without roots, with these as the operator's.
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
        // Each process has a file, and a directory has no order. Within one file, equal times stay in order.
        decisions.sort_by_key(|line| line["time"].as_u64());
        decisions
    }
}

/// Starts the program and shakes hands.
pub(crate) fn begin(command: &mut Command, capabilities: Value) -> Client {
    let mut client = Client::start(command);
    client.shake_hands(capabilities);
    client
}

/// A number of a process's `/proc/PID/status`, in kilobytes.
pub(crate) fn memory(process: u32, name: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with(name)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// Waits until something is so.
pub(crate) fn until(what: &str, is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < PATIENCE, "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}
