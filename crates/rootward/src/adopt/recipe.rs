//! The recipe that `wrap` applies to a server by itself, for display.

use std::ffi::{OsStr, OsString};

use super::Desk;

/// The name of the recipe of a command.
pub(super) fn recipe_of_ambient(program: &str, arguments: &[String], desk: &Desk) -> Option<String> {
    let arguments: Vec<OsString> = arguments.iter().map(OsString::from).collect();
    let found = desk.book.find_ambient(OsStr::new(program), &arguments, &desk.material).ok()??;
    Some(found.recipe.name)
}
