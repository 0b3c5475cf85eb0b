//! The Prolog process of a session: it answers one request at a time, within limits, and is started again after it has exited.
//!
//! `process.rs` starts and ends the process, `frames.rs` has the messages, `printed.rs` collects what programs print, `harness.pl` is
//! Prolog's side.

mod frames;
mod printed;
mod process;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use thiserror::Error;

use self::frames::Reply;
use self::process::{Came, Process};
use crate::sources::{Found, Sources};

/// How long an interrupted goal may take to stop.
const GRACE: Duration = Duration::from_secs(5);

/// How often to interrupt a goal, and to check whether the client cancelled its call.
const TICK: Duration = Duration::from_millis(50);

/// How long to wait for printed output after the reply.
const PRINTED: Duration = Duration::from_secs(2);

/// The maximum length of all replies to one request, in bytes.
const MOST: usize = 32 << 20;

/// Why a request failed.
#[derive(Debug, Error)]
pub(crate) enum PrologError {
    /// `swipl` is not installed.
    #[error(
        "SWI-Prolog is not installed: there is no command `swipl` in `PATH`\n\nhint: install it (on Debian and Ubuntu \
         `apt-get install swi-prolog-nox`, on Fedora `dnf install pl`) and call the tool again"
    )]
    Missing,
    /// The process could not be started.
    #[error("SWI-Prolog could not be started: {0}")]
    NotStarted(String),
    /// Prolog reported an error.
    #[error("{0}")]
    Failed(String),
    /// The goal timed out and was stopped. The knowledge base is unchanged.
    #[error("timed out after {} ms; the knowledge base is kept\n\nhint: ask for fewer answers, or raise `timeout_ms`", .0.as_millis())]
    TimedOut(Duration),
    /// The client cancelled the call.
    #[error("the client cancelled the call")]
    Stopped,
    /// The process has exited.
    #[error("the Prolog process exited: {why}. The next call starts a new one with an empty knowledge base{}", again(.files))]
    Gone {
        /// The cause.
        why: String,
        /// The files that were loaded.
        files: Vec<PathBuf>,
    },
}

fn again(files: &[PathBuf]) -> String {
    if files.is_empty() {
        return String::new();
    }
    let names: Vec<String> = files.iter().map(|file| format!("`{}`", file.display())).collect();
    format!("\n\nhint: load these files again: {}", names.join(", "))
}

/// A request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request<'r> {
    pub(crate) verb: &'static str,
    pub(crate) texts: &'r [&'r str],
    pub(crate) limit: Duration,
}

/// The result of a request.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// The replies before the last one: kind and fields.
    pub(crate) parts: Vec<(String, Vec<String>)>,
    /// The fields of the last reply.
    pub(crate) last: Vec<String>,
    /// The printed output.
    pub(crate) printed: String,
}

/// The Prolog of a session.
#[derive(Debug, Default)]
pub(crate) struct Prolog {
    process: Option<Process>,
    /// The files loaded into the process, in order.
    pub(crate) files: Vec<PathBuf>,
}

impl Prolog {
    /// Sends a request, and starts the process if it does not run. `goes_on` returns false once the call is cancelled.
    pub(crate) fn ask(
        &mut self,
        request: Request<'_>,
        sources: &Sources,
        goes_on: impl Fn() -> bool,
    ) -> Result<Outcome, PrologError> {
        let process = match self.process.take() {
            Some(process) => process,
            None => {
                self.files.clear();
                Process::start()?
            }
        };
        let nonce = nonce()?;
        process.printed.begin();
        process.wake();
        process.send(frames::request(&nonce, request.verb, request.texts));
        let conversation = Conversation { process, nonce, sources, limit: request.limit };
        match conversation.hold(goes_on) {
            (Some(process), result) => {
                process.rest();
                self.process = Some(process);
                result
            }
            (None, result) => {
                let files = std::mem::take(&mut self.files);
                result.map_err(|error| match error {
                    PrologError::Gone { why, .. } => PrologError::Gone { why, files },
                    error => error,
                })
            }
        }
    }
}

/// A request in progress.
struct Conversation<'c> {
    process: Process,
    nonce: String,
    sources: &'c Sources,
    limit: Duration,
}

