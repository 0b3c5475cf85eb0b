//! `rootward doctor`: what this machine can enforce, and which settings are in force.

mod kernel;
mod report;

use std::io::{self, Write};

use anyhow::Result;
use clap::Args;

use crate::Outcome;
use crate::ground::Ground;

/// Say what this machine can enforce and which settings are in force
///
/// What the kernel offers, each setting with where it came from, the roots in force and those left out. Nothing is changed, and
/// nothing is tried that could be noticed.
#[derive(Args, Debug)]
pub(crate) struct Doctor {
    /// Answer with one JSON object
    #[arg(long)]
    json: bool,
}

impl Doctor {
    pub(crate) fn run(self) -> Result<Outcome> {
        let ground = Ground::load_ambient()?;
        let report = report::Report::new(kernel::look_ambient(), &ground)?;
        let mut out = io::stdout().lock();
        if self.json {
            serde_json::to_writer_pretty(&mut out, &report)?;
            out.write_all(b"\n")?;
        } else {
            report.write(&mut out)?;
        }
        out.flush()?;
        Ok(Outcome::Done)
    }
}
