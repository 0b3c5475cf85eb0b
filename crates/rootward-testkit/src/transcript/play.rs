//! The player: sends the client's frames and compares every frame that the server sends.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::time::Duration;

use serde_json::Value;

use super::frame::{Frame, Names};
use super::pattern::compare;
use super::settings::Settings;
use super::side::Side;
use super::stage::Stage;
use super::{Step, Transcript};
use crate::client::{Line, Received};

/// How long to wait for a frame: far longer than any timeout of a server.
const PATIENCE: Duration = Duration::from_mins(1);

/// The server that a transcript is played against.
pub trait Server {
    /// Opens a new connection. Connections with the same settings are sessions of one server.
    fn connect(&mut self, settings: &Settings) -> io::Result<Box<dyn Line>>;
}

/// Where a server differs from a transcript.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Difference {
    /// The line number in the transcript, from 1.
    pub line: usize,
    /// The expected frame and the actual one.
    pub says: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.says)
    }
}

impl std::error::Error for Difference {}

/// Plays a transcript, up to the first difference.
pub fn play(transcript: &Transcript, server: &mut dyn Server) -> Result<(), Difference> {
    let last = transcript.steps.last().map_or(0, |(line, _)| *line);
    let mut stage = Play::new(transcript.side).map_err(|says| Difference { line: 0, says })?;
    for (line, step) in &transcript.steps {
        stage.step(step, server).map_err(|says| Difference { line: *line, says })?;
    }
    let open: Vec<String> = stage.lines.keys().cloned().collect();
    open.iter().try_for_each(|name| stage.hang_up(name)).map_err(|says| Difference { line: last, says })
}

struct Play {
    stage: Stage,
    names: Names,
    settings: Settings,
    side: Side,
    lines: BTreeMap<String, Connection>,
}

struct Connection {
    side: Side,
    line: Box<dyn Line>,
    /// A `roots/list` that arrived before the transcript expects it.
    early: Option<Value>,
}

impl Play {
    fn new(side: Side) -> Result<Play, String> {
        let stage = Stage::new().map_err(|error| error.to_string())?;
        Ok(Play { names: stage.names(), stage, settings: Settings::default(), side, lines: BTreeMap::new() })
    }

    fn step(&mut self, step: &Step, server: &mut dyn Server) -> Result<(), String> {
        match step {
            Step::Settings(words) => words.iter().try_for_each(|word| self.settings.set(word, &self.stage)),
            Step::Client(name, frame) => self.say(name, frame, server),
            Step::Server(name, frames) => self.hear(name, frames),
            Step::Wait(time) => self.lines.values_mut().try_for_each(|connection| connection.quiet(*time)),
            Step::Sleep(time) => {
                std::thread::sleep(*time);
                Ok(())
            }
            Step::HangUp(name) => self.hang_up(name),
            Step::Forge { new, old } => self.forge(new, old),
            Step::Change(change) => self.stage.change(change),
        }
    }

    fn say(&mut self, name: &str, frame: &Frame, server: &mut dyn Server) -> Result<(), String> {
        let text = frame.to_send(&self.names)?;
        if !self.lines.contains_key(name) {
            let line = server.connect(&self.settings).map_err(|error| format!("cannot connect: {error}"))?;
            self.lines.insert(name.to_owned(), Connection { side: self.side, line, early: None });
        }
        let connection = self.lines.get_mut(name).ok_or("no connection")?;
        connection.line.send(&text).map_err(|error| format!("cannot send: {error}"))
    }

    /// Receives all expected frames, each once.
    fn hear(&mut self, name: &str, frames: &[Frame]) -> Result<(), String> {
        let connection = self.lines.get_mut(name).ok_or("no connection")?;
        let mut expected = frames.iter().map(|frame| frame.to_expect(&self.names)).collect::<Result<Vec<_>, _>>()?;
        connection.early.take_if(|early| fit(&mut expected, early, &mut self.names).is_ok());
        while !expected.is_empty() {
            let text = match connection.receive(PATIENCE)? {
                Received::Silence => return Err(mismatch("missing frame", &expected, "nothing")),
                Received::End => return Err(mismatch("missing frame", &expected, "the end of the connection")),
                Received::Frame(text) => text,
            };
            let seen: Value = serde_json::from_str(&text)
                .map_err(|error| mismatch(&format!("not JSON: {error}"), &expected, &text))?;
            match fit(&mut expected, &seen, &mut self.names) {
                Err(why) if !connection.sets_aside(&seen) => return Err(mismatch(&why, &expected, &text)),
                _ => {}
            }
        }
        Ok(())
    }

