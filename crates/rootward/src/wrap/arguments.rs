//! The directories in the arguments of a known file server: a ceiling, within any other ceiling.

use std::ffi::OsString;

use anyhow::Result;
use rootward_core::env::NamedRoot;
use rootward_core::{Access, Material, Mode, PlacedRoot, RefusedRoot, RootSet, Shown, Validation, WhyRefused};
use rootward_hub::recipe::Match;
use rootward_hub::wrap::FileServerCommand;

use crate::ground::Ground;
use crate::message;
use crate::settings::Source;

/// What is known about a server's command, and its ceiling.
#[derive(Debug)]
pub(crate) struct Read {
    /// The server's recipe.
    pub(crate) known: Option<Match>,
    pub(crate) file_server: Option<FileServerCommand>,
    pub(crate) ceiling: RootSet,
}

/// Reads a command line: the directories in it narrow `operator`, the ceiling of the flags, the environment or the
/// settings file. `find` finds the recipe for the command, given the material that confined commands could have
/// written.
pub(crate) fn read_ambient(
    ground: &Ground,
    operator: RootSet,
    arguments: &[OsString],
    find: &dyn Fn(&Material) -> Result<Option<Match>>,
) -> Result<Read> {
    let mut material = Validation::of(&ground.directories).material_ambient();
    material.extend(writable(&operator));
    let Some(known) = find(&material)? else { return Ok(Read { known: None, file_server: None, ceiling: operator }) };
    let Some(server) = known.file_server(arguments) else {
        return Ok(Read { known: Some(known), file_server: None, ceiling: operator });
    };
    let typed = server.directories(arguments);
    if typed.is_empty() {
        return Ok(Read { known: Some(known), file_server: Some(server), ceiling: operator });
    }
    let named = typed.iter().map(|text| ground.directory_argument(text)).collect::<Result<Vec<NamedRoot>>>()?;
    let placed = ground.place(&named, Source::Flag);
    // The server is about to get these for writing, so their content must not decide whether it does.
    material.extend(writable(&placed.set));
    if find(&material)?.is_none() {
        return Ok(Read { known: None, file_server: None, ceiling: operator });
    }
    for left_out in &placed.left_out {
        warn(&left_out.text, &left_out.reason);
    }
    let ceiling = if operator.names_any() { narrowed(&placed.set, &operator) } else { placed.set };
    Ok(Read { known: Some(known), file_server: Some(server), ceiling })
}

fn writable(set: &RootSet) -> impl Iterator<Item = std::path::PathBuf> {
    let writable = set.roots().iter().filter(|placed| placed.root.access.contains(Access::WRITE));
    writable.map(|placed| placed.place.clone())
}

/// The intersection.
fn narrowed(arguments: &RootSet, operator: &RootSet) -> RootSet {
    let both = RootSet::combine(Mode::Narrow, arguments, operator);
    let is_left_out = |argument: &&PlacedRoot| !both.roots().iter().any(|root| argument.holds(&root.place));
    let outside = arguments.roots().iter().filter(is_left_out).map(|argument| {
        let text = argument.root.path.display().to_string();
        let reason = WhyRefused::Unusable("outside the ceiling that `--root` or the settings name".to_owned());
        warn(&Shown::new(&text).to_string(), &reason.to_string());
        RefusedRoot { text, root: None, reason }
    });
    // SECURITY: a ceiling with nothing left in it is still a ceiling, so remember what was left out. It does not
    // come back by itself, because nobody would narrow it then
    // (test: arguments_and_flags_narrow_each_other)
    let refused = both.refused().iter().map(|refused| RefusedRoot { root: None, ..refused.clone() });
    let refused: Vec<RefusedRoot> = refused.chain(outside).collect();
    RootSet::new(both.roots().iter().cloned(), refused)
}

fn warn(text: &str, reason: &str) {
    message::warning(&format!("directory `{text}` in the server's arguments is left out: {reason}"));
}
