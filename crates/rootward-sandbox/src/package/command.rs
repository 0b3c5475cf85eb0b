//! A command line that fetches a package and runs it: `npx`, `bunx`, `pnpm dlx`, `uvx`, `pipx run`.
//!
//! A line is only parsed if every word is understood. An unknown option may name another registry, another package or a
//! shell command; then it is unclear which word is the package, and the line is treated as an ordinary command.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::Path;

use serde::{Deserialize, Serialize};

/// Where packages come from.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Registry {
    /// The npm registry.
    Npm,
    /// The Python package index.
    PyPi,
}

impl Registry {
    /// Its name in recipes and in the cache.
    pub fn name(self) -> &'static str {
        match self {
            Registry::Npm => "npm",
            Registry::PyPi => "pypi",
        }
    }

    /// The registry of this name.
    pub fn named(name: &str) -> Option<Registry> {
        [Registry::Npm, Registry::PyPi].into_iter().find(|registry| registry.name() == name)
    }

    /// The normalized name of a package. The Python index treats `Mcp_Server.git` as `mcp-server-git` (PEP 503).
    pub fn normalized(self, name: &str) -> String {
        match self {
            Registry::Npm => name.to_owned(),
            Registry::PyPi => {
                let lower = name.to_ascii_lowercase();
                lower.split(['-', '_', '.']).filter(|part| !part.is_empty()).collect::<Vec<_>>().join("-")
            }
        }
    }
}

impl fmt::Display for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A program that fetches a package and runs it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Runner {
    /// `npx`.
    Npx,
    /// `bunx`.
    Bunx,
    /// `pnpm dlx`.
    PnpmDlx,
    /// `uvx`, or `uv tool run`.
    Uvx,
    /// `pipx run`.
    PipxRun,
}

impl Runner {
    /// As it is typed.
    pub fn name(self) -> &'static str {
        match self {
            Runner::Npx => "npx",
            Runner::Bunx => "bunx",
            Runner::PnpmDlx => "pnpm dlx",
            Runner::Uvx => "uvx",
            Runner::PipxRun => "pipx run",
        }
    }
}

/// How to parse a runner's words.
struct Words {
    runner: Runner,
    program: &'static str,
    /// The words between the program and its options.
    verb: &'static [&'static str],
    /// Options without a value that do not change what is installed.
    switches: &'static [&'static str],
    /// Options with one value that changes what is installed.
    with_value: &'static [&'static str],
    /// The option whose value is the package, in which case the first plain word is only the program in it.
    from: Option<&'static str>,
    registry: Registry,
}

const RUNNERS: [Words; 6] = [
    Words {
        runner: Runner::Npx,
        program: "npx",
        verb: &[],
        switches: &["-y", "--yes", "-q", "--quiet", "--"],
        with_value: &[],
        from: None,
        registry: Registry::Npm,
    },
    Words {
        runner: Runner::Bunx,
        program: "bunx",
        verb: &[],
        switches: &["--bun", "--silent"],
        with_value: &[],
        from: None,
        registry: Registry::Npm,
    },
    Words {
        runner: Runner::PnpmDlx,
        program: "pnpm",
        verb: &["dlx"],
        switches: &["--silent"],
        with_value: &[],
        from: None,
        registry: Registry::Npm,
    },
    Words {
        runner: Runner::Uvx,
        program: "uvx",
        verb: &[],
        switches: &["-q", "--quiet"],
        with_value: &["--with", "--python", "-p"],
        from: Some("--from"),
        registry: Registry::PyPi,
    },
    Words {
        runner: Runner::Uvx,
        program: "uv",
        verb: &["tool", "run"],
        switches: &["-q", "--quiet"],
        with_value: &["--with", "--python", "-p"],
        from: Some("--from"),
        registry: Registry::PyPi,
    },
    Words {
        runner: Runner::PipxRun,
        program: "pipx",
        verb: &["run"],
        switches: &["-q", "--quiet"],
        with_value: &["--python"],
        from: Some("--spec"),
        registry: Registry::PyPi,
    },
];

/// A command line that fetches a package from a registry and runs it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PackageCommand {
    /// The program that fetches it.
    pub runner: Runner,
    /// Where it comes from.
    pub registry: Registry,
    /// Its full, normalized name with its scope.
    pub name: String,
    /// Extras of a Python package, as typed: `cli` of `mcp[cli]`.
    pub extras: Option<String>,
    /// The requested version: `1.2`, `^2`, `latest`; for Python with its operator, `==1.2`. `None` means any.
    pub version: Option<String>,
    /// The options that decide what else is installed, in order: `("--with", "mcp<2")`.
    pub options: Vec<(String, String)>,
    /// The program of the package to run, if the line names one.
    pub program: Option<String>,
    /// How many arguments belong to the runner. The server gets the rest.
    pub before: usize,
}

