//! `rootward roots`: which directories are shared.

mod detect;

use anyhow::Result;
use clap::{Args, Subcommand};

use crate::Outcome;

/// Find, choose and keep the directories that are shared
#[derive(Args, Debug)]
pub(crate) struct Roots {
    #[command(subcommand)]
    verb: Verb,
}

/// One file below `roots/` for each.
#[derive(Subcommand, Debug)]
enum Verb {
    Detect(detect::Detect),
}

impl Roots {
    pub(crate) fn run(self) -> Result<Outcome> {
        match self.verb {
            Verb::Detect(detect) => detect.run(),
        }
    }
}
