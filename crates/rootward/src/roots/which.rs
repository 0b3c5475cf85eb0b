//! Finds the saved root that a person means: by its path, by its name, or by the last part of its path.

use std::ffi::OsStr;
use std::path::PathBuf;

use anyhow::Result;
use rootward_client::store::SavedRoot;
use rootward_core::{Resolver, Shown, spellings_ambient};

use super::desk::Desk;
use crate::message::Hinted;

/// The path of the saved root that is meant. A path takes precedence over a name, and a name counts only if it is
/// unique.
pub(super) fn find_ambient(text: &OsStr, roots: &[SavedRoot], desk: &Desk) -> Result<PathBuf> {
    if let Some(path) = by_path_ambient(text, roots, desk) {
        return Ok(path);
    }
    let mut meant: Vec<&PathBuf> = roots.iter().filter(|root| is_called(root, text)).map(|root| &root.path).collect();
    meant.sort();
    meant.dedup();
    match meant.as_slice() {
        [one] => Ok((*one).clone()),
        [] => Err(Hinted {
            says: format!("no saved root has the name or path `{}`", Shown::new(text)),
            hint: "`rootward roots list` shows what is saved".to_owned(),
        }
        .into()),
        several => {
            let several: Vec<String> = several.iter().map(|path| format!("`{}`", desk.shown(path))).collect();
            Err(Hinted {
                says: format!("`{}` matches more than one saved root: {}", Shown::new(text), several.join(", ")),
                hint: "give its path".to_owned(),
            }
            .into())
        }
    }
}

fn by_path_ambient(text: &OsStr, roots: &[SavedRoot], desk: &Desk) -> Option<PathBuf> {
    let typed = desk.ground.typed_root(text).ok()?.root.path;
    // A root that is gone, or is now a link, is found by the path it was saved with. A `*` may be a pattern or part
    // of a directory's name.
    let spellings = spellings_ambient(&typed, Resolver::detect()).unwrap_or_default();
    let is_saved = |path: &PathBuf| roots.iter().any(|root| root.path == *path);
    std::iter::once(typed).chain(spellings).find(is_saved)
}

/// By its name, or by the last part of its path. A pattern has no such part.
fn is_called(root: &SavedRoot, text: &OsStr) -> bool {
    let is_name = root.name.as_deref().is_some_and(|name| text == name);
    is_name || (root.pattern.is_none() && root.path.file_name() == Some(text))
}
