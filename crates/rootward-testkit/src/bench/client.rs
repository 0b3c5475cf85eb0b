//! The client of the benchmarks: requests and responses over pipes, with blocking reads, and without parsing responses.

use std::error::Error;
use std::fmt;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use memchr::memmem;
use serde_json::{Value, json};

use crate::client::message;

type Outcome<T> = Result<T, Box<dyn Error>>;

/// How many bytes at each end of a message to search for the members of its envelope. The payload may be long.
const ENVELOPE: usize = 100;

/// A session with a server, or with a proxy in front of it.
#[derive(Debug)]
pub struct Client {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    question: Vec<u8>,
    answer: Vec<u8>,
    /// The result for `roots/list`.
    roots: String,
    last: u64,
}

impl Client {
    /// Starts a command and performs the handshake. The client answers `roots/list` with `root`.
    pub fn begin(command: &mut Command, root: &Path) -> Outcome<Client> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let (Some(input), Some(output)) = (input, output) else { return Err("no pipes".into()) };
        let mut client = Client {
            child,
            input,
            // The capacity of a pipe.
            output: BufReader::with_capacity(1 << 16, output),
            question: Vec::new(),
            answer: Vec::new(),
            roots: format!(r#"{{"roots":[{{"uri":"file://{}"}}]}}"#, root.display()),
            last: 0,
        };
        match client.greet() {
            Ok(()) => Ok(client),
            Err(error) => {
                client.end()?;
                Err(error)
            }
        }
    }

    fn greet(&mut self) -> Outcome<()> {
        let hello = message::hello(json!({"roots": {"listChanged": true}}));
        self.ask("initialize", &hello.to_string())?;
        self.send(format_args!("{}", message::notification("notifications/initialized", Value::Null)))
    }

    /// Sends a request and returns the response.
    pub fn ask(&mut self, method: &str, params: &str) -> Outcome<&[u8]> {
        self.last += 1;
        let id = self.last;
        self.send(format_args!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#))?;
        let id = format!(r#""id":{id}"#);
        loop {
            self.answer.clear();
            if self.output.read_until(b'\n', &mut self.answer)? == 0 {
                return Err("the server closed the connection".into());
            }
            let line = &self.answer;
            let ends = [&line[..line.len().min(ENVELOPE)], &line[line.len().saturating_sub(ENVELOPE)..]];
            let has = |text: &str| ends.iter().any(|end| memmem::find(end, text.as_bytes()).is_some());
            if has(r#""method":"roots/list""#) {
                let question: Value = serde_json::from_slice(line)?;
                let answer = format!(r#"{{"jsonrpc":"2.0","id":{},"result":{}}}"#, question["id"], self.roots);
                self.send(format_args!("{answer}"))?;
            } else if has(&id) {
                return Ok(&self.answer);
            }
        }
    }

    fn send(&mut self, message: fmt::Arguments<'_>) -> Outcome<()> {
        self.question.clear();
        writeln!(self.question, "{message}")?;
        Ok(self.input.write_all(&self.question)?)
    }

    /// Calls a tool and checks that the response contains `expected`, so that the call really works.
    pub fn try_call(&mut self, params: &str, expected: &str) -> Outcome<()> {
        let answer = self.ask("tools/call", params)?;
        if memmem::find(answer, expected.as_bytes()).is_some() {
            return Ok(());
        }
        let shown = String::from_utf8_lossy(&answer[..answer.len().min(400)]);
        Err(format!("unexpected response: {}", shown.trim()).into())
    }

    /// The id of the process.
    pub fn process(&self) -> u32 {
        self.child.id()
    }

    /// The memory of the process in bytes. `measure` is the kernel's name, such as `Rss` (`proc_pid_smaps(5)`).
    pub fn memory(&self, measure: &str) -> Outcome<u64> {
        memory_of(self.process(), measure)
    }

    /// The number of child processes of its first thread that are not yet reaped.
    pub fn count_children(&self) -> Outcome<usize> {
        let process = self.process();
        let children = fs::read_to_string(format!("/proc/{process}/task/{process}/children"))?;
        Ok(children.split_whitespace().count())
    }

    /// Closes stdin and waits for the server to exit.
    pub fn end(self) -> Outcome<()> {
        let Client { mut child, input, .. } = self;
        drop(input);
        child.wait()?;
        Ok(())
    }
}

/// The memory of a process in bytes. `measure` is the kernel's name (`proc_pid_smaps(5)`).
pub(super) fn memory_of(process: u32, measure: &str) -> Outcome<u64> {
    let rollup = fs::read_to_string(format!("/proc/{process}/smaps_rollup"))?;
    let line = rollup.lines().find_map(|line| line.strip_prefix(measure)?.strip_prefix(':'));
    let kibibytes: u64 = line.ok_or("no such line")?.trim().trim_end_matches("kB").trim().parse()?;
    Ok(kibibytes << 10)
}
