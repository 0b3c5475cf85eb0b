//! `cargo xtask prove`: the check in its long form, then the checks that need other tools or a corpus.

use std::path::Path;

use anyhow::Result;

use crate::check;
use crate::corpus;
use taskkit::call::Call;
use taskkit::form::Form;
use taskkit::step::{self, Step};

/// Runs the long form. Runs the corpus only if a folder is given.
pub(crate) fn run(top: &Path, folder: Option<&Path>) -> Result<()> {
    let mut steps = check::steps(top, Form::Long);
    steps.push(Step::here("licences", deny().to_string(), licences));
    steps.push(match folder.map(Path::to_owned) {
        Some(folder) => {
            let repeat = Call::cargo("xtask corpus").path(&folder)?.to_string();
            Step::here("corpus", repeat, move |top| corpus::run(top, &folder))
        }
        None => Step::here("corpus", "cargo xtask corpus DIR", |_| Ok("NOT RUN: no folder was given".to_owned())),
    });
    step::carry_out(top, steps)
}

/// Skips advisories: their database comes from a git server that a build machine may not reach.
fn deny() -> Call {
    Call::cargo("deny check licenses bans sources")
}

fn licences(top: &Path) -> Result<String> {
    if !Call::cargo("deny --version").succeeds(top) {
        return Ok("NOT RUN: cargo-deny is not installed".to_owned());
    }
    deny().run(top).map(|()| String::new())
}
