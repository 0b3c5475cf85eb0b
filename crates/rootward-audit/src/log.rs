//! The audit log on disk: one file per process, readable by the user only, in lines of JSON that form a hash chain.
//!
//! A line is written before the decision takes effect. If a file grows too large, or somebody deletes it, a new file
//! continues the chain. Files are deleted after three months without a write. There is no limit on their number,
//! because anyone who can start servers could wipe the record by starting many.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rootward_core::{Audit, AuditEvent, ChangeEvent};
use rustix::fs::{Access, access};

use crate::chain::Chain;
use crate::files::{First, LogFile};

/// The size in bytes at which a new file is started.
const LARGEST_FILE: u64 = 16 << 20;
/// How long to keep a file after the last write.
const KEPT: Duration = Duration::from_hours(90 * 24);

/// Gives each log of this process its own number.
static LOGS: AtomicU32 = AtomicU32::new(0);

/// A log in a directory of its own: the user's, where `rootward audit` looks for it, or any other.
#[derive(Debug)]
pub struct AuditLog {
    directory: PathBuf,
    /// The base name of its files.
    name: String,
    largest: u64,
    /// None before the first line.
    writing: Mutex<Option<Writing>>,
}

#[derive(Debug)]
struct Writing {
    /// The base name of the log's files.
    name: String,
    part: u32,
    file: File,
    size: u64,
    chain: Chain,
}

impl AuditLog {
    /// A new log in `directory`, which is created if it does not exist and must be writable. The file is created with
    /// the first line: many processes decide nothing, and startup should not wait for the disk. The directory is opened
    /// by name because the log is Rootward's own.
    pub fn open_ambient(directory: &Path) -> io::Result<AuditLog> {
        AuditLog::open_with(directory, LARGEST_FILE)
    }

    fn open_with(directory: &Path, largest: u64) -> io::Result<AuditLog> {
        make_ambient(directory)?;
        // Taken first, so no decision in this log has an earlier date.
        let started = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
        let number = LOGS.fetch_add(1, Ordering::Relaxed);
        let name = format!("{started:014}-{}-{number}", std::process::id());
        Ok(AuditLog { directory: directory.to_owned(), name, largest, writing: Mutex::new(None) })
    }

    /// Opens the first file.
    fn begin(&self) -> io::Result<Writing> {
        remove_old_ambient(&self.directory, SystemTime::now())?;
        Writing::begin(&self.directory, self.name.clone(), 0, Chain::default())
    }
}

impl Audit for AuditLog {
    fn record(&self, event: &AuditEvent) -> io::Result<()> {
        self.append(&serde_json::to_string(event)?)
    }

    fn record_change(&self, event: &ChangeEvent) -> io::Result<()> {
        self.append(&serde_json::to_string(event)?)
    }
}

impl AuditLog {
    fn append(&self, line: &str) -> io::Result<()> {
        let mut slot = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let writing = match &mut *slot {
            Some(writing) => writing,
            none => none.insert(self.begin()?),
        };
        // SECURITY: a line in a deleted file would be lost (test: a_deleted_log_is_started_again)
        if writing.size >= self.largest || writing.file.metadata()?.nlink() == 0 {
            let (name, part, chain) = (writing.name.clone(), writing.part + 1, writing.chain.clone());
            *writing = Writing::begin(&self.directory, name, part, chain)?;
        }
        writing.write(line)
    }
}

impl Writing {
    /// Creates a file and writes its first line: which log it belongs to, and which chain it continues.
    fn begin(directory: &Path, name: String, part: u32, chain: Chain) -> io::Result<Writing> {
        let path = directory.join(LogFile::name(&name, part));
        let first = serde_json::to_string(&First { log: name.clone(), after: chain.last().to_owned() })?;
        let file = create_ambient(&path)?;
        let mut writing = Writing { name, part, file, size: 0, chain };
        if let Err(error) = writing.write(&first) {
            // The file would block the next attempt, when there is space again.
            remove_ambient(&path)?;
            return Err(error);
        }
        Ok(writing)
    }

    fn write(&mut self, line: &str) -> io::Result<()> {
        // The chain advances only if the whole line is on disk, so a failed write does not break it.
        let mut chain = self.chain.clone();
        let text = chain.link(line) + "\n";
        if let Err(error) = self.file.write_all(text.as_bytes()) {
            // Remove the partial line, so that the next line starts clean.
            let _ = self.file.set_len(self.size);
            return Err(error);
        }
        self.size += text.len() as u64;
        self.chain = chain;
        Ok(())
    }
}

