//! Starting the server: its command line in these roots, its confinement, its pipes.

use std::ffi::{OsStr, OsString};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;
use std::process::{Child, Stdio};

use rootward_core::{Guard, RootKind, RootSet};
use rootward_sandbox::{
    CommandLine, Confinement, KnownCommand, Lifeline, Options, StartError, UnixSockets, spawn_kept,
};

use crate::engine::Change;
use crate::scan::Held;

/// What stands for the first root in a command line or a variable.
const ROOT: &[u8] = b"${root}";
/// What stands for all of them.
const ROOTS: &[u8] = b"${roots}";

/// File servers that take their directories as arguments, by the last part of their package's or program's name.
const FILE_SERVERS: [&str; 3] = ["server-filesystem", "mcp-server-filesystem", "rust-mcp-filesystem"];

/// Programs that start containers, or a shell in one.
const CONTAINERS: [&str; 8] =
    ["docker", "podman", "nerdctl", "buildah", "kubectl", "lxc", "systemd-nspawn", "distrobox"];

/// How a server is started.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The program, as typed.
    pub program: OsString,
    /// Its arguments; `${root}` and `${roots}` in them stand for the roots.
    pub arguments: Vec<OsString>,
    /// Variables in which `${root}` or `${roots}` stand.
    pub variables: Vec<(OsString, OsString)>,
    /// How the server is given its directories.
    pub inject: Inject,
    /// How it is confined.
    pub confine: Confine,
}

/// How a server is given its directories, besides being told when it asks.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Inject {
    /// As arguments where it is a file server that is known to take them.
    #[default]
    Known,
    /// As arguments at the end.
    Arguments,
    /// In this variable, with colons between them.
    Variable(OsString),
    /// Not at all.
    Nothing,
}

/// How a server is confined.
#[derive(Clone, Debug)]
pub enum Confine {
    /// By the kernel, to the roots.
    To(Box<Options>),
    /// Not at all.
    Off,
}

/// A server that runs.
#[derive(Debug)]
pub(super) struct Started {
    pub(super) child: Child,
    pub(super) input: OwnedFd,
    pub(super) output: OwnedFd,
    /// What ties it to this process.
    pub(super) line: Lifeline,
    /// Where one starts that has no roots and no home of its own.
    pub(super) empty: Option<tempfile::TempDir>,
}

impl Launch {
    /// What a change of roots takes.
    pub(crate) fn change(&self) -> Change {
        let confined = matches!(self.confine, Confine::To(_));
        let texts = self.arguments.iter().chain(self.variables.iter().map(|(_, value)| value));
        let stands = texts.into_iter().any(|text| has_template(text));
        if confined || stands || self.injects() != Inject::Nothing { Change::NewChild } else { Change::Told }
    }

    /// What holds the server besides the check of its calls.
    pub fn held(&self) -> Held {
        match &self.confine {
            // SECURITY: a container engine behind a socket is no child of the server, and its `/` is another
            // (test: only_what_runs_here_is_held_by_the_kernel)
            Confine::To(options) if options.unix_sockets == UnixSockets::Closed && !self.starts_container() => {
                Held::ByKernel
            }
            Confine::To(_) | Confine::Off => Held::ByItsCalls,
        }
    }

    /// Whether any word of the command is the name of a container engine.
    fn starts_container(&self) -> bool {
        let words = [&self.program].into_iter().chain(&self.arguments);
        let mut words = words.flat_map(|word| word.as_bytes().split(u8::is_ascii_whitespace));
        words.any(|word| {
            let name = word.rsplit(|byte| *byte == b'/').next().unwrap_or(word);
            CONTAINERS.iter().any(|engine| name == engine.as_bytes())
        })
    }

    /// How directories are given, now that the command is known.
    fn injects(&self) -> Inject {
        match &self.inject {
            Inject::Known => {
                let mut words = [&self.program].into_iter().chain(&self.arguments);
                if words.any(|word| is_file_server(word)) { Inject::Arguments } else { Inject::Nothing }
            }
            other => other.clone(),
        }
    }

    /// The command line in these roots.
    fn line(&self, set: &RootSet) -> CommandLine {
        let places: Vec<&Path> = set.roots().iter().map(|root| root.place.as_path()).collect();
        let mut arguments: Vec<OsString> =
            self.arguments.iter().flat_map(|argument| in_argument(argument, &places)).collect();
        let mut variables: Vec<(OsString, OsString)> =
            self.variables.iter().map(|(name, value)| (name.clone(), filled_in(value, &places))).collect();
        match self.injects() {
            Inject::Arguments => {
                let directories = set.roots().iter().filter(|root| root.kind == RootKind::Directory);
                arguments.extend(directories.map(|root| root.place.clone().into()));
            }
            Inject::Variable(name) => variables.push((name, joined(&places))),
            Inject::Nothing | Inject::Known => {}
        }
        let directory = set.first_directory().map(|root| root.place.clone());
        CommandLine { program: self.program.clone(), arguments, directory, variables }
    }

    /// Starts the server in a guard's roots. Blocks for as long as that takes, which is milliseconds. `known` is what earlier starts
    /// found out about the command.
    pub(super) fn start_ambient(&self, guard: &Guard, known: &mut Option<KnownCommand>) -> Result<Started, StartError> {
        let line = self.line(guard.root_set());
        match &self.confine {
            Confine::To(options) => {
                let confinement = Confinement::new(guard.clone(), Options::clone(options))?;
                // SECURITY: between two starts, the server could change what would be found
                // (test: a_restarted_server_gets_what_was_found_at_first)
                let known = match known.take().filter(|known| known.is_for(&line)) {
                    Some(again) => known.insert(again),
                    None => known.insert(KnownCommand::look_up_ambient(&line)?),
                };
                let mut prepared = confinement.prepare_known_ambient(&line, known)?;
                prepared.command().stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
                let confined = prepared.spawn()?;
                started(confined.child, confined.line, None)
            }
            Confine::Off => {
                let mut line = line;
                let empty = match &line.directory {
                    Some(_) => None,
                    None => Some(tempfile::tempdir().map_err(StartError::Prepare)?),
                };
                line.directory = line.directory.or_else(|| empty.as_ref().map(|empty| empty.path().to_owned()));
                let (child, line) = spawn_kept(&line)?;
                started(child, line, empty)
            }
        }
    }
}

