//! Directories to share, and settings for tests.

use std::path::Path;
use std::time::Duration;

use rootward_core::session::Policy;
use rootward_server::Settings;
use tempfile::TempDir;

/// Two directories `a` and `b`, each with a file `file` that holds its name.
pub(crate) struct Stage {
    directory: TempDir,
}

impl Stage {
    pub(crate) fn new() -> Stage {
        let directory = tempfile::tempdir().unwrap();
        for name in ["a", "b"] {
            std::fs::create_dir(directory.path().join(name)).unwrap();
            std::fs::write(directory.path().join(name).join("file"), name).unwrap();
        }
        Stage { directory }
    }

    pub(crate) fn path(&self, below: &str) -> String {
        self.place().join(below).to_str().unwrap().to_owned()
    }

    pub(crate) fn place(&self) -> &Path {
        self.directory.path()
    }
}

/// The defaults with short times.
pub(crate) fn settings() -> Settings {
    let mut settings = Settings::new(None);
    settings.policy = Policy {
        timeout: Duration::from_secs(10),
        debounce: Duration::from_millis(20),
        debounce_limit: Duration::from_millis(100),
        retry_after: Duration::from_millis(50),
        ..Policy::default()
    };
    settings
}
