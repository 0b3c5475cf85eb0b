//! Which saved roots a person means: by name, or by path.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use anyhow::Result;
use rootward_client::store::SavedRoot;
use rootward_core::{Resolver, Shown, spellings_ambient};

use super::desk::Desk;
use crate::message::Hinted;

/// The path of the saved root that is meant.
pub(super) fn find_ambient(text: &OsStr, roots: &[SavedRoot], desk: &Desk) -> Result<PathBuf> {
    let mut meant: Vec<&PathBuf> = Vec::new();
    if let Some(name) = text.to_str() {
        meant.extend(roots.iter().filter(|root| root.name.as_deref() == Some(name)).map(|root| &root.path));
    }
    // What looks like a path is one; anything else may be.
    if let Ok(named) = desk.ground.typed_root(text) {
        // One that is gone, or a link by now, is meant by the path it was saved with.
        let mut spellings = spellings_ambient(&named.root.path, Resolver::detect()).unwrap_or_default();
        spellings.push(named.root.path);
        // A `*` that somebody types may be a pattern, and may be a directory with that name.
        meant.extend(roots.iter().map(|root| &root.path).filter(|path| spellings.contains(path)));
    }
    meant.sort();
    meant.dedup();
    match meant.as_slice() {
        [one] => Ok((*one).clone()),
        [] => Err(Hinted {
            says: format!("no saved root is called `{0}` or lies at `{0}`", Shown::new(text)),
            hint: "`rootward roots list` shows what is saved".to_owned(),
        }
        .into()),
        several => {
            let several: Vec<String> = several.iter().map(|path| format!("`{}`", desk.shown(path))).collect();
            let or =
                if text.as_bytes().contains(&b'/') { "" } else { ", or `./NAME` for one below the working directory" };
            Err(Hinted {
                says: format!("`{}` is more than one saved root: {}", Shown::new(text), several.join(", ")),
                hint: format!("give its path{or}"),
            }
            .into())
        }
    }
}
