//! A recipe written by `rootward wrap --learn`: what a server was refused or not given while it ran confined. Every
//! line is commented out, with its reason, until the user accepts it.
//!
//! The file is rewritten each time the server ends. Existing lines stay as they are, accepted or not; new ones are
//! added.

use std::collections::BTreeMap;
use std::fmt::Write;

use thiserror::Error;

/// Maximum number of lines per list.
const MOST: usize = 200;

/// The first line of every file written here.
const MARK: &str = "# Learned by `rootward wrap --learn`.";

const INTRODUCTION: &str = "\
# What the server was denied or not given. None of it is allowed yet:
# remove the `#` before a line to allow it, and put the file into `recipes` in Rootward's settings directory.
";

/// The line for processes that read their own entry in `/proc`.
const OWN_PROC: &str = "own_proc = true";
const OWN_PROC_REASON: &str = " # a process of the server read about itself in `/proc`";

/// A list in the recipe.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum List {
    /// Variables.
    Env,
    /// Paths to read.
    Read,
    /// Paths to write.
    Write,
    /// Unix sockets.
    Sockets,
}

/// What was learned so far.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Learned {
    /// The lines before the lists: what the recipe is for.
    head: String,
    lists: BTreeMap<List, BTreeMap<String, Line>>,
    /// Whether a process other than the first read its own entry in `/proc`.
    own_proc: Option<Accepted>,
    /// How many paths are not proposed, because they are secret or should never be opened.
    left_out: usize,
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct Line {
    accepted: Accepted,
    reason: String,
}

/// Whether the user removed the `#`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Accepted {
    Yes,
    No,
}

impl Accepted {
    /// The text before a line.
    fn mark(self) -> &'static str {
        match self {
            Accepted::Yes => "",
            Accepted::No => "# ",
        }
    }
}

/// `--learn` did not write this file.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("`--learn` did not write this file")]
pub struct NotLearned;

impl List {
    const ALL: [List; 4] = [List::Env, List::Read, List::Write, List::Sockets];

    fn key(self) -> &'static str {
        match self {
            List::Env => "env",
            List::Read => "read",
            List::Write => "write",
            List::Sockets => "sockets",
        }
    }
}

impl Learned {
    /// An empty recipe. `keys` are the recipe's `packages` or `programs`.
    pub fn new(about: &str, keys: &[(&str, String)]) -> Learned {
        let mut head = format!("about = {}\n", quoted(about));
        for (key, name) in keys {
            let _ = writeln!(head, "{key} = [{}]", quoted(name));
        }
        Learned { head, lists: BTreeMap::new(), own_proc: None, left_out: 0 }
    }

    /// Adds what an earlier run wrote, including what the user accepted.
    pub fn add_earlier(&mut self, text: &str) -> Result<(), NotLearned> {
        if text.lines().next() != Some(MARK) {
            return Err(NotLearned);
        }
        let mut list = None;
        for line in text.lines() {
            match line.strip_suffix(OWN_PROC_REASON).unwrap_or(line).trim() {
                OWN_PROC => self.own_proc = Some(Accepted::Yes),
                line if line.strip_prefix("# ") == Some(OWN_PROC) => self.own_proc = Some(Accepted::No),
                _ => {}
            }
            let opened = List::ALL.into_iter().find(|list| line == format!("{} = [", list.key()));
            if opened.is_some() || line == "]" {
                list = opened;
                continue;
            }
            let (Some(list), Some((value, accepted, reason))) = (list, entry(line)) else { continue };
            self.list(list).insert(value, Line { accepted, reason });
        }
        Ok(())
    }

    /// Adds something that was refused or withheld, unless it is already listed.
    pub fn add(&mut self, list: List, value: &str, reason: &str) {
        let lines = self.list(list);
        if lines.len() < MOST && !lines.contains_key(value) && !value.contains(['\n', '\r']) {
            lines.insert(value.to_owned(), Line { accepted: Accepted::No, reason: reason.to_owned() });
        }
    }

    /// Records that a process other than the first read its own entry in `/proc`.
    pub fn add_own_proc(&mut self) {
        self.own_proc.get_or_insert(Accepted::No);
    }

    /// Counts a path that is not proposed.
    pub fn leave_out(&mut self) {
        self.left_out += 1;
    }

    fn list(&mut self, list: List) -> &mut BTreeMap<String, Line> {
        self.lists.entry(list).or_default()
    }

