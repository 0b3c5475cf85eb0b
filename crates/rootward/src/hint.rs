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
        (_, Cause::System(kind)) => Some(format!("the system could not resolve the path: {kind}")),
        (_, Cause::Unsettled) => Some("try again when nothing renames the directories on its way".to_owned()),
        (_, Cause::RootChanged) => Some("try again: roots are looked up anew each time".to_owned()),
        (Code::SymlinkEscape, _) => Some(format!(
            "a link may lead from one root into another, not out of all of them; {}",
            roots_in_force(guard, home)
        )),
        (Code::OutsideRoots, _) => Some(roots_in_force(guard, home)),
        (Code::AccessDenied, Cause::Access) => denial.root().map(|root| more_access(root, denial.access(), home)),
        (Code::Restricted, Cause::Restriction(pattern)) => Some(closed_place(pattern, refused, home)),
        (Code::SpecialFile, _) => {
            Some("only files and directories are opened: the others can hang or do things".to_owned())
        }
        (_, Cause::Text(reason)) => text(reason),
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
        return "every root that was named is left out; `rootward doctor` says which are in force and why".to_owned();
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

fn closed_place(pattern: &str, refused: &Refused, home: Option<&Path>) -> String {
    let known = |table: &[&str]| table.contains(&pattern);
    let place =
        refused.resolved.as_deref().map_or_else(|| "it".to_owned(), |place| format!("`{}`", from_home(place, home)));
    if pattern.ends_with("/rootward") {
        "Rootward's own settings, saved roots and audit log are never shared".to_owned()
    } else if known(places::SECRET) {
        format!(
            "places that hold secrets stay closed below every root; who means {place} names it as a root of its own"
        )
    } else if known(places::RUNS_CODE) || pattern == ".git" {
        format!(
            "places that run code for you are not for writing below any root; who means {place} names it as a root of \
             its own"
        )
    } else {
        "closed by `restrict` in the settings file".to_owned()
    }
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
