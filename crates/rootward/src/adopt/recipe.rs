//! The recipe that `wrap` applies to a server by default, for display.

use std::ffi::{OsStr, OsString};

use rootward_client::import::ConfiguredCommand;
use rootward_core::{Shown, follow_ambient};
use rootward_hub::recipe::LaunchFacts;

use super::Desk;

/// What a recipe does to a command.
pub(super) struct Used {
    pub(super) name: String,
    /// The options that it adds to the end.
    pub(super) appended: Vec<String>,
    /// The directories in the command, which limit the server whatever the client shares.
    pub(super) directories: Vec<String>,
}

/// The recipe of a command.
pub(super) fn recipe_of_ambient(line: &ConfiguredCommand, desk: &Desk) -> Option<Used> {
    let arguments: Vec<OsString> = line.arguments.iter().map(OsString::from).collect();
    let found = desk.book.find_ambient(OsStr::new(&line.program), &arguments, &desk.material).ok()??;
    let is_set = |name: &str| std::env::var_os(name).is_some() || line.variables.iter().any(|(known, _)| known == name);
    let exists = |place: &std::path::Path| follow_ambient(place).is_some_and(|followed| followed.exists);
    let appended = found.appended(&arguments, LaunchFacts { is_set: &is_set, exists: &exists });
    let appended = appended.iter().map(|word| Shown::new(word).to_string()).collect();
    let server = found.file_server(&arguments);
    let directories = server.iter().flat_map(|server| server.directories(&arguments));
    let directories = directories.map(|directory| Shown::new(directory).to_string()).collect();
    Some(Used { name: found.recipe.name, appended, directories })
}