impl Conversation<'_> {
    /// Waits for the last reply. Returns the process unless it has exited.
    fn hold(self, goes_on: impl Fn() -> bool) -> (Option<Process>, Result<Outcome, PrologError>) {
        let mut outcome = Outcome::default();
        let mut bytes = 0;
        let until = Instant::now() + self.limit;
        // When the goal was first interrupted, and why.
        let mut told: Option<(Instant, Why)> = None;
        loop {
            let now = Instant::now();
            if told.is_none() {
                told = match (goes_on(), now >= until) {
                    (false, _) => Some((now, Why::Cancelled)),
                    (true, true) => Some((now, Why::Late)),
                    (true, false) => None,
                };
            }
            if let Some((since, _)) = told {
                if now >= since + GRACE {
                    self.process.kill();
                    let limit = self.limit.as_millis();
                    return gone(format!("it did not stop after its timeout of {limit} ms, so it was killed"));
                }
                self.process.interrupt();
            }
            let reply = match self.process.next(TICK) {
                Came::Nothing => continue,
                Came::Reply(reply) => reply,
                Came::Broke(what) => {
                    self.process.kill();
                    return gone(format!("the program wrote {what} into Prolog's replies, so it was killed"));
                }
                Came::End => {
                    let printed = self.process.printed.up_to(&self.nonce, PRINTED);
                    return gone(with_printed(self.process.end(), &printed));
                }
            };
            bytes += reply.fields.iter().map(String::len).sum::<usize>();
            // SECURITY: a program can write to the replies, but must not answer another request
            // (test: printing_into_the_replies_breaks_nothing)
            if reply.nonce != self.nonce || bytes > MOST {
                self.process.kill();
                return gone("the program wrote into Prolog's replies, so it was killed".to_owned());
            }
            let Reply { kind, fields, .. } = reply;
            let result = match (kind.as_str(), &fields[..]) {
                ("ask", [kind, base, name]) => {
                    let answer = self.sources.find(kind, base, name);
                    self.process.send(answered(&self.nonce, &answer));
                    continue;
                }
                ("done", _) => {
                    outcome.last = fields;
                    Ok(())
                }
                ("failed", [why]) => Err(PrologError::Failed(why.trim_end().to_owned())),
                ("interrupted", _) => Err(match told {
                    Some((_, Why::Cancelled)) => PrologError::Stopped,
                    _ => PrologError::TimedOut(self.limit),
                }),
                _ => {
                    outcome.parts.push((kind, fields));
                    continue;
                }
            };
            outcome.printed = self.process.printed.up_to(&self.nonce, PRINTED);
            let result = match result {
                Ok(()) => Ok(outcome),
                Err(PrologError::Failed(why)) => Err(PrologError::Failed(with_printed(why, &outcome.printed))),
                Err(error) => Err(error),
            };
            return (Some(self.process), result);
        }
    }
}

/// Why a goal is interrupted.
#[derive(Clone, Copy)]
enum Why {
    Late,
    Cancelled,
}

fn gone(why: String) -> (Option<Process>, Result<Outcome, PrologError>) {
    (None, Err(PrologError::Gone { why, files: Vec::new() }))
}

fn with_printed(why: String, printed: &str) -> String {
    let printed = printed.trim();
    if printed.is_empty() { why } else { format!("{why}; it printed: {}", last(printed)) }
}

/// The end of a crashed process's output, which says why.
fn last(printed: &str) -> &str {
    let start = printed.len().saturating_sub(2000);
    (start..=printed.len()).find_map(|start| printed.get(start..)).unwrap_or_default()
}

fn answered(nonce: &str, found: &Found) -> Vec<u8> {
    match found {
        Found::File { path, text } => frames::request(nonce, "file", &[path, text]),
        Found::Missing => frames::request(nonce, "missing", &[""]),
        Found::Refused(why) => frames::request(nonce, "refused", &[why]),
    }
}

/// A name for a request that no program can know in advance.
fn nonce() -> Result<String, PrologError> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| PrologError::NotStarted(error.to_string()))?;
    Ok(format!("{:032x}", u128::from_ne_bytes(bytes)))
}
