//! What is running now: one file per running `wrap` and `hub` in Rootward's state directory, which no server can
//! write to.

use std::fs::{DirBuilder, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rootward_sandbox::{Network, Strength};
use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};

/// The largest status file that is read.
const LARGEST: u64 = 1 << 20;

/// A running `wrap` or `hub`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Running {
    /// The process id.
    pub process: u32,
    /// The command.
    pub kind: Kind,
    /// Start time of the process. It tells a reused process id from the original process.
    born: u64,
    /// The running servers.
    pub servers: Vec<RunningServer>,
}

/// The command that runs the servers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Kind {
    /// `rootward wrap`.
    Wrap,
    /// `rootward hub`.
    Hub,
}

/// A running server.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunningServer {
    /// The name in the audit log.
    pub name: String,
    /// The process id.
    pub process: u32,
    /// The directories that it runs with.
    pub roots: Vec<RunningRoot>,
    /// How strongly the kernel confines it.
    pub strength: Strength,
    /// Whether it can reach the network.
    pub network: bool,
}

/// A directory that a server runs with.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunningRoot {
    /// The path.
    pub path: String,
    /// The words of the allowed access.
    pub access: Vec<String>,
    /// The operator's pattern that matched this directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
}

/// Whether a server can reach the network.
pub(crate) fn is_open(network: Network) -> bool {
    network == Network::On
}

/// The status file of this process.
#[derive(Debug)]
pub(crate) struct StatusFile {
    path: PathBuf,
    running: Running,
}

impl StatusFile {
    /// Names the file of this process in `directory`; writes nothing yet.
    pub(crate) fn new_ambient(directory: &Path, kind: Kind) -> Option<StatusFile> {
        let process = std::process::id();
        let running = Running { process, kind, born: born_ambient(process)?, servers: Vec::new() };
        Some(StatusFile { path: directory.join(format!("{process}.json")), running })
    }

    /// Writes which servers run. If the disk is full, the old status stays.
    pub(crate) fn tell_ambient(&mut self, servers: Vec<RunningServer>) {
        self.running.servers = servers;
        let _ = self.write_ambient();
    }

    #[expect(clippy::disallowed_methods, reason = "a file of Rootward's own")]
    fn write_ambient(&self) -> io::Result<()> {
        let text = serde_json::to_string(&self.running)?;
        if let Some(directory) = self.path.parent() {
            DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
        }
        // Write to a temporary file first, so that nobody reads half a file.
        let beside = self.path.with_extension("tmp");
        let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&beside)?;
        file.write_all(text.as_bytes())?;
        std::fs::rename(&beside, &self.path)
    }
}

impl Drop for StatusFile {
    #[expect(clippy::disallowed_methods, reason = "a file of Rootward's own")]
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

/// The status files of a directory.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct StatusFiles {
    /// What is running now, by process id.
    pub running: Vec<Running>,
    /// The number of running processes whose file cannot be parsed: another version of Rootward wrote it.
    pub of_other_versions: usize,
}

/// The process that wrote a status file. Every version writes these fields.
#[derive(Deserialize)]
struct Writer {
    process: u32,
    born: u64,
}

/// Everything that is running now. Removes the files of processes that have ended.
#[expect(clippy::disallowed_methods, reason = "files of Rootward's own")]
pub fn running_ambient(directory: &Path) -> io::Result<StatusFiles> {
    let mut files = StatusFiles::default();
    let entries = match std::fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(files),
        Err(error) => return Err(error),
    };
    for entry in entries.flatten() {
        let path = entry.path();
        let Some(named) = process_in_name(&path) else { continue };
        let text = match read_ambient(&path) {
            Ok(text) => text,
            // Its process has just removed it.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(_) => String::new(),
        };
        let runs = match serde_json::from_str::<Writer>(&text) {
            Ok(writer) => born_ambient(writer.process) == Some(writer.born),
            Err(_) => born_ambient(named).is_some(),
        };
        match serde_json::from_str(&text) {
            _ if !runs => drop(std::fs::remove_file(&path)),
            Ok(running) => files.running.push(running),
            Err(_) => files.of_other_versions += 1,
        }
    }
    files.running.sort_by_key(|running| running.process);
    Ok(files)
}

