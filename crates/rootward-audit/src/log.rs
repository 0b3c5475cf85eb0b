//! The audit log on disk: a file per process, private to the user, in lines of JSON that hold together.
//!
//! A line is written before the decision takes effect. A file that has grown too large, or that somebody took away, is followed
//! by another, which takes up the chain. Files that nobody wrote to for three months go. Not by their number: whoever can start
//! servers would wipe the record by starting many.

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

/// How large a file may become, in bytes.
const LARGEST_FILE: u64 = 16 << 20;
/// How long a file is kept that nobody writes to.
const KEPT: Duration = Duration::from_hours(90 * 24);

/// Tells the logs of one process apart.
static LOGS: AtomicU32 = AtomicU32::new(0);

/// A log in a directory of its own: the user's, where `rootward audit` looks for it, or any other.
#[derive(Debug)]
pub struct AuditLog {
    directory: PathBuf,
    /// What its files are called.
    name: String,
    largest: u64,
    /// None before the first line.
    writing: Mutex<Option<Writing>>,
}

#[derive(Debug)]
struct Writing {
    /// What the files of this log are called.
    name: String,
    part: u32,
    file: File,
    size: u64,
    chain: Chain,
}

impl AuditLog {
    /// A new log in `directory`, which is made if it is not there, and must be one that can be written to. Its file is made with the
    /// first line: many processes decide nothing, and a start waits for no disk. By name: the log is Rootward's own.
    pub fn open_ambient(directory: &Path) -> io::Result<AuditLog> {
        AuditLog::open_with(directory, LARGEST_FILE)
    }

    fn open_with(directory: &Path, largest: u64) -> io::Result<AuditLog> {
        make_ambient(directory)?;
        // From now on: no decision of this log is dated before it.
        let started = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
        let number = LOGS.fetch_add(1, Ordering::Relaxed);
        let name = format!("{started:014}-{}-{number}", std::process::id());
        Ok(AuditLog { directory: directory.to_owned(), name, largest, writing: Mutex::new(None) })
    }

    /// The first file.
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
        // SECURITY: a line in a file that was taken away is on no record (test: a_log_that_was_taken_away_is_begun_anew)
        if writing.size >= self.largest || writing.file.metadata()?.nlink() == 0 {
            let (name, part, chain) = (writing.name.clone(), writing.part + 1, writing.chain.clone());
            *writing = Writing::begin(&self.directory, name, part, chain)?;
        }
        writing.write(line)
    }
}

impl Writing {
    /// A file and its first line: which log it is of, and which chain it takes up.
    fn begin(directory: &Path, name: String, part: u32, chain: Chain) -> io::Result<Writing> {
        let path = directory.join(LogFile::name(&name, part));
        let first = serde_json::to_string(&First { log: name.clone(), after: chain.last().to_owned() })?;
        let file = create_ambient(&path)?;
        let mut writing = Writing { name, part, file, size: 0, chain };
        if let Err(error) = writing.write(&first) {
            // In the way of the next attempt, when there is room again.
            remove_ambient(&path)?;
            return Err(error);
        }
        Ok(writing)
    }

    fn write(&mut self, line: &str) -> io::Result<()> {
        // Only kept where the line is on disk: a line that was not written whole breaks no chain but its own.
        let mut chain = self.chain.clone();
        let text = chain.link(line) + "\n";
        if let Err(error) = self.file.write_all(text.as_bytes()) {
            // What was written of it is taken back, so that the next line stands on its own.
            let _ = self.file.set_len(self.size);
            return Err(error);
        }
        self.size += text.len() as u64;
        self.chain = chain;
        Ok(())
    }
}

/// The directory, for nobody else to look into, and for this process to write to.
#[expect(clippy::disallowed_methods, reason = "the log is Rootward's own")]
fn make_ambient(directory: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
    Ok(access(directory, Access::WRITE_OK | Access::EXEC_OK)?)
}

/// A new file; never one that is there.
#[expect(clippy::disallowed_methods, reason = "the log is Rootward's own")]
fn create_ambient(path: &Path) -> io::Result<File> {
    OpenOptions::new().append(true).create_new(true).mode(0o600).open(path)
}

