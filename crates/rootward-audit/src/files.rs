//! The files of the audit log, in order, and the lines in them.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// The extension of a log file.
const EXTENSION: &str = "jsonl";

/// A log file, identified by its name: which log it belongs to, and which part of it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LogFile {
    log: String,
    part: u32,
    path: PathBuf,
}

/// The first line of a file.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct First {
    /// The log that the file belongs to.
    pub(crate) log: String,
    /// The hash that this file's chain starts from: the last hash of the file before it.
    pub(crate) after: String,
}

/// The lines of a file, one at a time.
#[derive(Debug)]
pub struct Lines {
    reader: BufReader<File>,
    line: Vec<u8>,
    end: u64,
}

impl LogFile {
    /// The name of the file that holds this part of this log.
    pub(crate) fn name(log: &str, part: u32) -> String {
        format!("{log}-{part:06}.{EXTENSION}")
    }

    /// The path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The name of the log. [`files_ambient`] lists the files of one log next to each other.
    pub fn log(&self) -> &str {
        &self.log
    }

    /// When the log was started, in milliseconds since 1970.
    pub fn begun(&self) -> u64 {
        LogFile::begun_in(&self.log).unwrap_or_default()
    }

    /// When the log was started, read from the name of one of its files; `None` for other file names.
    pub(crate) fn begun_in(name: &str) -> Option<u64> {
        name.split('-').next()?.parse().ok()
    }

    /// Which part of the log this is, from 0.
    pub(crate) fn part(&self) -> u32 {
        self.part
    }

    pub(crate) fn new(path: PathBuf) -> Option<LogFile> {
        let name = path.file_name()?.to_str()?.strip_suffix(EXTENSION)?.strip_suffix('.')?;
        let (log, part) = name.rsplit_once('-')?;
        let is_number = |text: &str| text.parse::<u64>().is_ok();
        (log.split('-').count() == 3 && log.split('-').all(is_number)).then_some(())?;
        Some(LogFile { log: log.to_owned(), part: part.parse().ok()?, path })
    }

    /// The size in bytes.
    #[expect(clippy::disallowed_methods, reason = "the log is Rootward's own")]
    pub fn size_ambient(&self) -> io::Result<u64> {
        Ok(std::fs::metadata(&self.path)?.len())
    }

    /// The lines from this byte offset on.
    #[expect(clippy::disallowed_methods, reason = "the log is Rootward's own")]
    pub fn lines_ambient(&self, start: u64) -> io::Result<Lines> {
        let mut file = File::open(&self.path)?;
        file.seek(SeekFrom::Start(start))?;
        Ok(Lines { reader: BufReader::new(file), line: Vec::new(), end: start })
    }
}

impl Lines {
    /// The next line, without its newline; `None` at the end. A last line that is still being written does not count.
    pub fn next_line(&mut self) -> io::Result<Option<&[u8]>> {
        self.line.clear();
        self.reader.read_until(b'\n', &mut self.line)?;
        let Some(line) = self.line.strip_suffix(b"\n") else {
            return Ok(None);
        };
        self.end += self.line.len() as u64;
        Ok(Some(line))
    }

    /// The byte offset after the last line that was read. Later lines start here.
    pub fn end(&self) -> u64 {
        self.end
    }
}

/// The files of all logs in a directory, oldest first; empty if the directory does not exist. Files are opened by name
/// because the logs are Rootward's own.
#[expect(clippy::disallowed_methods, reason = "the log is Rootward's own")]
pub fn files_ambient(directory: &Path) -> io::Result<Vec<LogFile>> {
    let entries = match std::fs::read_dir(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let paths = entries.map(|entry| entry.map(|entry| entry.path())).collect::<io::Result<Vec<PathBuf>>>()?;
    let mut files: Vec<LogFile> = paths.into_iter().filter_map(LogFile::new).collect();
    files.sort();
    Ok(files)
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests look at the files")]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn files_by_their_names() {
        let check = |name: &str, expect: Option<(&str, u32, u64)>| {
            let file = LogFile::new(PathBuf::from(name));
            assert_eq!(file.as_ref().map(|file| (file.log(), file.part(), file.begun())), expect, "{name}");
        };
        check("/d/00000000000012-34-0-000007.jsonl", Some(("00000000000012-34-0", 7, 12)));
        check("/d/12-34-0.jsonl", None);
        check("/d/12-34-x-000007.jsonl", None);
        check("/d/1-12-34-0-000007.jsonl", None);
        check("/d/12-34-0-000007.json", None);
        check("/d/notes.jsonl", None);
    }

    #[test]
    fn lines_are_whole_and_reading_resumes_at_the_end() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(LogFile::name("1-2-3", 0));
        let mut file = File::create(&path).unwrap();
        let check = |start: u64, expect: &[&[u8]]| {
            let mut lines = files_ambient(directory.path()).unwrap()[0].lines_ambient(start).unwrap();
            for line in expect {
                assert_eq!(lines.next_line().unwrap(), Some(*line));
            }
            assert_eq!(lines.next_line().unwrap(), None);
            lines.end()
        };
        assert_eq!(check(0, &[]), 0);
        file.write_all(b"one\n\xff\nthr").unwrap();
        assert_eq!(check(0, &[b"one", b"\xff"]), 6);
        file.write_all(b"ee\n\n").unwrap();
        assert_eq!(check(6, &[b"three", b""]), 13);
        assert_eq!(check(13, &[]), 13);
    }
}
