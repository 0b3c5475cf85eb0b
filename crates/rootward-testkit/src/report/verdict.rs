//! Compares a door's answer and its effects with what a row expects.

use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::{DATA, Stage};
use crate::door::Outcome;
use crate::escape::{Act, Expect, Row};
use crate::snapshot::{Change, Print, Snapshot};
use crate::tree::{SECRET, real_places};

/// All problems, one sentence each.
pub(super) fn problems(row: &Row, stage: &Stage, after: &Snapshot, outcome: &Outcome) -> io::Result<Vec<String>> {
    let mut problems = Vec::new();
    leaks(stage, outcome, &mut problems);
    let differences = stage.before.differences(after);
    match row.expect {
        Expect::Allow { target } => {
            let target = stage.tree.expand_path(target)?;
            done(row.act, stage, after, outcome, &target, &mut problems);
            spread(row.act, &differences, &target, &mut problems);
        }
        Expect::Harmless => outside_only(stage, &differences, &mut problems),
        Expect::Deny { .. } | Expect::Error { .. } | Expect::Refused => {
            refused(row.expect, outcome, &mut problems);
            let changes =
                differences.iter().map(|(path, change)| format!("refused, but {} {change:?}", path.display()));
            problems.extend(changes);
        }
    }
    Ok(problems)
}

/// An answer must not reveal anything outside: no content, no name, no link's target.
fn leaks(stage: &Stage, outcome: &Outcome, problems: &mut Vec<String>) {
    let holds = |haystack: &[u8], needle: &[u8]| haystack.windows(needle.len().max(1)).any(|window| window == needle);
    let message = match outcome {
        Outcome::Done { content, entries, .. } => {
            if content.as_deref().is_some_and(|content| holds(content, SECRET.as_bytes())) {
                problems.push("read the content of a file outside".to_owned());
            }
            if entries.iter().flatten().any(|name| holds(name.as_bytes(), b"secret")) {
                problems.push("listed a directory outside".to_owned());
            }
            return;
        }
        Outcome::Denied { message, .. } | Outcome::Failed { message, .. } => message.as_bytes(),
        Outcome::Unsupported => return,
    };
    if holds(message, SECRET.as_bytes()) {
        problems.push("the message contains the content of a file outside".to_owned());
    }
    // A message may repeat the request, and may say nothing else about the outside.
    let request = &stage.request;
    let said: Vec<&[u8]> = [Some(request.path.as_slice()), request.to.as_deref()].into_iter().flatten().collect();
    let given = request.roots.iter().map(|root| &root.path).chain(&request.base).chain(&request.home);
    let given: Vec<&PathBuf> = given.collect();
    let roots = real_places(&stage.root_paths());
    for place in stage.before.paths() {
        let above = roots.iter().any(|root| root.starts_with(place) || place.starts_with(root));
        let bytes = place.as_os_str().as_bytes();
        let known = said.iter().any(|said| holds(said, bytes)) || given.iter().any(|path| path.starts_with(place));
        if !above && !known && holds(message, bytes) {
            problems.push(format!("the message names a path outside: {}", place.display()));
        }
    }
}

fn refused(expect: Expect, outcome: &Outcome, problems: &mut Vec<String>) {
    let right = match (expect, outcome) {
        (Expect::Deny { code }, Outcome::Denied { code: given, .. }) => code == given,
        (Expect::Error { kind }, Outcome::Failed { kind: given, .. }) => kind == *given,
        (Expect::Refused, Outcome::Denied { .. } | Outcome::Failed { .. }) => true,
        _ => false,
    };
    if !right {
        problems.push("not the expected refusal".to_owned());
    }
}

/// Checks that the door did it, to the right object.
fn done(act: Act, stage: &Stage, after: &Snapshot, outcome: &Outcome, target: &Path, problems: &mut Vec<String>) {
    let Outcome::Done { content, entries, place } = outcome else {
        problems.push("refused, but should be allowed".to_owned());
        return;
    };
    if place.as_deref().is_some_and(|place| place != target) {
        problems.push(format!("claims to have acted on {place:?}, not on {}", target.display()));
    }
    let before = &stage.before;
    let old = before.get(target);
    let new = after.get(target);
    let holds =
        |print: Option<&Print>, content: &[u8]| print.is_some_and(|print| print.content.as_deref() == Some(content));
    let right = match act {
        Act::Check => true,
        Act::Stat => old.is_some(),
        Act::Read => content.as_deref().is_some_and(|content| holds(old, content)),
        Act::Execute => old.is_some() && content.as_deref().is_none_or(|content| holds(old, content)),
        Act::List => {
            let mut entries = entries.clone();
            if let Some(names) = &mut entries {
                names.sort();
            }
            entries == Some(before.names_in(target))
        }
        Act::Put => holds(new, DATA),
        Act::CreateNew => old.is_none() && holds(new, DATA),
        Act::Append => {
            let mut content = old.and_then(|print| print.content.clone()).unwrap_or_default();
            content.extend_from_slice(DATA);
            holds(new, &content)
        }
        Act::MakeDirectory => old.is_none() && new.is_some_and(Print::is_directory),
        Act::Remove => old.is_some() && new.is_none(),
        // The new object was somewhere in the tree before. `spread` checks that only one object moved.
        Act::Rename | Act::Copy => new.is_some_and(|new| before.paths().any(|path| before.get(path) == Some(new))),
    };
    if !right {
        problems.push(format!("{act:?} did not have its effect on {}", target.display()));
    }
}

/// Checks that only the target changed, and for a move the one object that was moved.
fn spread(act: Act, differences: &[(PathBuf, Change)], target: &Path, problems: &mut Vec<String>) {
    let elsewhere = || differences.iter().filter(|(path, _)| !path.starts_with(target));
    let source = match act {
        Act::Rename => elsewhere().find(|(_, change)| *change == Change::Vanished).map(|(path, _)| path),
        _ => None,
    };
    if act == Act::Rename && source.is_none() {
        problems.push("nothing was moved away".to_owned());
    }
    for (path, change) in elsewhere() {
        let moved = *change == Change::Vanished && source.is_some_and(|source| path.starts_with(source));
        if !moved {
            problems.push(format!("changed something else: {} {change:?}", path.display()));
        }
    }
    if !act.changes() && !differences.is_empty() {
        problems.push(format!("{act:?} changed {}", target.display()));
    }
}

fn outside_only(stage: &Stage, differences: &[(PathBuf, Change)], problems: &mut Vec<String>) {
    let roots = real_places(&stage.root_paths());
    for (path, change) in differences {
        if !roots.iter().any(|root| path.starts_with(root)) {
            problems.push(format!("changed something outside: {} {change:?}", path.display()));
        }
    }
}
