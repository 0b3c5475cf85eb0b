//! Other programs called `rootward`, and whether a confined server could replace this one.

use std::path::Path;

use rootward_client::adopt::Invocation;
use rootward_client::import::ConfiguredCommand;
use rootward_core::{Material, Shown};

use crate::calling::{place_ambient, place_of_ambient};
use crate::message;

/// Whether an entry that begins with `rootward` means a program other than this one.
pub(super) fn is_another_ambient(line: &ConfiguredCommand, caller: &Invocation, project: Option<&Path>) -> bool {
    let base = |word: &str| word.rsplit('/').next() == Some("rootward");
    let words = std::iter::once(&line.program).chain(&line.arguments);
    let Some(program) = words.into_iter().find(|word| base(word)) else { return true };
    // If nothing is found for the bare name, the client may still find it.
    let plain = program == "rootward";
    match place_ambient(program, project) {
        Some(place) => Some(place) != place_of_ambient(Path::new(&caller.path)),
        None => !plain,
    }
}

/// Warns if a confined server could replace the program that is to confine it.
pub(super) fn warn_of_writable(caller: &Invocation, material: &Material) {
    if let Some(place) = place_of_ambient(Path::new(&caller.path)).filter(|place| material.holds(place)) {
        message::warning(&format!(
            "a confined server could have written `{}`, the program that would confine it; install it elsewhere",
            Shown::new(&place)
        ));
    }
}
