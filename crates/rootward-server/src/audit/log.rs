//! The audit log on disk: a file per process, private to the user, in lines of JSON that hold together.
//!
//! A line is written before the decision takes effect. A file that has grown too large is closed and another begun, which takes up
//! the chain. The oldest files go when there are too many.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use rootward_core::{Audit, AuditEvent};
use serde_json::{Value, json};

use super::chain::Chain;

/// How large a file may become, in bytes.
const LARGEST_FILE: u64 = 16 << 20;
/// How many files are kept.
const MOST_FILES: usize = 256;
/// How a file of the log is called.
pub(crate) const EXTENSION: &str = "jsonl";

/// A log in a directory of its own.
#[derive(Debug)]
pub struct AuditLog {
    directory: PathBuf,
    writing: Mutex<Writing>,
}

#[derive(Debug)]
struct Writing {
    file: File,
    size: u64,
    largest: u64,
    /// Counts this process's files.
    part: u32,
    started: u64,
    chain: Chain,
}

impl AuditLog {
    /// Opens a new file in `directory`, which is made if it is not there. By name: the log is Rootward's own.
    pub fn open_ambient(directory: &Path) -> io::Result<AuditLog> {
        AuditLog::open_with(directory, LARGEST_FILE)
    }

    fn open_with(directory: &Path, largest: u64) -> io::Result<AuditLog> {
        make_ambient(directory)?;
        let started = milliseconds();
        let chain = Chain::default();
        let file = create_ambient(directory, started, 0)?;
        let mut writing = Writing { file, size: 0, largest, part: 0, started, chain };
        writing.begin()?;
        remove_oldest_ambient(directory)?;
        Ok(AuditLog { directory: directory.to_owned(), writing: Mutex::new(writing) })
    }
}

impl Audit for AuditLog {
    fn record(&self, event: &AuditEvent) -> io::Result<()> {
        let Value::Object(line) = serde_json::to_value(event)? else {
            return Err(io::ErrorKind::InvalidData.into());
        };
        let mut writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        if writing.size >= writing.largest {
            writing.part += 1;
            writing.file = create_ambient(&self.directory, writing.started, writing.part)?;
            writing.size = 0;
            writing.begin()?;
            remove_oldest_ambient(&self.directory)?;
        }
        writing.write(line)
    }
}

impl Writing {
    /// The first line of a file: who writes it, and which chain it takes up.
    fn begin(&mut self) -> io::Result<()> {
        let before = self.chain.last().to_owned();
        let line =
            json!({"log": "rootward", "version": 1, "process": std::process::id(), "part": self.part, "after": before});
        let Value::Object(line) = line else {
            return Ok(());
        };
        self.write(line)
    }

    fn write(&mut self, line: serde_json::Map<String, Value>) -> io::Result<()> {
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

/// The directory, for nobody else to look into.
#[expect(clippy::disallowed_methods, reason = "the log is Rootward's own")]
fn make_ambient(directory: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(directory)
}

/// A new file; never one that is there.
#[expect(clippy::disallowed_methods, reason = "the log is Rootward's own")]
fn create_ambient(directory: &Path, started: u64, part: u32) -> io::Result<File> {
    let name = format!("{started:014}-{}-{part:04}.{EXTENSION}", std::process::id());
    OpenOptions::new().append(true).create_new(true).mode(0o600).open(directory.join(name))
}

/// Keeps the newest files. Only what is called like a file of the log is ever removed.
#[expect(clippy::disallowed_methods, reason = "the log is Rootward's own")]
fn remove_oldest_ambient(directory: &Path) -> io::Result<()> {
    let files = super::read::files_ambient(directory)?;
    let surplus = files.len().saturating_sub(MOST_FILES);
    for file in &files[..surplus] {
        match std::fs::remove_file(file) {
            // Another process was faster.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            other => other?,
        }
    }
    Ok(())
}

fn milliseconds() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests look at the files")]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use rootward_core::{Access, Decision};

    use super::super::read::{Verdict, files_ambient, verify_ambient};
    use super::*;

    fn event(path: &str) -> AuditEvent {
        AuditEvent {
            time: SystemTime::UNIX_EPOCH,
            session: "1".to_owned(),
            requester: "tools/call read".to_owned(),
            path: path.to_owned(),
            resolved: None,
            access: Access::READ,
            decision: Decision::Deny,
            code: None,
            root: None,
            generation: 1,
        }
    }

    #[test]
    fn lines_in_files_that_hold_together() {
        let directory = tempfile::tempdir().unwrap();
        let place = directory.path().join("state/audit");
        let log = AuditLog::open_with(&place, 1000).unwrap();
        for number in 0..40 {
            log.record(&event(&format!("/p/{number}"))).unwrap();
        }
        let files = files_ambient(&place).unwrap();
        assert!(files.len() > 3, "{files:?}");
        assert_eq!(verify_ambient(&files).unwrap(), Verdict::Whole { lines: 40 + files.len() });
        for file in &files {
            assert_eq!(std::fs::metadata(file).unwrap().permissions().mode() & 0o777, 0o600);
        }
        assert_eq!(std::fs::metadata(&place).unwrap().permissions().mode() & 0o777, 0o700);

        // A file that is missing in the middle, and a line that was changed.
        let mut without = files.clone();
        without.remove(1);
        assert!(matches!(verify_ambient(&without).unwrap(), Verdict::Broken { line: 1, .. }));
        let text = std::fs::read_to_string(&files[1]).unwrap();
        std::fs::write(&files[1], text.replacen("/p/", "/q/", 1)).unwrap();
        let Verdict::Broken { file, line, .. } = verify_ambient(&files).unwrap() else { panic!() };
        assert_eq!((file, line), (files[1].clone(), 2));
    }

    #[test]
    fn two_processes_worth_of_logs_are_each_their_own() {
        let directory = tempfile::tempdir().unwrap();
        let first = AuditLog::open_with(directory.path(), 1000).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(5));
        let second = AuditLog::open_with(directory.path(), 1000).unwrap();
        for log in [&first, &second, &first] {
            log.record(&event("/a")).unwrap();
        }
        let files = files_ambient(directory.path()).unwrap();
        assert_eq!(verify_ambient(&files).unwrap(), Verdict::Whole { lines: 5 });
    }
}
