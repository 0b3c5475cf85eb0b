//! How to resolve a refusal. A hint knows where the roots came from, so following it has the effect it promises.

use std::path::Path;

use rootward_core::session::{Follow, NoRoots};
use rootward_core::{Access, Cause, Code, Guard, Root, Shown, TextError, env, places};

use crate::decision::Refused;
use crate::ground::{Ground, PlacedRoots};
use crate::message::{for_shell, from_home};
use crate::settings::{Source, unknown_variables};

/// How many roots a hint lists.
const MOST_ROOTS: usize = 8;

/// What to do about a refusal, if anything can be done.
pub(crate) fn hint(refused: &Refused, guard: &Guard, ground: &Ground, roots: &PlacedRoots) -> Option<String> {
    let home = ground.home();
    let denial = &refused.denial;
    match (denial.code(), denial.cause()) {
        (Code::NoRoots, _) => Some(no_roots(ground, roots)),
        (Code::OutsideRoots, Cause::System(kind)) => Some(format!("the system does not resolve the path: {kind}")),
        (_, Cause::Unsettled) => Some("try again when no directory on the path is being renamed".to_owned()),
        (_, Cause::RootChanged) => Some("try again: roots are looked up again each time".to_owned()),
        (_, Cause::Climbs(_)) => Some(format!(
            "use a path that does not climb with `..` out of a directory outside; {}",
            current_roots(guard, home)
        )),
        (Code::SymlinkEscape, _) => Some(format!(
            "a link may lead from one root into another, not out of all of them; {}",
            current_roots(guard, home)
        )),
        (Code::OutsideRoots, _) => Some(current_roots(guard, home)),
        (Code::AccessDenied, Cause::Access) => {
            denial.root().map(|root| more_access(root, denial.access(), ground, roots))
        }
        (Code::Restricted, Cause::Restriction { pattern, .. }) => Some(closed_place(pattern, refused, ground, roots)),
        (Code::SpecialFile, _) => Some(
            "only files and directories are opened: a device or FIFO can block its reader, or do things when opened"
                .to_owned(),
        ),
        (_, Cause::Text(reason)) => text(reason),
        _ if denial.lacks_base() => Some("give an absolute path, or name a directory with `--base DIR`".to_owned()),
        _ => None,
    }
}