impl PackageCommand {
    /// Parses a command line. `None` if any word is not understood, or if the package does not come from a registry: a
    /// directory, a repository, a URL, another package under its name (`name@npm:other`).
    pub fn read(program: &OsStr, arguments: &[OsString]) -> Option<PackageCommand> {
        let name = Path::new(program).file_name()?.to_str()?;
        let has_verb = |words: &&Words| {
            let verb = arguments.get(..words.verb.len());
            words.program == name && verb.is_some_and(|verb| verb.iter().zip(words.verb).all(|(word, one)| word == one))
        };
        RUNNERS.iter().find(has_verb)?.read(arguments)
    }

    /// The package in the syntax of the registry's own tools: `@scope/name@1.2`, `name[extra]==1.2`.
    pub fn spec(&self) -> String {
        let extras = self.extras.as_ref().map(|extras| format!("[{extras}]")).unwrap_or_default();
        let version = self.version.as_deref().unwrap_or_default();
        match self.registry {
            Registry::Npm if version.is_empty() => self.name.clone(),
            Registry::Npm => format!("{}@{version}", self.name),
            Registry::PyPi => format!("{}{extras}{version}", self.name),
        }
    }

    /// Whether the version is a tag that the registry moves from one release to the next.
    pub fn is_moving(&self) -> bool {
        let is_release = |version: &str| {
            let version = version.strip_prefix('@').unwrap_or(version);
            version.starts_with(|first: char| first.is_ascii_digit() || "=^~<>!*".contains(first))
        };
        self.version.as_deref().is_some_and(|version| !is_release(version))
    }
}

/// Whether this program may fetch packages and run them.
pub fn is_runner(program: &OsStr) -> bool {
    const FETCHERS: [&str; 10] = ["npx", "npm", "pnpm", "yarn", "bun", "bunx", "deno", "uvx", "uv", "pipx"];
    Path::new(program).file_name().is_some_and(|name| FETCHERS.iter().any(|fetcher| name == *fetcher))
}

impl Words {
    fn read(&self, arguments: &[OsString]) -> Option<PackageCommand> {
        let mut words = arguments.iter().enumerate().skip(self.verb.len());
        let (mut options, mut from) = (Vec::new(), None);
        loop {
            let (position, word) = words.next()?;
            let word = word.to_str()?;
            if self.switches.contains(&word) {
                continue;
            }
            let (option, value) = match word.split_once('=') {
                Some((option, value)) if option.starts_with("--") => (option, Some(value)),
                _ => (word, None),
            };
            let is_from = self.from == Some(option);
            if is_from || self.with_value.contains(&option) {
                let value = match value {
                    Some(value) => value,
                    None => words.next()?.1.to_str()?,
                };
                if is_from {
                    if from.replace(value).is_some() {
                        return None;
                    }
                } else {
                    options.push((option.to_owned(), plain(value)?.to_owned()));
                }
                continue;
            }
            if word.starts_with('-') {
                return None;
            }
            let (spec, program) = match from {
                Some(spec) => (spec, Some(program_name(word)?.to_owned())),
                None => (word, None),
            };
            let Spec { name, extras, version } = Spec::read(self.registry, spec)?;
            return Some(PackageCommand {
                runner: self.runner,
                registry: self.registry,
                name: self.registry.normalized(name),
                extras: extras.map(str::to_owned),
                version: version.map(str::to_owned),
                options,
                program,
                before: position + 1,
            });
        }
    }
}

/// A package and its version in one word.
struct Spec<'w> {
    name: &'w str,
    extras: Option<&'w str>,
    version: Option<&'w str>,
}

