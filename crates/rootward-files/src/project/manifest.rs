//! Reads manifests: the project's name, its entry points and its commands.
//!
//! A manifest is untrusted text. It is read up to a limit, by parsers with a depth limit. Words from it become part of
//! a command only if every shell reads them as plain names, and a path from it is shown only if it stays below the
//! manifest's directory.

mod cargo;
mod go;
mod gradle;
mod make;
mod maven;
mod npm;
mod python;

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use rootward_core::Grant;
use rootward_server::{Access, GrantError, Roots};
use serde_json::{Value, json};

use super::marker::{Beside, System};
use super::shown;
use crate::name::on_one_line;

/// The largest manifest to read, in bytes.
const LARGEST: u64 = 256 << 10;

/// How many commands, and how many entry points, to take from one manifest.
const MOST_COMMANDS: usize = 40;
const MOST_STARTS: usize = 20;

/// What a command is for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Purpose {
    Install,
    Build,
    Test,
    Run,
    Lint,
    Format,
    Other,
}

impl Purpose {
    pub(crate) const ALL: [Purpose; 7] =
        [Purpose::Install, Purpose::Build, Purpose::Test, Purpose::Run, Purpose::Lint, Purpose::Format, Purpose::Other];

    pub(crate) fn word(self) -> &'static str {
        match self {
            Purpose::Install => "install",
            Purpose::Build => "build",
            Purpose::Test => "test",
            Purpose::Run => "run",
            Purpose::Lint => "lint",
            Purpose::Format => "format",
            Purpose::Other => "other",
        }
    }

    /// The usual purpose of scripts and targets with this name.
    fn of_name(name: &str) -> Purpose {
        match name.split([':', '-', '_']).next().unwrap_or(name) {
            "install" | "setup" | "bootstrap" => Purpose::Install,
            "build" | "compile" | "all" | "dist" | "bundle" => Purpose::Build,
            "test" | "tests" | "e2e" => Purpose::Test,
            "start" | "dev" | "serve" | "run" => Purpose::Run,
            "lint" | "check" | "typecheck" | "clippy" | "vet" => Purpose::Lint,
            "format" | "fmt" | "prettier" => Purpose::Format,
            _ => Purpose::Other,
        }
    }
}

/// A command to run in the manifest's directory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Command {
    pub(crate) purpose: Purpose,
    pub(crate) line: String,
    /// The manifest's description of the command.
    pub(crate) does: Option<String>,
}

impl Command {
    fn new(purpose: Purpose, line: impl Into<String>) -> Command {
        Command { purpose, line: line.into(), does: None }
    }

    pub(crate) fn data(&self) -> Value {
        let mut data = json!({"purpose": self.purpose.word(), "command": self.line});
        if let Some(does) = &self.does {
            data["does"] = json!(does);
        }
        data
    }
}

/// The contents of a manifest.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub(crate) struct Facts {
    pub(crate) name: Option<String>,
    pub(crate) version: Option<String>,
    pub(crate) commands: Vec<Command>,
    /// The project's entry points, below the manifest's directory.
    pub(crate) starts: Vec<String>,
    /// Whether it has members, whose commands run from its directory.
    pub(crate) workspace: bool,
}

impl Facts {
    /// Adds an entry point from the manifest, if it stays below the manifest's directory.
    fn start(&mut self, path: &str) {
        let path = path.strip_prefix("./").unwrap_or(path);
        // SECURITY: a manifest cannot present a path outside its directory as part of the project
        // (test: what_a_manifest_says_of_places_outside_is_not_repeated)
        let below = !path.is_empty()
            && !path.starts_with(['/', '~', '\\'])
            && !path.contains(':')
            && path.split(['/', '\\']).all(|part| part != "..");
        if below && self.starts.len() < MOST_STARTS {
            self.starts.push(shown(path));
        }
    }

    /// Adds a script or target from the manifest.
    fn script(&mut self, before: &str, name: &str, does: Option<&str>) {
        if is_word(name) && self.commands.len() < MOST_COMMANDS {
            let does = does.map(shown);
            self.commands.push(Command { does, ..Command::new(Purpose::of_name(name), format!("{before} {name}")) });
        }
    }

    fn command(&mut self, purpose: Purpose, line: impl Into<String>) {
        self.commands.push(Command::new(purpose, line));
    }
}

