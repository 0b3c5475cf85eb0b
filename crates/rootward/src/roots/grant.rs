//! `rootward roots grant`: changes the access of a saved root.

use std::ffi::OsString;

use anyhow::{Result, anyhow};
use clap::Args;
use rootward_client::store::{Audience, Document, Kept, Restrict, SavedRoot, YesOnRecord, access, usable_pattern};
use rootward_core::{Access, Shown};

use super::add::Closing;
use super::asking::Scripted;
use super::desk::Desk;
use super::shown::{Done, patterns, tell};
use super::which::find_ambient;
use crate::Outcome;
use crate::message::Hinted;

/// Change the access of a saved root
///
/// Asks before it gives more access, but not before it gives less.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub(super) struct Grant {
    /// The root: its name or its path
    #[arg(value_name = "ROOT")]
    root: OsString,
    /// `ro` (read), `rw` (read, write, delete), `rw-nodelete` (read, write), `rwx` (all), words such as `read,execute`, or `none`
    #[arg(value_name = "ACCESS", value_parser = read_access, required_unless_present_any = ["close", "read_only", "open"])]
    access: Option<Access>,
    /// Only for the client or server of this name; nothing changes for the others
    #[arg(long = "for", value_name = "NAME")]
    peer: Option<String>,
    #[command(flatten)]
    closing: Closing,
    /// No longer close what this glob matches; may be repeated
    #[arg(long, value_name = "GLOB")]
    open: Vec<String>,
    #[command(flatten)]
    scripted: Scripted,
}

const AFTER_HELP: &str = "Exit codes: 0 done, 1 the answer was no, 2 wrong use or failure";

fn read_access(text: &str) -> Result<Access, String> {
    access(text)
        .ok_or_else(|| "expected `ro`, `rw`, `rw-nodelete`, `rwx`, `none`, or words such as `read,write`".to_owned())
}

impl Grant {
    pub(super) fn run(&self, desk: &Desk) -> Result<Outcome> {
        let changed = desk.change_ambient(&self.scripted, "grant", |document, record| {
            let before = Kept::from(document.roots().to_vec());
            let planned = self.plan(&before.roots, desk)?;
            for (position, old, new) in &planned {
                apply(document, *position, old, new);
            }
            let after = Kept::from(document.roots().to_vec());
            if !after.more_than(&before).is_empty() {
                let given = YesOnRecord { by: record.requester.to_owned(), at: record.time };
                give(document, &planned, &given);
            }
            let is_meant = |root: &&SavedRoot| planned.iter().any(|(.., new)| is_entry(root, new));
            Ok(document.roots().iter().filter(is_meant).cloned().collect::<Vec<_>>())
        })?;
        let Some(changed) = changed else { return Ok(Outcome::Denied) };
        let done = if self.access.is_some() { Done::Granted } else { Done::Restricted };
        tell(done, &changed, self.scripted.json, desk)?;
        Ok(Outcome::Done)
    }

    /// The affected entries, before and after the change.
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
                    restrict: self.restrict(old, desk)?,
                    audience: self.peer.clone().map_or_else(|| old.audience.clone(), |peer| Audience::of([peer])),
                    ..old.clone()
                },
            ))
        };
        meant.into_iter().map(changed).collect()
    }

    fn restrict(&self, root: &SavedRoot, desk: &Desk) -> Result<Vec<Restrict>> {
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
            super::add::closes_below(root, &desk.shown(&root.path))?;
            usable_pattern(&root.path, &new)
                .map_err(|why| anyhow!("not a usable glob: `{}` ({why})", Shown::new(&new.pattern)))?;
            restrict.retain(|one| one.pattern != new.pattern);
            restrict.push(new);
        }
        Ok(restrict)
    }
}

fn apply(document: &mut Document, position: usize, old: &SavedRoot, new: &SavedRoot) {
    if old.audience == new.audience {
        document.grant(position, new.access);
        document.restrict(position, &new.restrict);
        return;
    }
    // One of several peers gets an entry of its own; an entry for all stays for the others.
    if let (Audience::Only(names), Audience::Only(taken)) = (&old.audience, &new.audience) {
        let others: Vec<String> = names.iter().filter(|name| !taken.contains(name)).cloned().collect();
        document.share_with(position, &Audience::Only(others));
    }
    document.add(new);
}

/// Records the new consent with the entries it was given for.
fn give(document: &mut Document, planned: &[(usize, SavedRoot, SavedRoot)], given: &YesOnRecord) {
    for position in 0..document.roots().len() {
        if planned.iter().any(|(.., new)| is_entry(&document.roots()[position], new)) {
            document.give(position, given);
        }
    }
}

fn is_entry(root: &SavedRoot, new: &SavedRoot) -> bool {
    root.path == new.path && root.audience == new.audience
}
