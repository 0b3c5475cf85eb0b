//! `rootward roots`: which directories are shared.

mod add;
mod asking;
mod desk;
mod detect;
mod grant;
mod import;
mod list;
mod pick;
mod remove;
mod rename;
mod shown;
mod watch;
mod which;

use anyhow::Result;
use clap::{Args, Subcommand};

use crate::Outcome;
use desk::Desk;

/// Choose and save the directories to share
///
/// They are used if neither client nor operator names roots: `rootward serve` without any arguments serves them.
/// They are saved in `$XDG_CONFIG_HOME/rootward/roots.toml` (`~/.config/rootward/roots.toml` unless set), which you
/// may edit by hand. Nothing is shared without your consent, and every change is recorded (`rootward audit show`).
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct RootsCommand {
    #[command(subcommand)]
    verb: Verb,
}

const AFTER_HELP: &str = "Exit codes: 0 done, 1 nothing found or saved, or the answer was no, 2 wrong use or failure";

/// Each has a file below `roots/`.
#[derive(Subcommand, Debug)]
enum Verb {
    Detect(detect::Detect),
    Pick(pick::Pick),
    List(list::List),
    Add(add::Add),
    Remove(remove::Remove),
    Rename(rename::Rename),
    Grant(grant::Grant),
    Import(import::Import),
    Watch(watch::Watch),
}

impl RootsCommand {
    pub(crate) fn run(self) -> Result<Outcome> {
        match self.verb {
            Verb::Detect(detect) => detect.run(),
            Verb::Pick(pick) => pick.run(&Desk::open_ambient()?),
            Verb::List(list) => list.run(&Desk::open_ambient()?),
            Verb::Add(add) => add.run(&Desk::open_ambient()?),
            Verb::Remove(remove) => remove.run(&Desk::open_ambient()?),
            Verb::Rename(rename) => rename.run(&Desk::open_ambient()?),
            Verb::Grant(grant) => grant.run(&Desk::open_ambient()?),
            Verb::Import(import) => import.run(&Desk::open_ambient()?),
            Verb::Watch(watch) => watch.run(Desk::open_to_watch_ambient()?),
        }
    }
}
