//! `rootward cache`: the packages that servers were started from.

mod clean;
mod list;
mod shown;

pub(crate) use shown::in_words;

use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::{Args, Subcommand};
use rootward_core::env::{Directories, Environment};
use rootward_sandbox::{Store, Stored};

use crate::Outcome;
use crate::message::{Hinted, from_home};

/// List or remove the packages that `npx`, `uvx` and similar commands run
///
/// Rootward fetches a package once for all projects and starts it from there, read-only. The packages are in
/// `$XDG_CACHE_HOME/rootward/packages` (`~/.cache/rootward/packages` unless set), outside every root. Everything
/// there can be fetched again.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Cache {
    #[command(subcommand)]
    verb: Verb,
}

const AFTER_HELP: &str = "Exit codes: 0 done, 1 no package, or one is in use and was kept, 2 wrong use or failure";

#[derive(Subcommand, Debug)]
enum Verb {
    List(list::List),
    Clean(clean::Clean),
}

/// The store and its location.
#[derive(Debug)]
struct Place {
    store: Store,
    directory: PathBuf,
    home: Option<PathBuf>,
}

impl Place {
    fn find() -> Result<Place> {
        let environment: Environment = std::env::vars_os().collect();
        let directories = Directories::new(&environment);
        let directory = directories.cache.ok_or_else(|| Hinted {
            says: "there is no place for packages".to_owned(),
            hint: "set `HOME` or `XDG_CACHE_HOME` to an absolute path".to_owned(),
        })?;
        Ok(Place { store: Store::new(&directory), directory, home: directories.home })
    }

    fn shown(&self) -> String {
        from_home(&self.directory.join("packages"), self.home.as_deref())
    }

    fn list_ambient(&self) -> Result<Vec<Stored>> {
        self.store.list_ambient().with_context(|| format!("the packages in `{}` cannot be listed", self.shown()))
    }
}

impl Cache {
    pub(crate) fn run(self) -> Result<Outcome> {
        let place = Place::find()?;
        match self.verb {
            Verb::List(list) => list.run(&place),
            Verb::Clean(clean) => clean.run(&place),
        }
    }
}
