//! One Prolog for a session: asked one thing at a time, within bounds, and started again when it has ended.
//!
//! `process.rs` starts and ends the process, `frames.rs` has the conversation, `printed.rs` what programs print, `harness.pl` is
//! Prolog's own side.

mod frames;
mod printed;
mod process;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use thiserror::Error;

use self::frames::Reply;
use self::process::{Came, Process};
use crate::sources::{Found, Sources};

/// How long a goal that was told to stop may take to do so.
const GRACE: Duration = Duration::from_secs(5);

/// How often it is told, and how often it is seen that a client took its call back.
const TICK: Duration = Duration::from_millis(50);

/// How long what was printed may be on its way after the reply.
const PRINTED: Duration = Duration::from_secs(2);

/// How much the replies to one request may have together, in bytes.
const MOST: usize = 32 << 20;

/// Why a request has no result.
#[derive(Debug, Error)]
pub(crate) enum PrologError {
    /// There is no such program.
    #[error(
        "SWI-Prolog is not installed: there is no command `swipl` in `PATH`\n\nhint: install it (on Debian and Ubuntu \
         `apt-get install swi-prolog-nox`, on Fedora `dnf install pl`) and call the tool again"
    )]
    Missing,
    /// It could not be started.
    #[error("SWI-Prolog was not started: {0}")]
    NotStarted(String),
    /// Prolog says no.
    #[error("{0}")]
    Failed(String),
    /// Its time was over, and it stopped. What was known before is still known.
    #[error("stopped after {} ms; what was loaded is still there\n\nhint: ask for fewer answers, or give it more time with `timeout_ms`", .0.as_millis())]
    TimedOut(Duration),
    /// The client took the call back.
    #[error("the call was taken back by the client")]
    Stopped,
    /// It is gone.
    #[error("the Prolog process is gone: {why}. A new one starts with the next call, and its knowledge base is empty{}", again(.files))]
    Gone {
        /// How it came to that.
        why: String,
        /// What was loaded.
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

/// What to ask.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request<'r> {
    pub(crate) verb: &'static str,
    pub(crate) texts: &'r [&'r str],
    pub(crate) limit: Duration,
}

/// What came of it.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// The replies before the last one: their kind, and what they say.
    pub(crate) parts: Vec<(String, Vec<String>)>,
    /// What the last one says.
    pub(crate) last: Vec<String>,
    /// What was printed meanwhile.
    pub(crate) printed: String,
}

/// The Prolog of a session.
#[derive(Debug, Default)]
pub(crate) struct Prolog {
    process: Option<Process>,
    /// What was loaded into the process, in order.
    pub(crate) files: Vec<PathBuf>,
}

impl Prolog {
    /// Asks, starting a process where none runs. `goes_on` says whether anybody still waits.
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

/// A request that is being answered.
struct Conversation<'c> {
    process: Process,
    nonce: String,
    sources: &'c Sources,
    limit: Duration,
}

impl Conversation<'_> {
    /// Until the last reply. The process comes back unless it is gone.
    fn hold(self, goes_on: impl Fn() -> bool) -> (Option<Process>, Result<Outcome, PrologError>) {
        let mut outcome = Outcome::default();
        let mut bytes = 0;
        let until = Instant::now() + self.limit;
        // When it was first told to stop, and why.
        let mut told: Option<(Instant, Why)> = None;
        loop {
            let now = Instant::now();
            if told.is_none() {
                told = match (goes_on(), now >= until) {
                    (false, _) => Some((now, Why::TakenBack)),
                    (true, true) => Some((now, Why::Late)),
                    (true, false) => None,
                };
            }
            if let Some((since, _)) = told {
                if now >= since + GRACE {
                    self.process.kill();
                    let limit = self.limit.as_millis();
                    return gone(format!("it did not stop when its {limit} ms were over, so it was ended"));
                }
                self.process.interrupt();
            }
            let reply = match self.process.next(TICK) {
                Came::Nothing => continue,
                Came::Reply(reply) => reply,
                Came::Broke(what) => {
                    self.process.kill();
                    return gone(format!("the program wrote {what} into Prolog's replies, so it was ended"));
                }
                Came::End => {
                    let printed = self.process.printed.up_to(&self.nonce, PRINTED);
                    return gone(with_printed(self.process.end(), &printed));
                }
            };
            bytes += reply.fields.iter().map(String::len).sum::<usize>();
            // SECURITY: a program can write to the replies; what it writes answers no other request
            // (test: printing_into_the_replies_breaks_nothing)
            if reply.nonce != self.nonce || bytes > MOST {
                self.process.kill();
                return gone("the program wrote into Prolog's replies, so it was ended".to_owned());
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
                    Some((_, Why::TakenBack)) => PrologError::Stopped,
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

/// Why a goal is told to stop.
#[derive(Clone, Copy)]
enum Why {
    Late,
    TakenBack,
}

fn gone(why: String) -> (Option<Process>, Result<Outcome, PrologError>) {
    (None, Err(PrologError::Gone { why, files: Vec::new() }))
}

fn with_printed(why: String, printed: &str) -> String {
    let printed = printed.trim();
    if printed.is_empty() { why } else { format!("{why}; it printed: {}", last(printed)) }
}

/// The end of what a process that broke down printed says why.
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

/// A name for a request that no program can have known before.
fn nonce() -> Result<String, PrologError> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| PrologError::NotStarted(error.to_string()))?;
    Ok(format!("{:032x}", u128::from_ne_bytes(bytes)))
}
