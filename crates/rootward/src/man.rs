//! `rootward man`: manual pages, made from the same definitions as `--help`.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::{Args, CommandFactory};
use clap_mangen::Man as Page;
use rootward_core::Shown;

use crate::{CommandLine, Outcome};

/// Print the manual page, or write one for each command
///
/// Without DIR, prints the page `rootward(1)`: `rootward man | man -l -`.
#[derive(Args, Debug)]
pub(crate) struct Man {
    /// The directory to write all pages into, such as `~/.local/share/man/man1`. It is created if it does not exist
    #[arg(value_name = "DIR")]
    directory: Option<PathBuf>,
}

impl Man {
    pub(crate) fn run(self) -> Result<Outcome> {
        match &self.directory {
            Some(directory) => write_ambient(directory)
                .with_context(|| format!("the manual pages cannot be written into `{}`", Shown::new(directory)))?,
            None => {
                let mut page = Vec::new();
                Page::new(CommandLine::command()).render(&mut page)?;
                let mut out = io::stdout().lock();
                out.write_all(&page)?;
                out.flush()?;
            }
        }
        Ok(Outcome::Done)
    }
}

/// One page for each visible command. The user names the directory, and the pages contain nothing that a peer chose.
#[expect(clippy::disallowed_methods, reason = "the user's own directory")]
fn write_ambient(directory: &Path) -> io::Result<()> {
    std::fs::create_dir_all(directory)?;
    clap_mangen::generate_to(CommandLine::command(), directory)
}
