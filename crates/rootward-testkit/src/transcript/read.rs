//! The parser of transcripts. Anything unknown is an error: a typo would otherwise go unnoticed and test nothing.

use std::path::Path;

use serde_json::Value;

use super::frame::{Frame, Names};
use super::settings::{Settings, duration};
use super::side::{self, Side, Standing};
use super::stage::{self, Change, Stage};
use super::{Step, Transcript, Wrong};

pub(super) fn read(text: &str, side: Side) -> Result<Transcript, Wrong> {
    let about = about(text)?;
    let mut known = Known::new(stage::names(Path::new("/")));
    let mut standing = None;
    let mut steps = Vec::new();
    for (line, text) in joined(text) {
        let wrong = |says| Wrong { line, says };
        if let Some(says) = side::header(&text, side).map_err(wrong)? {
            if !steps.is_empty() || standing.replace(says).is_some() {
                return Err(wrong("one such line, before the first step".to_owned()));
            }
            continue;
        }
        let Some(text) = side::only(&text, side).map_err(wrong)? else { continue };
        if let Some(frame) = text.strip_prefix("also:") {
            let frame = Frame::new(frame.trim());
            known.binds(&frame).map_err(wrong)?;
            match steps.last_mut() {
                Some((_, Step::Server(_, frames))) => frames.push(frame),
                _ => return Err(wrong("`also` must follow `server`".to_owned())),
            }
            continue;
        }
        let step = step(text).map_err(wrong)?;
        known.check(&step).map_err(wrong)?;
        steps.push((line, step));
    }
    match steps.last() {
        Some((_, Step::Server(..) | Step::HangUp(_) | Step::Wait(_))) => {
            Ok(Transcript { about, side, standing: standing.unwrap_or(Standing::Kept), steps })
        }
        // Nothing would check the response to the last frame.
        Some((line, _)) => Err(Wrong { line: *line, says: "the last step checks nothing".to_owned() }),
        None => Err(Wrong { line: 1, says: "no steps".to_owned() }),
    }
}

/// The comment at the top.
fn about(text: &str) -> Result<String, Wrong> {
    let comment = text.lines().map_while(|line| line.strip_prefix('#')).map(str::trim);
    match comment.collect::<Vec<_>>().join(" ").trim() {
        "" => Err(Wrong { line: 1, says: "no comment at the top that says what this tests".to_owned() }),
        about => Ok(about.to_owned()),
    }
}

/// The lines with their numbers, without comments. A line that begins with a space continues the previous one.
fn joined(text: &str) -> Vec<(usize, String)> {
    let mut lines: Vec<(usize, String)> = Vec::new();
    for (number, line) in text.lines().enumerate().map(|(position, line)| (position + 1, line.trim_end())) {
        match lines.last_mut() {
            _ if line.is_empty() || line.starts_with('#') => {}
            Some((_, before)) if line.starts_with(' ') => {
                before.push(' ');
                before.push_str(line.trim_start());
            }
            _ => lines.push((number, line.to_owned())),
        }
    }
    lines
}

fn step(line: &str) -> Result<Step, String> {
    if let Some((head, rest)) = line.split_once(':') {
        let (side, name) = head.split_once(' ').unwrap_or((head, ""));
        let is_name = name.chars().all(|c| c.is_ascii_alphanumeric());
        match side {
            "client" if is_name => return Ok(Step::Client(name.to_owned(), Frame::new(rest.trim()))),
            "server" if is_name => return Ok(Step::Server(name.to_owned(), vec![Frame::new(rest.trim())])),
            "settings" if name.is_empty() => {
                return Ok(Step::Settings(rest.split_whitespace().map(str::to_owned).collect()));
            }
            _ => {}
        }
    }
    let words: Vec<&str> = line.split(' ').collect();
    let text = |text: &str| text.to_owned();
    match *words {
        ["wait", time] => Ok(Step::Wait(duration(time)?)),
        ["sleep", time] => Ok(Step::Sleep(duration(time)?)),
        ["hang", "up"] => Ok(Step::HangUp(String::new())),
        ["hang", "up", name] => Ok(Step::HangUp(text(name))),
        ["forge", new, "from", old] => match (new.strip_prefix('$'), old.strip_prefix('$')) {
            (Some(new), Some(old)) => Ok(Step::Forge { new: text(new), old: text(old) }),
            _ => Err("names begin with `$`".to_owned()),
        },
        ["mkdir", path] => Ok(Step::Change(Change::Mkdir(text(path)))),
        ["write", path, said] => Ok(Step::Change(Change::Write(text(path), text(said)))),
        ["link", from, "to", target] => Ok(Step::Change(Change::Link { link: text(from), target: text(target) })),
        ["remove", path] => Ok(Step::Change(Change::Remove(text(path)))),
        _ => Err(format!("unknown step: `{line}`")),
    }
}

/// What the parser knows so far: the names that have values, and the open connections.
struct Known {
    names: Names,
    open: Vec<String>,
}

impl Known {
    fn new(names: Names) -> Known {
        Known { names, open: Vec::new() }
    }

