//! The directories of a transcript, and its changes to them.
//!
//! `$A`, `$B` and `$OUTSIDE` lie beside each other in `$TOP`, each with a file `file` that contains `a`, `b` or `outside`.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tempfile::TempDir;

use super::frame::Names;

/// The directories: the name in transcripts, and the name on disk, which is also the content of `file`.
const PLACES: [(&str, &str); 3] = [("A", "a"), ("B", "b"), ("OUTSIDE", "outside")];

/// The directories of one transcript, removed when dropped.
#[derive(Debug)]
pub struct Stage {
    directory: TempDir,
}

/// A change on disk. Paths may begin with a `$NAME`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Change {
    Mkdir(String),
    Write(String, String),
    Link { link: String, target: String },
    Remove(String),
}

impl Stage {
    /// Creates the directories and their files.
    pub fn new() -> io::Result<Stage> {
        let directory = tempfile::tempdir()?;
        for (_, name) in PLACES {
            fs::create_dir(directory.path().join(name))?;
            fs::write(directory.path().join(name).join("file"), name)?;
        }
        Ok(Stage { directory })
    }

    /// `$TOP`.
    pub fn top(&self) -> &Path {
        self.directory.path()
    }

    /// The directories by name.
    pub(super) fn names(&self) -> Names {
        names(self.top())
    }

    /// Replaces the `$NAME` at the start of `text`.
    pub fn path(&self, text: &str) -> Result<PathBuf, String> {
        path(text, &self.names()).map(PathBuf::from)
    }

    pub(super) fn change(&self, change: &Change) -> Result<(), String> {
        let inside = |text: &str| {
            let path = self.path(text)?;
            let plain = path.components().all(|part| part != std::path::Component::ParentDir);
            if plain && path.starts_with(self.top()) { Ok(path) } else { Err(format!("`{text}` is not in `$TOP`")) }
        };
        let done = match change {
            Change::Mkdir(path) => fs::create_dir(inside(path)?),
            Change::Write(path, text) => fs::write(inside(path)?, text),
            Change::Link { link, target } => std::os::unix::fs::symlink(self.path(target)?, inside(link)?),
            Change::Remove(path) => match inside(path)? {
                path if path.is_dir() && !path.is_symlink() => fs::remove_dir_all(path),
                path => fs::remove_file(path),
            },
        };
        done.map_err(|error| error.to_string())
    }
}

/// The names of a stage at `top`.
pub(super) fn names(top: &Path) -> Names {
    let text = |path: &Path| Value::from(path.to_string_lossy());
    let mut names = Names::from([("TOP".to_owned(), text(top))]);
    names.extend(PLACES.map(|(name, place)| (name.to_owned(), text(&top.join(place)))));
    names
}

/// Replaces the `$NAME` at the start of a path.
pub(super) fn path(text: &str, names: &Names) -> Result<String, String> {
    let Some(rest) = text.strip_prefix('$') else {
        return Ok(text.to_owned());
    };
    let end = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
    let (name, rest) = rest.split_at(end);
    let place = names.get(name).and_then(Value::as_str).ok_or_else(|| format!("unknown name `${name}`"))?;
    Ok(format!("{place}{rest}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_stay_on_the_stage() {
        let stage = Stage::new().unwrap();
        let mkdir = |path: &str| stage.change(&Change::Mkdir(path.to_owned()));
        assert_eq!(mkdir("$A/new"), Ok(()));
        assert!(stage.top().join("a/new").is_dir());
        assert!(mkdir("$A/../../new").is_err() && mkdir("/new").is_err() && mkdir("$C/new").is_err());
        let link = Change::Link { link: "$TOP/link".to_owned(), target: "$A".to_owned() };
        assert_eq!(stage.change(&link), Ok(()));
        assert_eq!(stage.change(&Change::Remove("$TOP/link".to_owned())), Ok(()));
        assert!(stage.top().join("a/file").exists());
        assert_eq!(stage.change(&Change::Remove("$A".to_owned())), Ok(()));
        assert!(!stage.top().join("a").exists());
        assert!(stage.change(&Change::Remove("$A".to_owned())).is_err());
    }
}
