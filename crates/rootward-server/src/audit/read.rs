//! Reading the audit log: its files in order, and whether they hold together.

use std::collections::HashMap;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::Value;

use super::chain::{Broken, Chain};

/// How a file of the log ends.
const EXTENSION: &str = "jsonl";

/// A file of a log, known by its name: of which log it is, and which part.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct LogFile {
    log: String,
    part: u32,
    path: PathBuf,
}

/// Whether a log holds together.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// It does.
    Whole {
        /// How many lines it has.
        lines: usize,
        /// How many logs lack their first files: those went with time, or somebody took them.
        cut: usize,
    },
    /// It does not, from here on.
    Broken {
        /// The file.
        file: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        why: Broken,
    },
}

impl LogFile {
    /// What the file is called that holds this part of this log.
    pub(crate) fn name(log: &str, part: u32) -> String {
        format!("{log}-{part:06}.{EXTENSION}")
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// When its log was begun, as its name says.
    pub(crate) fn begun(&self) -> Option<SystemTime> {
        let milliseconds = self.log.split('-').next()?.parse().ok()?;
        UNIX_EPOCH.checked_add(Duration::from_millis(milliseconds))
    }

    fn new(path: PathBuf) -> Option<LogFile> {
        let name = path.file_name()?.to_str()?.strip_suffix(EXTENSION)?.strip_suffix('.')?;
        let (log, part) = name.rsplit_once('-')?;
        let numbers = log.split('-').filter(|number| number.parse::<u64>().is_ok()).count();
        (numbers == 3).then_some(())?;
        Some(LogFile { log: log.to_owned(), part: part.parse().ok()?, path })
    }

    /// Its lines, each a whole one; a last line that is being written is left out.
    #[expect(clippy::disallowed_methods, reason = "the log is Rootward's own")]
    pub fn lines_ambient(&self) -> io::Result<Vec<String>> {
        let mut reader = BufReader::new(std::fs::File::open(&self.path)?);
        let mut lines = Vec::new();
        let mut line = String::new();
        while reader.read_line(&mut line)? > 0 && line.ends_with('\n') {
            lines.push(line.trim_end_matches('\n').to_owned());
            line.clear();
        }
        Ok(lines)
    }
}

/// The files of the logs in a directory, oldest first; none where there is no such directory. By name: the logs are Rootward's
/// own.
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

/// Follows the chains of these files, each log from file to file.
pub fn verify_ambient(files: &[LogFile]) -> io::Result<Verdict> {
    // Of each log the part that was read last, and where its chain stands.
    let mut logs: HashMap<&str, (u32, Chain)> = HashMap::new();
    let (mut count, mut cut) = (0, 0);
    for file in files {
        let mut chain = Chain::default();
        for (position, line) in file.lines_ambient()?.iter().enumerate() {
            let broken = |why| Verdict::Broken { file: file.path.clone(), line: position + 1, why };
            if position == 0 {
                let after = first(line, file);
                chain = match (logs.get(file.log.as_str()), after) {
                    (_, None) => return Ok(broken(Broken::Unreadable)),
                    (Some((part, before)), Some(after)) if part + 1 == file.part && after == *before => after,
                    (None, Some(after)) if file.part > 0 => {
                        cut += 1;
                        after
                    }
                    (None, Some(after)) if after == Chain::default() => after,
                    (_, Some(_)) => return Ok(broken(Broken::Changed)),
                };
            }
            if let Err(why) = chain.follow(line) {
                return Ok(broken(why));
            }
            count += 1;
        }
        logs.insert(&file.log, (file.part, chain));
    }
    Ok(Verdict::Whole { lines: count, cut })
}

/// The chain that a file says it takes up, if its first line is one of this log.
fn first(line: &str, file: &LogFile) -> Option<Chain> {
    let line: Value = serde_json::from_str(line).ok()?;
    (line.get("log")?.as_str()? == file.log).then_some(())?;
    Some(Chain::after(line.get("after")?.as_str()?))
}
