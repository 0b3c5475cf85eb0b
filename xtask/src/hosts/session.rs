//! A host at work: in each project, twice, it lists the servers and calls a tool of each, inside the roots and outside.

use std::fs;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::heard::Heard;
use super::host::{Host, Server, Talk};
use super::model::{Call, Model, Outcome, words};
use super::running::{run, succeed};
use super::stage::{PROJECTS, Programs, SERVERS, Stage, build, proof};

/// The times that a host is started in a project: the second time there is something to remember.
const TIMES: usize = 2;

/// How much of a text a report shows.
const SHOWN: usize = 1500;

/// What was seen of a host.
#[derive(PartialEq, Eq, Debug)]
pub(super) struct Report {
    pub(super) version: String,
    pub(super) heard: Heard,
    /// What went wrong, with the server that it went wrong with.
    pub(super) failures: Vec<(String, String)>,
}

impl Report {
    pub(super) fn to_json(&self) -> Value {
        let Report { version, heard: Heard { first, roots }, failures } = self;
        json!({"version": version, "first": first, "roots": roots, "failures": failures})
    }

    pub(super) fn from_json(value: &Value) -> Result<Report> {
        let text = |value: &Value| value.as_str().map(str::to_owned).context("the report is not whole");
        let failures = value["failures"].as_array().context("the report is not whole")?;
        Ok(Report {
            version: text(&value["version"])?,
            heard: Heard { first: text(&value["first"])?, roots: text(&value["roots"])? },
            failures: failures.iter().map(|pair| Ok((text(&pair[0])?, text(&pair[1])?))).collect::<Result<_>>()?,
        })
    }
}

/// Whether a path lies in the roots.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Place {
    Inside,
    Outside,
}

/// Plays all of it in `directory`.
pub(super) fn play(host: &'static Host, programs: &Programs, directory: &Path) -> Result<Report> {
    build(directory)?;
    let model = Model::start()?;
    let listening = Stage::new(host, directory, "home-of-listening", programs, &model.address)?;
    let (version, heard) = (version(host, &listening)?, listen(host, &listening, &model)?);
    let stage = Stage::new(host, directory, "home", programs, &model.address)?;
    let servers = stage.servers();
    (host.configure)(&stage, &servers)?;
    let mut failures = Vec::new();
    for time in 1..=TIMES {
        for project in PROJECTS {
            let began = Instant::now();
            let found = visit(host, &stage, &model, &servers, project)?;
            println!("{}, project {project}, time {time}: {:.1} s", host.name, began.elapsed().as_secs_f64());
            failures.extend(
                found
                    .into_iter()
                    .map(|(server, says)| (server.to_owned(), format!("project {project}, time {time}, {says}"))),
            );
        }
    }
    Ok(Report { version, heard, failures })
}

fn version(host: &Host, stage: &Stage) -> Result<String> {
    let said = succeed(stage.host("one", host.version))?;
    let is_version = |word: &&str| word.contains('.') && word.starts_with(|letter: char| letter.is_ascii_digit());
    let found = said.split_whitespace().map(|word| word.trim_end_matches('.')).find(is_version);
    found.map(str::to_owned).with_context(|| format!("no version in `{said}`"))
}

/// One call of `rootward serve` with an ear at its input.
fn listen(host: &Host, stage: &Stage, model: &Model) -> Result<Heard> {
    let log = stage.home.join("heard");
    let Some(served) = stage.servers().into_iter().find(|server| server.name == "serve") else {
        return Ok(Heard::read("", &log));
    };
    let tee = ["sh", "-c", "tee -a \"$0\" | exec \"$@\""].map(str::to_owned).into_iter();
    let command = tee.chain([log.display().to_string()]).chain(served.command).collect();
    let servers = [Server { name: "serve", command }];
    (host.configure)(stage, &servers)?;
    let outcomes = carry_out(host, stage, model, "one", vec![stage.call("serve", "one")])?;
    let lines = fs::read_to_string(&log).with_context(|| format!("the server heard nothing: {outcomes:?}"))?;
    Ok(Heard::read(&lines, &stage.project("one")))
}