/// Creates the directory, private to the user, and checks that this process can write to it.
#[expect(clippy::disallowed_methods, reason = "the log is Rootward's own")]
fn make_ambient(directory: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
    Ok(access(directory, Access::WRITE_OK | Access::EXEC_OK)?)
}

/// Creates a file; fails if it exists.
#[expect(clippy::disallowed_methods, reason = "the log is Rootward's own")]
fn create_ambient(path: &Path) -> io::Result<File> {
    OpenOptions::new().append(true).create_new(true).mode(0o600).open(path)
}

/// Removes files that have not been written to for a long time. Only files named like log files are removed.
#[expect(clippy::disallowed_methods, reason = "the log is Rootward's own")]
fn remove_old_ambient(directory: &Path, now: SystemTime) -> io::Result<()> {
    for entry in std::fs::read_dir(directory)? {
        let entry = entry?;
        // A log that was started recently was written to recently. Checking the metadata of thousands of files would
        // take longer than the rest of startup.
        let begun = entry.file_name().to_str().and_then(LogFile::begun_in).map(Duration::from_millis);
        let is_recent = |begun| now.duration_since(UNIX_EPOCH + begun).is_ok_and(|age| age <= KEPT);
        if begun.is_some_and(is_recent) {
            continue;
        }
        let Some(file) = LogFile::new(entry.path()) else { continue };
        let written = std::fs::symlink_metadata(file.path()).and_then(|metadata| metadata.modified());
        let is_old = |written| now.duration_since(written).is_ok_and(|age| age > KEPT);
        // If the file is gone, another process removed it.
        if written.is_ok_and(is_old) {
            remove_ambient(file.path())?;
        }
    }
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "the log is Rootward's own")]
fn remove_ambient(path: &Path) -> io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests look at the files")]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use rootward_core::{Access, Decision};

    use super::*;
    use crate::files::files_ambient;
    use crate::verify::{Break, Verification, verify_ambient};

    fn event(path: &str) -> AuditEvent {
        AuditEvent {
            time: SystemTime::UNIX_EPOCH,
            session: "1".to_owned(),
            principal: None,
            client: Some("editor 1.0".to_owned()),
            server: Some("files".to_owned()),
            process: Some(7),
            requester: "tools/call read".to_owned(),
            path: path.to_owned(),
            resolved: None,
            access: Access::READ,
            decision: Decision::Deny,
            code: None,
            root: None,
            generation: 1,
            reason: None,
        }
    }

    fn intact(entries: usize, cut: usize) -> Verification {
        Verification { entries, cut, breaks: Vec::new() }
    }

    /// The only break: the index of its file, and its line.
    fn broken(files: &[LogFile]) -> (usize, usize) {
        let verdict = verify_ambient(files).unwrap();
        assert_eq!(verdict.breaks.len(), 1, "{verdict:?}");
        let Break { file, line, .. } = &verdict.breaks[0];
        (files.iter().position(|known| known.path() == file).unwrap(), *line)
    }

    /// A log of several files, and its directory.
    fn long() -> (tempfile::TempDir, AuditLog) {
        let directory = tempfile::tempdir().unwrap();
        let log = AuditLog::open_with(&directory.path().join("audit"), 1000).unwrap();
        for number in 0..40 {
            log.record(&event(&format!("/p/{number}"))).unwrap();
        }
        (directory, log)
    }

    #[test]
    fn several_files_form_one_chain() {
        let (_directory, log) = long();
        let files = files_ambient(&log.directory).unwrap();
        assert!(files.len() > 3, "{files:?}");
        assert_eq!(verify_ambient(&files).unwrap(), intact(40, 0));
        for file in &files {
            assert_eq!(std::fs::metadata(file.path()).unwrap().permissions().mode() & 0o777, 0o600);
        }
        assert_eq!(std::fs::metadata(&log.directory).unwrap().permissions().mode() & 0o777, 0o700);
    }

    #[test]
    fn missing_files_and_changed_lines_are_found() {
        let (_directory, log) = long();
        let files = files_ambient(&log.directory).unwrap();
        // A file in the middle is missing.
        let mut without = files.clone();
        without.remove(1);
        assert_eq!(broken(&without), (1, 1));
        // The first files are missing, as after their removal by age; the verdict counts it.
        let verdict = verify_ambient(&files[2..]).unwrap();
        assert_eq!((verdict.cut, verdict.breaks), (1, Vec::new()));
        let text = std::fs::read_to_string(files[1].path()).unwrap();
        std::fs::write(files[1].path(), text.replacen("/p/", "/q/", 1)).unwrap();
        assert_eq!(broken(&files), (1, 2));
        // Bytes that are not UTF-8.
        std::fs::write(files[1].path(), b"\xff\n").unwrap();
        assert_eq!(broken(&files), (1, 1));
    }

    #[test]
    fn a_broken_log_hides_no_other() {
        let directory = tempfile::tempdir().unwrap();
        let logs = [0; 3].map(|_| AuditLog::open_with(directory.path(), 1000).unwrap());
        for log in &logs {
            log.record(&event("/a")).unwrap();
        }
        let files = files_ambient(directory.path()).unwrap();
        for file in [&files[0], &files[2]] {
            let text = std::fs::read_to_string(file.path()).unwrap();
            std::fs::write(file.path(), text.replace("/a", "/b")).unwrap();
        }
        let verdict = verify_ambient(&files).unwrap();
        let broken: Vec<_> = verdict.breaks.iter().map(|found| (found.file.as_path(), found.line)).collect();
        assert_eq!(broken, [(files[0].path(), 2), (files[2].path(), 2)]);
        assert_eq!(verdict.entries, 1);
    }

    /// A file that was listed, and that another process removed because it was old.
    #[test]
    fn a_file_removed_meanwhile_is_skipped() {
        let (_directory, log) = long();
        let files = files_ambient(&log.directory).unwrap();
        std::fs::remove_file(files[0].path()).unwrap();
        let verdict = verify_ambient(&files).unwrap();
        assert_eq!((verdict.cut, verdict.breaks), (1, Vec::new()));
    }

    #[test]
    fn logs_in_one_directory_are_separate() {
        let directory = tempfile::tempdir().unwrap();
        let logs = [0; 3].map(|_| AuditLog::open_with(directory.path(), 1000).unwrap());
        for log in logs.iter().chain(&logs) {
            log.record(&event("/a")).unwrap();
        }
        let files = files_ambient(directory.path()).unwrap();
        assert_eq!(verify_ambient(&files).unwrap(), intact(6, 0));
    }

    #[test]
    fn a_deleted_log_is_started_again() {
        let directory = tempfile::tempdir().unwrap();
        let log = AuditLog::open_with(directory.path(), 1000).unwrap();
        log.record(&event("/a")).unwrap();
        std::fs::remove_file(files_ambient(directory.path()).unwrap()[0].path()).unwrap();
        log.record(&event("/b")).unwrap();
        let files = files_ambient(directory.path()).unwrap();
        assert!(std::fs::read_to_string(files[0].path()).unwrap().contains("/b"));
        assert_eq!(verify_ambient(&files).unwrap(), intact(1, 1));
    }

    #[test]
    fn only_old_log_files_are_removed() {
        let (_directory, log) = long();
        // Started long ago, written to just now.
        std::fs::write(log.directory.join(LogFile::name("00000000000001-1-0", 0)), "").unwrap();
        let count = files_ambient(&log.directory).unwrap().len();
        let other = log.directory.join("notes.jsonl");
        std::fs::write(&other, "").unwrap();
        remove_old_ambient(&log.directory, SystemTime::now() + KEPT / 2).unwrap();
        assert_eq!(files_ambient(&log.directory).unwrap().len(), count);
        remove_old_ambient(&log.directory, SystemTime::now() + KEPT * 2).unwrap();
        assert_eq!(files_ambient(&log.directory).unwrap(), []);
        assert!(other.exists());
    }

    /// As on a full disk: the partial line is removed, and the log stays valid.
    #[test]
    fn a_partial_line_is_removed() {
        let directory = tempfile::tempdir().unwrap();
        let log = AuditLog::open_with(directory.path(), 1 << 20).unwrap();
        log.record(&event("/a")).unwrap();
        let exchange = |file| std::mem::replace(&mut log.writing.lock().unwrap().as_mut().unwrap().file, file);
        let read_only = File::open(files_ambient(directory.path()).unwrap()[0].path()).unwrap();
        let file = exchange(read_only);
        assert!(log.record(&event("/b")).is_err());
        exchange(file);
        log.record(&event("/c")).unwrap();
        let files = files_ambient(directory.path()).unwrap();
        assert_eq!(verify_ambient(&files).unwrap(), intact(2, 0));
    }
}
