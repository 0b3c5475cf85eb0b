//! Playing a transcript: sends what the client says, and compares every frame that comes back.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::time::Duration;

use serde_json::Value;

use super::frame::{Frame, Names};
use super::pattern::compare;
use super::settings::Settings;
use super::stage::Stage;
use super::{Step, Transcript};
use crate::client::{Line, Received};

/// How long a frame is waited for; far more than any time that a server keeps to.
const PATIENCE: Duration = Duration::from_mins(1);

/// What is played against.
pub trait Server {
    /// Opens a connection on which nothing was said yet. Connections with the same settings are sessions of one server.
    fn connect(&mut self, settings: &Settings) -> io::Result<Box<dyn Line>>;
}

/// Where a server parts from a transcript.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Difference {
    /// The line of the transcript, from 1.
    pub line: usize,
    /// What should have come, and what did.
    pub says: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.says)
    }
}

impl std::error::Error for Difference {}

/// Plays a transcript to its end; the first difference ends it.
pub fn play(transcript: &Transcript, server: &mut dyn Server) -> Result<(), Difference> {
    let last = transcript.steps.last().map_or(0, |(line, _)| *line);
    let mut stage = Play::new().map_err(|says| Difference { line: 0, says })?;
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
    lines: BTreeMap<String, Box<dyn Line>>,
}

impl Play {
    fn new() -> Result<Play, String> {
        let stage = Stage::new().map_err(|error| error.to_string())?;
        Ok(Play { names: stage.names(), stage, settings: Settings::default(), lines: BTreeMap::new() })
    }

    fn step(&mut self, step: &Step, server: &mut dyn Server) -> Result<(), String> {
        match step {
            Step::Settings(words) => words.iter().try_for_each(|word| self.settings.set(word, &self.stage)),
            Step::Client(name, frame) => self.say(name, frame, server),
            Step::Server(name, frames) => self.hear(name, frames),
            Step::Wait(time) => self.lines.values_mut().try_for_each(|line| quiet(line.as_mut(), *time)),
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
            self.lines.insert(name.to_owned(), line);
        }
        let line = self.lines.get_mut(name).ok_or("no connection")?;
        line.send(&text).map_err(|error| format!("cannot send: {error}"))
    }

    /// Receives as many frames as are expected, each once.
    fn hear(&mut self, name: &str, frames: &[Frame]) -> Result<(), String> {
        let line = self.lines.get_mut(name).ok_or("no connection")?;
        let mut expected = frames.iter().map(|frame| frame.to_expect(&self.names)).collect::<Result<Vec<_>, _>>()?;
        while !expected.is_empty() {
            let told = |seen: &str, why: &str| {
                let expected: Vec<String> = expected.iter().map(shown).collect();
                format!("{why}\n  expected: {}\n  seen:     {seen}", expected.join("\n  or:       "))
            };
            let text = match line.receive(PATIENCE).map_err(|error| format!("cannot receive: {error}"))? {
                Received::Silence => return Err(told("nothing", "a frame is missing")),
                Received::End => return Err(told("the end of the connection", "a frame is missing")),
                Received::Frame(text) => text,
            };
            let seen: Value =
                serde_json::from_str(&text).map_err(|error| told(&text, &format!("not JSON: {error}")))?;
            let mut why = String::new();
            let mut fits = |expected: &Value| {
                // Names are bound by the frame that fits, not by one that was only tried.
                let mut names = self.names.clone();
                match compare(expected, &seen, &mut names) {
                    Ok(()) => self.names = names,
                    Err(difference) => {
                        why = difference;
                        return false;
                    }
                }
                true
            };
            match expected.iter().position(&mut fits) {
                Some(position) => drop(expected.remove(position)),
                None => return Err(told(&text, &why)),
            }
        }
        Ok(())
    }

    /// Closes a connection; whatever still comes on it was not expected.
    fn hang_up(&mut self, name: &str) -> Result<(), String> {
        let mut line = self.lines.remove(name).ok_or("no connection")?;
        line.close().map_err(|error| format!("cannot close: {error}"))?;
        match line.receive(PATIENCE).map_err(|error| format!("cannot receive: {error}"))? {
            Received::End => Ok(()),
            Received::Silence => Err("the server does not end the connection".to_owned()),
            Received::Frame(text) => Err(unexpected(&text)),
        }
    }

    fn forge(&mut self, new: &str, old: &str) -> Result<(), String> {
        let value = self.names.get(old).and_then(Value::as_str).ok_or_else(|| format!("`${old}` is not a text"))?;
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

fn quiet(line: &mut dyn Line, time: Duration) -> Result<(), String> {
    match line.receive(time).map_err(|error| format!("cannot receive: {error}"))? {
        Received::Silence => Ok(()),
        Received::End => Err("the server closed the connection".to_owned()),
        Received::Frame(text) => Err(unexpected(&text)),
    }
}

fn unexpected(text: &str) -> String {
    format!("a frame too many\n  expected: nothing\n  seen:     {text}")
}

/// A pattern as it was written, more or less.
fn shown(expected: &Value) -> String {
    let text = expected.to_string();
    text.replace("\"\\u0000rest\":null", "...").replace("\"\\u0000any\"", "_").replace("\\u0000bind ", "$")
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;

    /// Answers each frame with those that a test gives it.
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

    /// One frame of the client in each transcript; what the server says to it.
    fn played(steps: &str, answers: &[&'static str]) -> Result<(), (usize, String)> {
        let transcript = Transcript::parse(&format!("# About.\nclient: {{\"id\": 1}}\n{steps}")).unwrap();
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
        fails(both, &[r#"{"id":2,"a":7}"#], 3, "a frame is missing");
        fails(both, &[r#"{"id":2,"a":7}"#, r#"{"id":2,"a":7}"#], 3, "`/id` differs");
        fails("server: {\"id\": 1}", &[], 3, "a frame is missing");
        fails("server: {\"id\": 1}", &[r#"{"id":"1"}"#], 3, "`/id` differs");
        fails("server: {\"id\": 1}", &[r#"{"id":1,"params":{}}"#], 3, "`/params` was not expected");
        fails("server: {\"id\": 1}", &["x"], 3, "not JSON");
        fails("server: {\"id\": 1}", &[r#"{"id":1}"#, r#"{"id":2}"#], 3, "a frame too many");
        fails("server: {\"id\": 1}\nwait 5ms\nhang up", &[r#"{"id":1}"#, r#"{"id":2}"#], 4, "a frame too many");
        fails("server: {\"id\": $x}\nserver: {\"id\": $x}", &[r#"{"id":1}"#, r#"{"id":2}"#], 4, "`/id` differs");
        fails("hang up", &[r#"{"id":1}"#], 3, "a frame too many");
        fails("server: {\"id\": _, ...}", &["{}"], 3, "expected: {...,\"id\":_}");
    }

    #[test]
    fn a_forged_text_differs() {
        let steps = "server: {\"id\": $x}\nforge $y from $x\nclient: {\"id\": $y}\nhang up";
        assert_eq!(played(steps, &[r#"{"id":"AAAA"}"#]), Ok(()));
        assert!(played(steps, &[r#"{"id":7}"#]).is_err());
    }
}
