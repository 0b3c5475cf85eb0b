//! The recipe that `wrap` applies to a server by itself, for display.

/// The name of the recipe of a command.
pub(super) fn recipe_of(_program: &str, _arguments: &[String]) -> Option<String> {
    None
}
