//! Reading the audit log: its files in order, and whether they hold together.

use std::collections::HashMap;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::chain::{Broken, Chain};
use super::log::EXTENSION;

/// Whether a log holds together.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// It does.
    Whole {
        /// How many lines it has.
        lines: usize,
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

/// The files of a log, oldest first; none where there is no such directory. By name: the log is Rootward's own.
#[expect(clippy::disallowed_methods, reason = "the log is Rootward's own")]
pub fn files_ambient(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match std::fs::read_dir(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let paths = entries.map(|entry| entry.map(|entry| entry.path())).collect::<io::Result<Vec<PathBuf>>>()?;
    let is_one = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let digits = name.len() > 14 && name.as_bytes()[..14].iter().all(u8::is_ascii_digit);
        digits && path.extension().is_some_and(|extension| extension == EXTENSION)
    };
    let mut files: Vec<PathBuf> = paths.into_iter().filter(is_one).collect();
    files.sort();
    Ok(files)
}

/// The lines of a file, each a whole one; a last line that is being written is left out.
#[expect(clippy::disallowed_methods, reason = "the log is Rootward's own")]
pub fn lines_ambient(file: &Path) -> io::Result<Vec<String>> {
    let mut reader = BufReader::new(std::fs::File::open(file)?);
    let mut lines = Vec::new();
    let mut line = String::new();
    while reader.read_line(&mut line)? > 0 && line.ends_with('\n') {
        lines.push(line.trim_end_matches('\n').to_owned());
        line.clear();
    }
    Ok(lines)
}

/// Follows the chains of these files, oldest first. Each process has its own, from file to file.
pub fn verify_ambient(files: &[PathBuf]) -> io::Result<Verdict> {
    let mut chains: HashMap<String, Chain> = HashMap::new();
    let mut count = 0;
    for file in files {
        let mut chain = Chain::default();
        for (position, line) in lines_ambient(file)?.iter().enumerate() {
            let broken = |why| Verdict::Broken { file: file.clone(), line: position + 1, why };
            if position == 0 {
                chain = match first(line, &chains) {
                    Ok(chain) => chain,
                    Err(why) => return Ok(broken(why)),
                };
            }
            if let Err(why) = chain.follow(line) {
                return Ok(broken(why));
            }
            count += 1;
        }
        chains.insert(chain.last().to_owned(), chain);
    }
    Ok(Verdict::Whole { lines: count })
}

/// The chain that a file's first line takes up: that of a file before it, or none.
fn first(line: &str, chains: &HashMap<String, Chain>) -> Result<Chain, Broken> {
    let line: Map<String, Value> = serde_json::from_str(line).map_err(|_| Broken::Unreadable)?;
    match line.get("after").and_then(Value::as_str) {
        Some("") => Ok(Chain::default()),
        Some(after) => chains.get(after).cloned().ok_or(Broken::Changed),
        None => Err(Broken::Unreadable),
    }
}
