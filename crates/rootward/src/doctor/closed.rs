//! `doctor --closed`: everything that stays closed below a root.

use std::io::{self, Write};
use std::path::Path;

use rootward_core::{Class, Closed, Restriction, Shown, places};
use serde::Serialize;

use super::values::closed_word;
use crate::ground::Ground;

/// Everything that stays closed, grouped by class.
#[derive(Debug, Serialize)]
pub(super) struct ClosedList {
    closed: Vec<Entry>,
    /// Names that stay open although a guarded pattern matches them.
    except: Vec<String>,
}

#[derive(Debug, PartialEq, Eq, Serialize)]
struct Entry {
    class: &'static str,
    pattern: String,
    closed: &'static str,
}

/// The order of the classes, and the heading of each.
const CLASSES: [(Class, &str); 5] = [
    (Class::Secret, "places that hold secrets: closed"),
    (Class::RunsCode, "places that run code for you: closed for writing"),
    (Class::Guarded, "guarded files: refused in calls, open to the processes of a server"),
    (Class::Own, "Rootward's own places: always closed"),
    (Class::Chosen, "what settings and saved roots close, anywhere or below the directory that they name"),
];

impl ClosedList {
    pub(super) fn new(ground: &Ground) -> ClosedList {
        let mut closed: Vec<Entry> = Vec::new();
        for (class, _) in CLASSES {
            let restrictions = ground.restrictions();
            let rules = restrictions.rules().iter().filter(|rule| class_of(rule, ground) == class);
            for rule in rules {
                let entry = Entry {
                    class: class.word(),
                    pattern: rule.pattern().to_owned(),
                    closed: closed_word(rule.closed()),
                };
                if !closed.contains(&entry) {
                    closed.push(entry);
                }
            }
        }
        let except = places::TEMPLATES.iter().map(|end| format!(".env{end}")).collect();
        ClosedList { closed, except }
    }

    pub(super) fn write(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(
            out,
            "patterns, matched anywhere below a root; one that begins with `/` is a single place, unless settings or saved roots close it"
        )?;
        for (class, says) in CLASSES {
            let of_class = || self.closed.iter().filter(move |entry| entry.class == class.word());
            // A path below the home is also closed by its usual pattern; one line is enough for people. What the user
            // chose is always shown.
            let is_repeated = |entry: &&Entry| {
                let place = Path::new(&entry.pattern);
                let repeats =
                    |usual: &Entry| usual != *entry && usual.closed == entry.closed && place.ends_with(&usual.pattern);
                class != Class::Chosen && place.is_absolute() && of_class().any(repeats)
            };
            let entries: Vec<&Entry> = of_class().filter(|entry| !is_repeated(entry)).collect();
            if entries.is_empty() {
                continue;
            }
            writeln!(out, "\n{says}")?;
            for entry in entries {
                // For the other classes, the heading says it.
                let how = match class {
                    Class::Chosen if entry.closed == closed_word(Closed::ForWriting) => " (for writing)",
                    _ => "",
                };
                writeln!(out, "  {}{how}", Shown::new(&entry.pattern))?;
            }
            if class == Class::Guarded {
                writeln!(out, "  but not {}", self.except.join(", "))?;
            }
        }
        Ok(())
    }
}

/// Rootward's own places are also in the list of secret places, and the environment may put them elsewhere.
fn class_of(rule: &Restriction, ground: &Ground) -> Class {
    if ground.is_own(rule.pattern()) { Class::Own } else { rule.class() }
}
