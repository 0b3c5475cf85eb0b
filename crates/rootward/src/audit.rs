//! `rootward audit`: what was decided or changed, who asked, and whether the log is intact.
//!
//! The log is Rootward's own and is read by name, but its content is not trusted. A path and the name of a tool come
//! from a peer, and anyone who can write the user's files can write the log.

mod chosen;
mod entry;
mod in_order;
mod show;
mod since;
mod tail;
mod verify;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::{Args, Subcommand};
use rootward_audit::{LogFile, files_ambient};
use rootward_core::Shown;
use rootward_core::env::{Directories, Environment};

use crate::Outcome;
use crate::message::{self, Hinted};

/// Show the audit log, follow it, or verify that it is intact
///
/// `rootward wrap`, `rootward hub` and `rootward serve` record every decision, and `rootward roots` every change. A
/// server built on `rootward-server` does so if its author turns it on. The log is in
/// `$XDG_STATE_HOME/rootward/audit/` (`~/.local/state/rootward/audit/` unless set), outside every root.
#[derive(Args, Debug)]
pub(crate) struct Audit {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand, Debug)]
enum Verb {
    Show(show::Show),
    Tail(tail::Tail),
    Verify(verify::Verify),
}

/// Where the log is.
#[derive(Debug)]
struct Place {
    directory: PathBuf,
    home: Option<PathBuf>,
}

impl Place {
    fn find() -> Result<Place> {
        let environment: Environment = std::env::vars_os().collect();
        let directories = Directories::new(&environment);
        let directory = directories.audit_log().ok_or_else(|| Hinted {
            says: "there is no place for an audit log".to_owned(),
            hint: "set `HOME` or `XDG_STATE_HOME` to an absolute path".to_owned(),
        })?;
        Ok(Place { directory, home: directories.home })
    }

    fn files_ambient(&self) -> Result<Vec<LogFile>> {
        files_ambient(&self.directory).with_context(|| unread(&self.directory))
    }

    fn shown(&self) -> String {
        message::from_home(&self.directory, self.home.as_deref())
    }
}

fn unread(path: &Path) -> String {
    format!("`{}` cannot be read", Shown::new(path))
}

impl Audit {
    pub(crate) fn run(self) -> Result<Outcome> {
        let place = Place::find()?;
        match self.verb {
            Verb::Show(show) => show.run(&place),
            Verb::Tail(tail) => tail.run(&place),
            Verb::Verify(verify) => verify.run(&place),
        }
    }
}
