//! Starts each adopted server or hub once, as its client would, and reports which servers work.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError, mpsc};

use anyhow::{Context, Result};
use rootward_core::follow_ambient;

use super::gathering::Gathered;
use super::scratch::Scratch;
use super::trials::{self, Subject, Trial};
use super::{Desk, Yes, name};
use crate::Outcome;
use crate::message;

/// How many servers run at a time.
const AT_ONCE: usize = 3;

/// The result of a start.
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

/// Starts the servers of every file that was replaced.
pub(super) fn run(gathered: &mut Gathered, yes: Yes, json: bool, desk: &Desk) -> Result<Outcome> {
    let scratch =
        if is_project(desk) { None } else { Some(Scratch::make_ambient().context("no place to try servers in")?) };
    let project = scratch.as_ref().map(Scratch::path).or(desk.here.as_deref());
    let (trials, skipped) = trials::of(gathered, yes, project, desk);
    if !json && !trials.is_empty() {
        let place = scratch.as_ref().map(|_| ", in an empty directory").unwrap_or_default();
        message::line(&format!("starting each server once, confined{place} (`--no-try` skips this)"));
    }
    let mut outcome = Outcome::Done;
    let skipped_places = skipped.iter().map(|(subject, _)| subject.place);
    let mut awaited: BTreeSet<(usize, usize)> = trials.iter().flat_map(Trial::places).chain(skipped_places).collect();
    let mut finished = BTreeMap::new();
    let mut take = |Subject { place, label }: Subject, tried: Tried| -> io::Result<()> {
        if matches!(tried, Tried::Fails { .. }) {
            outcome = Outcome::Denied;
        }
        finished.insert(place, format!("  {label}: {}", told(&tried)));
        if let Some(server) = gathered.files.get_mut(place.0).and_then(|file| file.servers.get_mut(place.1)) {
            server.tried = Some(tried);
        }
        // In the order of the files, whichever server answered first.
        while let Some((place, line)) = awaited.first().and_then(|place| finished.remove_entry(place)) {
            awaited.remove(&place);
            if !json {
                writeln!(io::stdout().lock(), "{line}")?;
            }
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
                    let Some(trial) = next else { break };
                    for tried in trial.run_ambient() {
                        if sender.send(tried).is_err() {
                            return;
                        }
                    }
                }
            });
        }
        drop(sender);
        for (subject, tried) in skipped.into_iter().chain(results.iter()) {
            take(subject, tried)?;
        }
        Ok(())
    })?;
    Ok(outcome)
}

/// Whether to share the working directory with the servers: not if it is the home or above it.
fn is_project(desk: &Desk) -> bool {
    let Some(here) = &desk.here else { return false };
    // SECURITY: a user who adopts from home does not mean to let each server write all of it
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
