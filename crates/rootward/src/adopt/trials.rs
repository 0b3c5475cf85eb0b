//! What to start to see which adopted servers work: each wrapped server, and each hub for all of its servers.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use rootward_client::adopt::{PlannedHub, Verdict, fill};
use rootward_client::import::{ConfiguredCommand, Enabled, FileContext, FileVariables, Holder, Scope, Transport};
use rootward_core::{Access, FileKind, Resolver, lookout_ambient};
use rootward_hub::config::{HubConfig, ServerConfig};

use super::gathering::{Adoptable, Gathered, Listed};
use super::lines::label;
use super::talk::{self, Behind, Start};
use super::trying::Tried;
use super::{Desk, Yes};

const SWITCHED_OFF: &str = "it is switched off";

/// A server to try.
pub(super) struct Subject {
    /// The indexes of its file and of the server in it.
    pub(super) place: (usize, usize),
    pub(super) label: String,
}

/// What to start, and the servers that it tests.
pub(super) struct Trial {
    subjects: Vec<Subject>,
    start: Start,
    what: What,
}

/// What to start.
enum What {
    Server,
    /// With these servers, in the order of the subjects.
    Hub(Vec<Behind>),
}

impl Trial {
    /// The servers that it tests, by their indexes.
    pub(super) fn places(&self) -> impl Iterator<Item = (usize, usize)> {
        self.subjects.iter().map(|subject| subject.place)
    }

    pub(super) fn run_ambient(self) -> impl Iterator<Item = (Subject, Tried)> {
        let tried = match &self.what {
            What::Server => vec![talk::talk_ambient(&self.start)],
            What::Hub(servers) => talk::talk_to_hub_ambient(&self.start, servers),
        };
        self.subjects.into_iter().zip(tried)
    }
}

/// What to start for every file that was replaced, and the servers that are not started.
pub(super) fn of(
    gathered: &Gathered,
    yes: Yes,
    project: Option<&Path>,
    desk: &Desk,
) -> (VecDeque<Trial>, Vec<(Subject, Tried)>) {
    let (mut trials, mut skipped) = (VecDeque::new(), Vec::new());
    for (number, file) in gathered.files.iter().enumerate().filter(|(_, file)| file.changed) {
        let subject = |(position, server): (usize, &Listed)| Subject {
            place: (number, position),
            label: format!("{}, {}", file.form.client(), label(file, server, desk)),
        };
        for (position, server) in file.servers.iter().enumerate() {
            match start_of(file, server, yes, project, desk) {
                Some(Ok(start)) => {
                    let subjects = vec![subject((position, server))];
                    trials.push_back(Trial { subjects, start, what: What::Server });
                }
                Some(Err(why)) => skipped.push((subject((position, server)), Tried::Skipped { why })),
                None => {}
            }
        }
        for hub in &file.plan.hubs {
            let servers = file.servers.iter().enumerate();
            let servers = servers.filter(|(_, server)| hub.adopted.runs(file.form, &server.planned.server));
            let (off, on): (Vec<_>, Vec<_>) =
                servers.partition(|(_, server)| server.planned.server.enabled == Enabled::Off);
            let off = off.into_iter().map(|server| (subject(server), Tried::Skipped { why: SWITCHED_OFF.to_owned() }));
            skipped.extend(off);
            match start_of_hub(file, hub, yes, project, desk) {
                _ if on.is_empty() => {}
                Ok(start) => {
                    let servers = on.iter().map(|(_, server)| behind(hub, &server.planned.server.name)).collect();
                    let subjects = on.into_iter().map(subject).collect();
                    trials.push_back(Trial { subjects, start, what: What::Hub(servers) });
                }
                Err(why) => {
                    let skip = |server| (subject(server), Tried::Skipped { why: why.clone() });
                    skipped.extend(on.into_iter().map(skip));
                }
            }
        }
    }
    (trials, skipped)
}

