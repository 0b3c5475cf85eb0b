//! Finds the requested program and what runs it: links, and the interpreter that a script names.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use rootward_core::{Material, Shown, follow_ambient};
use thiserror::Error;

use super::finding::{Anchor, Trail, read_ambient};
use super::node::outermost_modules;

/// How many nested interpreters to follow; the kernel follows five (`execve(2)`).
const LONGEST_CHAIN: usize = 5;

/// The directories of an installed program's files, below its prefix.
pub(crate) const INSTALLED: [&str; 4] = ["bin", "lib", "lib64", "libexec"];

/// Why there is no program to run.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum ProgramError {
    /// No such file, or none in `PATH`.
    #[error("command `{}` was not found", Shown::new(.0))]
    NotFound(OsString),
    /// It exists but is not executable.
    #[error("command `{}` cannot be run: not an executable file", Shown::new(.0))]
    NotExecutable(OsString),
    /// A confined command could have chosen it.
    #[error(
        "command `{}` cannot be run: `{}` leads to `{}`, and a confined server could have written that",
        Shown::new(command),
        Shown::new(named_in),
        Shown::new(place)
    )]
    Planted {
        /// As typed.
        command: OsString,
        /// The link or file that names the place.
        named_in: PathBuf,
        /// The file that is not run.
        place: PathBuf,
    },
}

/// A program that was found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Program {
    /// As typed.
    typed: OsString,
    /// Where it was found, with links.
    found: PathBuf,
    /// The file itself and, for a script, its interpreters.
    chain: Vec<Run>,
}

/// One of the files that run: the program, or the interpreter of the previous one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Run {
    /// The path it is called by, which may be a link.
    pub(crate) entry: PathBuf,
    /// Its resolved path.
    pub(crate) lies_at: PathBuf,
    /// How it was found, including links.
    pub(crate) trail: Trail,
}

impl Run {
    fn follow_ambient(path: &Path, trail: &Trail) -> Option<Run> {
        let directory = follow_ambient(path.parent()?)?;
        let entry = directory.place.join(path.file_name()?);
        let followed = follow_ambient(path)?;
        // The links of both lookups, so that a concurrent change cannot redirect the entry unnoticed.
        let links = directory.links.into_iter().chain(followed.links);
        Some(Run { entry, lies_at: followed.place, trail: trail.past(links) })
    }

    /// The path it is called by, and the resolved one.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        [&self.entry, &self.lies_at].into_iter().take(if self.entry == self.lies_at { 1 } else { 2 })
    }
}

impl Program {
    /// Looks up a command like a shell, in the directories of `path`.
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
        let first = Run::follow_ambient(&found, &Trail::default());
        let mut first = first.ok_or_else(|| ProgramError::NotFound(command.to_owned()))?;
        // What follows from the typed name, or from a link there, whatever lies at that place.
        let mut own = named_by(&found);
        own.extend(named_by(&first.lies_at).into_iter().map(|mut anchor| {
            anchor.links.extend(first.trail.named_in.iter().cloned());
            anchor
        }));
        first.trail.own = own;
        let mut chain = vec![first];
        while let Some(last) = chain.last()
            && chain.len() < LONGEST_CHAIN
        {
            let Some(next) = interpreter_ambient(&last.lies_at, path, directory) else { break };
            // SECURITY: the author of the script chose its interpreter
            // (test: a_planted_script_cannot_choose_an_interpreter_elsewhere)
            let trail = last.trail.past([last.lies_at.clone()]);
            let Some(next) = Run::follow_ambient(&next, &trail) else { break };
            chain.push(next);
        }
        Ok(Program { typed: command.to_owned(), found, chain })
    }

    /// As typed.
    pub fn typed(&self) -> &OsStr {
        &self.typed
    }

    /// Where it was found.
    pub fn path(&self) -> &Path {
        &self.found
    }

    /// The file itself and its interpreters.
    pub(crate) fn chain(&self) -> &[Run] {
        &self.chain
    }

    /// The paths its files are called by, and the resolved ones.
    pub(crate) fn places(&self) -> impl Iterator<Item = &PathBuf> {
        self.chain.iter().flat_map(Run::paths)
    }

    /// Whether a confined command could have written it, its interpreter, or anything that leads to them.
    pub(crate) fn is_of(&self, material: &Material) -> bool {
        let named_in = self.chain.iter().flat_map(|run| &run.trail.named_in);
        self.places().chain(named_in).any(|place| material.holds(place))
    }

    /// Whether the program or its interpreter has one of these names; a trailing version is ignored.
    pub(crate) fn is_any_of(&self, names: &[&str]) -> bool {
        let plain = |path: &PathBuf| {
            let name = path.file_name()?.to_str()?;
            Some(name.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.').to_owned())
        };
        self.places().filter_map(plain).any(|name| names.contains(&name.as_str()))
    }
}

