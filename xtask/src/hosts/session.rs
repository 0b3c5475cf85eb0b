//! A host at work: in each project, twice, it lists the servers and calls a tool of each, inside the roots and outside.

use std::fs;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};

use super::heard::Heard;
use super::host::{Host, Talk};
use super::model::{Call, Model, Outcome, words};
use super::running::{run, succeed};
use super::stage::{PROJECTS, Programs, SERVERS, Stage, build, proof};

/// The times that a host is started in a project: the second time there is something to remember.
const TIMES: usize = 2;

/// How much of a text a report shows.
const SHOWN: usize = 800;

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

/// A host that is set up.
#[derive(Debug)]
struct Session<'m> {
    host: &'static Host,
    stage: Stage,
    model: &'m Model,
}

/// Plays all of it in `directory`.
pub(super) fn play(host: &'static Host, programs: &Programs, directory: &Path) -> Result<Report> {
    build(directory)?;
    let model = Model::start()?;
    let session = |home: &str| -> Result<Session<'_>> {
        Ok(Session { host, stage: Stage::new(host, directory, home, programs, &model.address)?, model: &model })
    };
    let listening = session("home-of-listening")?;
    let (version, heard) = (listening.version()?, listening.listen()?);
    let session = session("home")?;
    (host.configure)(&session.stage, &session.stage.servers())?;
    let mut failures = Vec::new();
    for time in 1..=TIMES {
        for project in PROJECTS {
            let began = Instant::now();
            let found = session.visit(project)?;
            println!("{}, project {project}, time {time}: {:.1} s", host.name, began.elapsed().as_secs_f64());
            let told =
                |(server, says): (&str, String)| (server.to_owned(), format!("project {project}, time {time}, {says}"));
            failures.extend(found.into_iter().map(told));
        }
    }
    Ok(Report { version, heard, failures })
}

impl Session<'_> {
    fn version(&self) -> Result<String> {
        let said = succeed(self.stage.command("one", self.host.version))?;
        let is_version = |word: &&str| word.contains('.') && word.starts_with(|letter: char| letter.is_ascii_digit());
        let found = said.split_whitespace().map(|word| word.trim_end_matches('.')).find(is_version);
        found.map(str::to_owned).with_context(|| format!("no version in `{said}`"))
    }

    /// One call of `rootward serve` with an ear at its input.
    fn listen(&self) -> Result<Heard> {
        let log = self.stage.home.join("heard");
        let mut servers = self.stage.servers();
        servers.truncate(1);
        for server in &mut servers {
            let tee = ["sh", "-c", "tee -a \"$0\" | exec \"$@\""].map(str::to_owned).into_iter();
            server.command = tee.chain([log.display().to_string()]).chain(server.command.drain(..)).collect();
        }
        (self.host.configure)(&self.stage, &servers)?;
        let outcomes = self.carry_out("one", vec![self.stage.call(SERVERS[0], "one")])?;
        let lines = fs::read_to_string(&log).with_context(|| format!("the server heard nothing: {outcomes:?}"))?;
        Ok(Heard::read(&lines, &self.stage.project("one")))
    }

    /// What went wrong in a project, with which server.
    fn visit(&self, project: &'static str) -> Result<Vec<(&'static str, String)>> {
        let mut failures = self.list(project)?;
        let other = PROJECTS.into_iter().find(|other| *other != project).context("there is one project only")?;
        let places = [(Place::Inside, project), (Place::Outside, other)];
        let planned: Vec<(&'static str, Place, &str)> =
            SERVERS.into_iter().flat_map(|server| places.map(|(place, of)| (server, place, of))).collect();
        let calls = planned.iter().map(|(server, _, of)| self.stage.call(server, of)).collect();
        for ((server, place, of), outcome) in planned.into_iter().zip(self.carry_out(project, calls)?) {
            if let Err(error) = judge(&self.stage, server, place, of, &outcome) {
                failures.push((server, format!("{place:?}: {error:#}")));
            }
        }
        Ok(failures)
    }

    /// What is missing in the host's own lists.
    fn list(&self, project: &str) -> Result<Vec<(&'static str, String)>> {
        let mut lists = Vec::new();
        match self.host.talk {
            Talk::Model { list, well, .. } => {
                let ran = run(self.stage.command(project, list))?;
                lists.extend(SERVERS.map(|server| (server, ran.all(), [server, well])));
            }
            Talk::User { list, .. } => {
                for server in SERVERS {
                    let ran = run(self.stage.command(project, list(&self.stage, project, server)))?;
                    lists.push((server, ran.all(), [self.stage.call(server, project).tool; 2]));
                }
            }
        }
        let is_shown =
            |said: &str, words: [&str; 2]| said.lines().any(|line| words.iter().all(|word| line.contains(word)));
        lists.retain(|(_, said, words)| !is_shown(said, *words));
        let told = |(server, said, words): (_, String, [&str; 2])| {
            (server, format!("list: no line with `{}`: {}", words.join("` and `"), shortened(&said)))
        };
        Ok(lists.into_iter().map(told).collect())
    }

    /// Has the host make these calls, by its model in one conversation, or one by one.
    fn carry_out(&self, project: &str, calls: Vec<Call>) -> Result<Vec<Outcome>> {
        match self.host.talk {
            Talk::Model { converse, .. } => {
                self.model.will_call(calls);
                let ran = run(self.stage.command(project, converse))?;
                let outcomes = self.model.outcomes();
                if !ran.status.success() || outcomes.contains(&Outcome::NotReached) {
                    println!("{} ended with {}: {}", self.host.name, ran.status, shortened(&ran.all()));
                }
                Ok(outcomes)
            }
            Talk::User { call, .. } => {
                let each = calls.iter().map(|wanted| {
                    // A refusal makes some of them end badly.
                    let ran = run(self.stage.command(project, call(&self.stage, project, wanted)))?;
                    let said = serde_json::from_str(&ran.said).map_or_else(|_| ran.all(), |value: Value| words(&value));
                    Ok(Outcome::Sent(said))
                });
                each.collect()
            }
        }
    }
}

/// What the model was sent is what it should be.
fn judge(stage: &Stage, server: &str, place: Place, project: &str, outcome: &Outcome) -> Result<()> {
    let text = match outcome {
        Outcome::Sent(text) => text,
        Outcome::NotOffered(others) => bail!("the host did not offer the tool, but {others} others"),
        Outcome::NotReached => bail!("the host ended before the call"),
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
