//! The directories on a server's command line.
//!
//! A program's own location is not a directory that it works on: `node /srv/app/index.js` and `uv --directory
//! /srv/app` say where the server is, and are skipped.

use rootward_core::Access;

use super::model::{ConfiguredCommand, SuggestedBy, SuggestedRoot};
use super::variables::{FileContext, Syntax};

/// File servers that take directories as arguments, by the last part of their name.
const FILE_SERVERS: [&str; 3] = ["server-filesystem", "mcp-server-filesystem", "rust-mcp-filesystem"];
/// Programs that start containers.
const CONTAINERS: [&str; 3] = ["docker", "podman", "nerdctl"];
/// Programs whose first argument is what they run.
const RUNNERS: [&str; 10] = ["node", "npx", "bunx", "tsx", "python", "python3", "uvx", "ruby", "java", "pythonw"];
/// Programs that run what follows a word such as `run`.
const RUNNERS_BY_VERB: [&str; 11] =
    ["uv", "npm", "pnpm", "yarn", "poetry", "bun", "deno", "dotnet", "cargo", "go", "pipx"];
/// Last words of options that name directories.
const NAMES: [&str; 13] = [
    "root",
    "roots",
    "dir",
    "dirs",
    "directory",
    "directories",
    "folder",
    "folders",
    "workspace",
    "project",
    "repo",
    "repository",
    "vault",
];
/// Options of runners that say where the server is.
const OF_RUNNERS: [&str; 4] = ["directory", "project", "dir", "cwd"];
/// Options without a value, which an argument may follow.
const SWITCHES: [&str; 5] = ["-y", "--yes", "-q", "--quiet", "--"];

/// How many directories of one server to report.
const MOST: usize = 64;

/// The directories that a command line names.
pub(super) fn of(line: &ConfiguredCommand, syntax: Syntax, around: &FileContext) -> Vec<SuggestedRoot> {
    let mut found: Vec<(String, Access, SuggestedBy)> = Vec::new();
    if let Some(directory) = &line.directory {
        found.push((directory.clone(), Access::READ_WRITE, SuggestedBy::WorkingDirectory));
    }
    let program = base_name(&line.program);
    if CONTAINERS.contains(&program) {
        mounts(&line.arguments, &mut found);
    } else if let Some(arguments) = of_file_server(line) {
        let directories = arguments.iter().filter(|word| !word.starts_with('-') && !word.is_empty());
        found.extend(directories.map(|word| (word.clone(), Access::READ_WRITE, SuggestedBy::FileServer)));
    } else {
        arguments(program, &line.arguments, &mut found);
    }
    let mut roots: Vec<SuggestedRoot> = Vec::new();
    for (text, access, why) in found {
        let path = around.resolve(&text, syntax);
        let same = |root: &&mut SuggestedRoot| root.text == text || (path.is_some() && root.path == path);
        if let Some(known) = roots.iter_mut().find(same) {
            // A directory that is named twice gets the access that both give.
            known.access = known.access.without(known.access.without(access));
        } else if roots.len() < MOST {
            roots.push(SuggestedRoot { text, path, access, why });
        }
    }
    roots
}

impl ConfiguredCommand {
    /// Whether it starts a container: what runs there is not a child of the program, so confining the program does
    /// not confine it.
    pub fn starts_container(&self) -> bool {
        CONTAINERS.contains(&base_name(&self.program))
    }

    /// The first argument of Rootward, if the program is Rootward; empty if it has none. `env NAME=value` may come
    /// before it.
    pub fn rootward_verb(&self) -> Option<&str> {
        let mut words = std::iter::once(&self.program).chain(&self.arguments).map(String::as_str).peekable();
        if words.next_if(|program| base_name(program) == "env").is_some() {
            while words.next_if(|word| word.contains('=') && !word.starts_with('-')).is_some() {}
        }
        (base_name(words.next()?) == "rootward").then(|| words.next().unwrap_or_default())
    }
}

/// The last component of a program's path, on any system, without `.exe`.
fn base_name(program: &str) -> &str {
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program);
    name.strip_suffix(".exe").or_else(|| name.strip_suffix(".cmd")).unwrap_or(name)
}

/// The words after the name of a file server.
fn of_file_server(line: &ConfiguredCommand) -> Option<&[String]> {
    let is_one = |word: &str| {
        let word = word.strip_suffix("/dist/index.js").unwrap_or(word);
        let name = base_name(word.trim_end_matches('/'));
        FILE_SERVERS.contains(&name.split('@').next().unwrap_or(name))
    };
    if is_one(&line.program) {
        return Some(&line.arguments);
    }
    let position = line.arguments.iter().position(|word| is_one(word))?;
    line.arguments.get(position + 1..)
}

