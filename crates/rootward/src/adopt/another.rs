//! Programs that go by the name of this one, and whether a confined server could replace it.

use std::path::Path;

use rootward_client::adopt::Caller;
use rootward_client::import::CommandLine;
use rootward_core::{Material, Shown};

use crate::calling::{place_ambient, place_of_ambient};
use crate::message;

/// Whether an entry that begins with `rootward` means another program than this one.
pub(super) fn is_another_ambient(line: &CommandLine, caller: &Caller, project: Option<&Path>) -> bool {
    let base = |word: &str| word.rsplit('/').next() == Some("rootward");
    let words = std::iter::once(&line.program).chain(&line.arguments);
    let Some(program) = words.into_iter().find(|word| base(word)) else { return true };
    // A bare name that nothing is found for may be found by the client.
    let plain = program == "rootward";
    match place_ambient(program, project) {
        Some(place) => Some(place) != place_of_ambient(Path::new(&caller.path)),
        None => !plain,
    }
}

/// Says so if a confined server could replace the program that is to hold it.
pub(super) fn warn_of_writable(caller: &Caller, material: &Material) {
    if let Some(place) = place_of_ambient(Path::new(&caller.path)).filter(|place| material.holds(place)) {
        message::warning(&format!(
            "a confined server could have written `{}`, the program that is to hold it; install it elsewhere",
            Shown::new(&place)
        ));
    }
}
