//! One short conversation with a wrapped server or a hub, as its client would begin it: `initialize`, then the list
//! of tools.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use rootward_core::{PathStyle, RootUri};
use rootward_protocol::frame::{Envelope, Kind, Message};
use rootward_protocol::{era, keys, message, method};
use serde_json::{Value, json};

use super::trying::Tried;

/// The time limit for the whole conversation. Some servers are fetched first.
const LIMIT: Duration = Duration::from_mins(1);

/// How long to wait after an empty list of tools: Rootward announces the tools of a server that starts late.
const PATIENCE: Duration = Duration::from_secs(3);

/// How long the program may take to exit once its input is closed.
const END: Duration = Duration::from_secs(5);

/// The longest line to read.
const LONGEST: u64 = 64 << 20;

/// How many bytes of standard error to keep.
const LAST_WORDS: usize = 4096;

/// How long a hub may take for its lists: its own wait for slow servers, and a little more.
const ROUND: Duration = Duration::from_secs(6);

/// How often to ask for a hub's lists again because of a server without tools.
const ROUNDS_WITHOUT_TOOLS: usize = 2;

/// The maximum number of pages of tools to request.
const MOST_PAGES: usize = 100;

/// How a server is started.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Start {
    pub(super) program: String,
    pub(super) arguments: Vec<String>,
    /// Set in addition to this process's environment.
    pub(super) variables: Vec<(String, String)>,
    pub(super) directory: PathBuf,
    /// The directory that is shared.
    pub(super) root: PathBuf,
}

/// A server behind a hub.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Behind {
    pub(super) name: String,
    /// The prefix of its tools' names.
    pub(super) begins: String,
}

/// Starts a wrapped server, talks to it, and stops it.
pub(super) fn talk_ambient(start: &Start) -> Tried {
    match conversation_ambient(start, Talk::run) {
        Ok(tools) => Tried::Works { tools },
        Err(tried) => tried,
    }
}

/// Starts a hub, and reports the result for each of its servers.
pub(super) fn talk_to_hub_ambient(start: &Start, servers: &[Behind]) -> Vec<Tried> {
    let tried = conversation_ambient(start, |talk| talk.run_hub(servers));
    tried.unwrap_or_else(|tried| vec![tried; servers.len()])
}

/// Starts a program, talks to it, and stops it.
fn conversation_ambient<T>(start: &Start, talk: impl FnOnce(&mut Talk) -> Result<T, Trouble>) -> Result<T, Tried> {
    let Ok(uri) = RootUri::from_path(&start.root, PathStyle::NATIVE) else {
        return Err(Tried::Skipped { why: "the directory cannot be shared".to_owned() });
    };
    let mut command = Command::new(&start.program);
    command.args(&start.arguments).current_dir(&start.directory);
    command.envs(start.variables.iter().map(|(name, value)| (name, value)));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => return Err(Tried::Fails { why: format!("`{}` cannot be started: {error}", start.program) }),
    };
    let (Some(input), Some(output), Some(errors)) = (child.stdin.take(), child.stdout.take(), child.stderr.take())
    else {
        return Err(Tried::Fails { why: "it has no pipes".to_owned() });
    };
    let lines = lines_of(output);
    let last_words = last_words_of(errors);
    let roots = json!({"roots": [{"uri": uri.as_str()}]}).to_string();
    let mut it = Talk { input, lines, roots, deadline: Instant::now() + LIMIT };
    let told = talk(&mut it);
    drop(it);
    end(&mut child);
    told.map_err(|trouble| {
        let why = match trouble {
            Trouble::Says(Says { message, .. }) => message,
            Trouble::Late => late(),
            Trouble::Ended => {
                let words = last_words.recv_timeout(END).unwrap_or_default();
                let line =
                    words.lines().rev().find(|line| line.starts_with("error: ")).or_else(|| words.lines().last());
                let line = line.map(|line| line.strip_prefix("error: ").unwrap_or(line));
                line.unwrap_or("it exited without a message").to_owned()
            }
        };
        Tried::Fails { why }
    })
}

fn late() -> String {
    format!("no answer within {} s", LIMIT.as_secs())
}

/// Why a conversation ended early.
#[derive(PartialEq, Eq, Debug)]
enum Trouble {
    /// The answer is an error.
    Says(Says),
    /// No answer came in time.
    Late,
    /// The other side has exited.
    Ended,
}

