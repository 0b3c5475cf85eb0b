//! Starts each adopted server once, as its client would, and says which work.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError, mpsc};

use anyhow::Result;
use rootward_client::adopt::{Verdict, fill};
use rootward_client::import::{Around, CommandLine, Enabled, Holder, Scope, Transport};

use super::gathering::{Adoptable, Gathered, Listed};
use super::lines::label;
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
    let mut trials = VecDeque::new();
    let mut skipped = Vec::new();
    for (number, file) in gathered.files.iter().enumerate().filter(|(_, file)| file.changed) {
        for (position, server) in file.servers.iter().enumerate() {
            let place = (number, position);
            let label = format!("{}, {}", file.form.client(), label(file, server, desk));
            match start_of(file, server, yes, desk) {
                Some(Ok(start)) => trials.push_back(Trial { place, label, start }),
                Some(Err(why)) => skipped.push((place, label, Tried::Skipped { why })),
                None => {}
            }
        }
    }
    if !json && !trials.is_empty() {
        message::line("starting each server once, confined (`--no-try` leaves that out)");
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

fn told(tried: &Tried) -> String {
    match tried {
        Tried::Works { tools: 1 } => "works, with 1 tool".to_owned(),
        Tried::Works { tools } => format!("works, with {tools} tools"),
        Tried::Fails { why } => format!("does not work: {}", name(why)),
        Tried::Skipped { why } => format!("not started: {}", name(why)),
    }
}

/// How a server is started, or why it is not. None for one that was not wrapped.
fn start_of(file: &Adoptable, server: &Listed, yes: Yes, desk: &Desk) -> Option<Result<Start, String>> {
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
    Some(start(file, &server.planned.server.scope, line, &words, desk))
}

fn start(file: &Adoptable, scope: &Scope, line: &CommandLine, words: &[String], desk: &Desk) -> Result<Start, String> {
    let project = match scope {
        Scope::Project(project) => Some(PathBuf::from(project)),
        Scope::User => desk.here.clone(),
    };
    let project = project.filter(|project| is_directory_ambient(project)).ok_or("its project is gone")?;
    let around = Around { home: desk.directories.home.clone(), project: Some(project.clone()) };
    let filled =
        |text: &str| fill(text, file.form, &desk.environment, &around).map_err(|unfilled| unfilled.to_string());
    let mut words = words.iter().map(|word| filled(word)).collect::<Result<VecDeque<String>, String>>()?;
    let program = words.pop_front().unwrap_or_default();
    let variables = line.variables.iter().map(|(name, value)| Ok((name.clone(), filled(value)?)));
    let variables = variables.collect::<Result<Vec<_>, String>>()?;
    let directory = match &line.directory {
        Some(directory) => project.join(filled(directory)?),
        None => project.clone(),
    };
    Ok(Start { program, arguments: words.into(), variables, directory, root: project })
}

fn is_directory_ambient(path: &Path) -> bool {
    let seen =
        rootward_core::lookout_ambient(rootward_core::Resolver::detect()).check(path, rootward_core::Access::NONE);
    seen.is_ok_and(|seen| seen.kind() == Some(rootward_core::FileKind::Directory))
}