/// Removes what nobody has written to for long. Only what is called like a file of the log is ever removed.
#[expect(clippy::disallowed_methods, reason = "the log is Rootward's own")]
fn remove_old_ambient(directory: &Path, now: SystemTime) -> io::Result<()> {
    for entry in std::fs::read_dir(directory)? {
        let entry = entry?;
        // Begun lately, it was written to lately. To look at each of thousands would take longer than the rest of a start.
        let begun = entry.file_name().to_str().and_then(LogFile::begun_in).map(Duration::from_millis);
        let is_recent = |begun| now.duration_since(UNIX_EPOCH + begun).is_ok_and(|age| age <= KEPT);
        if begun.is_some_and(is_recent) {
            continue;
        }
        let Some(file) = LogFile::new(entry.path()) else { continue };
        let written = std::fs::symlink_metadata(file.path()).and_then(|metadata| metadata.modified());
        let is_old = |written| now.duration_since(written).is_ok_and(|age| age > KEPT);
        // One that is gone by now was removed by another process.
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
    use crate::verify::{Break, Verdict, verify_ambient};

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

    fn whole(lines: usize, cut: usize) -> Verdict {
        Verdict { lines, cut, breaks: Vec::new() }
    }

    /// The only break, by position of its file and line.
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
    fn lines_in_files_that_hold_together() {
        let (_directory, log) = long();
        let files = files_ambient(&log.directory).unwrap();
        assert!(files.len() > 3, "{files:?}");
        assert_eq!(verify_ambient(&files).unwrap(), whole(40 + files.len(), 0));
        for file in &files {
            assert_eq!(std::fs::metadata(file.path()).unwrap().permissions().mode() & 0o777, 0o600);
        }
        assert_eq!(std::fs::metadata(&log.directory).unwrap().permissions().mode() & 0o777, 0o700);
    }

    #[test]
    fn what_is_missing_or_changed_is_found() {
        let (_directory, log) = long();
        let files = files_ambient(&log.directory).unwrap();
        // One in the middle.
        let mut without = files.clone();
        without.remove(1);
        assert_eq!(broken(&without), (1, 1));
        // The first ones: that is how a log looks whose old files went, and it is said.
        let verdict = verify_ambient(&files[2..]).unwrap();
        assert_eq!((verdict.cut, verdict.breaks), (1, Vec::new()));
        let text = std::fs::read_to_string(files[1].path()).unwrap();
        std::fs::write(files[1].path(), text.replacen("/p/", "/q/", 1)).unwrap();
        assert_eq!(broken(&files), (1, 2));
        // Bytes that are no text.
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
        assert_eq!(verdict.lines, 4);
    }

    /// A file that is listed, and old enough for another process to remove.
    #[test]
    fn a_file_that_goes_meanwhile_is_passed_over() {
        let (_directory, log) = long();
        let files = files_ambient(&log.directory).unwrap();
        std::fs::remove_file(files[0].path()).unwrap();
        let verdict = verify_ambient(&files).unwrap();
        assert_eq!((verdict.cut, verdict.breaks), (1, Vec::new()));
    }

    #[test]
    fn logs_beside_each_other_are_each_their_own() {
        let directory = tempfile::tempdir().unwrap();
        let logs = [0; 3].map(|_| AuditLog::open_with(directory.path(), 1000).unwrap());
        for log in logs.iter().chain(&logs) {
            log.record(&event("/a")).unwrap();
        }
        let files = files_ambient(directory.path()).unwrap();
        assert_eq!(verify_ambient(&files).unwrap(), whole(9, 0));
    }

    #[test]
    fn a_log_that_was_taken_away_is_begun_anew() {
        let directory = tempfile::tempdir().unwrap();
        let log = AuditLog::open_with(directory.path(), 1000).unwrap();
        log.record(&event("/a")).unwrap();
        std::fs::remove_file(files_ambient(directory.path()).unwrap()[0].path()).unwrap();
        log.record(&event("/b")).unwrap();
        let files = files_ambient(directory.path()).unwrap();
        assert!(std::fs::read_to_string(files[0].path()).unwrap().contains("/b"));
        assert_eq!(verify_ambient(&files).unwrap(), whole(2, 1));
    }

    #[test]
    fn only_files_of_the_log_that_are_old_go() {
        let (_directory, log) = long();
        // Begun long ago, and written to just now.
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

    /// As with a full disk: what could be written of a line is taken back, and the log goes on whole.
    #[test]
    fn a_line_that_cannot_be_written_whole_is_none() {
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
        assert_eq!(verify_ambient(&files).unwrap(), whole(3, 0));
    }
}
