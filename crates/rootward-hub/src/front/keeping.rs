//! What is remembered of a server, on disk: below Rootward's own directory, which no server can write to.

use std::ffi::{OsStr, OsString};
use std::fs::{DirBuilder, OpenOptions};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rootward_core::Shown;
use serde::{Deserialize, Serialize};

use crate::engine::Memory;

/// The largest file that is read.
const LARGEST: u64 = 16 << 20;

/// Where the memory of one server is kept.
#[derive(Clone, Debug)]
pub(crate) struct Keeping {
    directory: Option<PathBuf>,
    /// The server: the words of its command.
    command: String,
}

#[derive(Serialize, Deserialize)]
struct Kept {
    /// The names of files are hashes, and two commands may share one.
    command: String,
    memory: Memory,
}

impl Keeping {
    /// The memory of a command in a directory; without one, nothing is remembered.
    pub(crate) fn new_ambient(directory: Option<PathBuf>, program: &OsStr, arguments: &[OsString]) -> Keeping {
        let here = std::env::current_dir().unwrap_or_default();
        let words = || [program].into_iter().chain(arguments.iter().map(OsString::as_os_str));
        // SECURITY: the same words mean another server where they name something in the working directory: one project's server must not
        // speak for another's (test: a_server_of_one_project_is_not_remembered_in_another)
        let place = if words().any(|word| is_here_ambient(&here, word)) { here.as_os_str() } else { OsStr::new("") };
        let words: Vec<String> = [place].into_iter().chain(words()).map(|word| Shown::new(word).to_string()).collect();
        // As JSON, because words may hold blanks.
        Keeping { directory, command: serde_json::Value::from(words).to_string() }
    }

    fn path(&self) -> Option<PathBuf> {
        let mut hasher = DefaultHasher::new();
        self.command.hash(&mut hasher);
        Some(self.directory.as_ref()?.join(format!("{:016x}.json", hasher.finish())))
    }

    /// What is remembered; nothing where the file cannot be read.
    pub(crate) fn recall_ambient(&self) -> Memory {
        self.read_ambient().unwrap_or_default()
    }

    #[expect(clippy::disallowed_methods, reason = "a file of Rootward's own")]
    fn read_ambient(&self) -> Option<Memory> {
        let file = OpenOptions::new().read(true).open(self.path()?).ok()?;
        let mut text = String::new();
        file.take(LARGEST).read_to_string(&mut text).ok()?;
        let kept: Kept = serde_json::from_str(&text).ok()?;
        (kept.command == self.command).then_some(kept.memory)
    }

    /// Keeps what is remembered. A disk that is full costs the next start some time, and nothing else.
    #[expect(clippy::disallowed_methods, reason = "a file of Rootward's own")]
    pub(crate) fn keep_ambient(&self, memory: &Memory) {
        let (Some(path), Some(directory)) = (self.path(), &self.directory) else { return };
        let kept = Kept { command: self.command.clone(), memory: memory.clone() };
        let Ok(text) = serde_json::to_string(&kept) else { return };
        let _ = DirBuilder::new().recursive(true).mode(0o700).create(directory);
        // Beside it first, so that nobody reads half of it.
        let beside = path.with_extension(format!("{}.tmp", std::process::id()));
        let file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&beside);
        let written = file.and_then(|mut file| file.write_all(text.as_bytes()));
        let _ = match written {
            Ok(()) => std::fs::rename(&beside, &path),
            Err(_) => std::fs::remove_file(&beside),
        };
    }
}

/// Whether a word of a command names something in this directory.
#[expect(clippy::disallowed_methods, reason = "the operator's own words, looked up where the operator is")]
fn is_here_ambient(here: &Path, word: &OsStr) -> bool {
    !word.is_empty() && Path::new(word).is_relative() && here.join(word).symlink_metadata().is_ok()
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests look at the files")]
mod tests {
    use super::*;

    #[test]
    fn a_memory_is_kept_for_its_command() {
        let directory = tempfile::tempdir().unwrap();
        let keeping = |arguments: &[&str]| {
            let arguments: Vec<OsString> = arguments.iter().map(OsString::from).collect();
            Keeping::new_ambient(Some(directory.path().join("h")), OsStr::new("npx"), &arguments)
        };
        let memory: Memory = serde_json::from_str(
            r#"{"handshakes":[{"fingerprint":"f","remembered":{"result":{"a":1.0},"asksForRoots":true}}]}"#,
        )
        .unwrap();
        assert!(keeping(&["a", "b"]).read_ambient().is_none());
        keeping(&["a", "b"]).keep_ambient(&memory);
        let found = keeping(&["a", "b"]).read_ambient().unwrap();
        assert_eq!(serde_json::to_string(&found).unwrap(), serde_json::to_string(&memory).unwrap());
        assert!(keeping(&["a b"]).read_ambient().is_none());
        // Half a file is none.
        let path = keeping(&["a", "b"]).path().unwrap();
        std::fs::write(&path, "{\"command\":").unwrap();
        assert!(keeping(&["a", "b"]).read_ambient().is_none());
        assert!(Keeping::new_ambient(None, OsStr::new("npx"), &[]).read_ambient().is_none());
    }

    #[test]
    fn a_server_of_one_project_is_not_remembered_in_another() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("server.py"), "").unwrap();
        let check = |word: &str, expect: bool| {
            assert_eq!(is_here_ambient(directory.path(), OsStr::new(word)), expect, "{word}");
        };
        check("server.py", true);
        check("./server.py", true);
        check("other.py", false);
        check("", false);
        check("/server.py", false);
    }
}