/// `current roots: `~/src/app` (read, write), `~/notes` (read)`
pub(crate) fn current_roots(guard: &Guard, home: Option<&Path>) -> String {
    format!("current roots: {}", listed(guard, home))
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

fn no_roots(ground: &Ground, roots: &PlacedRoots) -> String {
    let settings = &ground.settings;
    if roots.set.names_any() {
        return "every root that was named is left out, for the reasons above".to_owned();
    }
    let switch = settings.switch_on().map(|(name, source)| format!("`{name}` is set in the {source}"));
    let file = settings_file(ground);
    if settings.follow() == Follow::FallbackOnly {
        let switch = switch.unwrap_or_default();
        return format!(
            "{switch} and no fallback directory is named: set {}=/path/to/DIR, or put `fallback_dir = \"/path/to/DIR\"` \
             into {file}",
            env::FALLBACK_DIR
        );
    }
    if settings.no_roots.value == NoRoots::AllowAll {
        return "`no_roots = \"allow-all\"` applies only to sessions in which nobody names roots; to check a path, \
                name a root with `--root DIR`"
            .to_owned();
    }
    let passed_over = match switch.filter(|_| settings.fallback_dir.value.is_some()) {
        Some(switch) => format!("{switch}, so the fallback directory does not count; "),
        None => String::new(),
    };
    let unknown = unknown_variables(&ground.environment).into_iter().map(|(name, nearest)| {
        let hint = nearest.map(|nearest| format!(", did you mean {nearest}?")).unwrap_or_default();
        format!("{} in the environment is not a setting{hint}; ", Shown::new(&name))
    });
    let unknown: String = unknown.collect();
    let counts = cfg!(feature = "roots") && settings.follow() == Follow::Client;
    let save = if counts { "save one with `rootward roots add DIR`, " } else { "" };
    format!(
        "{passed_over}{unknown}name a root with `--root DIR`, {save}set {}=/path/to/DIR, or put \
         `roots = [\"/path/to/DIR\"]` into {file}",
        env::ROOTS
    )
}

/// How to name the root so that it gives the requested access in addition to what it gives now.
fn more_access(root: &Root, asked: Access, ground: &Ground, roots: &PlacedRoots) -> String {
    if let Some(texts) = roots.named_again(&root.path) {
        let texts: Vec<String> = texts.iter().map(|text| format!("`{text}`")).collect();
        return format!("the same place is named more than once, as {}, so the least access applies", texts.join(", "));
    }
    let needed = root.access | asked;
    // The shortest suffix that gives it.
    let suffix = ["ro", "rw-nodelete", "rw", "rwx"]
        .into_iter()
        .find(|suffix| Access::from_suffix(suffix).is_some_and(|access| access.contains(needed)))
        .unwrap_or("rwx");
    let suffix = format!(":{suffix}");
    let typed = for_shell(&root.path, ground.home(), &suffix);
    let written = format!("`{}{suffix}`", from_home(&root.path, ground.home()));
    match roots.source {
        Source::Flag | Source::Default => format!("name the root as `--root {typed}` instead to allow it"),
        Source::File => format!("name the root as {written} in {} to allow it", settings_file(ground)),
        Source::Store => {
            let typed = for_shell(&root.path, ground.home(), "");
            format!("run `rootward roots grant {typed} {}` to allow it", suffix.trim_start_matches(':'))
        }
        Source::Environment(env::FALLBACK_DIR) => format!("set {}={typed} to allow it", env::FALLBACK_DIR),
        Source::Environment(name) => format!(
            "{name} does not accept access suffixes: pass `--root {typed}`, or name the root as {written} in {} and unset {name}",
            settings_file(ground)
        ),
    }
}

fn closed_place(pattern: &str, refused: &Refused, ground: &Ground, roots: &PlacedRoots) -> String {
    let known = |table: &[&str]| table.contains(&pattern);
    // Naming a root does not open what the settings close.
    let entry = ground.settings.restrict.value.iter().position(|restrict| restrict.pattern == pattern);
    let closed = refused.resolved.as_deref().and_then(|place| closed_above(place, pattern));
    let all_the_same = closed.map_or_else(String::new, |place| {
        format!("; to share this one anyway, {}", as_a_root_as_well(place, ground, roots))
    });
    if ground.is_own(pattern) {
        "Rootward's own settings, saved roots and audit log are never shared".to_owned()
    } else if known(places::SECRET) {
        format!("places that hold secrets stay closed below every root{all_the_same}")
    } else if known(places::GUARDED) && entry.is_none() && ground.saved.root_with(pattern).is_none() {
        format!("files that projects keep secrets in are guarded below every root{all_the_same}")
    } else if known(places::RUNS_CODE) || pattern == ".git" {
        format!("places that run code for you stay closed for writing below every root{all_the_same}")
    } else if let Some(root) = ground.saved.root_with(pattern) {
        let (typed, glob) = (for_shell(root, ground.home(), ""), for_shell(Path::new(pattern), None, ""));
        format!("closed by what was saved for a root: `rootward roots grant {typed} --open {glob}` opens it")
    } else {
        let entry = entry.map_or_else(String::new, |index| format!("entry {} of ", index + 1));
        format!("closed by {entry}`restrict` in {}", settings_file(ground))
    }
}

/// Roots on the command line replace those of all other sources, and a root has to exist.
fn as_a_root_as_well(place: &Path, ground: &Ground, roots: &PlacedRoots) -> String {
    let first = if ground.exists(place) { "" } else { "create it first and " };
    let typed = for_shell(place, ground.home(), "");
    let how = match roots.source {
        Source::Flag | Source::Default => format!(": `--root {typed}`"),
        Source::Environment(env::ROOTS) => format!(": add `{typed}` to {}", env::ROOTS),
        Source::File if !ground.settings.roots.value.is_empty() => {
            format!(": add `{}` to `roots` in {}", from_home(place, ground.home()), settings_file(ground))
        }
        Source::Store => format!(": `rootward roots add --force {typed}`"),
        // The root is the fallback directory, which is ignored as soon as roots are named.
        Source::File | Source::Environment(_) => {
            format!(", together with the fallback directory: `--root` for each, here `--root {typed}`")
        }
    };
    format!("{first}also name it as a root{how}")
}

/// The settings file's path, as shown to people.
fn settings_file(ground: &Ground) -> String {
    let file = ground.directories.settings_file().map(|file| from_home(&file, ground.home()));
    file.map_or_else(|| "the settings file (set HOME to have one)".to_owned(), |file| format!("`{file}`"))
}

/// The directory above `place`, or `place` itself, that a pattern of plain names matches.
fn closed_above<'p>(place: &'p Path, pattern: &str) -> Option<&'p Path> {
    let names: Vec<&str> = pattern.split('/').collect();
    place.ancestors().find(|above| {
        let last: Vec<_> = above.iter().rev().take(names.len()).collect();
        last.len() == names.len() && last.iter().rev().zip(&names).all(|(one, name)| one.eq_ignore_ascii_case(name))
    })
}

/// What a correct text would look like, in place of one that cannot be parsed.
pub(crate) fn text(reason: &TextError) -> Option<String> {
    Some(match reason {
        TextError::Scheme(_) | TextError::Uri(_) => {
            "give a path, or a URI such as `file:///home/me/a%20b.txt`".to_owned()
        }
        TextError::Foreign => "paths look like `/home/me/x` on this system".to_owned(),
        TextError::OtherHome => "write the directory in full, or `./~name` for a file with that name".to_owned(),
        TextError::NoHome => "set HOME to an absolute path, or write the path out".to_owned(),
        _ => return None,
    })
}
