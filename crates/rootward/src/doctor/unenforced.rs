//! The places that should be closed for writing but that the kernel cannot close below a root: every repository has
//! some.

use std::path::Path;

use rootward_core::{Base, Guard, RootSet, Shown};
use rootward_sandbox::{CommandLine, Confinement, Options, Unenforced, UnenforcedPolicy};

use crate::ground::Ground;
use crate::settings::Source;

/// What a confined command could still write there, in these roots; without roots, in the working directory. Empty
/// if no command can be confined at all: `doctor` says so elsewhere.
pub(super) fn look_ambient(ground: &Ground, roots: &RootSet) -> Vec<String> {
    let set = if roots.is_empty() { working_directory(ground) } else { Some(roots.clone()) };
    set.and_then(|set| open_for_writing_ambient(ground, set)).unwrap_or_default()
}

/// The working directory, if somebody might share it: not the home or a directory above it, which take long to
/// search.
fn working_directory(ground: &Ground) -> Option<RootSet> {
    let set = ground.place(&[ground.typed_root(".".as_ref()).ok()?], Source::Flag).set;
    let holds_home = |place: &Path| ground.home().is_none_or(|home| home.starts_with(place));
    set.roots().iter().all(|root| !holds_home(&root.place)).then_some(set)
}

fn open_for_writing_ambient(ground: &Ground, set: RootSet) -> Option<Vec<String>> {
    let guard = Guard::new(set, ground.guard_options(Base::FirstRoot));
    let options = Options { unenforced: UnenforcedPolicy::Allow, ..ground.settings.sandbox.options() };
    let line = CommandLine { program: std::env::current_exe().ok()?.into(), ..CommandLine::default() };
    let explanation = Confinement::new(guard, options).ok()?.explain_ambient(&line).ok()?;
    let open = explanation.enforcement.open_for_writing.iter();
    Some(open.map(|Unenforced { place, .. }| Shown::new(place).to_string()).collect())
}
