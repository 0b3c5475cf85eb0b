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
use std::time::{Duration, Instant};

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

    /// The same for another server of this directory.
    pub(crate) fn wrap_server(&self, server: &str, words: &[&str]) -> Command {
        let server = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/wrap").join(server);
        self.wrap_command(words, &["python3", server.to_str().unwrap()])
    }

    /// `rootward wrap` with these words, before this command.
    pub(crate) fn wrap_command(&self, words: &[&str], server: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rootward"));
        command.arg("wrap").args(words).arg("--").args(server);
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap()).env("HOME", self.path("home"));
        command.current_dir(self.path("outside"));
        command
    }

    /// Has the server start a process that outlives it if nobody sees to it.
    pub(crate) fn mark(&self, client: &mut Client) -> Mark {
        let mark = Mark::new(self);
        let started = client.says("start", json!({"mark": mark.words}));
        assert!(started.parse::<u32>().is_ok(), "{started}");
        let server = client.says("process", json!({})).parse().unwrap();
        Mark { server: Some(server), ..mark }
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

/// By which the processes of a server are found.
pub(crate) struct Mark {
    pub(crate) words: String,
    server: Option<u32>,
}

impl Mark {
    pub(crate) fn new(scene: &Scene) -> Mark {
        let name = scene.directory.path().file_name().unwrap().to_str().unwrap();
        Mark { words: format!("mark of {name}"), server: None }
    }

    /// Waits until no process of the server's is left.
    pub(crate) fn is_gone(&self) {
        let begun = Instant::now();
        while let Some(process) = self.left() {
            assert!(begun.elapsed() < PATIENCE, "process {process} is left");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn left(&self) -> Option<u32> {
        let processes = std::fs::read_dir("/proc").unwrap().flatten();
        let mut numbers = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        numbers.find(|number| {
            // Whoever is dead and only not yet asked for their code has no words any more.
            let words = std::fs::read(format!("/proc/{number}/cmdline")).unwrap_or_default();
            let marked = String::from_utf8_lossy(&words).split('\0').any(|word| word == self.words);
            marked || (self.server == Some(*number) && !words.is_empty())
        })
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
    /// What is said to questions about roots.
    pub(crate) answers: Answers,
    last: u64,
}

/// What a client says to questions about its roots.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Answers {
    Roots,
    Never,
    With(Value),
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
        Client { child, input, lines, kept: VecDeque::new(), roots: Vec::new(), answers: Answers::Roots, last: 0 }
    }

    /// Starts it and shakes hands.
    pub(crate) fn begin(command: &mut Command, says: Says, roots: &[String]) -> Client {
        Client::begin_with(command, says, roots, Answers::Roots)
    }

    /// The same, with other answers to questions about roots.
    pub(crate) fn begin_with(command: &mut Command, says: Says, roots: &[String], answers: Answers) -> Client {
        let mut client = Client::start(command);
        (client.roots, client.answers) = (roots.to_vec(), answers);
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
            let mut answer = match &self.answers {
                Answers::Roots => json!({"result": {"roots": roots}}),
                Answers::Never => continue,
                Answers::With(answer) => answer.clone(),
            };
            answer["jsonrpc"] = json!("2.0");
            answer["id"] = message["id"].clone();
            // Whoever has closed their end answers nothing.
            if self.input.is_some() {
                self.send(&answer);
            }
        }
    }

    /// Shares other roots, and says so.
    pub(crate) fn share(&mut self, roots: &[String]) {
        self.roots = roots.to_vec();
        self.notify("notifications/roots/list_changed");
    }

    /// The next line, as it came.
    pub(crate) fn next_line(&mut self) -> String {
        self.lines.recv_timeout(PATIENCE).unwrap()
    }

    /// What came while something else was awaited.
    pub(crate) fn kept(&self) -> &VecDeque<Value> {
        &self.kept
    }

    /// Closes its end; what comes afterwards still comes.
    pub(crate) fn close(&mut self) {
        self.input = None;
    }

    /// Closes its end; the exit code.
    pub(crate) fn end(mut self) -> Option<i32> {
        self.close();
        while self.next().is_some() {}
        self.child.wait().unwrap().code()
    }

    /// Sends the program a signal.
    pub(crate) fn signal(&self, signal: &str) {
        let number = self.child.id().to_string();
        assert!(Command::new("kill").args([&format!("-{signal}"), &number]).status().unwrap().success());
    }
}
