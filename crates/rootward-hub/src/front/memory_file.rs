//! The memory of a server on disk, below Rootward's own directory, which no server can write to.

use std::ffi::{OsStr, OsString};
use std::fs::{DirBuilder, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rootward_core::Shown;
use rootward_protocol::method;
use rootward_sandbox::{PackageCommand, Registry};
use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::engine::Memory;

/// The largest file that is read.
const LARGEST: u64 = 16 << 20;

/// Files and directories that can change which package `npx` and `bunx` run. The Python runners ignore projects.
const DECIDING_FILES: [&str; 4] = ["node_modules", "package.json", ".npmrc", "bunfig.toml"];

/// Lists that may describe the project that a server runs in. They are not cached for other projects.
const PROJECT_LISTS: [&str; 2] = [method::LIST_RESOURCES, method::LIST_TEMPLATES];

/// The file with the memory of one server.
#[derive(Clone, Debug)]
pub(crate) struct MemoryFile {
    directory: Option<PathBuf>,
    /// The words of the command, after the directory that it belongs to, if any.
    command: String,
    reach: Reach,
}

/// Where a memory is valid.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Reach {
    /// In one directory. The same command may start another server elsewhere.
    Here,
    /// Everywhere. The command names a package, and no local file can replace it.
    Everywhere,
}

#[derive(Serialize, Deserialize)]
struct StoredMemory {
    /// To detect a hash collision: the file name is a hash of this.
    command: String,
    memory: Memory,
}

impl MemoryFile {
    /// The memory of a command that was typed in the working directory. Without `directory`, nothing is cached.
    pub(crate) fn new_ambient(directory: Option<PathBuf>, program: &OsStr, arguments: &[OsString]) -> MemoryFile {
        let here = std::env::current_dir().unwrap_or_default();
        let reach = reach_ambient(&here, program, arguments);
        let place = if reach == Reach::Here { here.as_os_str() } else { OsStr::new("") };
        let words = [place, program].into_iter().chain(arguments.iter().map(OsString::as_os_str));
        let words: Vec<String> = words.map(|word| Shown::new(word).to_string()).collect();
        // As JSON, because a word may contain blanks.
        MemoryFile { directory, command: serde_json::Value::from(words).to_string(), reach }
    }

    /// The same for one of several servers, because two may have the same command and different variables.
    pub(crate) fn of_server(self, name: &str) -> MemoryFile {
        MemoryFile { command: format!("{} {}", serde_json::Value::from(name), self.command), ..self }
    }

    fn path(&self) -> Option<PathBuf> {
        // A stable hash, so that the memory survives an upgrade.
        let digest = Sha256::digest(&self.command);
        let hash = digest.iter().take(8).fold(0, |hash: u64, byte| hash << 8 | u64::from(*byte));
        Some(self.directory.as_ref()?.join(format!("{hash:016x}.json")))
    }

    /// The cached memory. Empty if the file cannot be read.
    pub(crate) fn recall_ambient(&self) -> Memory {
        self.read_ambient().unwrap_or_default()
    }

    #[expect(clippy::disallowed_methods, reason = "a file of Rootward's own")]
    fn read_ambient(&self) -> Option<Memory> {
        // Do not follow a link, and do not block on a FIFO.
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let flags = i32::try_from(flags.bits()).ok()?;
        let file = OpenOptions::new().read(true).custom_flags(flags).open(self.path()?).ok()?;
        if !file.metadata().ok()?.is_file() {
            return None;
        }
        let mut text = String::new();
        file.take(LARGEST).read_to_string(&mut text).ok()?;
        let kept: StoredMemory = serde_json::from_str(&text).ok()?;
        (kept.command == self.command).then_some(kept.memory)
    }

    /// Writes the memory. If that fails, the next start is slower.
    #[expect(clippy::disallowed_methods, reason = "a file of Rootward's own")]
    pub(crate) fn keep_ambient(&self, memory: &Memory) {
        let (Some(path), Some(directory)) = (self.path(), &self.directory) else { return };
        let memory = match self.reach {
            Reach::Here => memory.clone(),
            Reach::Everywhere => memory.clone().without(&PROJECT_LISTS),
        };
        let kept = StoredMemory { command: self.command.clone(), memory };
        let Ok(text) = serde_json::to_string(&kept) else { return };
        let _ = DirBuilder::new().recursive(true).mode(0o700).create(directory);
        // Write a temporary file first, so that nobody reads half a file.
        let temporary = path.with_extension(format!("{}.tmp", std::process::id()));
        let file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&temporary);
        let written = file.and_then(|mut file| file.write_all(text.as_bytes()));
        let _ = match written {
            Ok(()) => std::fs::rename(&temporary, &path),
            Err(_) => std::fs::remove_file(&temporary),
        };
    }
}