/// How to start a server, or why not. `None` for one that was not wrapped.
fn start_of(
    file: &Adoptable,
    server: &Listed,
    yes: Yes,
    project: Option<&Path>,
    desk: &Desk,
) -> Option<Result<Start, String>> {
    let (Verdict::Wrap(wrapping), Transport::Command(line)) =
        (&server.planned.verdict, &server.planned.server.transport)
    else {
        return None;
    };
    if server.planned.server.enabled == Enabled::Off {
        return Some(Err(SWITCHED_OFF.to_owned()));
    }
    let words = [&wrapping.before[..], &line.words()].concat();
    let project = match &server.planned.server.scope {
        Scope::Project(project) if file.holder == Holder::User => Some(Path::new(project)),
        _ => project,
    };
    Some(place_of_trial(file, yes, project).and_then(|project| start(file, line, &words, project, desk)))
}

/// How to start a hub, or why not.
fn start_of_hub(
    file: &Adoptable,
    hub: &PlannedHub,
    yes: Yes,
    project: Option<&Path>,
    desk: &Desk,
) -> Result<Start, String> {
    let project = match &hub.adopted.table[..] {
        [_, project, _] => Some(Path::new(project)),
        _ => project,
    };
    let line = ConfiguredCommand {
        program: String::new(),
        arguments: Vec::new(),
        variables: Vec::new(),
        passed: Vec::new(),
        variables_file: None,
        from_file: FileVariables::Unread,
        directory: None,
    };
    start(file, &line, &hub.adopted.words, place_of_trial(file, yes, project)?, desk)
}

/// A server of a hub: its name, and the prefix of its tools.
fn behind(hub: &PlannedHub, name: &str) -> Behind {
    let config = HubConfig::read(&hub.config).unwrap_or_default();
    let prefix = config.server(name).map(ServerConfig::prefix).filter(|prefix| !prefix.is_empty());
    let begins = prefix.map(|prefix| prefix + &config.hub.separator).unwrap_or_default();
    Behind { name: name.to_owned(), begins }
}

/// The directory to try a server in, or why it is not tried.
fn place_of_trial(file: &Adoptable, yes: Yes, project: Option<&Path>) -> Result<PathBuf, String> {
    // SECURITY: somebody else wrote the project: its servers run, and get the variables they ask for, only with a
    // person's consent
    // (test: a_flag_starts_no_server_of_a_project)
    if file.holder == Holder::Project && yes == Yes::Flag {
        return Err("a project's file names it, and `--yes` does not cover that".to_owned());
    }
    let project = project.filter(|project| is_directory_ambient(project));
    project.map(Path::to_owned).ok_or_else(|| "its project no longer exists".to_owned())
}

fn start(
    file: &Adoptable,
    line: &ConfiguredCommand,
    words: &[String],
    project: PathBuf,
    desk: &Desk,
) -> Result<Start, String> {
    let around = FileContext { home: desk.directories.home.clone(), project: Some(project.clone()) };
    let filled =
        |text: &str| fill(text, file.form, &desk.environment, &around).map_err(|unfilled| unfilled.to_string());
    let mut words = words.iter().map(|word| filled(word)).collect::<Result<VecDeque<String>, String>>()?;
    let program = words.pop_front().unwrap_or_default();
    let variables = line.variables.iter().map(|(name, value)| Ok((name.clone(), filled(value)?)));
    // The entry's variables come last and win, as in the clients.
    let variables =
        line.from_file.known().iter().cloned().map(Ok).chain(variables).collect::<Result<Vec<_>, String>>()?;
    let directory = match &line.directory {
        Some(directory) => project.join(filled(directory)?),
        None => project.clone(),
    };
    Ok(Start { program, arguments: words.into(), variables, directory, root: project })
}

fn is_directory_ambient(path: &Path) -> bool {
    let seen = lookout_ambient(Resolver::detect()).check(path, Access::NONE);
    seen.is_ok_and(|seen| seen.kind() == Some(FileKind::Directory))
}
