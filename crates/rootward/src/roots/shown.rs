//! A saved root for people and for programs: what it is, in which state, and by whose yes.

use std::io::{self, Write};

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
    name: Option<&'r str>,
    access: Access,
    state: &'static str,
    reason: Option<String>,
    /// Null where it is for all.
    #[serde(rename = "for")]
    peers: Option<&'r [String]>,
    restrict: Vec<ToldRestrict<'r>>,
    forced: bool,
    /// When the user said yes; null where somebody wrote the entry by hand.
    yes: Option<String>,
    by: Option<&'r str>,
}

impl<'r> Told<'r> {
    /// A root in a state.
    pub(super) fn of(root: &'r SavedRoot, state: &State) -> Told<'r> {
        Told::new(root, state.word(), state.reason().map(ToString::to_string))
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
            name: root.name.as_deref(),
            access: root.access,
            state,
            reason,
            peers: root.audience.names(),
            restrict: restrict.collect(),
            forced: root.insistence == Insistence::Forced,
            yes: root.given.as_ref().map(|given| humantime::format_rfc3339_seconds(given.at).to_string()),
            by: root.given.as_ref().map(|given| given.by.as_str()),
        }
    }
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
    Renamed,
    Removed,
}

/// The saved roots as one JSON object.
pub(super) fn write_json(done: Done, roots: &[SavedRoot], desk: &Desk, out: &mut impl Write) -> Result<()> {
    let told = roots.iter().map(|root| match done {
        Done::Removed => Told::new(root, "removed", None),
        Done::Listed | Done::Shared | Done::Renamed => Told::of(root, &State::look_ambient(root, desk.ground.home())),
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
        let done = match done {
            Done::Listed => "saved",
            Done::Shared => "shared",
            Done::Renamed => "renamed",
            Done::Removed => "removed",
        };
        for root in roots {
            writeln!(out, "{done} {}, for {}", line(root, desk), audience(&root.audience))?;
        }
    }
    out.flush()?;
    Ok(())
}

/// `` `~/src/app` (app; read, write) ``
pub(super) fn line(root: &SavedRoot, desk: &Desk) -> String {
    let name = root.name.as_ref().map_or_else(String::new, |name| format!("{}; ", Shown::new(name)));
    format!("`{}` ({name}{})", desk.shown(&root.path), root.access)
}

/// `all`, or who it is.
pub(super) fn audience(audience: &Audience) -> String {
    match audience {
        Audience::All => "all".to_owned(),
        Audience::Only(names) if names.is_empty() => "nobody".to_owned(),
        Audience::Only(names) => {
            let names: Vec<String> = names.iter().map(|name| format!("`{}`", Shown::new(name))).collect();
            names.join(", ")
        }
    }
}

/// The patterns of what is closed.
pub(super) fn patterns(restrict: &[Restrict]) -> String {
    let one = |restrict: &Restrict| match restrict.closed {
        Closed::Entirely => format!("`{}`", Shown::new(&restrict.pattern)),
        Closed::ForWriting => format!("`{}` (for writing)", Shown::new(&restrict.pattern)),
    };
    restrict.iter().map(one).collect::<Vec<_>>().join(", ")
}
