//! Verifies the audit log.

use std::io;
use std::path::PathBuf;

use rootward_core::Shown;
use thiserror::Error;

use crate::chain::{Broken, Chain};
use crate::files::{First, LogFile};

/// The result of verifying one or more logs.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Verification {
    /// How many entries are valid. The first line of a file, which describes the file, does not count.
    pub entries: usize,
    /// How many logs lack their first files, because those were removed by age or by somebody.
    pub cut: usize,
    /// Where logs are broken, at most once per log. Entries after a break cannot be trusted.
    pub breaks: Vec<Break>,
}

/// Where a log is broken.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Break {
    /// The file.
    pub file: PathBuf,
    /// The line, from 1.
    pub line: usize,
    /// What is wrong.
    pub why: Broken,
}

/// A file that cannot be read.
#[derive(Debug, Error)]
#[error("`{}` cannot be read", Shown::new(.file))]
pub struct Unread {
    /// The file.
    pub file: PathBuf,
    /// The system's error.
    pub source: io::Error,
}

/// Verifies the chains of these files, which must be in the order of [`files_ambient`](crate::files_ambient).
pub fn verify_ambient(files: &[LogFile]) -> Result<Verification, Unread> {
    let mut verdict = Verification::default();
    for log in files.chunk_by(|one, next| one.log() == next.log()) {
        let mut before = None;
        for file in log {
            let unread = |source| Unread { file: file.path().to_owned(), source };
            match follow_ambient(file, before.as_ref(), &mut verdict).map_err(unread)? {
                Followed::Whole(chain) => before = Some((file.part(), chain)),
                Followed::Broken => break,
                Followed::Gone => {}
            }
        }
    }
    Ok(verdict)
}

/// How far a file could be followed.
enum Followed {
    /// To its end.
    Whole(Chain),
    /// To the line where its chain breaks.
    Broken,
    /// Not at all: it was removed meanwhile.
    Gone,
}

/// Verifies one file, which continues the chain of the part before it.
fn follow_ambient(file: &LogFile, before: Option<&(u32, Chain)>, verdict: &mut Verification) -> io::Result<Followed> {
    let mut lines = match file.lines_ambient(0) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Followed::Gone),
        lines => lines?,
    };
    let mut chain = Chain::default();
    let mut number = 0;
    while let Some(line) = lines.next_line()? {
        number += 1;
        let begun = if number == 1 { taken_up(line, file, before).map(|taken_up| chain = taken_up) } else { Ok(()) };
        if let Err(why) = begun.and_then(|()| chain.follow(line)) {
            verdict.breaks.push(Break { file: file.path().to_owned(), line: number, why });
            return Ok(Followed::Broken);
        }
        if number > 1 {
            verdict.entries += 1;
        }
    }
    if before.is_none() && file.part() > 0 && number > 0 {
        verdict.cut += 1;
    }
    Ok(Followed::Whole(chain))
}

/// The chain that a file continues, read from its first line.
fn taken_up(line: &[u8], file: &LogFile, before: Option<&(u32, Chain)>) -> Result<Chain, Broken> {
    let first: First = serde_json::from_slice(line).map_err(|_| Broken::Unreadable)?;
    if first.log != file.log() {
        return Err(Broken::Unreadable);
    }
    let after = Chain::after(&first.after);
    match before {
        Some((part, _)) if part + 1 < file.part() => Err(Broken::Missing),
        Some((part, chain)) if part + 1 == file.part() && after == *chain => Ok(after),
        // The earlier parts are missing.
        None if file.part() > 0 => Ok(after),
        None if after == Chain::default() => Ok(after),
        _ => Err(Broken::Changed),
    }
}