/// The process id in the name of a status file: `PID.json`.
fn process_in_name(path: &Path) -> Option<u32> {
    if path.extension()? != "json" {
        return None;
    }
    path.file_stem()?.to_str()?.parse().ok()
}

#[expect(clippy::disallowed_methods, reason = "a file of Rootward's own")]
fn read_ambient(path: &Path) -> io::Result<String> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC).bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    let mut text = String::new();
    file.take(LARGEST).read_to_string(&mut text)?;
    Ok(text)
}

/// Start time of a process in clock ticks since boot: field 22 of `proc_pid_stat(5)`. The process name before it may
/// contain anything, but ends at the last parenthesis.
#[expect(clippy::disallowed_methods, reason = "a file in /proc, not chosen by a peer")]
fn born_ambient(process: u32) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let (_, behind) = text.rsplit_once(')')?;
    behind.split_whitespace().nth(19)?.parse().ok()
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests look at the files")]
mod tests {
    use super::*;

    #[test]
    fn running_servers_are_listed_and_ended_ones_are_not() {
        let directory = tempfile::tempdir().unwrap();
        let place = directory.path().join("running");
        assert_eq!(running_ambient(&place).unwrap(), StatusFiles::default());
        let mut file = StatusFile::new_ambient(&place, Kind::Hub).unwrap();
        let root = RunningRoot { path: "/srv".to_owned(), access: vec!["read".to_owned()], pattern: None };
        let server = RunningServer {
            name: "a".to_owned(),
            process: 7,
            roots: vec![root],
            strength: Strength::Landlock,
            network: true,
        };
        file.tell_ambient(vec![server.clone()]);
        let found = running_ambient(&place).unwrap().running;
        assert_eq!((found.len(), found[0].process, &found[0].servers), (1, std::process::id(), &vec![server]));
        // Another process that reuses the id of one that ended.
        let mut other = file.running.clone();
        other.born += 1;
        std::fs::write(place.join("1.json"), serde_json::to_string(&other).unwrap()).unwrap();
        let found = running_ambient(&place).unwrap();
        assert_eq!((found.running.len(), found.of_other_versions), (1, 0));
        assert!(!place.join("1.json").exists());
        drop(file);
        assert_eq!(running_ambient(&place).unwrap(), StatusFiles::default());
    }

    #[test]
    fn files_of_another_version_are_counted_while_their_process_runs() {
        let directory = tempfile::tempdir().unwrap();
        let place = directory.path();
        let own = std::process::id();
        let born = born_ambient(own).unwrap();
        // Linux gives no process this id.
        let gone = u32::MAX;
        let other = |process: u32, born: u64| {
            let root = serde_json::json!({"place": "/srv", "access": "read"});
            let server = serde_json::json!({"name": "a", "roots": [root]});
            serde_json::json!({"process": process, "kind": "wrap", "born": born, "servers": [server]}).to_string()
        };
        let check = |name: &str, text: &str, count: usize, stays: bool| {
            let file = place.join(name);
            std::fs::write(&file, text).unwrap();
            let found = running_ambient(place).unwrap();
            assert_eq!(
                (found.running.len(), found.of_other_versions, file.exists()),
                (0, count, stays),
                "{name} {text}"
            );
            let _ = std::fs::remove_file(file);
        };
        let (own_name, gone_name) = (format!("{own}.json"), format!("{gone}.json"));
        check(&own_name, &other(own, born), 1, true);
        // Another process that reuses the id of one that ended.
        check(&own_name, &other(own, born + 1), 0, false);
        check(&gone_name, &other(gone, born), 0, false);
        check(&own_name, "{", 1, true);
        check(&gone_name, "{", 0, false);
        check(&gone_name, "", 0, false);
        // No status files.
        check("notes.json", "{", 0, true);
        check(&format!("{gone}.tmp"), "{", 0, true);
    }
}