fn started(mut child: Child, line: Lifeline, empty: Option<tempfile::TempDir>) -> Result<Started, StartError> {
    match (child.stdin.take(), child.stdout.take()) {
        (Some(input), Some(output)) => Ok(Started { child, input: input.into(), output: output.into(), line, empty }),
        _ => Err(StartError::Silent),
    }
}

/// Whether a word of a command line names a file server: a program, a script, or a package with or without a version.
fn is_file_server(word: &OsStr) -> bool {
    let Some(word) = word.to_str() else { return false };
    let word = word.strip_suffix("/dist/index.js").unwrap_or(word).trim_end_matches('/');
    let name = word.rsplit('/').next().unwrap_or(word);
    let name = name.split('@').next().unwrap_or(name);
    FILE_SERVERS.contains(&name)
}

fn has_template(text: &OsStr) -> bool {
    let bytes = text.as_bytes();
    [ROOT, ROOTS].iter().any(|template| memchr::memmem::find(bytes, template).is_some())
}

/// An argument in these roots: one that is nothing but `${roots}` becomes as many as there are.
fn in_argument(argument: &OsStr, places: &[&Path]) -> Vec<OsString> {
    if argument.as_bytes() == ROOTS {
        return places.iter().map(OsString::from).collect();
    }
    vec![filled_in(argument, places)]
}

/// A text with the roots in place of what stands for them. What the roots are called is not looked into again.
fn filled_in(text: &OsStr, places: &[&Path]) -> OsString {
    let (mut filled, mut rest) = (Vec::new(), text.as_bytes());
    while let Some(at) = memchr::memmem::find(rest, b"${root") {
        filled.extend_from_slice(&rest[..at]);
        rest = &rest[at..];
        if let Some(after) = rest.strip_prefix(ROOTS) {
            filled.extend_from_slice(joined(places).as_bytes());
            rest = after;
        } else if let Some(after) = rest.strip_prefix(ROOT) {
            filled.extend_from_slice(places.first().map_or(&[], |place| place.as_os_str().as_bytes()));
            rest = after;
        } else {
            filled.push(rest[0]);
            rest = &rest[1..];
        }
    }
    filled.extend_from_slice(rest);
    OsString::from_vec(filled)
}

/// All roots in one text, as `PATH` has it.
fn joined(places: &[&Path]) -> OsString {
    places.iter().map(|place| place.as_os_str()).collect::<Vec<_>>().join(OsStr::new(":"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_stand_where_they_are_wanted() {
        let places = [Path::new("/a"), Path::new("/b ${root}")];
        let check = |text: &str, expect: &[&str]| {
            assert_eq!(in_argument(OsStr::new(text), &places), expect, "{text}");
        };
        check("${roots}", &["/a", "/b ${root}"]);
        check("--dir=${root}", &["--dir=/a"]);
        check("--dirs=${roots};${root}", &["--dirs=/a:/b ${root};/a"]);
        check("$root ${rooted} ${root", &["$root ${rooted} ${root"]);
        assert_eq!(in_argument(OsStr::new("${roots}"), &[]), Vec::<OsString>::new());
        assert_eq!(in_argument(OsStr::new("x${root}"), &[]), ["x"]);
    }

    #[test]
    fn only_what_runs_here_is_held_by_the_kernel() {
        let check = |confine: Confine, command: &[&str], expect: Held| {
            let mut words = command.iter().map(OsString::from);
            let launch = Launch {
                program: words.next().unwrap(),
                arguments: words.collect(),
                variables: Vec::new(),
                inject: Inject::default(),
                confine,
            };
            assert_eq!(launch.held(), expect, "{command:?}");
        };
        let confined = |unix_sockets| Confine::To(Box::new(Options { unix_sockets, ..Options::default() }));
        let closed = || confined(UnixSockets::Closed);
        check(closed(), &["npx", "-y", "@upstash/context7-mcp"], Held::ByKernel);
        check(closed(), &["/opt/dockerish/server"], Held::ByKernel);
        check(Confine::Off, &["npx", "-y", "@upstash/context7-mcp"], Held::ByItsCalls);
        check(confined(UnixSockets::Open), &["npx", "-y", "@upstash/context7-mcp"], Held::ByItsCalls);
        for command in [
            &["docker", "run", "x"][..],
            &["/usr/bin/podman"],
            &["env", "A=b", "docker"],
            &["sh", "-c", "exec docker run x"],
        ] {
            check(closed(), command, Held::ByItsCalls);
        }
    }

    #[test]
    fn file_servers_are_known_by_name() {
        let check = |word: &str, expect: bool| assert_eq!(is_file_server(OsStr::new(word)), expect, "{word}");
        check("@modelcontextprotocol/server-filesystem", true);
        check("@modelcontextprotocol/server-filesystem@2026.1.14", true);
        check("/usr/local/bin/mcp-server-filesystem", true);
        check("rust-mcp-filesystem", true);
        check("node_modules/@modelcontextprotocol/server-filesystem/dist/index.js", true);
        check("server-filesystem-extra", false);
        check("@modelcontextprotocol/server-memory", false);
        check("/srv/server-filesystem/notes.txt", false);
    }
}