/// What belongs to a program by its path alone.
// SECURITY: never the prefix itself, which may be the home (test: naming_a_program_does_not_open_all_beside_it)
fn named_by(program: &Path) -> Vec<Anchor> {
    let installed = prefix(program).into_iter().flat_map(|prefix| {
        INSTALLED.into_iter().chain(["pyvenv.cfg"]).map(move |part| prefix.join(part)).collect::<Vec<_>>()
    });
    installed.chain(outermost_modules(program)).filter_map(|path| Anchor::find_ambient(&path)).collect()
}

/// The prefix of a program: the parent of its `bin` directory.
pub(crate) fn prefix(program: &Path) -> Option<PathBuf> {
    let bin = program.parent().filter(|bin| bin.file_name().is_some_and(|name| name == "bin"))?;
    bin.parent().map(Path::to_owned)
}

pub(crate) fn in_path_ambient(command: &OsStr, path: Option<&OsStr>, directory: &Path) -> Option<PathBuf> {
    let candidates = std::env::split_paths(path?).map(|entry| directory.join(entry).join(command));
    candidates.into_iter().find(|candidate| is_program_ambient(candidate))
}

#[expect(clippy::disallowed_methods, reason = "the operator's own command, looked up like a shell")]
fn exists_ambient(path: &Path) -> bool {
    path.exists()
}

#[expect(clippy::disallowed_methods, reason = "the operator's own command, looked up like a shell")]
fn is_program_ambient(path: &Path) -> bool {
    path.metadata().is_ok_and(|seen| seen.is_file() && seen.permissions().mode() & 0o111 != 0)
}

/// The interpreter in the first line of a script.
fn interpreter_ambient(program: &Path, path: Option<&OsStr>, directory: &Path) -> Option<PathBuf> {
    let start = read_ambient(program, 256)?;
    match interpreter(&start)? {
        Interpreter::At(path) => Some(path.to_owned()),
        Interpreter::Named(name) => in_path_ambient(name, path, directory),
    }
}

/// The interpreter in a script's first line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Interpreter<'l> {
    /// A file.
    At(&'l Path),
    /// A name to look up in `PATH`, through `env`.
    Named(&'l OsStr),
}

/// Parses the interpreter in a script's first line. `None` if the line is not understood: then the kernel finds the
/// interpreter, among what is open.
// SECURITY: an option's argument is not an interpreter (test: first_lines)
fn interpreter(start: &[u8]) -> Option<Interpreter<'_>> {
    let line = start.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let first = words.next()?;
    let by_path = |word: &'_ [u8]| word.starts_with(b"/");
    if !by_path(first) {
        return None;
    }
    if !first.ends_with(b"/env") {
        return Some(Interpreter::At(Path::new(OsStr::from_bytes(first))));
    }
    let name = match words.next()? {
        // env(1): the rest of the line is split into words; assignments come before the name.
        b"-S" => words.find(|word| word.starts_with(b"-") || !word.contains(&b'='))?,
        word => word,
    };
    match name {
        option if option.starts_with(b"-") => None,
        path if by_path(path) => Some(Interpreter::At(Path::new(OsStr::from_bytes(path)))),
        path if path.contains(&b'/') => None,
        name => Some(Interpreter::Named(OsStr::from_bytes(name))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_lines() {
        use Interpreter::{At, Named};
        let at = |path: &'static str| Some(At(Path::new(path)));
        let named = |name: &'static str| Some(Named(OsStr::new(name)));
        let check = |line: &str, expect: Option<Interpreter<'_>>| {
            assert_eq!(interpreter(line.as_bytes()), expect, "{line}");
        };
        check("#!/bin/sh\necho", at("/bin/sh"));
        check("#! /usr/bin/python3 -I\n", at("/usr/bin/python3"));
        check("#!/usr/bin/env node\n", named("node"));
        check("#!/usr/bin/env -S A=b deno run\n", named("deno"));
        check("#!/usr/bin/env -S /opt/x/bin/python3 -I\n", at("/opt/x/bin/python3"));
        check("#!/usr/bin/env -S -u /home/me/.pyenv/shims/x /usr/bin/python3", None);
        check("#!/usr/bin/env -S -C /home/me python3", None);
        check("#!/usr/bin/env -i python3", None);
        check("#!/usr/bin/env ../x", None);
        check("#!python3", None);
        check("\x7fELF", None);
        check("#!", None);
        check("#!/usr/bin/env", None);
    }

    #[test]
    fn commands_are_found_as_a_shell_does() {
        let find =
            |command: &str| Program::find_ambient(command.as_ref(), Some("/nowhere:/bin".as_ref()), Path::new("/"));
        let sh = find("sh").unwrap();
        assert_eq!(sh.path(), Path::new("/bin/sh"));
        assert_eq!(sh.chain().len(), 1);
        assert_eq!(find("bin/sh").unwrap().path(), Path::new("/bin/sh"));
        let plain = find("./bin/../bin/./sh").unwrap();
        assert_eq!(plain.chain()[0].lies_at, sh.chain()[0].lies_at);
        assert_eq!(find("no-such-command"), Err(ProgramError::NotFound("no-such-command".into())));
        assert_eq!(find("/etc/passwd"), Err(ProgramError::NotExecutable("/etc/passwd".into())));
        assert_eq!(find("/etc"), Err(ProgramError::NotExecutable("/etc".into())));
    }
}
