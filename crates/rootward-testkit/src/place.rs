//! Temporary directories for a program under test: a home, a project, whatever the test needs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

/// Directories on disk, removed when dropped. Methods panic on I/O errors.
#[derive(Debug)]
pub struct Place {
    /// Canonical, as programs show it.
    top: PathBuf,
    _directory: TempDir,
}

impl Place {
    /// Creates these directories in a new place.
    pub fn with(names: &[&str]) -> Place {
        let directory = sure(tempfile::tempdir());
        let place = Place { top: sure(directory.path().canonicalize()), _directory: directory };
        for name in names {
            sure(fs::create_dir_all(place.path(name)));
        }
        place
    }

    /// The path of something in this place.
    pub fn path(&self, below: &str) -> PathBuf {
        self.top.join(below)
    }

    /// The same as a string.
    pub fn text(&self, below: &str) -> String {
        self.path(below).display().to_string()
    }

    /// The same as a URI.
    pub fn uri(&self, below: &str) -> String {
        format!("file://{}", self.text(below))
    }

    /// Writes a file, and creates its parent directories.
    pub fn write(&self, below: &str, text: &str) -> PathBuf {
        let path = self.path(below);
        sure(fs::create_dir_all(path.parent().unwrap_or(Path::new("/"))));
        sure(fs::write(&path, text));
        path
    }

    /// Reads a file.
    pub fn read(&self, below: &str) -> String {
        sure(fs::read_to_string(self.path(below)))
    }

    /// Runs a command in this place with `home` as its home, without the tester's environment except `PATH`.
    pub fn alone(&self, command: &mut Command) {
        command.current_dir(&self.top).env_clear().envs(std::env::vars_os().filter(|(name, _)| name == "PATH"));
        command.env("HOME", self.path("home"));
    }
}

#[expect(clippy::panic, reason = "a test that cannot go on has failed")]
fn sure<T>(outcome: std::io::Result<T>) -> T {
    outcome.unwrap_or_else(|error| panic!("{error}"))
}
