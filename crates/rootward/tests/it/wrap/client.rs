//! A client that holds a conversation with `rootward wrap`, line by line.

#![expect(
    clippy::needless_pass_by_value,
    clippy::panic,
    reason = "calls read better so, and a test that cannot go on has failed"
)]

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};

/// How long a test waits for what must come. Nothing is measured by it.
const PATIENCE: Duration = Duration::from_secs(30);

/// Where a conversation takes place: a project, something outside it, a home.
pub(crate) struct Scene {
    directory: tempfile::TempDir,
}

impl Scene {
    pub(crate) fn new() -> Scene {
        let scene = Scene { directory: tempfile::tempdir().unwrap() };
        for name in ["project", "other", "outside", "home"] {
            std::fs::create_dir(scene.path(name)).unwrap();
            std::fs::write(scene.path(name).join("file.txt"), name).unwrap();
        }
        scene
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().canonicalize().unwrap().join(name)
    }

    pub(crate) fn text(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }

    pub(crate) fn uri(&self, name: &str) -> String {
        format!("file://{}", self.text(name))
    }

    /// `rootward wrap` with these words, before the server.
    pub(crate) fn wrap(&self, words: &[&str]) -> Command {
        self.wrap_server("server.py", words)
    }

    /// The same for another server.
    pub(crate) fn wrap_server(&self, server: &str, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rootward"));
        let server = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/wrap").join(server);
        command.arg("wrap").args(words).args(["--", "python3"]).arg(server);
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap()).env("HOME", self.path("home"));
        command.current_dir(self.path("outside"));
        command
    }

    /// Where the log of decisions is, and its lines.
    pub(crate) fn decisions(&self) -> Vec<Value> {
        let Ok(files) = std::fs::read_dir(self.path("home/.local/state/rootward/audit")) else { return Vec::new() };
        let mut lines = Vec::new();
        for file in files.flatten() {
            let text = std::fs::read_to_string(file.path()).unwrap();
            lines.extend(text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()));
        }
        lines.retain(|line| line.get("decision").is_some());
        lines
    }
}

/// What the client has to say of roots.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Says {
    Nothing,
    Roots,
}

/// The client.
pub(crate) struct Client {
    pub(crate) child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    /// What came while something else was awaited.
    kept: VecDeque<Value>,
    roots: Vec<String>,
    last: u64,
}

impl Client {
    /// Starts the program; nothing is said yet.
    pub(crate) fn start(command: &mut Command) -> Client {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in output.lines() {
                if sender.send(line.unwrap()).is_err() {
                    return;
                }
            }
        });
        let input = child.stdin.take();
        Client { child, input, lines, kept: VecDeque::new(), roots: Vec::new(), last: 0 }
    }

    /// Starts it and shakes hands.
    pub(crate) fn begin(command: &mut Command, says: Says, roots: &[String]) -> Client {
        let mut client = Client::start(command);
        client.roots = roots.to_vec();
        let capabilities = if says == Says::Roots { json!({"roots": {"listChanged": true}}) } else { json!({}) };
        let answer = client.call("initialize", json!({"protocolVersion": "2025-06-18", "capabilities": capabilities}));
        assert_eq!(answer["result"]["serverInfo"]["name"], "server", "{answer}");
        client.notify("notifications/initialized");
        client
    }

    pub(crate) fn send_line(&mut self, line: &str) {
        let input = self.input.as_mut().unwrap();
        input.write_all(line.as_bytes()).and_then(|()| input.write_all(b"\n")).unwrap();
    }

    pub(crate) fn send(&mut self, message: &Value) {
        self.send_line(&message.to_string());
    }

    pub(crate) fn notify(&mut self, method: &str) {
        self.send(&json!({"jsonrpc": "2.0", "method": method}));
    }

    /// Puts a question; its id.
    pub(crate) fn ask(&mut self, method: &str, params: Value) -> Value {
        self.last += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params}));
        json!(self.last)
    }

    /// Puts a question, and awaits the answer.
    pub(crate) fn call(&mut self, method: &str, params: Value) -> Value {
        let id = self.ask(method, params);
        self.answer_to(&id)
    }

    /// Calls a tool.
    pub(crate) fn tool(&mut self, name: &str, arguments: Value) -> Value {
        self.call("tools/call", json!({"name": name, "arguments": arguments}))
    }

    /// Calls a tool; the text it answers with.
    pub(crate) fn says(&mut self, name: &str, arguments: Value) -> String {
        let answer = self.tool(name, arguments);
        answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
    }

    /// Awaits the answer to a question; questions about roots are answered meanwhile.
    pub(crate) fn answer_to(&mut self, id: &Value) -> Value {
        self.next_where(|message| message.get("method").is_none() && message["id"] == *id)
    }

    /// The next message that fits.
    pub(crate) fn next_where(&mut self, fits: impl Fn(&Value) -> bool) -> Value {
        if let Some(position) = self.kept.iter().position(&fits) {
            return self.kept.remove(position).unwrap();
        }
        loop {
            let message = self.next().unwrap_or_else(|| panic!("the program ended"));
            if fits(&message) {
                return message;
            }
            self.kept.push_back(message);
        }
    }

    /// The next message, but for questions about roots, which are answered; `None` at the end.
    pub(crate) fn next(&mut self) -> Option<Value> {
        loop {
            let line = match self.lines.recv_timeout(PATIENCE) {
                Ok(line) => line,
                Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => return None,
                Err(error) => panic!("nothing came: {error}"),
            };
            let message: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
            if message["method"] != "roots/list" {
                return Some(message);
            }
            let roots: Vec<Value> = self.roots.iter().map(|uri| json!({"uri": uri})).collect();
            self.send(&json!({"jsonrpc": "2.0", "id": message["id"], "result": {"roots": roots}}));
        }
    }

    /// Shares other roots, and says so.
    pub(crate) fn share(&mut self, roots: &[String]) {
        self.roots = roots.to_vec();
        self.notify("notifications/roots/list_changed");
    }

    /// Closes its end; the exit code.
    pub(crate) fn end(mut self) -> Option<i32> {
        self.input = None;
        while self.next().is_some() {}
        self.child.wait().unwrap().code()
    }
}
