//! Compares the table with the kernel: where does each path really lead, and which error does the kernel return?
//!
//! This checks the expectations themselves. For every row with a plain path, `O_PATH` and `/proc/self/fd` say which
//! object the path names. Its place and the roots' places must agree with the row.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, open, openat2, readlinkat};

use super::{Act, DETOUR, Expect, Needs, Row, table};
use crate::door::Outcome;
use crate::naive::perform;
use crate::report::Stage;
use crate::tree::{is_superuser, real_places};

/// Where a path leads according to the kernel. For a missing file, where it would be created.
fn place_of(path: &[u8]) -> Option<PathBuf> {
    let text = Path::new(OsStr::from_bytes(path));
    match open(text, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()) {
        Ok(handle) => {
            use std::os::fd::AsRawFd;
            fs::read_link(format!("/proc/self/fd/{}", handle.as_raw_fd())).ok()
        }
        Err(rustix::io::Errno::NOENT) => {
            let (parent, last) = split(path)?;
            let parent = place_of(parent)?;
            let place = parent.join(OsStr::from_bytes(last));
            match readlinkat(CWD, &place, Vec::new()) {
                Ok(says) => place_of(parent.join(OsStr::from_bytes(says.as_bytes())).as_os_str().as_bytes()),
                Err(_) => Some(place),
            }
        }
        Err(_) => None,
    }
}

/// The same, without following a link at the end of the path.
fn place_of_name(path: &[u8]) -> Option<PathBuf> {
    let (parent, last) = split(path)?;
    Some(place_of(parent)?.join(OsStr::from_bytes(last)))
}

/// The parent, without trailing slashes, and the last name; `None` if the path does not end in a name.
fn split(path: &[u8]) -> Option<(&[u8], &[u8])> {
    let slash = path.iter().rposition(|byte| *byte == b'/')?;
    let last = &path[slash + 1..];
    let end = path[..slash].iter().rposition(|byte| *byte != b'/').map_or(1, |position| position + 1);
    (!matches!(last, b"" | b"." | b"..")).then_some((&path[..end], last))
}

/// Whether the path goes through a magic link.
fn is_magic(path: &[u8]) -> bool {
    let text = Path::new(OsStr::from_bytes(path));
    let with = |resolve| openat2(CWD, text, OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), resolve);
    let parent = split(path).is_some_and(|(parent, _)| parent.len() > 1 && is_magic(parent));
    parent || (with(ResolveFlags::empty()).is_ok() && with(ResolveFlags::NO_MAGICLINKS).is_err())
}

/// The absolute path of a request's text; `None` if the text is not a plain path.
fn absolute(stage: &Stage, text: &[u8]) -> Option<Vec<u8>> {
    let request = &stage.request;
    let joined = |start: &Path, rest: &[u8]| Some([start.as_os_str().as_bytes(), b"/", rest].concat());
    match text {
        [] => None,
        text if text.contains(&0) || text.windows(3).any(|window| window == b"://") || text.starts_with(b"file:") => {
            None
        }
        [b'~', b'/', rest @ ..] => joined(request.home.as_deref()?, rest),
        b"~" => Some(request.home.clone()?.into_os_string().into_vec()),
        [b'/', ..] => Some(text.to_vec()),
        _ => joined(request.base.as_deref().or(request.roots.first().map(|root| root.path.as_path()))?, text),
    }
}

fn inside(stage: &Stage, place: &Path) -> bool {
    let existing: Vec<PathBuf> = stage.root_paths().into_iter().filter(|root| root.exists()).collect();
    real_places(&existing).iter().any(|root| if root.is_dir() { place.starts_with(root) } else { place == root })
}

/// Whether a path leads out: it ends in no root, goes through a magic link, or fails outside the roots.
fn leads_out(stage: &Stage, path: &[u8], place: impl Fn(&[u8]) -> Option<PathBuf>) -> bool {
    if is_magic(path) {
        return true;
    }
    let mut rest = path;
    loop {
        if let Some(place) = place(rest) {
            return !inside(stage, &place);
        }
        match rest.iter().rposition(|byte| *byte == b'/') {
            Some(0) | None => return false,
            Some(slash) => rest = &rest[..slash],
        }
    }
}

/// Whether the kernel agrees with the row; `None` if the kernel cannot tell.
fn verdict(row: &Row) -> Option<bool> {
    let stage = Stage::set(row, None).unwrap();
    let path = absolute(&stage, &stage.request.path)?;
    let to = match &stage.request.to {
        Some(to) => Some(absolute(&stage, to)?),
        None => None,
    };
    let place = |path: &[u8]| if row.act.takes_the_link_itself() { place_of_name(path) } else { place_of(path) };
    match row.expect {
        Expect::Allow { target } => {
            let target = stage.tree.expand_path(target).unwrap();
            let result = to.as_deref().map_or_else(|| place(&path), place);
            Some(result.as_deref() == Some(&target) && inside(&stage, &target) && !is_magic(&path))
        }
        Expect::Deny { code: "outside_roots" } => {
            Some(leads_out(&stage, &path, place) || to.is_some_and(|to| leads_out(&stage, &to, place)))
        }
        Expect::Deny { code: "access_denied" | "restricted" | "special_file" } => {
            Some(place(&path).is_some_and(|place| inside(&stage, &place)))
        }
        Expect::Error { kind } => {
            // The kernel's error for the same operation by name, without a door.
            let mut request = stage.request.clone();
            request.to = None;
            if row.act == Act::Rename {
                request.to = to;
            }
            let said = perform(&request, Path::new(OsStr::from_bytes(&path)));
            let said = said.unwrap_or_else(|error| Outcome::failed(&error));
            Some(matches!(said, Outcome::Failed { kind: given, .. } if given == kind))
        }
        Expect::Deny { .. } | Expect::Refused | Expect::Harmless => None,
    }
}

#[test]
fn the_kernel_agrees_with_the_table() {
    let mut asked = 0;
    let mut wrong = Vec::new();
    // The kernel does not refuse a path for its detour.
    let rows = table().filter(|row| row.source != DETOUR);
    for row in rows.filter(|row| row.needs == Needs::Nothing || is_superuser()) {
        match verdict(row) {
            Some(true) => asked += 1,
            Some(false) => wrong.push(row.name),
            None => {}
        }
    }
    assert_eq!(wrong, [""; 0], "the kernel disagrees with these rows");
    assert!(asked * 3 > table().count() * 2, "the kernel checked only {asked} rows");
}

#[test]
fn rows_are_well_formed() {
    let mut names = BTreeSet::new();
    for row in table() {
        assert!(names.insert(row.name), "duplicate name `{}`", row.name);
        assert!(!row.source.is_empty());
        assert!(row.roots.iter().all(|root| ["ro", "rw", "rw-nodelete", "rwx"].contains(&root.access)));
        assert_eq!(row.to.is_some(), matches!(row.act, Act::Rename | Act::Copy), "{}", row.name);
    }
    assert!(names.len() >= 170);
}
