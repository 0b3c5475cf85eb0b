//! `rootward cache list`: lists the packages.

use std::io::{self, Write};
use std::time::SystemTime;

use anyhow::Result;
use clap::Args;
use rootward_core::Shown;
use rootward_sandbox::{Contents, Stored};

use super::Place;
use super::shown::{Told, ago, in_words};
use crate::Outcome;
use crate::message;

/// List the packages: as requested, the installed version, size, age, and whether a server runs from it
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub(super) struct List {
    /// Print one JSON object: `directory`, `size` and `packages`, each with `kind` (`package`, `runner cache` or
    /// `leftover`), `package`, `asked`, `options`, `registry`, `runner`, `installed`, `size` in bytes, `fetched`,
    /// `used`, `in_use` and `directory`
    #[arg(long)]
    json: bool,
}

const AFTER_HELP: &str = "Exit codes: 0 done, 1 there are none, 2 wrong use or failure";

impl List {
    pub(super) fn run(&self, place: &Place) -> Result<Outcome> {
        let stored = place.list_ambient()?;
        let mut out = io::stdout().lock();
        let size: u64 = stored.iter().map(|stored| stored.size).sum();
        if self.json {
            let packages: Vec<Told<'_>> = stored.iter().map(Told::of).collect();
            let answer =
                serde_json::json!({"directory": Shown::new(&place.directory), "size": size, "packages": packages});
            serde_json::to_writer(&mut out, &answer)?;
            out.write_all(b"\n")?;
        } else {
            for stored in &stored {
                write(stored, SystemTime::now(), &mut out)?;
            }
            if stored.len() > 1 {
                writeln!(out, "{} in `{}`", in_words(size), place.shown())?;
            }
        }
        out.flush()?;
        if stored.is_empty() {
            if !self.json {
                message::line(&format!("there are no packages in `{}`", place.shown()));
            }
            return Ok(Outcome::Denied);
        }
        Ok(Outcome::Done)
    }
}

fn write(stored: &Stored, now: SystemTime, out: &mut impl Write) -> io::Result<()> {
    let Stored { contents, size, fetched, used, is_in_use, .. } = stored;
    writeln!(out, "{}", Shown::new(&contents.label()))?;
    let mut row = |name: &str, says: &str| writeln!(out, "  {name:<9} {says}");
    if let Contents::Package { runner, options, installed, .. } = contents {
        row("runner", runner.name())?;
        for (option, value) in options {
            row("with", &format!("{option} {value}"))?;
        }
        if let Some(installed) = installed {
            row("installed", &Shown::new(installed).to_string())?;
        }
    }
    row("size", &in_words(*size))?;
    if let Some(fetched) = fetched {
        row("fetched", &ago(now, *fetched))?;
    }
    match (is_in_use, used) {
        (true, _) => row("used", "now"),
        (false, Some(used)) => row("used", &ago(now, *used)),
        (false, None) => Ok(()),
    }
}
