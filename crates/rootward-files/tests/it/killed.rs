//! A server that is killed while it writes leaves the old file or the new one.

use std::fs;
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::process::Command;

use rootward_testkit::client::{Client, message};
use serde_json::json;

use crate::stage::Stage;

const LENGTH: usize = 4 << 20;
const ROUNDS: usize = 12;

#[test]
fn a_kill_at_any_moment_leaves_a_whole_file() {
    let stage = Stage::new();
    stage.file("root/f", "a".repeat(LENGTH));
    let mut answered = 0;
    for round in 0..ROUNDS {
        let mut server = Command::new(env!("CARGO_BIN_EXE_files-stage"));
        let mut client = Client::start_unread(server.arg("serve").arg(stage.path("root")));
        client.shake_hands(json!({}));
        let mut input = client.line.input.take().unwrap();
        let calls = std::thread::spawn(move || {
            for id in 0.. {
                let content = if id % 2 == 0 { "b" } else { "a" }.repeat(LENGTH);
                let call = message::call("write_file", json!({"path": "f", "content": content}));
                if writeln!(input, "{}", message::request(id, "tools/call", call)).is_err() {
                    return;
                }
            }
        });
        // After the first answer, the server writes all the time.
        answered += usize::from(client.next().is_some());
        let times = || {
            [fs::metadata(stage.path("root")), fs::metadata(stage.path("root/f"))]
                .map(|seen| seen.unwrap().mtime_nsec())
        };
        let before = times();
        // Kill it as soon as something was written.
        while times() == before {}
        client.line.child.kill().unwrap();
        calls.join().unwrap();
        let found = fs::read(stage.path("root/f")).unwrap();
        assert_eq!(found.len(), LENGTH, "round {round}");
        assert!(found.iter().all(|byte| *byte == found[0]), "round {round}: the file mixes old and new");
    }
    assert_eq!(answered, ROUNDS, "control: the server was writing");
    let others = stage.names("root").into_iter().filter(|name| name != "f");
    for name in others {
        assert!(name.starts_with(".rootward-"), "{name}");
    }
}
