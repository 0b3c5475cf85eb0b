//! Starts each adopted server once, as its client would, and says which work.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError, mpsc};

use anyhow::{Context, Result};
use rootward_client::adopt::{Verdict, fill};
use rootward_client::import::{Around, CommandLine, Enabled, Holder, Scope, Transport};
use rootward_core::{Access, FileKind, Resolver, follow_ambient, lookout_ambient};

use super::gathering::{Adoptable, Gathered, Listed};
use super::lines::label;
use super::scratch::Scratch;
use super::talk::{self, Start};
use super::{Desk, Yes, name};
use crate::Outcome;
use crate::message;

/// How many servers run at a time.
const AT_ONCE: usize = 3;

/// What became of a start.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Tried {
    Works {
        tools: usize,
    },
    Fails {
        why: String,
    },
    /// It was not started.
    Skipped {
        why: String,
    },
}

/// A server that is to be started.
struct Trial {
    /// Which file and which of its servers.
    place: (usize, usize),
    label: String,
    start: Start,
}

/// Starts the servers of every file that was replaced.
pub(super) fn run(gathered: &mut Gathered, yes: Yes, json: bool, desk: &Desk) -> Result<Outcome> {
    let scratch =
        if is_project(desk) { None } else { Some(Scratch::make_ambient().context("no place to try servers in")?) };
    let project = scratch.as_ref().map(Scratch::path).or(desk.here.as_deref());
    let mut trials = VecDeque::new();
    let mut skipped = Vec::new();
    for (number, file) in gathered.files.iter().enumerate().filter(|(_, file)| file.changed) {
        for (position, server) in file.servers.iter().enumerate() {
            let place = (number, position);
            let label = format!("{}, {}", file.form.client(), label(file, server, desk));
            match start_of(file, server, yes, project, desk) {
                Some(Ok(start)) => trials.push_back(Trial { place, label, start }),
                Some(Err(why)) => skipped.push((place, label, Tried::Skipped { why })),
                None => {}
            }
        }
    }
    if !json && !trials.is_empty() {
        let place = scratch.as_ref().map(|_| ", in an empty directory").unwrap_or_default();
        message::line(&format!("starting each server once, confined{place} (`--no-try` leaves that out)"));
    }
    let mut outcome = Outcome::Done;
    let mut take = |(number, position): (usize, usize), label: &str, tried: Tried| -> io::Result<()> {
        if matches!(tried, Tried::Fails { .. }) {
            outcome = Outcome::Denied;
        }
        if !json {
            writeln!(io::stdout().lock(), "  {label}: {}", told(&tried))?;
        }
        if let Some(server) = gathered.files.get_mut(number).and_then(|file| file.servers.get_mut(position)) {
            server.tried = Some(tried);
        }
        Ok(())
    };
    let queue = Mutex::new(trials);
    let (sender, results) = mpsc::channel();
    std::thread::scope(|scope| -> io::Result<()> {
        for _ in 0..AT_ONCE {
            let (queue, sender) = (&queue, sender.clone());
            scope.spawn(move || {
                loop {
                    let next = queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
                    let Some(Trial { place, label, start }) = next else { break };
                    if sender.send((place, label, talk::talk_ambient(&start))).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        for (place, label, tried) in results.iter().chain(skipped) {
            take(place, &label, tried)?;
        }
        Ok(())
    })?;
    Ok(outcome)
}

/// Whether the working directory is shared with the servers: not the home, nor what holds it.
fn is_project(desk: &Desk) -> bool {
    let Some(here) = &desk.here else { return false };
    // SECURITY: who adopts from home does not mean to give each server all of it for writing
    // (test: the_home_is_not_given_to_servers_that_are_tried)
    desk.directories.home.as_ref().is_none_or(|home| {
        let place = |path: &Path| follow_ambient(path).map_or_else(|| path.to_owned(), |followed| followed.place);
        !place(home).starts_with(place(here))
    })
}

fn told(tried: &Tried) -> String {
    match tried {
        Tried::Works { tools: 1 } => "works, with 1 tool".to_owned(),
        Tried::Works { tools } => format!("works, with {tools} tools"),
        Tried::Fails { why } => format!("does not work: {}", name(why)),
        Tried::Skipped { why } => format!("not started: {}", name(why)),
    }
}

/// How a server is started, or why it is not. None for one that was not wrapped.
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
        return Some(Err("it is switched off".to_owned()));
    }
    // SECURITY: somebody else wrote the project: its servers run, and get the variables they ask for, only on a person's word
    // (test: a_flag_starts_no_server_of_a_project)
    if file.holder == Holder::Project && yes == Yes::Flag {
        return Some(Err("a project's file names it, and `--yes` is no answer to that".to_owned()));
    }
    let words = [&wrapping.before[..], &line.words()].concat();
    let project = match &server.planned.server.scope {
        Scope::Project(project) if file.holder == Holder::User => Some(PathBuf::from(project)),
        _ => project.map(Path::to_owned),
    };
    let project = project.filter(|project| is_directory_ambient(project));
    Some(
        project
            .ok_or_else(|| "its project is gone".to_owned())
            .and_then(|project| start(file, line, &words, project, desk)),
    )
}

fn start(
    file: &Adoptable,
    line: &CommandLine,
    words: &[String],
    project: PathBuf,
    desk: &Desk,
) -> Result<Start, String> {
    let around = Around { home: desk.directories.home.clone(), project: Some(project.clone()) };
    let filled =
        |text: &str| fill(text, file.form, &desk.environment, &around).map_err(|unfilled| unfilled.to_string());
    let mut words = words.iter().map(|word| filled(word)).collect::<Result<VecDeque<String>, String>>()?;
    let program = words.pop_front().unwrap_or_default();
    let variables = line.variables.iter().map(|(name, value)| Ok((name.clone(), filled(value)?)));
    // Those of the entry come last and win, as they do in the clients.
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
