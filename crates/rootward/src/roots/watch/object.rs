//! For programs: one JSON object per line.

use std::borrow::Cow;
use std::io::Write;
use std::time::SystemTime;

use anyhow::Result;
use rootward_client::store::StoreError;
use rootward_client::watch::{News, Seen, Watching};
use serde::Serialize;

use super::super::desk::Desk;
use super::super::shown::{Told, state_word};
use crate::answer::text;
use crate::message;

/// The whole state.
#[derive(Debug, Serialize)]
struct All<'s> {
    time: String,
    version: u64,
    event: &'static str,
    file: Cow<'s, str>,
    roots: Vec<Told<'s>>,
    /// Why the file cannot be read.
    trouble: Option<String>,
    watching: How,
}

/// One change.
#[derive(Debug, Serialize)]
struct One<'s> {
    time: String,
    version: u64,
    event: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    root: Option<Told<'s>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// The position of the mistake in the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    watching: Option<How>,
}

/// How changes are noticed.
#[derive(Debug, Serialize)]
struct How {
    by: &'static str,
    /// Why events are not used.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

pub(super) fn write_all(seen: &Seen, desk: &Desk, out: &mut impl Write) -> Result<()> {
    let all = All {
        time: now(),
        version: seen.version,
        event: "state",
        file: text(desk.store.file().as_os_str()),
        roots: seen.roots.iter().map(|seen| Told::of(&seen.root, &seen.state)).collect(),
        trouble: seen.trouble.as_ref().map(|trouble| message::causes(&**trouble)),
        watching: how(&seen.watching),
    };
    line(&all, out)
}

pub(super) fn write(seen: &Seen, news: &[News], out: &mut impl Write) -> Result<()> {
    for one in news {
        line(&told(seen.version, one), out)?;
    }
    Ok(())
}

fn told(version: u64, news: &News) -> One<'_> {
    let one =
        |event| One { time: now(), version, event, root: None, reason: None, line: None, column: None, watching: None };
    match news {
        News::Added(seen) => One { root: Some(Told::of(&seen.root, &seen.state)), ..one("added") },
        News::Removed(root) => One { root: Some(Told::new(root, "removed", None)), ..one("removed") },
        News::Changed { after, .. } => One { root: Some(Told::of(&after.root, &after.state)), ..one("changed") },
        News::Became { after, .. } => {
            One { root: Some(Told::of(&after.root, &after.state)), ..one(state_word(&after.root, &after.state)) }
        }
        News::Damaged(trouble) => {
            let place = match &**trouble {
                StoreError::Damaged { mistake, .. } => Some((mistake.line, mistake.column)),
                _ => None,
            };
            let (line, column) = place.unzip();
            One { reason: Some(message::causes(&**trouble)), line, column, ..one("damaged") }
        }
        News::Repaired => one("repaired"),
        News::Watching(watching) => One { watching: Some(how(watching)), ..one("watching") },
    }
}

fn how(watching: &Watching) -> How {
    match watching {
        Watching::Events => How { by: "events", reason: None },
        Watching::Polling { .. } | Watching::Manual => How { by: "polling", reason: Some(watching.to_string()) },
    }
}

fn now() -> String {
    humantime::format_rfc3339_millis(SystemTime::now()).to_string()
}

fn line(value: &impl Serialize, out: &mut impl Write) -> Result<()> {
    serde_json::to_writer(&mut *out, value)?;
    Ok(out.write_all(b"\n")?)
}
