//! A client of `rootward serve`, line by line.

#![expect(
    clippy::needless_pass_by_value,
    clippy::panic,
    reason = "calls read better so, and a test that cannot go on has failed"
)]

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

/// How long a test waits for what must come. Nothing is measured by it.
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);

/// Directories: `root` to be served, `outside` not, and a `home`.
pub(crate) struct Place {
    top: PathBuf,
    _directory: TempDir,
}

impl Place {
    pub(crate) fn new() -> Place {
        let directory = tempfile::tempdir().unwrap();
        let place = Place { top: directory.path().canonicalize().unwrap(), _directory: directory };
        for name in ["root", "outside", "home"] {
            fs::create_dir(place.path(name)).unwrap();
        }
        fs::write(place.path("outside/secret.txt"), "SECRET").unwrap();
        place
    }

    pub(crate) fn path(&self, below: &str) -> PathBuf {
        self.top.join(below)
    }

    pub(crate) fn text(&self, below: &str) -> String {
        self.path(below).to_str().unwrap().to_owned()
    }

    pub(crate) fn uri(&self, below: &str) -> String {
        format!("file://{}", self.text(below))
    }

    /// The binary, with nothing of the tester's environment.
    pub(crate) fn rootward(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rootward"));
        command.args(words);
        self.alone(&mut command);
        command
    }

    /// Leaves a command nothing of the tester's environment.
    pub(crate) fn alone(&self, command: &mut Command) {
        command.current_dir(&self.top).env_clear().env("PATH", std::env::var_os("PATH").unwrap());
        command.env("HOME", self.path("home"));
    }

    /// A session of a client without roots, with these as the operator's.
    pub(crate) fn serve(&self, roots: &[&str]) -> Client {
        let mut words = vec!["serve"];
        words.extend(roots);
        Client::begin(&mut self.rootward(&words), &json!({}))
    }

    /// The lines of the audit log that are decisions.
    pub(crate) fn decisions(&self) -> Vec<Value> {
        let files = fs::read_dir(self.path("home/.local/state/rootward/audit")).unwrap().flatten();
        let text: String = files.map(|file| fs::read_to_string(file.path()).unwrap()).collect();
        let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        lines.filter(|line| line.get("decision").is_some()).collect()
    }
}

pub(crate) struct Client {
    pub(crate) child: Child,
    pub(crate) input: Option<ChildStdin>,
    lines: Receiver<String>,
    /// What came while something else was awaited.
    pub(crate) kept: Vec<Value>,
    last: u64,
}

impl Client {
    /// Starts the program and shakes hands.
    pub(crate) fn begin(command: &mut Command, capabilities: &Value) -> Client {
        let mut client = Client::start(command);
        client.shake_hands(capabilities);
        client
    }

    /// Starts the program; nothing is said yet.
    pub(crate) fn start(command: &mut Command) -> Client {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || output.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        let input = child.stdin.take();
        Client { child, input, lines, kept: Vec::new(), last: 0 }
    }

    pub(crate) fn shake_hands(&mut self, capabilities: &Value) {
        let information = json!({"name": "test", "version": "1"});
        let parameters =
            json!({"protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": information});
        self.ask("initialize", parameters);
        self.notify("notifications/initialized", json!({}));
    }

    pub(crate) fn send_line(&mut self, line: &[u8]) {
        let input = self.input.as_mut().unwrap();
        input.write_all(line).and_then(|()| input.write_all(b"\n")).unwrap();
    }

    pub(crate) fn notify(&mut self, method: &str, parameters: Value) {
        self.send_line(json!({"jsonrpc": "2.0", "method": method, "params": parameters}).to_string().as_bytes());
    }

    /// Asks, and does not wait; the id.
    pub(crate) fn put(&mut self, method: &str, parameters: Value) -> u64 {
        self.last += 1;
        let message = json!({"jsonrpc": "2.0", "id": self.last, "method": method, "params": parameters});
        self.send_line(message.to_string().as_bytes());
        self.last
    }

    pub(crate) fn ask(&mut self, method: &str, parameters: Value) -> Value {
        let id = self.put(method, parameters);
        self.answer(id)
    }

    pub(crate) fn answer(&mut self, id: u64) -> Value {
        self.next_where(|message| message["id"] == id && message.get("method").is_none())
    }

    pub(crate) fn next_where(&mut self, fits: impl Fn(&Value) -> bool) -> Value {
        if let Some(position) = self.kept.iter().position(&fits) {
            return self.kept.remove(position);
        }
        loop {
            let message = self.next().unwrap_or_else(|| panic!("the program ended"));
            if fits(&message) {
                return message;
            }
            self.kept.push(message);
        }
    }

    /// The next message; none at the end.
    pub(crate) fn next(&mut self) -> Option<Value> {
        match self.lines.recv_timeout(PATIENCE) {
            Ok(line) => Some(serde_json::from_str(&line).unwrap()),
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => panic!("nothing came"),
        }
    }

    /// Begins a call of a tool; the id.
    pub(crate) fn begin_call(&mut self, tool: &str, arguments: Value) -> u64 {
        self.put("tools/call", json!({"name": tool, "arguments": arguments}))
    }

    /// The result of a tool.
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let mut answer = self.ask("tools/call", json!({"name": tool, "arguments": arguments}));
        assert!(answer["error"].is_null(), "{answer}");
        answer["result"].take()
    }

    /// What a tool says when it goes well.
    pub(crate) fn says(&mut self, tool: &str, arguments: Value) -> String {
        let result = self.call(tool, arguments);
        assert_eq!(result["isError"], false, "{result}");
        result["content"][0]["text"].as_str().unwrap().to_owned()
    }

    /// Why a call fails: the code of a refusal, or the sentence.
    pub(crate) fn why(&mut self, tool: &str, arguments: Value) -> String {
        let result = self.call(tool, arguments);
        assert_eq!(result["isError"], true, "{result}");
        let code = result["structuredContent"]["code"].as_str();
        code.or_else(|| result["content"][0]["text"].as_str()).unwrap().to_owned()
    }

    /// Closes its end; what came afterwards, and the exit code.
    pub(crate) fn end(mut self) -> (Vec<Value>, Option<i32>) {
        self.input = None;
        let mut rest = std::mem::take(&mut self.kept);
        while let Some(message) = self.next() {
            rest.push(message);
        }
        (rest, self.child.wait().unwrap().code())
    }

    pub(crate) fn signal(&self, signal: &str) {
        let number = self.child.id().to_string();
        assert!(Command::new("kill").args([&format!("-{signal}"), &number]).status().unwrap().success());
    }

    /// A number of its `/proc/PID/status`, in kilobytes.
    pub(crate) fn memory(&self, name: &str) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with(name)).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    }

    /// The time it has had a processor for, in ticks.
    pub(crate) fn ticks(&self) -> u64 {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap();
        let (_, fields) = stat.rsplit_once(") ").unwrap();
        fields.split(' ').skip(11).take(2).map(|field| field.parse::<u64>().unwrap()).sum()
    }
}

impl Drop for Client {
    /// A test that failed leaves no server behind.
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits until something is so.
pub(crate) fn until(what: &str, is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < PATIENCE, "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}