/// An error from the other side.
#[derive(PartialEq, Eq, Debug)]
struct Says {
    code: i64,
    message: String,
}

struct Talk {
    input: ChildStdin,
    lines: Receiver<String>,
    /// The answer to a `roots/list` request.
    roots: String,
    deadline: Instant,
}

impl Talk {
    fn run(&mut self) -> Result<usize, Trouble> {
        self.greet()?;
        let mut tools = self.list("2")?.len();
        self.prove(tools)?;
        if tools == 0 && self.is_announced()? {
            tools = self.list("3")?.len();
        }
        Ok(tools)
    }

    /// Lists a hub's tools until each server has started or failed.
    fn run_hub(&mut self, servers: &[Behind]) -> Result<Vec<Tried>, Trouble> {
        self.greet()?;
        let mut round = 0;
        loop {
            let mut tools = vec![0; servers.len()];
            for name in self.list(&format!("tools-{round}"))? {
                let fitting = servers.iter().zip(&mut tools).filter(|(server, _)| name.starts_with(&server.begins));
                // `a__b__c` is a tool of the server `a__b`, if that exists, and not of `a`.
                if let Some((_, tools)) = fitting.max_by_key(|(server, _)| server.begins.len()) {
                    *tools += 1;
                }
            }
            let id = format!("\"roots-{round}\"");
            let told = self.ask(&id, method::CALL_TOOL, Some(r#"{"name": "get-roots", "arguments": {}}"#))?;
            let told = told[keys::STRUCTURED_CONTENT]["servers"].as_array().map_or(&[][..], Vec::as_slice);
            let tried = servers.iter().zip(tools).map(|(server, tools)| server.tried(told, tools, round));
            let tried: Vec<Option<Tried>> = tried.collect();
            if tried.iter().all(Option::is_some) || Instant::now() + ROUND > self.deadline {
                return Ok(tried.into_iter().map(|tried| tried.unwrap_or(Tried::Fails { why: late() })).collect());
            }
            round += 1;
        }
    }

    fn greet(&mut self) -> Result<(), Trouble> {
        let hello = era::own_hello("rootward-adopt", env!("CARGO_PKG_VERSION"));
        self.ask("1", method::INITIALIZE, Some(&hello))?;
        self.say(&message::notification(method::INITIALIZED))
    }

    /// Waits for an answer from the server itself: Rootward answers `initialize` and lists from memory.
    fn prove(&mut self, tools: usize) -> Result<(), Trouble> {
        match self.ask("4", method::PROBE, None) {
            Err(Trouble::Says(Says { code, .. })) if code != i64::from(message::INTERNAL_ERROR) => Ok(()),
            // Some servers do not answer unknown requests.
            Err(Trouble::Late) if tools > 0 => Ok(()),
            other => other.map(drop),
        }
    }

    /// The names of the tools, page by page.
    fn list(&mut self, id: &str) -> Result<Vec<String>, Trouble> {
        let (mut tools, mut params) = (Vec::new(), None);
        for page in 0..MOST_PAGES {
            let answer = self.ask(&format!("\"{id}-{page}\""), method::LIST_TOOLS, params.as_deref())?;
            let page = answer["tools"].as_array().map_or(&[][..], Vec::as_slice);
            tools.extend(page.iter().map(|tool| tool["name"].as_str().unwrap_or_default().to_owned()));
            match &answer["nextCursor"] {
                Value::String(cursor) => params = Some(json!({"cursor": cursor}).to_string()),
                _ => break,
            }
        }
        Ok(tools)
    }

    fn say(&mut self, line: &str) -> Result<(), Trouble> {
        let written = self.input.write_all(format!("{line}\n").as_bytes()).and_then(|()| self.input.flush());
        written.map_err(|_| Trouble::Ended)
    }

    /// Sends a request, and answers the other side's requests until the response arrives.
    fn ask(&mut self, id: &str, asked: &str, params: Option<&str>) -> Result<Value, Trouble> {
        self.say(&message::request(id, asked, params))?;
        let deadline = self.deadline;
        loop {
            let line = self.next(deadline)?;
            let Some(envelope) = envelope(&line) else { continue };
            let answers = envelope.id().is_some_and(|found| found.as_str() == id);
            match envelope.kind() {
                Kind::Response if answers => {
                    let result = envelope.result().and_then(|result| serde_json::from_str(result.get()).ok());
                    return Ok(result.unwrap_or_default());
                }
                Kind::ErrorResponse if answers => {
                    let error = envelope.error().and_then(|error| serde_json::from_str::<Value>(error.get()).ok());
                    let error = error.unwrap_or_default();
                    let message = error["message"].as_str().unwrap_or("an error").to_owned();
                    return Err(Trouble::Says(Says { code: error["code"].as_i64().unwrap_or_default(), message }));
                }
                _ => self.reply(&envelope)?,
            }
        }
    }

    fn reply(&mut self, envelope: &Envelope<'_>) -> Result<(), Trouble> {
        let (Kind::Request, Some(id)) = (envelope.kind(), envelope.id()) else { return Ok(()) };
        let answer = match envelope.method() {
            Some(method::LIST_ROOTS) => message::result(id.as_str(), &self.roots),
            Some(method::PING) => message::result(id.as_str(), "{}"),
            _ => message::error(id.as_str(), message::METHOD_NOT_FOUND, "not supported", None),
        };
        self.say(&answer)
    }

    /// Waits for a notification that the tools changed.
    fn is_announced(&mut self) -> Result<bool, Trouble> {
        let deadline = self.deadline.min(Instant::now() + PATIENCE);
        loop {
            let line = match self.next(deadline) {
                Err(Trouble::Late) => return Ok(false),
                line => line?,
            };
            let Some(envelope) = envelope(&line) else { continue };
            if envelope.method() == Some(method::TOOLS_CHANGED) {
                return Ok(true);
            }
            self.reply(&envelope)?;
        }
    }

    fn next(&mut self, deadline: Instant) -> Result<String, Trouble> {
        let left = deadline.saturating_duration_since(Instant::now());
        self.lines.recv_timeout(left).map_err(|error| match error {
            RecvTimeoutError::Timeout => Trouble::Late,
            RecvTimeoutError::Disconnected => Trouble::Ended,
        })
    }
}

impl Behind {
    /// The result, from what `get-roots` says about the servers; `None` if it is not known yet.
    fn tried(&self, told: &[Value], tools: usize, round: usize) -> Option<Tried> {
        let Some(told) = told.iter().find(|told| told["name"] == self.name.as_str()) else {
            return Some(Tried::Fails { why: "the hub cannot run it; `rootward hub --check` says why".to_owned() });
        };
        if let Some(error) = told["error"].as_str() {
            return Some(Tried::Fails { why: error.to_owned() });
        }
        match told["state"].as_str().unwrap_or_default() {
            "starting" | "not used yet" => None,
            // Its list may still be on the way.
            _ if tools == 0 && round < ROUNDS_WITHOUT_TOOLS => None,
            _ => Some(Tried::Works { tools }),
        }
    }
}

fn envelope(line: &str) -> Option<Envelope<'_>> {
    match Message::parse(line.as_bytes()) {
        Ok(Message::Single(envelope)) => Some(envelope),
        _ => None,
    }
}

/// The lines of a stream, read by a thread.
fn lines_of(output: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, lines) = mpsc::channel();
    std::thread::spawn(move || {
        let mut output = BufReader::new(output);
        loop {
            let mut line = Vec::new();
            match output.by_ref().take(LONGEST).read_until(b'\n', &mut line) {
                Ok(1..) if sender.send(String::from_utf8_lossy(&line).trim_end().to_owned()).is_ok() => {}
                _ => break,
            }
        }
    });
    lines
}

/// The end of standard error, once it is closed.
fn last_words_of(mut errors: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, words) = mpsc::channel();
    std::thread::spawn(move || {
        let mut last = Vec::new();
        let mut piece = [0; LAST_WORDS];
        while let Ok(read @ 1..) = errors.read(&mut piece) {
            last.extend_from_slice(&piece[..read]);
            let start = last.len().saturating_sub(LAST_WORDS);
            last.drain(..start);
        }
        let _ = sender.send(String::from_utf8_lossy(&last).into_owned());
    });
    words
}

/// Lets the program exit, or kills it. Rootward stops its server with it.
fn end(child: &mut Child) {
    let deadline = Instant::now() + END;
    while Instant::now() < deadline {
        match child.try_wait() {
            Ok(None) => std::thread::sleep(Duration::from_millis(20)),
            _ => return,
        }
    }
    let _ = child.kill();
    let _ = child.wait();
}