    /// Checks a step as far as possible without playing it.
    fn check(&mut self, step: &Step) -> Result<(), String> {
        match step {
            Step::Client(name, frame) => {
                self.open.push(name.clone());
                frame.to_send(&self.names).map(drop)
            }
            Step::Server(name, frames) => {
                self.is_open(name)?;
                frames.iter().try_for_each(|frame| self.binds(frame))
            }
            Step::HangUp(name) => {
                self.is_open(name)?;
                self.open.retain(|open| open != name);
                Ok(())
            }
            Step::Forge { new, old } => {
                let value = self.names.get(old).cloned().ok_or_else(|| format!("unknown name `${old}`"))?;
                self.names.insert(new.clone(), value);
                Ok(())
            }
            Step::Settings(words) => {
                let stage = Stage::new().map_err(|error| error.to_string())?;
                let mut settings = Settings::default();
                words.iter().try_for_each(|word| settings.set(word, &stage))
            }
            Step::Change(Change::Mkdir(path) | Change::Write(path, _) | Change::Remove(path)) => {
                stage::path(path, &self.names).map(drop)
            }
            Step::Change(Change::Link { link, target }) => {
                stage::path(link, &self.names)?;
                stage::path(target, &self.names).map(drop)
            }
            Step::Wait(_) | Step::Sleep(_) => Ok(()),
        }
    }

    /// Records the names that a server frame binds.
    fn binds(&mut self, frame: &Frame) -> Result<(), String> {
        let binds = frame.binds(&self.names)?;
        // Any value will do for checking. A string is valid wherever a name is.
        self.names.extend(binds.into_iter().map(|name| (name, Value::from("bound"))));
        Ok(())
    }

    fn is_open(&self, name: &str) -> Result<(), String> {
        if self.open.iter().any(|open| open == name) { Ok(()) } else { Err("this connection is not open".to_owned()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(text: &str) -> (usize, String) {
        let wrong = read(text, Side::Library).unwrap_err();
        (wrong.line, wrong.says)
    }

    #[test]
    fn continued_lines_are_joined_and_numbered() {
        let text = "# What\n# it tests.\n\nsettings: strict\nclient: {\"id\":\n  1}\n\nserver: {...}\nwait 5ms\n";
        let transcript = read(text, Side::Library).unwrap();
        assert_eq!(transcript.about(), "What it tests.");
        let lines: Vec<usize> = transcript.steps.iter().map(|(line, _)| *line).collect();
        assert_eq!(lines, [4, 5, 8, 9]);
    }

    #[test]
    fn each_side_has_its_own_lines() {
        let check = |header: &str, library: Standing, wrap: Standing| {
            let steps =
                "client: {}\n[wrap] server: {\"id\": $x}\n[wrap] client: {\"id\": $x}\n[library] wait 5ms\nwait 1ms";
            let text = format!("# About.\n{header}{steps}");
            for (side, standing, count) in [(Side::Library, library, 3), (Side::Wrap, wrap, 4)] {
                let transcript = read(&text, side).unwrap();
                assert_eq!((transcript.standing(), transcript.steps.len()), (&standing, count), "{header} {side}");
            }
        };
        let why = || "it cannot, and why".to_owned();
        check("", Standing::Kept, Standing::Kept);
        check("through: library, it cannot, and why\n", Standing::Kept, Standing::Elsewhere(why()));
        check("through: wrap, it cannot, and why\n", Standing::Elsewhere(why()), Standing::Kept);
        check("differs: wrap, it cannot,\n  and why\n", Standing::Kept, Standing::Differs(why()));
    }

    #[test]
    fn unknown_lines_are_errors() {
        let check = |steps: &str, line: usize, says: &str| {
            let (found, said) = wrong(&format!("# About.\n{steps}"));
            assert!(found == line && said.contains(says), "{steps}: {found}: {said}");
        };
        assert_eq!(wrong("client: {}\nserver: {}").0, 1);
        check("", 1, "no steps");
        check("cleint: {}", 2, "unknown step");
        check("wait 5", 2, "not a time");
        check("wait 5ms 6ms", 2, "unknown step");
        check("settings: stric", 2, "no such setting");
        check("client: {", 2, "not JSON");
        check("client: {}\nserver: {]", 3, "not JSON");
        check("client: {\"id\": $x}", 2, "unknown name `$x`");
        check("server: {}", 2, "not open");
        check("client: {}\nhang up two", 3, "not open");
        check("client: {}\nhang up\nserver: {}", 4, "not open");
        check("client: {}\nalso: {}", 3, "must follow");
        check("client: {}\nserver: {}\nalso: {]", 4, "not JSON");
        check("client: {}", 2, "checks nothing");
        check("through: libary, x\nclient: {}\nserver: {}", 2, "no such side: `libary`");
        check("through: library\nclient: {}\nserver: {}", 2, "no reason");
        check("differs: wrap, \nclient: {}\nserver: {}", 2, "no reason");
        check("client: {}\nthrough: library, x\nserver: {}", 3, "before the first step");
        check("through: library, x\ndiffers: wrap, x\nclient: {}\nserver: {}", 3, "one such line");
        check("[wrp] client: {}", 2, "no such side: `wrp`");
        check("[library] cleint: {}", 2, "unknown step");
        check("mkdir $X/y", 2, "unknown name `$X`");
        check("forge $x from $y", 2, "unknown name `$y`");
    }
}
