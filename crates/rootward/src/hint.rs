//! The way out of a refusal.

use std::path::Path;

use rootward_core::session::NoRoots;
use rootward_core::{Access, Cause, Code, Guard, Root, TextError, places};

use crate::decision::Refused;
use crate::ground::{Ground, InForce};
use crate::message::from_home;

/// How many roots a hint names.
const MOST_ROOTS: usize = 8;

/// What to do about a refusal, where something can be done.
pub(crate) fn hint(refused: &Refused, guard: &Guard, ground: &Ground, in_force: &InForce) -> Option<String> {
    let home = ground.home();
    let denial = &refused.denial;
    match (denial.code(), denial.cause()) {
        (Code::NoRoots, _) => Some(no_roots(ground, in_force)),
        (Code::OutsideRoots, Cause::System(kind)) => Some(format!("the system does not resolve the path: {kind}")),
        (_, Cause::Unsettled) => Some("try again when nothing renames the directories on its way".to_owned()),
        (_, Cause::RootChanged) => Some("try again: roots are looked up anew each time".to_owned()),
        (Code::SymlinkEscape, _) => Some(format!(
            "a link may lead from one root into another, not out of all of them; {}",
            roots_in_force(guard, home)
        )),
        (Code::OutsideRoots, _) => Some(roots_in_force(guard, home)),
        (Code::AccessDenied, Cause::Access) => denial.root().map(|root| more_access(root, denial.access(), home)),
        (Code::Restricted, Cause::Restriction(pattern)) => Some(closed_place(pattern, refused, ground)),
        (Code::SpecialFile, _) => Some(
            "only files and directories are opened: a device or FIFO can block its reader, or do things when opened"
                .to_owned(),
        ),
        (_, Cause::Text(reason)) => text(reason),
        _ if denial.lacks_base() => Some("give an absolute path, or name a directory with `--base DIR`".to_owned()),
        _ => None,
    }
}

/// `roots in force: `~/src/app` (read, write), `~/notes` (read)`
pub(crate) fn roots_in_force(guard: &Guard, home: Option<&Path>) -> String {
    format!("roots in force: {}", listed(guard, home))
}

/// The roots with their access.
pub(crate) fn listed(guard: &Guard, home: Option<&Path>) -> String {
    let roots = guard.roots();
    let mut shown: Vec<String> = roots
        .iter()
        .take(MOST_ROOTS)
        .map(|placed| format!("`{}` ({})", from_home(&placed.root.path, home), placed.root.access))
        .collect();
    if roots.len() > MOST_ROOTS {
        shown.push(format!("and {} more", roots.len() - MOST_ROOTS));
    }
    shown.join(", ")
}

fn no_roots(ground: &Ground, in_force: &InForce) -> String {
    if in_force.set.names_any() {
        return "every root that was named is left out, for the reasons above".to_owned();
    }
    if ground.settings.no_roots.value == NoRoots::AllowAll {
        return "`no_roots = \"allow-all\"` opens sessions in which nobody names roots; a path is decided against roots, \
                name one with `--root DIR`"
            .to_owned();
    }
    let file = ground.directories.settings_file().map(|file| from_home(&file, ground.home()));
    let file = file.map_or_else(String::new, |file| format!(", or put `roots = [\"/path/to/DIR\"]` into `{file}`"));
    format!("name a root with `--root DIR`, set ROOTWARD_ROOTS=/path/to/DIR{file}")
}

/// The shortest suffix that gives what the root gives and what is asked for.
fn more_access(root: &Root, asked: Access, home: Option<&Path>) -> String {
    let needed = root.access | asked;
    let suffix = ["ro", "add", "rw", "rwx"]
        .into_iter()
        .find(|suffix| Access::from_suffix(suffix).is_some_and(|access| access.contains(needed)))
        .unwrap_or("rwx");
    format!("share the root as `{}:{suffix}` to allow it", from_home(&root.path, home))
}

fn closed_place(pattern: &str, refused: &Refused, ground: &Ground) -> String {
    let known = |table: &[&str]| table.contains(&pattern);
    let closed = refused.resolved.as_deref().and_then(|place| closed_above(place, pattern));
    let all_the_same = match closed {
        Some(place) => {
            format!("; to share this one all the same, name it: `--root {}`", from_home(place, ground.home()))
        }
        None => String::new(),
    };
    if ground.is_own(pattern) {
        "Rootward's own settings, saved roots and audit log are never shared".to_owned()
    } else if known(places::SECRET) {
        format!("places that hold secrets stay closed below every root{all_the_same}")
    } else if known(places::RUNS_CODE) || pattern == ".git" {
        format!("places that run code for you stay closed for writing below every root{all_the_same}")
    } else {
        "closed by `restrict` in the settings file".to_owned()
    }
}

/// The directory on the way to `place` that a pattern of plain names means.
fn closed_above<'p>(place: &'p Path, pattern: &str) -> Option<&'p Path> {
    let names: Vec<&str> = pattern.split('/').collect();
    place.ancestors().find(|above| {
        let last: Vec<_> = above.iter().rev().take(names.len()).collect();
        last.len() == names.len() && last.iter().rev().zip(&names).all(|(one, name)| one.eq_ignore_ascii_case(name))
    })
}

fn text(reason: &TextError) -> Option<String> {
    Some(match reason {
        TextError::Scheme(_) | TextError::Uri(_) => {
            "give a path, or a URI such as `file:///home/me/a%20b.txt`".to_owned()
        }
        TextError::Foreign => "paths look like `/home/me/x` on this system".to_owned(),
        TextError::OtherHome => "write the directory out, or `./~name` for a file that is called so".to_owned(),
        TextError::NoHome => "set HOME to an absolute path, or write the path out".to_owned(),
        _ => return None,
    })
}
