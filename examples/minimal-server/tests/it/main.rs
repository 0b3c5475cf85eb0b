//! The binary, spoken to over its standard input and output.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]
#![expect(clippy::disallowed_methods, reason = "tests lay out the files they are about")]

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

struct Client {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Client {
    fn start() -> Client {
        let mut program = Command::new(env!("CARGO_BIN_EXE_minimal-server"));
        let mut child = program.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        Client { child, input, output }
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.input, "{message}").unwrap();
    }

    fn receive(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn reads_inside_and_refuses_outside() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("notes.txt"), "hello").unwrap();
    let mut client = Client::start();
    let capabilities = json!({"roots": {"listChanged": true}});
    let parameters = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": capabilities,
        "clientInfo": {"name": "test", "version": "1"},
    });
    client.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": parameters}));
    assert_eq!(client.receive()["id"], 1);
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));

    let read = |id: u64, path: &str| {
        let parameters = json!({"name": "read_file", "arguments": {"path": path}});
        json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": parameters})
    };
    client.send(&read(2, "notes.txt"));
    let question = client.receive();
    assert_eq!(question["method"], "roots/list");
    let uri = format!("file://{}", directory.path().display());
    client.send(&json!({"jsonrpc": "2.0", "id": question["id"], "result": {"roots": [{"uri": uri}]}}));
    assert_eq!(client.receive()["result"]["content"][0]["text"], "hello");
    client.send(&read(3, "/etc/passwd"));
    assert_eq!(client.receive()["result"]["structuredContent"]["code"], "outside_roots");
}

#[test]
fn is_at_most_forty_lines() {
    assert!(include_str!("../../src/main.rs").lines().count() <= 40);
}

/// What rmcp's own reading of standard input loses.
#[test]
fn follows_a_list_in_pages() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("notes.txt"), "hello").unwrap();
    let mut client = Client::start();
    let parameters = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {"roots": {}},
        "clientInfo": {"name": "test", "version": "1"},
    });
    client.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": parameters}));
    let result = client.receive();
    assert!(result["result"]["capabilities"]["extensions"]["rootward.dev/roots-paging"].is_object(), "{result}");
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    let parameters = json!({"name": "read_file", "arguments": {"path": directory.path().join("notes.txt")}});
    client.send(&json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": parameters}));
    let question = client.receive();
    client.send(&json!({"jsonrpc": "2.0", "id": question["id"], "result": {"roots": [], "nextCursor": "more"}}));
    let question = client.receive();
    assert_eq!(question["params"], json!({"cursor": "more"}), "{question}");
    let roots = json!({"roots": [{"uri": format!("file://{}", directory.path().display())}]});
    client.send(&json!({"jsonrpc": "2.0", "id": question["id"], "result": roots}));
    assert_eq!(client.receive()["result"]["content"][0]["text"], "hello");
}
