//! `rootward roots grant`: what a saved root is shared for.

use std::ffi::OsString;

use anyhow::{Result, anyhow};
use clap::Args;
use rootward_client::store::{Audience, Document, Given, Restrict, SavedRoot, access, usable_pattern};
use rootward_core::{Access, Shown};

use super::add::Closing;
use super::asking::{Answer, Scripted};
use super::desk::Desk;
use super::shown::{Done, audience, line, patterns, tell};
use super::which::find_ambient;
use crate::Outcome;
use crate::message::{self, Hinted};

/// Change what a saved root is shared for
///
/// More is asked about, less is not.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub(super) struct Grant {
    /// The root: its name or its path
    #[arg(value_name = "ROOT")]
    root: OsString,
    /// `ro` (read), `rw` (read, write, delete), `add` (read, write), `rwx` (all), or words: `read,execute`
    #[arg(value_name = "ACCESS", value_parser = read_access, required_unless_present_any = ["close", "read_only", "open"])]
    access: Option<Access>,
    /// Only for the client or server of this name; for others it stays as it is
    #[arg(long = "for", value_name = "NAME")]
    peer: Option<String>,
    #[command(flatten)]
    closing: Closing,
    /// Close what this glob matches no more; may be repeated
    #[arg(long, value_name = "GLOB")]
    open: Vec<String>,
    #[command(flatten)]
    scripted: Scripted,
}

const AFTER_HELP: &str = "Exit codes: 0 done, 1 the answer was no, 2 wrong use or failure";

fn read_access(text: &str) -> Result<Access, String> {
    access(text).ok_or_else(|| "expected `ro`, `rw`, `add`, `rwx`, or words such as `read,write`".to_owned())
}

impl Grant {
    pub(super) fn run(&self, desk: &Desk) -> Result<Outcome> {
        let planned = self.plan(&desk.store.load_ambient()?.roots, desk)?;
        let about: Vec<String> = planned
            .iter()
            .filter(|(_, old, new)| is_more(old, new))
            .flat_map(|(_, old, new)| told(old, new, desk))
            .collect();
        if !about.is_empty() && self.scripted.ask(&about, "allow it?")? == Answer::No {
            message::line("nothing was changed");
            return Ok(Outcome::Denied);
        }
        let changed = desk.edit_ambient(&self.scripted.requester("grant"), |document, record| {
            // What was agreed to is what is done: another process may have changed the store since.
            if self.plan(document.roots(), desk)? != planned {
                return Err(anyhow!("the saved root was changed meanwhile: look again, and say it again"));
            }
            let given = Given { by: record.requester.to_owned(), at: record.time };
            for (position, old, new) in &planned {
                apply(document, *position, old, new, &given);
            }
            Ok(planned.iter().map(|(.., new)| new.clone()).collect::<Vec<_>>())
        })?;
        tell(Done::Shared, &changed, self.scripted.json, desk)?;
        Ok(Outcome::Done)
    }

    /// The entries that are meant, as they are and as they will be.
    fn plan(&self, roots: &[SavedRoot], desk: &Desk) -> Result<Vec<(usize, SavedRoot, SavedRoot)>> {
        let path = find_ambient(&self.root, roots, desk)?;
        let at_path = || roots.iter().enumerate().filter(|(_, root)| root.path == path);
        let meant: Vec<(usize, &SavedRoot)> = match &self.peer {
            None => at_path().collect(),
            Some(peer) => {
                let by_name =
                    at_path().find(|(_, root)| root.audience != Audience::All && root.audience.has(Some(peer)));
                by_name.or_else(|| at_path().find(|(_, root)| root.audience == Audience::All)).into_iter().collect()
            }
        };
        if meant.is_empty() {
            let peer = self.peer.as_deref().unwrap_or_default();
            return Err(Hinted {
                says: format!("root `{}` was not saved for `{}`", desk.shown(&path), Shown::new(peer)),
                hint: "`rootward roots add DIR --for NAME` shares it".to_owned(),
            }
            .into());
        }
        let changed = |(position, old): (usize, &SavedRoot)| {
            Ok((
                position,
                old.clone(),
                SavedRoot {
                    access: self.access.unwrap_or(old.access),
                    restrict: self.restrict(old)?,
                    audience: self.peer.clone().map_or_else(|| old.audience.clone(), |peer| Audience::of([peer])),
                    ..old.clone()
                },
            ))
        };
        meant.into_iter().map(changed).collect()
    }

    fn restrict(&self, root: &SavedRoot) -> Result<Vec<Restrict>> {
        let mut restrict = root.restrict.clone();
        for pattern in &self.open {
            if !restrict.iter().any(|one| one.pattern == *pattern) {
                let closed = if restrict.is_empty() { "nothing".to_owned() } else { patterns(&restrict) };
                return Err(Hinted {
                    says: format!("nothing is closed by `{}` below the root", Shown::new(pattern)),
                    hint: format!("closed below it by what was saved: {closed}"),
                }
                .into());
            }
            restrict.retain(|one| one.pattern != *pattern);
        }
        for new in self.closing.restrict() {
            usable_pattern(&root.path, &new)
                .map_err(|why| anyhow!("not a usable glob: `{}` ({why})", Shown::new(&new.pattern)))?;
            restrict.retain(|one| one.pattern != new.pattern);
            restrict.push(new);
        }
        Ok(restrict)
    }
}

/// Whether something is shared that was not.
fn is_more(old: &SavedRoot, new: &SavedRoot) -> bool {
    let still_closed = |one: &Restrict| {
        new.restrict.iter().any(|other| {
            // SECURITY: what was closed entirely and is closed for writing only is opened for reading
            // (test: more_takes_a_yes_and_less_does_not)
            other.pattern == one.pattern && other.closed.access().contains(one.closed.access())
        })
    };
    !old.access.contains(new.access) || !old.restrict.iter().all(still_closed)
}

/// What would change.
fn told(old: &SavedRoot, new: &SavedRoot, desk: &Desk) -> Vec<String> {
    let mut lines = vec![format!("root {}, for {}", line(old, desk), audience(&new.audience))];
    if old.access != new.access {
        lines.push(format!("  access   {} instead of {}", new.access, old.access));
    }
    if old.restrict != new.restrict {
        let shown = |restrict: &[Restrict]| if restrict.is_empty() { "nothing".to_owned() } else { patterns(restrict) };
        lines.push(format!("  closed   {} instead of {}", shown(&new.restrict), shown(&old.restrict)));
    }
    lines
}

fn apply(document: &mut Document, position: usize, old: &SavedRoot, new: &SavedRoot, given: &Given) {
    if old.audience == new.audience {
        document.grant(position, new.access);
        document.restrict(position, &new.restrict);
        if is_more(old, new) {
            document.give(position, given);
        }
        return;
    }
    // One of several has an entry of its own from now on; what is for all stays for the others.
    if let (Audience::Only(names), Audience::Only(taken)) = (&old.audience, &new.audience) {
        let others: Vec<String> = names.iter().filter(|name| !taken.contains(name)).cloned().collect();
        document.share_with(position, &Audience::Only(others));
    }
    let given = if is_more(old, new) { Some(given.clone()) } else { new.given.clone() };
    document.add(&SavedRoot { given, ..new.clone() });
}
