//! `rootward doctor`: what this machine can enforce, and each setting with its source.

mod closed;
mod confinement;
mod kernel;
mod packages;
#[cfg(feature = "wrap")]
mod recipes;
mod report;
mod unenforced;
mod values;

pub(crate) use kernel::landlock;

use std::io::{self, Write};

use anyhow::Result;
use clap::Args;

use crate::Outcome;
use crate::ground::Ground;

/// Show what this machine can enforce, and each setting with its source
///
/// Also shows what the kernel offers, the current roots, and the roots that were left out. It changes nothing.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Doctor {
    /// Print only what stays closed below every root
    ///
    /// Patterns, matched anywhere below a root: places that hold secrets, places that run code for you, guarded files,
    /// Rootward's own places, and what settings and saved roots close. `--root` and the operator's other sources open such a place by naming it.
    #[arg(long)]
    closed: bool,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

const AFTER_HELP: &str = "Exit codes: 0 done, 2 wrong use, settings or saved roots that cannot be used, or failure";

impl Doctor {
    pub(crate) fn run(self) -> Result<Outcome> {
        if self.closed {
            return self.print_closed();
        }
        // If the settings are wrong, still show the rest.
        let report = match Ground::load_ambient() {
            Ok(ground) => report::Report::new(kernel::look_ambient(), &ground)?,
            Err(mistake) => report::Report::of_mistake(kernel::look_ambient(), &mistake),
        };
        let mut out = io::stdout().lock();
        if self.json {
            serde_json::to_writer_pretty(&mut out, &report)?;
            out.write_all(b"\n")?;
        } else {
            report.write(&mut out)?;
        }
        out.flush()?;
        Ok(if report.is_whole() { Outcome::Done } else { Outcome::Failed })
    }

    fn print_closed(&self) -> Result<Outcome> {
        let list = closed::ClosedList::new(&Ground::load_ambient()?);
        let mut out = io::stdout().lock();
        if self.json {
            serde_json::to_writer_pretty(&mut out, &list)?;
            out.write_all(b"\n")?;
        } else {
            list.write(&mut out)?;
        }
        out.flush()?;
        Ok(Outcome::Done)
    }
}