/// Whether every shell reads a text as one word, and it is not an option.
// SECURITY: a model may run what it sees, so a script's name must not contain a second command
// (test: a_script_whose_name_is_a_command_is_not_shown)
fn is_word(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_.:/@+-".contains(&byte);
    !text.is_empty() && text.len() <= 100 && !text.starts_with('-') && text.bytes().all(plain)
}

/// A manifest that was found.
#[derive(Debug)]
pub(crate) struct Manifest {
    pub(crate) system: System,
    /// Its path below the top of the walk.
    pub(crate) below: PathBuf,
    pub(crate) facts: Facts,
    /// Why it was not read.
    pub(crate) problem: Option<String>,
}

impl Manifest {
    /// Its directory, below the top of the walk.
    pub(crate) fn directory(&self) -> &Path {
        self.below.parent().unwrap_or(Path::new(""))
    }

    pub(crate) fn data(&self, top: &Path) -> Value {
        let path = joined(top, &self.below);
        let mut data = json!({"path": on_one_line(path.as_os_str()), "system": self.system.word()});
        let texts = [("name", &self.facts.name), ("version", &self.facts.version), ("problem", &self.problem)];
        for (key, text) in texts {
            if let Some(text) = text {
                data[key] = json!(text);
            }
        }
        data
    }
}

/// Joins a path below a place, which may be empty.
pub(crate) fn joined(top: &Path, below: &Path) -> PathBuf {
    if below.as_os_str().is_empty() { top.to_owned() } else { top.join(below) }
}

/// Reads a manifest that a walk found. The guard checks its path again, because a different file may be there by now.
pub(crate) fn read(roots: &Roots, top: &Grant, below: PathBuf, system: System, beside: &Beside) -> Manifest {
    let path = joined(&top.named_path(), &below);
    let (facts, problem) = match text(roots, &path, system) {
        Ok(None) => (Facts::default(), None),
        Ok(Some(text)) => match facts(system, &text, beside) {
            Ok(facts) => (facts, None),
            Err(problem) => (fallback(system, beside), Some(problem)),
        },
        Err(problem) => (fallback(system, beside), Some(problem)),
    };
    Manifest { system, below, facts, problem }
}

/// The text of a manifest; `None` if manifests of its system are not read.
fn text(roots: &Roots, path: &Path, system: System) -> Result<Option<String>, String> {
    if let System::Other(_) = system {
        return Ok(None);
    }
    let grant = roots.check(path, Access::READ).map_err(|_| "not read: it is not shared".to_owned())?;
    let bytes = grant.read(LARGEST).map_err(|error| match error {
        GrantError::TooLarge { .. } => "not read: larger than 256 KiB".to_owned(),
        GrantError::Io { source, .. } if source.kind() == ErrorKind::NotFound => {
            "not read: it no longer exists".to_owned()
        }
        _ => "not read: the system denied access".to_owned(),
    })?;
    String::from_utf8(bytes).map(Some).map_err(|_| "not read: not UTF-8".to_owned())
}

fn facts(system: System, text: &str, beside: &Beside) -> Result<Facts, String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    match system {
        System::Cargo => cargo::read(text),
        System::Npm => npm::read(text, beside),
        System::Python => python::read(text, beside),
        System::Go => Ok(go::read(text)),
        System::Maven => maven::read(text, beside),
        System::Gradle => Ok(gradle::read(text, beside)),
        System::Make => Ok(make::read(text)),
        System::Other(_) => Ok(Facts::default()),
    }
}

/// The facts about a system that do not depend on its manifest.
fn fallback(system: System, beside: &Beside) -> Facts {
    let empty = match system {
        System::Cargo | System::Python | System::Go => "",
        System::Gradle | System::Make | System::Other(_) => return Facts::default(),
        System::Npm => "{}",
        System::Maven => "<project/>",
    };
    facts(system, empty, beside).unwrap_or_default()
}

/// A string from a table, on one line.
fn toml_text(table: Option<&toml::Table>, key: &str) -> Option<String> {
    table?.get(key)?.as_str().map(shown)
}

fn toml_table<'t>(table: &'t toml::Table, way: &[&str]) -> Option<&'t toml::Table> {
    way.iter().try_fold(table, |table, key| table.get(*key)?.as_table())
}

/// Why a manifest is malformed, in one line.
fn malformed(what: &str, error: impl std::fmt::Display) -> String {
    let error = error.to_string();
    let first = error.lines().next().unwrap_or_default();
    format!("not {what}: {}", shown(first))
}

#[cfg(test)]
mod tests;