    /// Closes a connection. Any frame that still arrives is unexpected.
    fn hang_up(&mut self, name: &str) -> Result<(), String> {
        let mut connection = self.lines.remove(name).ok_or("no connection")?;
        if let Some(early) = connection.early {
            return Err(unexpected(&early.to_string()));
        }
        connection.line.close().map_err(|error| format!("cannot close: {error}"))?;
        match connection.receive(PATIENCE)? {
            Received::End => Ok(()),
            Received::Silence => Err("the server does not close the connection".to_owned()),
            Received::Frame(text) => Err(unexpected(&text)),
        }
    }

    fn forge(&mut self, new: &str, old: &str) -> Result<(), String> {
        let value = self.names.get(old).and_then(Value::as_str).ok_or_else(|| format!("`${old}` is not a string"))?;
        let middle = value.len() / 2;
        let forged: Option<String> = value.get(..middle).zip(value.get(middle + 1..)).map(|(before, after)| {
            let letter = if value[middle..].starts_with('A') { 'B' } else { 'A' };
            format!("{before}{letter}{after}")
        });
        let forged = forged.ok_or_else(|| format!("`${old}` cannot be forged"))?;
        self.names.insert(new.to_owned(), Value::from(forged));
        Ok(())
    }
}

impl Connection {
    fn receive(&mut self, patience: Duration) -> Result<Received, String> {
        self.line.receive(patience).map_err(|error| format!("cannot receive: {error}"))
    }

    /// Checks that the server sends nothing for this long.
    fn quiet(&mut self, time: Duration) -> Result<(), String> {
        // The server sent this frame before the wait, not during it.
        if self.side == Side::Wrap
            && let Received::Frame(text) = self.receive(Duration::ZERO)?
            && !serde_json::from_str(&text).is_ok_and(|seen| self.sets_aside(&seen))
        {
            return Err(unexpected(&text));
        }
        match self.receive(time)? {
            Received::Silence => Ok(()),
            Received::End => Err("the server closed the connection".to_owned()),
            Received::Frame(text) => Err(unexpected(&text)),
        }
    }

    /// Sets aside an early `roots/list` until the transcript expects it. If that never happens, the transcript fails.
    fn sets_aside(&mut self, seen: &Value) -> bool {
        let is_early = self.side == Side::Wrap && self.early.is_none() && seen["method"] == "roots/list";
        if is_early {
            self.early = Some(seen.clone());
        }
        is_early
    }
}

/// Removes the expected frame that matches `seen`. The error says why none does.
fn fit(expected: &mut Vec<Value>, seen: &Value, names: &mut Names) -> Result<(), String> {
    let mut why = String::new();
    let position = expected.iter().position(|expected| {
        // Only a frame that matches may bind names.
        let mut bound = names.clone();
        match compare(expected, seen, &mut bound) {
            Ok(()) => *names = bound,
            Err(difference) => {
                why = difference;
                return false;
            }
        }
        true
    });
    match position {
        Some(position) => {
            expected.remove(position);
            Ok(())
        }
        None => Err(why),
    }
}

fn mismatch(why: &str, expected: &[Value], seen: &str) -> String {
    let expected: Vec<String> = expected.iter().map(shown).collect();
    format!("{why}\n  expected: {}\n  seen:     {seen}", expected.join("\n  or:       "))
}

fn unexpected(text: &str) -> String {
    format!("unexpected frame\n  expected: nothing\n  seen:     {text}")
}