/// Options whose names suggest a directory, and arguments that are paths.
fn arguments(program: &str, words: &[String], found: &mut Vec<(String, Access, SuggestedBy)>) {
    // How many words are left before the server's own.
    let mut before_server = match program {
        _ if RUNNERS.contains(&program) => 1,
        _ if RUNNERS_BY_VERB.contains(&program) => 2,
        _ => 0_usize,
    };
    let mut words = words.iter().peekable();
    let mut before: Option<&str> = None;
    while let Some(word) = words.next() {
        if let Some(option) = word.strip_prefix('-') {
            let (name, value) = match option.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (option, None),
            };
            let written = word.split('=').next().unwrap_or(word).to_owned();
            if names_directory(name, before_server > 0) {
                let value = value.or_else(|| words.next_if(|next| !next.starts_with('-')).map(String::as_str));
                // A URL is not a directory, and may contain a password.
                let value = value.filter(|value| !value.contains("://"));
                found.extend(value.map(|value| (value.to_owned(), Access::READ_WRITE, SuggestedBy::Option(written))));
                before = None;
            } else {
                before = value.is_none().then_some(word);
            }
            continue;
        }
        // A word after an unknown option may be its value, and a file.
        let stands_alone = before.is_none_or(|option| SWITCHES.contains(&option));
        if before_server == 0 && stands_alone && looks_like_directory(word) {
            found.push((word.clone(), Access::READ_WRITE, SuggestedBy::Argument));
        }
        before_server = before_server.saturating_sub(usize::from(stands_alone));
        before = None;
    }
}

fn names_directory(option: &str, of_runner: bool) -> bool {
    let name = option.trim_start_matches('-').to_lowercase();
    let mut parts = name.split(['-', '_', '.']);
    let aside =
        name.split(['-', '_', '.']).any(|part| matches!(part, "cache" | "log" | "logs" | "output" | "tmp" | "no"));
    let last = parts.next_back().unwrap_or_default();
    NAMES.contains(&last) && !aside && !(of_runner && OF_RUNNERS.contains(&&*name))
}

/// An absolute path whose last component does not look like a file.
fn looks_like_directory(word: &str) -> bool {
    let starts = ["/", "~/", "${workspaceFolder}", "${userHome}", "${HOME}"];
    let last = word.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    let is_file = last.trim_start_matches('.').contains('.');
    (starts.iter().any(|start| word.starts_with(start)) || word == "~")
        && !is_file
        && !word.contains(char::is_whitespace)
}

/// What is mounted into a container from outside: `-v FROM:TO[:ro]` and `--mount type=bind,source=FROM,…`.
fn mounts(words: &[String], found: &mut Vec<(String, Access, SuggestedBy)>) {
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let (option, value) = match word.split_once('=') {
            Some((option, value)) => (option, Some(value)),
            None => (word.as_str(), None),
        };
        let mut value = || value.or_else(|| words.next().map(String::as_str));
        let mount = match option {
            "-v" | "--volume" => value().and_then(volume),
            "--mount" => value().and_then(bound),
            _ => None,
        };
        found.extend(mount.map(|(from, access)| (from, access, SuggestedBy::Mount)));
    }
}