impl<'w> Spec<'w> {
    // SECURITY: a word that may name a directory, a repository or a URL does not name a package of the registry
    // (test: only_registry_packages_are_recognized)
    fn read(registry: Registry, word: &'w str) -> Option<Spec<'w>> {
        match registry {
            Registry::Npm => {
                let version = word.char_indices().skip(1).find(|(_, letter)| *letter == '@').map(|(at, _)| at);
                let (name, version) = version.map_or((word, None), |at| (&word[..at], Some(&word[at + 1..])));
                let (scope, own) = match name.strip_prefix('@') {
                    Some(scoped) => scoped.split_once('/').map(|(scope, own)| (Some(scope), own))?,
                    None => (None, name),
                };
                let version = version.filter(|version| !version.is_empty());
                (is_name(own) && scope.is_none_or(is_name) && version.is_none_or(is_version)).then_some(())?;
                Some(Spec { name, extras: None, version })
            }
            Registry::PyPi => {
                let end = word.find(['[', '=', '<', '>', '!', '~', '@']).unwrap_or(word.len());
                let (name, rest) = word.split_at(end);
                let (extras, rest) = match rest.strip_prefix('[') {
                    Some(rest) => rest.split_once(']').map(|(extras, rest)| (Some(extras), rest))?,
                    None => (None, rest),
                };
                let version = (!rest.is_empty()).then_some(rest);
                // `uvx name@1.2` and `name@latest`.
                let is_plain = version.is_none_or(|version| is_version(version.strip_prefix('@').unwrap_or(version)));
                let are_extras = extras.is_none_or(|extras| extras.split(',').all(|extra| is_name(extra.trim())));
                (is_name(name) && is_plain && are_extras).then_some(Spec { name, extras, version })
            }
        }
    }
}

/// A valid package name: it begins with a letter or a digit, so it is neither a path nor an option.
fn is_name(text: &str) -> bool {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
    text.starts_with(|first: char| first.is_ascii_alphanumeric()) && text.chars().all(is_plain)
}

/// A version, a range or a tag, which cannot be a URL or a path.
fn is_version(text: &str) -> bool {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || ".-+^~_<>=!,*".contains(letter);
    !text.is_empty() && text.chars().all(is_plain)
}

/// The value of an option that names a package or an interpreter's version, never a path.
fn plain(value: &str) -> Option<&str> {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "._-[]=<>!~,+@".contains(letter);
    (value.starts_with(|first: char| first.is_ascii_alphanumeric()) && value.chars().all(is_plain)).then_some(value)
}

fn program_name(word: &str) -> Option<&str> {
    is_name(word).then_some(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Option<PackageCommand> {
        let mut words = line.split(' ').map(OsString::from);
        let program = words.next().unwrap();
        PackageCommand::read(&program, &words.collect::<Vec<_>>())
    }

    #[test]
    fn packages_are_read_from_command_lines() {
        let check = |line: &str, registry: Registry, spec: &str, before: usize| {
            let found = read(line).unwrap_or_else(|| panic!("{line}"));
            assert_eq!((found.registry, found.spec().as_str(), found.before), (registry, spec, before), "{line}");
        };
        check("npx -y @scope/name /srv", Registry::Npm, "@scope/name", 2);
        check("/usr/bin/npx name@1.2 -p x", Registry::Npm, "name@1.2", 1);
        check("npx -y -- @scope/name@latest", Registry::Npm, "@scope/name@latest", 3);
        check("npx name@", Registry::Npm, "name", 1);
        check("bunx --bun name", Registry::Npm, "name", 2);
        check("pnpm dlx name --help", Registry::Npm, "name", 2);
        check("uvx mcp-server-git --repository x", Registry::PyPi, "mcp-server-git", 1);
        check("uvx Mcp_Server.Git==1.2", Registry::PyPi, "mcp-server-git==1.2", 1);
        check("uvx name@latest", Registry::PyPi, "name@latest", 1);
        check("uvx mcp[cli]>=1,<2 run", Registry::PyPi, "mcp[cli]>=1,<2", 1);
        check("uvx --with mcp<2 --python=3.12 name", Registry::PyPi, "name", 4);
        check("uvx --from name@1 tool arg", Registry::PyPi, "name@1", 3);
        check("uv tool run name", Registry::PyPi, "name", 3);
        check("pipx run name", Registry::PyPi, "name", 2);
        let found = read("uvx --with mcp<2 --from name tool").unwrap();
        assert_eq!(found.options, [("--with".to_owned(), "mcp<2".to_owned())]);
        assert_eq!(found.program.as_deref(), Some("tool"));
    }

    #[test]
    fn only_registry_packages_are_recognized() {
        for line in [
            "npx",
            "npx -y",
            "npx -p @scope/name name",
            "npx --package=@scope/name name",
            "npx --registry http://127.0.0.1 name",
            "npx -c name",
            "npx ./name",
            "npx /srv/name",
            "npx ../name",
            "npx .",
            "npx file:../name",
            "npx git+https://example.org/x",
            "npx user/repository",
            "npx @scope/name/more",
            "npx @scope",
            "npx name@npm:other",
            "npx name@file:x",
            "npx name@git+ssh://x",
            "npx https://example.org/x.tgz",
            "uvx --from git+https://example.org/x name",
            "uvx --from ./x name",
            "uvx --from . name",
            "uvx --with ./x name",
            "uvx --python /srv/python name",
            "uvx --index-url http://127.0.0.1 name",
            "uvx name@https://example.org/x.whl",
            "uvx name@./x",
            "uv run name",
            "uv tool install name",
            "pipx install name",
            "pnpm name",
            "npm exec name",
            "node index.js",
        ] {
            assert_eq!(read(line), None, "{line}");
        }
    }

    #[test]
    fn a_tag_moves_and_a_release_does_not() {
        let check = |line: &str, expect: bool| assert_eq!(read(line).unwrap().is_moving(), expect, "{line}");
        check("npx name", false);
        check("npx name@latest", true);
        check("npx name@next", true);
        check("npx name@1.2.3", false);
        check("npx name@^1", false);
        check("uvx name@latest", true);
        check("uvx name@1.2", false);
        check("uvx name==1.2", false);
        check("uvx name>=1", false);
    }
}