    /// Whether there is nothing to accept.
    pub fn is_empty(&self) -> bool {
        self.own_proc.is_none() && self.lists.values().all(BTreeMap::is_empty)
    }

    /// The text of the file.
    pub fn text(&self) -> String {
        let mut text = format!("{MARK}\n{INTRODUCTION}");
        if self.left_out > 0 {
            let _ =
                writeln!(text, "# Not proposed: {} secret places, or places that nobody should open.", self.left_out);
        }
        let _ = write!(text, "{}", self.head);
        if let Some(accepted) = self.own_proc {
            let _ = writeln!(text, "{}{OWN_PROC}{OWN_PROC_REASON}", accepted.mark());
        }
        for list in List::ALL {
            if list == List::Read {
                text.push_str("\n[allow]\n");
            }
            let _ = writeln!(text, "{} = [", list.key());
            for (value, line) in self.lists.get(&list).into_iter().flatten() {
                let _ = writeln!(text, "  {}{}, # {}", line.accepted.mark(), quoted(value), line.reason);
            }
            text.push_str("]\n");
        }
        text
    }
}

/// Parses a line of a list: the value, whether it was accepted, and the reason.
fn entry(line: &str) -> Option<(String, Accepted, String)> {
    let line = line.trim();
    let (line, accepted) = match line.strip_prefix('#') {
        Some(line) => (line.trim_start(), Accepted::No),
        None => (line, Accepted::Yes),
    };
    let (value, reason) = line.rsplit_once(", # ")?;
    let value: BTreeMap<String, String> = toml::from_str(&format!("value = {value}")).ok()?;
    Some((value.into_values().next()?, accepted, reason.to_owned()))
}

fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

#[cfg(test)]
mod tests {
    use rootward_sandbox::OwnProc;

    use super::*;
    use crate::recipe::{Allow, Recipe};

    fn learned() -> Learned {
        let mut learned = Learned::new("npx -y a", &[("packages", "npm:a".to_owned())]);
        learned.add(List::Env, "A_KEY", "withheld");
        learned.add(List::Read, "~/.cache/\"a\"", "it tried to read this");
        learned.add(List::Write, "/dev/shm", "it tried to write this");
        learned.leave_out();
        learned
    }

    #[test]
    fn nothing_is_allowed_until_it_is_accepted() {
        let text = learned().text();
        let recipe = Recipe::read("a", &text).unwrap();
        assert!(recipe.env.is_empty() && recipe.allow == Allow::default(), "{text}");
        let text = text.replace("# \"A_KEY\"", "\"A_KEY\"").replace("# '~/.cache", "'~/.cache");
        let recipe = Recipe::read("a", &text).unwrap();
        assert_eq!(recipe.env.len(), 1, "{text}");
        assert_eq!(recipe.allow.read, [std::path::PathBuf::from("~/.cache/\"a\"")], "{text}");
    }

    #[test]
    fn what_was_learned_before_stays() {
        let accepted = learned().text().replace("# \"A_KEY\"", "\"A_KEY\"");
        let mut again = Learned::new("npx -y a", &[("packages", "npm:a".to_owned())]);
        again.add_earlier(&accepted).unwrap();
        again.add(List::Env, "A_KEY", "withheld");
        again.add(List::Env, "B_KEY", "withheld");
        let text = again.text();
        let recipe = Recipe::read("a", &text).unwrap();
        assert_eq!(recipe.env.len(), 1, "{text}");
        assert!(text.contains("# \"B_KEY\"") && text.contains("~/.cache/\"a\""), "{text}");
        assert_eq!(again.add_earlier("about = \"mine\"\n"), Err(NotLearned));
    }

    #[test]
    fn reading_about_oneself_is_proposed_and_stays_accepted() {
        let mut learned = learned();
        learned.add_own_proc();
        let text = learned.text();
        assert_eq!(Recipe::read("a", &text).unwrap().own_proc, OwnProc::FirstProcess, "{text}");
        let accepted = text.replace("# own_proc", "own_proc");
        for (text, expect) in [(text, OwnProc::FirstProcess), (accepted, OwnProc::EveryProcess)] {
            let mut again = Learned::new("npx -y a", &[("packages", "npm:a".to_owned())]);
            again.add_earlier(&text).unwrap();
            again.add_own_proc();
            let text = again.text();
            assert_eq!(text.matches("own_proc").count(), 1, "{text}");
            assert_eq!(Recipe::read("a", &text).unwrap().own_proc, expect, "{text}");
        }
    }
}
