//! The package store, as `doctor` shows it.

use std::io::{self, Write};

use rootward_core::Shown;
use rootward_core::env::Directories;
use rootward_sandbox::{Contents, Store};
use serde::Serialize;

use super::report::row;
use crate::answer::text;
use crate::cache::in_words;
use crate::message::system_text;

#[derive(Debug, Default, Serialize)]
pub(super) struct Packages {
    directory: Option<String>,
    /// How many packages were fetched.
    count: usize,
    /// The size of the whole store, in bytes.
    size: u64,
    /// Why the store cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    mistake: Option<String>,
}

impl Packages {
    pub(super) fn look_ambient(directories: &Directories) -> Packages {
        let Some(cache) = &directories.cache else { return Packages::default() };
        let directory = Some(text(cache.join("packages").as_os_str()).into_owned());
        match Store::new(cache).list_ambient() {
            Ok(stored) => Packages {
                directory,
                count: stored.iter().filter(|stored| matches!(stored.contents, Contents::Package { .. })).count(),
                size: stored.iter().map(|stored| stored.size).sum(),
                mistake: None,
            },
            Err(error) => Packages { directory, mistake: Some(system_text(&error.to_string())), ..Packages::default() },
        }
    }

    pub(super) fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let Some(directory) = &self.directory else { return Ok(()) };
        let directory = Shown::new(directory);
        writeln!(out, "\npackages")?;
        match self {
            Packages { mistake: Some(mistake), .. } => row(out, "mistake", &format_args!("{directory}: {mistake}")),
            Packages { count: 0, size: 0, .. } => row(out, "fetched", &format_args!("none, in {directory}")),
            Packages { count, size, .. } => row(
                out,
                "fetched",
                &format_args!("{count}, {} in {directory}; `rootward cache list` names them", in_words(*size)),
            ),
        }
    }
}
