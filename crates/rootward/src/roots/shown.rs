//! A saved root for people and for programs: what it is, its state, and who consented.

use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::Result;
use rootward_client::store::{Audience, Insistence, Restrict, SavedRoot};
use rootward_client::watch::State;
use rootward_core::{Access, Closed, Shown};
use serde::Serialize;

use super::desk::Desk;
use crate::answer::text;

/// A saved root for programs.
#[derive(Debug, Serialize)]
pub(super) struct Told<'r> {
    path: std::borrow::Cow<'r, str>,
    name: String,
    access: Access,
    state: &'static str,
    reason: Option<String>,
    /// Null if it is for all.
    #[serde(rename = "for")]
    peers: Option<&'r [String]>,
    restrict: Vec<ToldRestrict<'r>>,
    forced: bool,
    /// When the user consented; null if the entry was written by hand.
    yes: Option<String>,
    by: Option<&'r str>,
    /// What a pattern matches.
    #[serde(skip_serializing_if = "Option::is_none")]
    matches: Option<Vec<ToldMatch>>,
}

impl<'r> Told<'r> {
    /// A root in a state.
    pub(super) fn of(root: &'r SavedRoot, state: &State) -> Told<'r> {
        let one =
            |(path, reason): (PathBuf, Option<String>)| ToldMatch { path: text(path.as_os_str()).into_owned(), reason };
        let matches = root.pattern.is_some().then(|| matches(root, state).into_iter().map(one).collect());
        Told { matches, ..Told::new(root, state_word(root, state), state.reason().map(ToString::to_string)) }
    }

    pub(super) fn new(root: &'r SavedRoot, state: &'static str, reason: Option<String>) -> Told<'r> {
        let closed = |closed: Closed| match closed {
            Closed::Entirely => "all",
            Closed::ForWriting => "writing",
        };
        let restrict = root.restrict.iter();
        let restrict = restrict.map(|one| ToldRestrict { pattern: &one.pattern, closed: closed(one.closed) });
        Told {
            path: text(root.path.as_os_str()),
            name: root.root().title(),
            access: root.access,
            state,
            reason,
            peers: root.audience.names(),
            restrict: restrict.collect(),
            forced: root.insistence == Insistence::Forced,
            yes: root.given.as_ref().map(|given| humantime::format_rfc3339_seconds(given.at).to_string()),
            by: root.given.as_ref().map(|given| given.by.as_str()),
            matches: None,
        }
    }
}

/// The state in one word. A root without any access is found on disk and still not shared.
pub(super) fn state_word(root: &SavedRoot, state: &State) -> &'static str {
    match state {
        State::Shared(_) if root.access.is_empty() => "closed",
        State::Shared(_) | State::NotShared(_) => state.word(),
    }
}

#[derive(Debug, Serialize)]
struct ToldMatch {
    path: String,
    /// Why it is not shared.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

/// What a pattern matches, and why some matches are not shared.
pub(super) fn matches(root: &SavedRoot, state: &State) -> Vec<(PathBuf, Option<String>)> {
    let Some(found) = state.found().filter(|_| root.pattern.is_some()) else { return Vec::new() };
    let shared = found.placed.iter().map(|placed| (placed.place.clone(), None));
    let left_out = found.left_out.iter().map(|refused| ((&refused.text).into(), Some(refused.reason.to_string())));
    shared.chain(left_out).collect()
}

#[derive(Debug, Serialize)]
struct ToldRestrict<'r> {
    pattern: &'r str,
    closed: &'static str,
}

#[derive(Debug, Serialize)]
struct ToldRoots<'r> {
    file: std::borrow::Cow<'r, str>,
    roots: Vec<Told<'r>>,
}

/// What a verb did to a root.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Done {
    Listed,
    Shared,
    /// It was saved before, with the same values.
    SharedBefore,
    /// Its access was changed.
    Granted,
    /// What is closed below it was changed.
    Restricted,
    Renamed,
    Removed,
}

/// The saved roots as one JSON object.
pub(super) fn write_json(done: Done, roots: &[SavedRoot], desk: &Desk, out: &mut impl Write) -> Result<()> {
    let kept = desk.store.load_ambient()?;
    let told = roots.iter().map(|root| match done {
        Done::Removed => Told::new(root, "removed", None),
        _ => Told::of(root, &State::look_ambient(root, &kept, desk.ground.home())),
    });
    let told = ToldRoots { file: text(desk.store.file().as_os_str()), roots: told.collect() };
    serde_json::to_writer_pretty(&mut *out, &told)?;
    out.write_all(b"\n")?;
    Ok(())
}

/// What a verb did to saved roots: a line for each, or JSON.
pub(super) fn tell(done: Done, roots: &[SavedRoot], json: bool, desk: &Desk) -> Result<()> {
    let mut out = io::stdout().lock();
    if json {
        write_json(done, roots, desk, &mut out)?;
    } else {
        for root in roots {
            let root_shown = line(root, desk);
            let what = match done {
                Done::Listed => format!("saved {root_shown}"),
                Done::Shared => format!("shared {root_shown}"),
                Done::SharedBefore => format!("already shared {root_shown}"),
                Done::Granted if root.access.is_empty() => format!("closed `{}`", desk.shown(&root.path)),
                Done::Granted => format!("changed `{}` to {}", desk.shown(&root.path), access_words(root.access)),
                Done::Restricted => format!("changed {root_shown}"),
                Done::Renamed => format!("renamed {root_shown}"),
                Done::Removed => format!("removed {root_shown}"),
            };
            writeln!(out, "{what}, for {}", audience(&root.audience))?;
        }
    }
    out.flush()?;
    Ok(())
}

/// `` `~/src/app` (app; read, write) ``
pub(super) fn line(root: &SavedRoot, desk: &Desk) -> String {
    // The last part of the path would repeat what is shown anyway.
    let name = root.name.as_ref().filter(|name| root.path.file_name() != Some(name.as_ref()));
    let name = name.map_or_else(String::new, |name| format!("{}; ", Shown::new(name)));
    format!("`{}` ({name}{})", desk.shown(&root.path), root.access)
}

/// `read-only`, or the words.
pub(super) fn access_words(access: Access) -> String {
    if access == Access::READ { "read-only".to_owned() } else { listed(&access.words().collect::<Vec<_>>()) }
}

/// `read, write and delete`
pub(super) fn listed(words: &[&str]) -> String {
    match words {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        _ => words.concat(),
    }
}

/// `all clients`, or the names.
pub(super) fn audience(audience: &Audience) -> String {
    match audience {
        Audience::All => "all clients".to_owned(),
        Audience::Only(names) if names.is_empty() => "nobody".to_owned(),
        Audience::Only(names) => {
            let names: Vec<String> = names.iter().map(|name| format!("`{}`", Shown::new(name))).collect();
            names.join(", ")
        }
    }
}

/// The patterns of closed places.
pub(super) fn patterns(restrict: &[Restrict]) -> String {
    let one = |restrict: &Restrict| match restrict.closed {
        Closed::Entirely => format!("`{}`", Shown::new(&restrict.pattern)),
        Closed::ForWriting => format!("`{}` (for writing)", Shown::new(&restrict.pattern)),
    };
    restrict.iter().map(one).collect::<Vec<_>>().join(", ")
}
