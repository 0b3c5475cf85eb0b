//! Finding the program that is asked for, and what runs it: links, and the interpreter that a script names.

use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use rootward_core::Shown;
use thiserror::Error;

/// How many interpreters of interpreters are followed; the kernel follows five (`execve(2)`).
const LONGEST_CHAIN: usize = 5;

/// Why there is no program to run.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum ProgramError {
    /// No such file, or none in `PATH`.
    #[error("command `{}` was not found", Shown::new(.0))]
    NotFound(OsString),
    /// It is there and is no program.
    #[error("command `{}` cannot be run: not an executable file", Shown::new(.0))]
    NotExecutable(OsString),
}

/// A program as it was found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Program {
    /// As it was typed.
    typed: OsString,
    /// Where it was found, links not followed.
    found: PathBuf,
    /// The file itself and, for a script, what runs it; as found and where that lies.
    chain: Vec<PathBuf>,
}

impl Program {
    /// Looks a command up as a shell would, in the directories of `path`.
    pub fn find_ambient(command: &OsStr, path: Option<&OsStr>, directory: &Path) -> Result<Program, ProgramError> {
        let found = if command.as_bytes().contains(&b'/') {
            let path = directory.join(command);
            if exists_ambient(&path) { Some(path) } else { None }
        } else {
            in_path_ambient(command, path, directory)
        };
        let found = found.ok_or_else(|| ProgramError::NotFound(command.to_owned()))?;
        if !is_program_ambient(&found) {
            return Err(ProgramError::NotExecutable(command.to_owned()));
        }
        let mut chain = Vec::new();
        let mut next = Some(found.clone());
        for _ in 0..LONGEST_CHAIN {
            let Some(program) = next.take() else { break };
            let lies_at = lies_at_ambient(&program);
            next = interpreter_ambient(&lies_at, path, directory);
            chain.push(program);
            chain.push(lies_at);
        }
        // By their text: paths that differ by a `.` compare as equal, and the one that is kept must be the plain one.
        chain.dedup_by(|one, other| one.as_os_str() == other.as_os_str());
        Ok(Program { typed: command.to_owned(), found, chain })
    }

    /// As it was typed.
    pub fn typed(&self) -> &OsStr {
        &self.typed
    }

    /// Where it was found.
    pub fn path(&self) -> &Path {
        &self.found
    }

    /// The file itself and what runs it.
    pub(crate) fn chain(&self) -> impl Iterator<Item = &PathBuf> {
        self.chain.iter()
    }

    /// Whether the program, or what runs it, has one of these names; a version behind the name does not count.
    pub(crate) fn is_any_of(&self, names: &[&str]) -> bool {
        let plain = |path: &PathBuf| {
            let name = path.file_name()?.to_str()?;
            Some(name.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.').to_owned())
        };
        self.chain.iter().filter_map(plain).any(|name| names.contains(&name.as_str()))
    }
}

fn in_path_ambient(command: &OsStr, path: Option<&OsStr>, directory: &Path) -> Option<PathBuf> {
    let candidates = std::env::split_paths(path?).map(|entry| directory.join(entry).join(command));
    candidates.into_iter().find(|candidate| is_program_ambient(candidate))
}

#[expect(clippy::disallowed_methods, reason = "the operator's own command, looked up as a shell does")]
fn exists_ambient(path: &Path) -> bool {
    path.exists()
}

#[expect(clippy::disallowed_methods, reason = "the operator's own command, looked up as a shell does")]
fn is_program_ambient(path: &Path) -> bool {
    path.metadata().is_ok_and(|seen| seen.is_file() && seen.permissions().mode() & 0o111 != 0)
}

#[expect(
    clippy::disallowed_methods,
    reason = "the operator's own command: where its links lead is where its libraries are"
)]
fn lies_at_ambient(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// What the first line of a script names.
#[expect(clippy::disallowed_methods, reason = "the operator's own command: its first line says what runs it")]
fn interpreter_ambient(program: &Path, path: Option<&OsStr>, directory: &Path) -> Option<PathBuf> {
    let mut start = Vec::new();
    std::fs::File::open(program).ok()?.take(256).read_to_end(&mut start).ok()?;
    let interpreter = interpreter(&start)?;
    if interpreter.as_bytes().contains(&b'/') {
        Some(interpreter.into())
    } else {
        in_path_ambient(interpreter, path, directory)
    }
}

/// The interpreter in a script's first line; through `env`, the name that it looks up.
fn interpreter(start: &[u8]) -> Option<&OsStr> {
    let line = start.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let first = words.next()?;
    if !first.ends_with(b"/env") {
        return Some(OsStr::from_bytes(first));
    }
    let is_name = |word: &&[u8]| !word.starts_with(b"-") && !word.contains(&b'=');
    words.find(is_name).map(OsStr::from_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_lines() {
        let check = |line: &str, expect: Option<&str>| {
            assert_eq!(interpreter(line.as_bytes()), expect.map(OsStr::new), "{line}");
        };
        check("#!/bin/sh\necho", Some("/bin/sh"));
        check("#! /usr/bin/python3 -I\n", Some("/usr/bin/python3"));
        check("#!/usr/bin/env node\n", Some("node"));
        check("#!/usr/bin/env -S A=b deno run\n", Some("deno"));
        check("\x7fELF", None);
        check("#!", None);
    }

    #[test]
    fn commands_are_found_as_a_shell_does() {
        let find =
            |command: &str| Program::find_ambient(command.as_ref(), Some("/nowhere:/bin".as_ref()), Path::new("/"));
        let sh = find("sh").unwrap();
        assert_eq!(sh.path(), Path::new("/bin/sh"));
        assert!(sh.chain().count() >= 1);
        assert_eq!(find("bin/sh").unwrap().path(), Path::new("/bin/sh"));
        let plain = find("./bin/../bin/./sh").unwrap();
        let lies_at = sh.chain().last().unwrap();
        assert!(plain.chain().any(|path| path.as_os_str() == lies_at.as_os_str()), "{plain:?}");
        assert_eq!(find("no-such-command"), Err(ProgramError::NotFound("no-such-command".into())));
        assert_eq!(find("/etc/passwd"), Err(ProgramError::NotExecutable("/etc/passwd".into())));
        assert_eq!(find("/etc"), Err(ProgramError::NotExecutable("/etc".into())));
    }
}
