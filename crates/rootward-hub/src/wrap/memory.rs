//! Handshakes that are remembered: what this very command answered to this very `initialize`.
//!
//! A legacy client tells its roots only after `initialize` was answered, and the server starts only when they are known. So the
//! answer comes from the last time. It lies below Rootward's own directory, which no server can write to.

use std::ffi::{OsStr, OsString};
use std::fs::{DirBuilder, OpenOptions};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::PathBuf;

use rootward_core::Shown;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// The largest file that is read: a handshake with long instructions is a few kilobytes.
const LARGEST: u64 = 1 << 20;

/// Where handshakes are kept, and of which command.
#[derive(Clone, Debug)]
pub(super) struct Memory {
    directory: Option<PathBuf>,
    command: String,
}

/// What is known of the last time.
#[derive(Clone, Debug)]
pub(super) struct Remembered {
    /// The result of `initialize`, as it came.
    pub(super) result: Box<RawValue>,
    /// Whether the server asks for its roots by itself once it has started, where that is known.
    pub(super) asks_for_roots: Option<bool>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Kept {
    /// The names of files are hashes, and two commands may share one.
    command: String,
    fingerprint: String,
    asks_for_roots: Option<bool>,
    result: Box<RawValue>,
}

impl Memory {
    /// The memory of a command in a directory; without one, nothing is remembered.
    pub(super) fn new(directory: Option<PathBuf>, program: &OsStr, arguments: &[OsString]) -> Memory {
        let words = [program].into_iter().chain(arguments.iter().map(OsString::as_os_str));
        let words: Vec<String> = words.map(|word| Shown::new(word).to_string()).collect();
        // As JSON, because words may hold blanks.
        Memory { directory, command: serde_json::Value::from(words).to_string() }
    }

    fn path(&self, fingerprint: &str) -> Option<PathBuf> {
        let mut hasher = DefaultHasher::new();
        (&self.command, fingerprint).hash(&mut hasher);
        Some(self.directory.as_ref()?.join(format!("{:016x}.json", hasher.finish())))
    }

    /// What this command answered the last time; nothing where the file cannot be read.
    #[expect(clippy::disallowed_methods, reason = "a file of Rootward's own")]
    pub(super) fn recall_ambient(&self, fingerprint: &str) -> Option<Remembered> {
        let file = OpenOptions::new().read(true).open(self.path(fingerprint)?).ok()?;
        let mut text = String::new();
        file.take(LARGEST).read_to_string(&mut text).ok()?;
        let kept: Kept = serde_json::from_str(&text).ok()?;
        let same = kept.command == self.command && kept.fingerprint == fingerprint;
        same.then_some(Remembered { result: kept.result, asks_for_roots: kept.asks_for_roots })
    }

    /// Keeps what the command answered. A disk that is full costs the next start some time, and nothing else.
    #[expect(clippy::disallowed_methods, reason = "a file of Rootward's own")]
    pub(super) fn keep_ambient(&self, fingerprint: &str, remembered: &Remembered) {
        let (Some(path), Some(directory)) = (self.path(fingerprint), &self.directory) else { return };
        let kept = Kept {
            command: self.command.clone(),
            fingerprint: fingerprint.to_owned(),
            asks_for_roots: remembered.asks_for_roots,
            result: remembered.result.clone(),
        };
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

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests look at the files")]
mod tests {
    use super::*;

    #[test]
    fn a_handshake_is_remembered_for_the_same_command_and_the_same_question() {
        let directory = tempfile::tempdir().unwrap();
        let memory = |arguments: &[&str]| {
            let arguments: Vec<OsString> = arguments.iter().map(OsString::from).collect();
            Memory::new(Some(directory.path().join("h")), OsStr::new("npx"), &arguments)
        };
        let result = RawValue::from_string(r#"{ "a" : 1.0 }"#.to_owned()).unwrap();
        assert!(memory(&["a", "b"]).recall_ambient("f").is_none());
        memory(&["a", "b"]).keep_ambient("f", &Remembered { result, asks_for_roots: Some(true) });
        let found = memory(&["a", "b"]).recall_ambient("f").unwrap();
        assert_eq!((found.result.get(), found.asks_for_roots), (r#"{ "a" : 1.0 }"#, Some(true)));
        assert!(memory(&["a b"]).recall_ambient("f").is_none());
        assert!(memory(&["a", "b"]).recall_ambient("g").is_none());
        // Half a file is none.
        let path = memory(&["a", "b"]).path("f").unwrap();
        std::fs::write(&path, "{\"command\":").unwrap();
        assert!(memory(&["a", "b"]).recall_ambient("f").is_none());
        assert!(Memory::new(None, OsStr::new("npx"), &[]).recall_ambient("f").is_none());
    }
}
