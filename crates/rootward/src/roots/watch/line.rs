//! For people: the whole state, then a line for each change.

use std::io::{self, Write};

use chrono::Local;
use rootward_client::store::{FoundRoots, SavedRoot, StoreError};
use rootward_client::watch::{News, Seen, SeenRoot, State, Watching};
use rootward_core::Shown;

use super::super::desk::Desk;
use super::super::list;
use super::super::shown::{audience, line, patterns, state_word};
use crate::message;

/// The whole state.
pub(super) fn write_all(seen: &Seen, desk: &Desk, out: &mut impl Write) -> io::Result<()> {
    for SeenRoot { root, state, .. } in &seen.roots {
        list::write(root, state, desk, out)?;
    }
    if seen.roots.is_empty() && seen.kept.is_some() {
        writeln!(out, "no root is saved")?;
    }
    if seen.kept.is_some() {
        writeln!(out)?;
    }
    if let Some(trouble) = &seen.trouble {
        row(out, "damaged", &damage(trouble, seen))?;
    }
    watching(out, &seen.watching)
}

/// The changes.
pub(super) fn write(seen: &Seen, news: &[News], desk: &Desk, out: &mut impl Write) -> io::Result<()> {
    for one in news {
        match one {
            News::Added(SeenRoot { root, state, .. }) => {
                let says = format!("{}, for {}{}", line(root, desk), audience(&root.audience), unless_shared(state));
                row(out, "added", &says)?;
            }
            News::Removed(root) => {
                row(out, "removed", &format!("{}, for {}", line(root, desk), audience(&root.audience)))?;
            }
            News::Changed { before, after } => {
                let what = difference(before, &after.root);
                let says = format!("{}, for {}: {what}", line(&after.root, desk), audience(&after.root.audience));
                row(out, "changed", &(says + &unless_shared(&after.state)))?;
            }
            News::Became { before, after } => {
                let reason = match (before, &after.state) {
                    (State::Shared(_), State::Shared(now)) if after.root.pattern.is_some() => Some(matching(now)),
                    (State::Shared(_), State::Shared(_)) => Some("something else is there now".to_owned()),
                    (_, State::Shared(_)) => None,
                    (_, State::NotShared(reason)) => Some(reason.to_string()),
                };
                let reason = reason.map_or_else(String::new, |reason| format!(": {reason}"));
                row(out, state_word(&after.root, &after.state), &(line(&after.root, desk) + &reason))?;
            }
            News::Damaged(trouble) => row(out, "damaged", &damage(trouble, seen))?,
            News::Repaired => row(out, "repaired", "saved roots can be read again")?,
            News::Watching(how) => watching(out, how)?,
        }
    }
    Ok(())
}

/// What a pattern matches now.
fn matching(found: &FoundRoots) -> String {
    let names = found.placed.iter().map(|placed| Shown::new(&placed.place).to_string());
    format!("matches {} now", names.collect::<Vec<_>>().join(", "))
}

fn row(out: &mut impl Write, word: &str, says: &str) -> io::Result<()> {
    writeln!(out, "{}  {word:<11}  {says}", Local::now().format("%H:%M:%S"))
}

fn watching(out: &mut impl Write, how: &Watching) -> io::Result<()> {
    let word = match how {
        Watching::Events => "watching",
        Watching::Polling { .. } | Watching::Manual => "polling",
    };
    row(out, word, &how.to_string())
}

fn damage(trouble: &StoreError, seen: &Seen) -> String {
    let then = match seen.kept {
        Some(_) => "what was read before stays current",
        None => "no program starts until it can be read",
    };
    format!("{}; {then}", message::causes(trouble))
}

fn unless_shared(state: &State) -> String {
    state.reason().map_or_else(String::new, |reason| format!("; not shared: {reason}"))
}

/// What the user changed about a root.
fn difference(before: &SavedRoot, after: &SavedRoot) -> String {
    let mut told = Vec::new();
    if before.name != after.name {
        told.push(
            before
                .name
                .as_ref()
                .map_or_else(|| "had no name".to_owned(), |name| format!("was called `{}`", Shown::new(name))),
        );
    }
    if before.access != after.access {
        told.push(format!("was {}", before.access));
    }
    if before.audience != after.audience {
        told.push(format!("was for {}", audience(&before.audience)));
    }
    if before.restrict != after.restrict {
        let closed = patterns(&after.restrict);
        told.push(if closed.is_empty() { "nothing is closed".to_owned() } else { format!("closed: {closed}") });
    }
    if told.is_empty() {
        told.push("its consent changed".to_owned());
    }
    told.join(", ")
}
