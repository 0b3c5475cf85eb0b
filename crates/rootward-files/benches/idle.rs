//! The memory of an idle session over channels: `cargo bench -p rootward-files --bench idle`.
//!
//! Measures the resident memory of a separate process for each kind. The HTTP front adds its own share.

#![expect(clippy::unwrap_used, reason = "a benchmark that fails must stop")]
#![expect(clippy::disallowed_methods, reason = "the benchmark acts as the user who creates the directories")]
#![expect(clippy::print_stdout, reason = "the numbers go to stdout")]

use std::process::Command;
use std::time::Duration;

use bytes::Bytes;
use rootward_files::FileServer;
use rootward_server::{RootsService, Settings};
use rootward_testkit::bench::run::is_asked_for;
use rootward_testkit::client::message;
use serde_json::{Value, json};
use tokio::sync::mpsc;

const SESSIONS: usize = 5_000;
const SETTLE_TIME: Duration = Duration::from_secs(2);

/// The front's ends of a session's channels.
struct Front {
    sender: mpsc::Sender<Bytes>,
    receiver: mpsc::Receiver<Bytes>,
}

impl Front {
    /// Opens a session that lists the tools, makes a call and answers `roots/list`.
    async fn open(service: &RootsService, root: &str) -> Front {
        let (sender, from_client) = mpsc::channel(4);
        let (to_client, receiver) = mpsc::channel(4);
        tokio::spawn(FileServer::default().serve_channels(service.clone(), to_client, from_client));
        let mut front = Front { sender, receiver };
        front.send(message::request(0, "initialize", message::hello(json!({"roots": {"listChanged": true}})))).await;
        front.receive().await;
        front.send(message::notification("notifications/initialized", Value::Null)).await;
        front.send(message::request(1, "tools/list", Value::Null)).await;
        front.receive().await;
        let call = message::call("read_text_file", json!({"path": format!("{root}/file")}));
        front.send(message::request(2, "tools/call", call)).await;
        let asked = front.receive().await;
        assert_eq!(asked["method"], "roots/list", "{asked}");
        front.send(message::answer(asked["id"].clone(), message::roots([format!("file://{root}")]))).await;
        let mut answer = front.receive().await;
        if answer["method"] == "notifications/tools/list_changed" {
            answer = front.receive().await;
        }
        assert_eq!(answer["result"]["content"][0]["text"], "here", "{answer}");
        front
    }

    async fn send(&self, message: Value) {
        self.sender.send(message.to_string().into()).await.unwrap();
    }

    async fn receive(&mut self) -> Value {
        serde_json::from_slice(&self.receiver.recv().await.unwrap()).unwrap()
    }
}

/// The argument that marks the measured process.
const WEIGH: &str = "--weigh=";

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    match arguments.iter().find_map(|argument| argument.strip_prefix(WEIGH)) {
        Some("one") => weigh("one root for all", |_| 0),
        Some(_) => weigh("a root for each", |number| number),
        None if is_asked_for() => {
            for kind in ["one", "each"] {
                let program = std::env::current_exe().unwrap();
                assert!(Command::new(program).arg(format!("{WEIGH}{kind}")).status().unwrap().success());
            }
        }
        None => {}
    }
}

#[tokio::main(flavor = "current_thread")]
async fn weigh(kind: &str, root: impl Fn(usize) -> usize) {
    let directory = tempfile::tempdir().unwrap();
    let top = directory.path().canonicalize().unwrap();
    let place = |number: usize| {
        let place = top.join(root(number).to_string());
        std::fs::create_dir_all(&place).unwrap();
        std::fs::write(place.join("file"), "here").unwrap();
        place.to_str().unwrap().to_owned()
    };
    let service = RootsService::new(Settings::new(None));
    let mut sessions = vec![Front::open(&service, &place(SESSIONS)).await];
    sessions.reserve(SESSIONS);
    tokio::time::sleep(SETTLE_TIME).await;
    let before = resident();
    for number in 0..SESSIONS {
        sessions.push(Front::open(&service, &place(number)).await);
    }
    tokio::time::sleep(SETTLE_TIME).await;
    #[expect(clippy::cast_precision_loss, reason = "a rounded number for display")]
    let each = (resident() - before) as f64 / 1024.0 / SESSIONS as f64;
    println!("{kind}: {each:.1} KiB for each of {SESSIONS} idle sessions");
}

/// The resident memory of this process, in bytes (`proc_pid_statm(5)`).
fn resident() -> u64 {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
    pages.split(' ').nth(1).unwrap().parse::<u64>().unwrap() * 4096
}