fn volume(text: &str) -> Option<(String, Access)> {
    // The colon in `${env:NAME}` is not a separator.
    let mut depth = 0_usize;
    let colon = text.char_indices().position(|(_, letter)| {
        match letter {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        letter == ':' && depth == 0
    })?;
    let split = text.char_indices().nth(colon)?.0;
    let (from, behind) = (&text[..split], &text[split + 1..]);
    // Without a slash it is the name of a volume.
    let is_path = from.contains('/') || from.starts_with(['~', '$', '.']);
    let options = behind.split_once(':').map_or("", |(_, options)| options);
    let access = if options.split(',').any(|option| option == "ro") { Access::READ } else { Access::READ_WRITE };
    is_path.then(|| (from.to_owned(), access))
}

fn bound(text: &str) -> Option<(String, Access)> {
    let mut from = None;
    let (mut bind, mut access) = (false, Access::READ_WRITE);
    for part in text.split(',') {
        match part.split_once('=').unwrap_or((part, "true")) {
            ("type", kind) => bind = kind == "bind",
            ("src" | "source", place) => from = Some(place.to_owned()),
            ("readonly" | "ro", "true" | "1") => access = Access::READ,
            _ => {}
        }
    }
    from.filter(|_| bind).map(|from| (from, access))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(words: &[&str], expect: &[(&str, &str)]) {
        let mut words = words.iter().map(|word| (*word).to_owned());
        let program = words.next().unwrap();
        let arguments = words.collect();
        let line = ConfiguredCommand {
            program,
            arguments,
            variables: Vec::new(),
            passed: Vec::new(),
            variables_file: None,
            from_file: crate::import::FileVariables::Unread,
            directory: None,
        };
        let around = FileContext { home: Some("/home/me".into()), project: None };
        let found = of(&line, Syntax::Editor, &around);
        let found: Vec<(String, String)> = found
            .iter()
            .map(|root| {
                let access = if root.access == Access::READ { " read" } else { "" };
                let path =
                    root.path.as_ref().map_or_else(|| format!("?{}", root.text), |path| path.display().to_string());
                (format!("{path}{access}"), root.why.to_string())
            })
            .collect();
        let expect: Vec<(String, String)> =
            expect.iter().map(|(path, why)| ((*path).to_owned(), (*why).to_owned())).collect();
        assert_eq!(found, expect, "{line:?}");
    }

    #[test]
    fn directories_of_file_servers() {
        const GIVEN: &str = "passed to the file server";
        check(
            &[
                "npx",
                "-y",
                "@modelcontextprotocol/server-filesystem@2026.1",
                "/home/me/src",
                "~/notes",
                "rel",
                "/home/me/src",
            ],
            &[("/home/me/src", GIVEN), ("/home/me/notes", GIVEN), ("?rel", GIVEN)],
        );
        check(&["/opt/bin/rust-mcp-filesystem", "-w", "/srv/data.d"], &[("/srv/data.d", GIVEN)]);
        check(&["cmd", "/c", "npx", "mcp-server-filesystem", r"C:\src"], &[(r"?C:\src", GIVEN)]);
        check(&["npx", "mcp-server-filesystem"], &[]);
    }

    #[test]
    fn directories_in_arguments() {
        const ARGUMENT: &str = "an argument that is a path";
        check(
            &["uvx", "mcp-server-git", "--repository", "/home/me/app"],
            &[("/home/me/app", "passed as `--repository`")],
        );
        check(&["serena", "--allowed-dir=~/src"], &[("/home/me/src", "passed as `--allowed-dir`")]);
        check(&["node", "/srv/server/index.js", "/home/me/app"], &[("/home/me/app", ARGUMENT)]);
        check(&["node", "/srv/server", "/home/me/app"], &[("/home/me/app", ARGUMENT)]);
        check(&["uv", "--directory", "/srv/server", "run", "server"], &[]);
        check(
            &["uv", "run", "--project", "/srv/server", "server", "--project", "/home/me/app"],
            &[("/home/me/app", "passed as `--project`")],
        );
        check(&["uv", "run", "server", "--root", "${userHome}/x"], &[("/home/me/x", "passed as `--root`")]);
        check(&["thing", "--config", "/etc/thing"], &[]);
        check(&["thing", "/etc/thing.json", "/srv/.hidden"], &[("/srv/.hidden", ARGUMENT)]);
        check(&["thing", "--cache-dir", "/var/cache/x"], &[]);
        check(&["thing", "--root", "--verbose"], &[]);
        check(&["thing", "--repo", "https://me:x@host/a", "--repo=ssh://host/b"], &[]);
        check(&["sh", "-c", "cat /etc/passwd"], &[]);
    }

    #[test]
    fn directories_of_containers() {
        const MOUNT: &str = "mounted into the container";
        check(
            &[
                "docker",
                "run",
                "-i",
                "--rm",
                "--mount",
                "type=bind,src=/home/me/src,dst=/projects/src",
                "--mount",
                "type=bind,source=~/doc,dst=/d,ro",
                "--mount=type=volume,src=data,dst=/v",
                "-v",
                "/srv/a:/a",
                "--volume",
                "${env:X}:/y:ro",
                "-v",
                "named:/n",
                "mcp/filesystem",
                "/projects",
            ],
            &[("/home/me/src", MOUNT), ("/home/me/doc read", MOUNT), ("/srv/a", MOUNT), ("?${env:X} read", MOUNT)],
        );
        check(&["podman.exe", "run", "--volume"], &[]);
        check(&["docker", "run", "-v", "ä:b", "--mount", "ä"], &[]);
    }
}
