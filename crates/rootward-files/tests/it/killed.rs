//! A server that is killed while it writes: the file is the old one or the new one.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::MetadataExt;
use std::process::{Command, Stdio};

use serde_json::json;

use crate::yard::Yard;

const LENGTH: usize = 4 << 20;
const ROUNDS: usize = 12;

#[test]
fn a_kill_at_any_moment_leaves_a_whole_file() {
    let yard = Yard::new();
    yard.file("root/f", "a".repeat(LENGTH));
    let mut answered = 0;
    for round in 0..ROUNDS {
        let mut server = Command::new(env!("CARGO_BIN_EXE_files-stage"))
            .arg("serve")
            .arg(yard.path("root"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = server.stdin.take().unwrap();
        let mut output = BufReader::new(server.stdout.take().unwrap()).lines();
        let parameters = json!({
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"},
        });
        let begin = json!({"jsonrpc": "2.0", "id": "init", "method": "initialize", "params": parameters});
        writeln!(input, "{begin}").unwrap();
        output.next().unwrap().unwrap();
        writeln!(input, "{}", json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).unwrap();
        let calls = std::thread::spawn(move || {
            for id in 0.. {
                let content = if id % 2 == 0 { "b" } else { "a" }.repeat(LENGTH);
                let call = json!({"name": "write_file", "arguments": {"path": "f", "content": content}});
                let call = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": call});
                if writeln!(input, "{call}").is_err() {
                    return;
                }
            }
        });
        // From the first answer on one write follows another.
        answered += usize::from(output.next().is_some());
        let times = || {
            [fs::metadata(yard.path("root")), fs::metadata(yard.path("root/f"))].map(|seen| seen.unwrap().mtime_nsec())
        };
        let before = times();
        // The moment something is seen to be written, it is cut off.
        while times() == before {}
        server.kill().unwrap();
        server.wait().unwrap();
        drop(output);
        calls.join().unwrap();
        let found = fs::read(yard.path("root/f")).unwrap();
        assert_eq!(found.len(), LENGTH, "round {round}");
        assert!(found.iter().all(|byte| *byte == found[0]), "round {round}: half of either");
    }
    assert_eq!(answered, ROUNDS, "the control: there were writes to be cut off");
    let others = yard.names("root").into_iter().filter(|name| name != "f");
    for name in others {
        assert!(name.starts_with(".rootward-"), "{name}");
    }
}