/// A pattern roughly as the transcript writes it.
fn shown(expected: &Value) -> String {
    let text = expected.to_string();
    text.replace("\"\\u0000rest\":null", "...").replace("\"\\u0000any\"", "_").replace("\\u0000bind ", "$")
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;

    /// Answers the client's frames with the test's.
    struct Scripted(VecDeque<Vec<&'static str>>);

    struct Talk {
        answers: VecDeque<Vec<&'static str>>,
        due: VecDeque<&'static str>,
        closed: bool,
    }

    impl Server for Scripted {
        fn connect(&mut self, _: &Settings) -> io::Result<Box<dyn Line>> {
            Ok(Box::new(Talk { answers: self.0.clone(), due: VecDeque::new(), closed: false }))
        }
    }

    impl Line for Talk {
        fn send(&mut self, _: &str) -> io::Result<()> {
            self.due.extend(self.answers.pop_front().unwrap_or_default());
            Ok(())
        }

        fn receive(&mut self, _: Duration) -> io::Result<Received> {
            Ok(match self.due.pop_front() {
                Some(frame) => Received::Frame(frame.to_owned()),
                None if self.closed => Received::End,
                None => Received::Silence,
            })
        }

        fn close(&mut self) -> io::Result<()> {
            self.closed = true;
            Ok(())
        }
    }

    /// Plays a transcript with one client frame and these answers to it.
    fn played(steps: &str, answers: &[&'static str]) -> Result<(), (usize, String)> {
        played_through(Side::Library, steps, answers)
    }

    fn played_through(side: Side, steps: &str, answers: &[&'static str]) -> Result<(), (usize, String)> {
        let transcript = Transcript::parse(&format!("# About.\nclient: {{\"id\": 1}}\n{steps}"), side).unwrap();
        let mut server = Scripted(VecDeque::from([answers.to_vec()]));
        play(&transcript, &mut server).map_err(|difference| (difference.line, difference.says))
    }

    #[test]
    fn every_frame_is_accounted_for() {
        let fails = |steps: &str, answers: &[&'static str], line: usize, says: &str| {
            let (found, said) = played(steps, answers).unwrap_err();
            assert!(found == line && said.contains(says), "{steps}: {found}: {said}");
        };
        assert_eq!(played("server: {\"id\": 1}", &[r#"{"id":1}"#]), Ok(()));
        assert_eq!(played("server: {\"id\": $x}\nserver: {\"id\": $x}", &[r#"{"id":1}"#, r#"{"id":1}"#]), Ok(()));
        assert_eq!(played("wait 5ms", &[]), Ok(()));
        let both = "server: {\"id\": 1, \"a\": $x}\nalso: {\"id\": 2, \"a\": $y}\nclient: [$x, $y]\nhang up";
        assert_eq!(played(both, &[r#"{"id":2,"a":7}"#, r#"{"id":1,"a":8}"#]), Ok(()));
        fails(both, &[r#"{"id":2,"a":7}"#], 3, "missing frame");
        fails(both, &[r#"{"id":2,"a":7}"#, r#"{"id":2,"a":7}"#], 3, "`/id` differs");
        fails("server: {\"id\": 1}", &[], 3, "missing frame");
        fails("server: {\"id\": 1}", &[r#"{"id":"1"}"#], 3, "`/id` differs");
        fails("server: {\"id\": 1}", &[r#"{"id":1,"params":{}}"#], 3, "`/params` was not expected");
        fails("server: {\"id\": 1}", &["x"], 3, "not JSON");
        fails("server: {\"id\": 1}", &[r#"{"id":1}"#, r#"{"id":2}"#], 3, "unexpected frame");
        fails("server: {\"id\": 1}\nwait 5ms\nhang up", &[r#"{"id":1}"#, r#"{"id":2}"#], 4, "unexpected frame");
        fails("server: {\"id\": $x}\nserver: {\"id\": $x}", &[r#"{"id":1}"#, r#"{"id":2}"#], 4, "`/id` differs");
        fails("hang up", &[r#"{"id":1}"#], 3, "unexpected frame");
        fails("server: {\"id\": _, ...}", &["{}"], 3, "expected: {...,\"id\":_}");
    }

    #[test]
    fn wrap_may_request_roots_early() {
        let early = [r#"{"id":7,"method":"roots/list"}"#, r#"{"id":1}"#];
        let later = "server: {\"id\": 1}\nwait 5ms\nserver: {\"id\": $ask, \"method\": \"roots/list\"}";
        assert_eq!(played_through(Side::Wrap, later, &early), Ok(()));
        assert!(played_through(Side::Library, later, &early).is_err());
        let waits = "wait 5ms\nserver: {\"id\": $ask, \"method\": \"roots/list\"}";
        assert_eq!(played_through(Side::Wrap, waits, &early[..1]), Ok(()));
        assert!(played_through(Side::Library, waits, &early[..1]).is_err());
        // Only one, only `roots/list`, and only if a later line expects it.
        let fails = |steps: &str, answers: &[&'static str], says: &str| {
            let (_, said) = played_through(Side::Wrap, steps, answers).unwrap_err();
            assert!(said.contains(says), "{steps}: {said}");
        };
        fails("server: {\"id\": 1}", &early, "unexpected frame");
        fails(later, &[early[0], early[0], early[1]], "`/id` differs");
        fails(later, &[r#"{"id":7,"method":"ping"}"#, early[1]], "`/id` differs");
        fails("wait 5ms", &[r#"{"id":7,"method":"ping"}"#], "unexpected frame");
    }

    #[test]
    fn a_forged_string_differs() {
        let steps = "server: {\"id\": $x}\nforge $y from $x\nclient: {\"id\": $y}\nhang up";
        assert_eq!(played(steps, &[r#"{"id":"AAAA"}"#]), Ok(()));
        assert!(played(steps, &[r#"{"id":7}"#]).is_err());
    }
}