// SECURITY: a server of one project must not answer for a server of another, so a memory is valid everywhere only if
// nothing in the directory can change what the command starts
// (test: a_server_of_one_project_is_not_remembered_in_another)
fn reach_ambient(here: &Path, program: &OsStr, arguments: &[OsString]) -> Reach {
    let Some(command) = PackageCommand::read(program, arguments) else { return Reach::Here };
    let is_package = |word: &OsString| {
        let text = word.to_str().unwrap_or(".");
        !text.starts_with('.') && !text.contains(':') && !is_here_ambient(here, word)
    };
    let is_runner = !is_here_ambient(here, program) && arguments.iter().all(is_package);
    // A file here or in a parent directory may name another registry, or be a package of the same name.
    let decides = |place: &Path| DECIDING_FILES.iter().any(|name| is_here_ambient(place, OsStr::new(name)));
    let is_decided = command.registry == Registry::Npm && here.ancestors().any(decides);
    if is_runner && !is_decided { Reach::Everywhere } else { Reach::Here }
}

/// Whether a word of a command is the name of something in this directory.
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
        let memory_file = |arguments: &[&str]| {
            let arguments: Vec<OsString> = arguments.iter().map(OsString::from).collect();
            MemoryFile::new_ambient(Some(directory.path().join("h")), OsStr::new("npx"), &arguments)
        };
        let memory: Memory = serde_json::from_str(
            r#"{"handshakes":[{"fingerprint":"f","remembered":{"result":{"a":1.0},"asksForRoots":true}}]}"#,
        )
        .unwrap();
        assert!(memory_file(&["a", "b"]).read_ambient().is_none());
        memory_file(&["a", "b"]).keep_ambient(&memory);
        let found = memory_file(&["a", "b"]).read_ambient().unwrap();
        assert_eq!(serde_json::to_string(&found).unwrap(), serde_json::to_string(&memory).unwrap());
        assert!(memory_file(&["a b"]).read_ambient().is_none());
        // Half a file says nothing.
        let path = memory_file(&["a", "b"]).path().unwrap();
        std::fs::write(&path, "{\"command\":").unwrap();
        assert!(memory_file(&["a", "b"]).read_ambient().is_none());
        std::fs::remove_file(&path).unwrap();
        rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU, 0).unwrap();
        assert!(memory_file(&["a", "b"]).read_ambient().is_none(), "nobody waits for a FIFO");
        assert!(MemoryFile::new_ambient(None, OsStr::new("npx"), &[]).read_ambient().is_none());
    }

    #[test]
    fn a_file_has_the_same_name_in_every_build() {
        let command = r#"["","npx","-y","@modelcontextprotocol/server-memory"]"#.to_owned();
        let memory_file = MemoryFile { directory: Some("/state".into()), command, reach: Reach::Everywhere };
        assert_eq!(memory_file.path().unwrap(), Path::new("/state/91a3f1ac253851d1.json"));
    }

    #[test]
    fn a_server_of_one_project_is_not_remembered_in_another() {
        let directory = tempfile::tempdir().unwrap();
        let here = directory.path();
        std::fs::write(here.join("server.py"), "").unwrap();
        let check = |line: &str, expect: Reach| {
            let mut words = line.split(' ').map(OsString::from);
            let program = words.next().unwrap();
            assert_eq!(reach_ambient(here, &program, &words.collect::<Vec<_>>()), expect, "{line}");
        };
        check("npx -y @modelcontextprotocol/server-filesystem /srv", Reach::Everywhere);
        check("/usr/bin/uvx mcp-server-git", Reach::Everywhere);
        check("uv tool run mcp-server-git", Reach::Everywhere);
        check("pipx run mcp-server-git", Reach::Everywhere);
        for line in [
            "python server.py",
            "python -m server",
            "npm run mcp",
            "uv run server",
            "make serve",
            "sh -c ./run.sh",
            "/opt/server",
            "npx ./server",
            "npx server.py",
            "npx file:../x",
            "npx git+https://example.org/x",
            "uvx --from . server",
            "npx -p other server",
            "npx --registry x server",
        ] {
            check(line, Reach::Here);
        }
        for name in DECIDING_FILES {
            check("npx -y server", Reach::Everywhere);
            std::fs::write(here.join(name), "").unwrap();
            check("npx -y server", Reach::Here);
            check("uvx server", Reach::Everywhere);
            std::fs::remove_file(here.join(name)).unwrap();
        }
    }
}