/// What went wrong in a project, with which server.
fn visit(
    host: &Host,
    stage: &Stage,
    model: &Model,
    servers: &[Server],
    project: &'static str,
) -> Result<Vec<(&'static str, String)>> {
    let mut failures = Vec::new();
    for server in servers {
        if let Err(error) = list(host, stage, server, project) {
            failures.push((server.name, format!("list: {error:#}")));
        }
    }
    let other = PROJECTS.into_iter().find(|other| *other != project).context("there is one project only")?;
    let places = [(Place::Inside, project), (Place::Outside, other)];
    let planned: Vec<(&'static str, Place, &str)> =
        SERVERS.into_iter().flat_map(|server| places.map(|(place, of)| (server, place, of))).collect();
    let calls = planned.iter().map(|(server, _, of)| stage.call(server, of)).collect();
    let outcomes = carry_out(host, stage, model, project, calls)?;
    for ((server, place, of), outcome) in planned.into_iter().zip(outcomes) {
        if let Err(error) = judge(stage, server, place, of, &outcome) {
            failures.push((server, format!("{place:?}: {error:#}")));
        }
    }
    Ok(failures)
}

/// The host's own list shows the server.
fn list(host: &Host, stage: &Stage, server: &Server, project: &str) -> Result<()> {
    let (command, shown) = match host.talk {
        Talk::Model { list, well, .. } => (stage.host(project, list), [server.name, well]),
        Talk::User { list, .. } => {
            (stage.host(project, list(stage, project, server)), [stage.call(server.name, project).tool; 2])
        }
    };
    let said = succeed(command)?;
    let is_shown = said.lines().any(|line| shown.iter().all(|word| line.contains(word)));
    ensure!(is_shown, "no line with `{}`: {}", shown.join("` and `"), shortened(&said));
    Ok(())
}

/// Has the host make these calls, by its model in one conversation, or one by one.
fn carry_out(host: &Host, stage: &Stage, model: &Model, project: &str, calls: Vec<Call>) -> Result<Vec<Outcome>> {
    match host.talk {
        Talk::Model { converse, .. } => {
            model.will_call(calls);
            let ran = run(stage.host(project, converse))?;
            let outcomes = model.outcomes();
            if !ran.status.success() || outcomes.contains(&Outcome::NotReached) {
                println!(
                    "{} ended with {}: {}\n{}",
                    host.name,
                    ran.status,
                    shortened(&ran.said),
                    shortened(&ran.beside)
                );
            }
            Ok(outcomes)
        }
        Talk::User { call, .. } => calls
            .iter()
            .map(|wanted| {
                // A refusal makes some of them end badly.
                let ran = run(stage.host(project, call(stage, project, wanted)))?;
                let said = serde_json::from_str(&ran.said).map_or(ran.said, |value: Value| words(&value));
                Ok(Outcome::Sent(said + &ran.beside))
            })
            .collect(),
    }
}

/// What the model was sent is what it should be.
fn judge(stage: &Stage, server: &str, place: Place, project: &str, outcome: &Outcome) -> Result<()> {
    let text = match outcome {
        Outcome::Sent(text) => text,
        Outcome::NotOffered(tools) => anyhow::bail!("the host offered only {}", tools.join(", ")),
        Outcome::NotReached => anyhow::bail!("the host ended before the call"),
    };
    let sent = || shortened(text);
    let proof = proof(server, project);
    match place {
        Place::Inside => ensure!(text.contains(&proof), "no `{proof}` in what the model was sent: {}", sent()),
        Place::Outside => {
            ensure!(!text.contains(&proof), "the model was sent what lies outside: {}", sent());
            let refusal = format!("`{}` is outside every root", stage.named(server, project).display());
            ensure!(text.contains(&refusal), "no `{refusal}` in what the model was sent: {}", sent());
        }
    }
    Ok(())
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
