//! How a config file should call this program.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use rootward_client::adopt::{Called, Invocation};
use rootward_core::{Shown, follow_ambient};
use rootward_sandbox::Program;

use crate::message::Hinted;

/// This program: by its bare name if that finds it, else by its path.
pub(crate) fn caller_ambient() -> Result<Invocation> {
    let this = std::env::current_exe().context("cannot find the path of this program")?;
    let path = this.to_str().ok_or_else(|| Hinted {
        says: format!("the path of this program is not UTF-8: `{}`", Shown::new(&this)),
        hint: "move it to a path that is UTF-8, so that config files can name it".to_owned(),
    })?;
    let by_name = place_ambient("rootward", None).is_some_and(|found| Some(found) == place_of_ambient(&this));
    Ok(Invocation { path: path.to_owned(), called: if by_name { Called::ByName } else { Called::ByPath } })
}

/// The path of a program with this name.
pub(crate) fn place_ambient(program: &str, directory: Option<&Path>) -> Option<PathBuf> {
    let path = std::env::var_os("PATH");
    let here = std::env::current_dir().unwrap_or_default();
    let found = Program::find_ambient(OsStr::new(program), path.as_deref(), directory.unwrap_or(&here)).ok()?;
    place_of_ambient(found.path())
}

pub(crate) fn place_of_ambient(path: &Path) -> Option<PathBuf> {
    follow_ambient(path).map(|followed| followed.place)
}
