//! `rootward roots rename`: changes the name of a saved root.

use std::ffi::OsString;

use anyhow::{Result, anyhow};
use clap::Args;
use rootward_client::store::usable_name;
use rootward_core::Shown;

use super::asking::Scripted;
use super::desk::Desk;
use super::shown::{Done, tell};
use super::which::find_ambient;
use crate::Outcome;

/// Change or remove the name of a saved root
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub(super) struct Rename {
    /// The root: its name or its path
    #[arg(value_name = "ROOT")]
    root: OsString,
    /// The new name; without it, the root's name is removed
    #[arg(value_name = "NAME")]
    name: Option<String>,
    #[command(flatten)]
    scripted: Scripted,
}

const AFTER_HELP: &str = "Exit codes: 0 done, 2 wrong use or failure";

impl Rename {
    pub(super) fn run(&self, desk: &Desk) -> Result<Outcome> {
        if let Some(name) = &self.name {
            usable_name(name).map_err(|why| anyhow!("not a usable name: `{}` ({why})", Shown::new(name)))?;
        }
        let renamed = desk.edit_ambient(&self.scripted.requester("rename"), |document, _| {
            let path = find_ambient(&self.root, document.roots(), desk)?;
            let meant = |position: &usize| document.roots()[*position].path == path;
            let positions: Vec<usize> = (0..document.roots().len()).filter(meant).collect();
            for position in &positions {
                document.rename(*position, self.name.as_deref());
            }
            Ok(positions.iter().map(|position| document.roots()[*position].clone()).collect::<Vec<_>>())
        })?;
        tell(Done::Renamed, &renamed, self.scripted.json, desk)?;
        Ok(Outcome::Done)
    }
}
