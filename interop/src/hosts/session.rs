//! Runs a host in each project. The host lists its servers and calls tools of each, with a path inside the roots and with one outside. It
//! does so twice with the servers that it starts, and once with those that it reaches over HTTP.

use std::fs;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};

use super::heard::{Heard, HeardOverHttp};
use super::host::{Host, Reached, Server, Talk};
use super::model::{Model, Outcome, ToolCall, words};
use super::remote::Remote;
use super::running::{run, succeed};
use super::stage::{LOCAL, PROJECTS, Programs, REMOTE, Stage, TOOLS, Tool, build, proof};
use super::tap::{Knows, Tap};

/// How often a host runs in each project with the servers that it starts. The second run uses the files that the first one left.
const TIMES: usize = 2;

/// How many characters of a text to show in a report.
const SHOWN: usize = 800;

/// What the test found out about a host.
#[derive(PartialEq, Eq, Debug)]
pub(super) struct Report {
    pub(super) version: String,
    pub(super) heard: Heard,
    /// What it sends over HTTP: to Rootward, and if it tries the modern era first, also to a server that knows only the legacy era.
    pub(super) over_http: Vec<HeardOverHttp>,
    /// Failed checks: the server, and what was wrong.
    pub(super) failures: Vec<(String, String)>,
}

impl Report {
    pub(super) fn to_json(&self) -> Value {
        let Report { version, heard: Heard { first, roots }, over_http, failures } = self;
        let one = |HeardOverHttp { heard: Heard { first, roots }, asked }: &HeardOverHttp| json!([first, roots, asked]);
        let over_http: Vec<Value> = over_http.iter().map(one).collect();
        json!({"version": version, "first": first, "roots": roots, "over_http": over_http, "failures": failures})
    }

    pub(super) fn from_json(value: &Value) -> Result<Report> {
        let text = |value: &Value| value.as_str().map(str::to_owned).context("the report is incomplete");
        let [failures, over_http] =
            ["failures", "over_http"].map(|member| value[member].as_array().context("the report is incomplete"));
        let one = |value: &Value| -> Result<HeardOverHttp> {
            let heard = Heard { first: text(&value[0])?, roots: text(&value[1])? };
            Ok(HeardOverHttp { heard, asked: text(&value[2])? })
        };
        Ok(Report {
            version: text(&value["version"])?,
            heard: Heard { first: text(&value["first"])?, roots: text(&value["roots"])? },
            over_http: over_http?.iter().map(one).collect::<Result<_>>()?,
            failures: failures?.iter().map(|pair| Ok((text(&pair[0])?, text(&pair[1])?))).collect::<Result<_>>()?,
        })
    }
}

/// Whether a path is inside the roots.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Place {
    Inside,
    Outside,
}

/// A host in its surroundings.
#[derive(Debug)]
struct Session<'m> {
    host: &'static Host,
    stage: Stage,
    model: &'m Model,
}

/// Runs all checks of a host, in `directory`.
pub(super) fn exercise(host: &'static Host, programs: &Programs, directory: &Path) -> Result<Report> {
    build(directory)?;
    let model = Model::start()?;
    let session = |home: &str| -> Result<Session<'_>> {
        let stage = Stage::new(host, directory, home, programs, &model.address)?;
        stage.configure_hub()?;
        Ok(Session { host, stage, model: &model })
    };
    let remote = Remote::start(programs, directory)?;
    let listening = session("home-of-listening")?;
    let (version, heard) = (listening.version()?, listening.listen()?);
    let mut over_http = vec![session("home-of-listening-over-http")?.listen_over_http(&remote, Knows::BothEras)?];
    if over_http[0].heard.first.contains("discover") {
        over_http.push(session("home-before-a-legacy-server")?.listen_over_http(&remote, Knows::LegacyOnly)?);
    }
    // In two groups: with all servers at once they start slowly, and a hub lists its tools without those of slow servers.
    let (local, distant) = (session("home")?, session("home-over-http")?);
    let mut failures = local.visits(&local.stage.servers(), &LOCAL, TIMES)?;
    failures.extend(distant.visits(&remote.servers(), &REMOTE, 1)?);
    Ok(Report { version, heard, over_http, failures })
}

impl Session<'_> {
    fn version(&self) -> Result<String> {
        let said = succeed(self.stage.command("one", self.host.version))?;
        let is_version = |word: &&str| word.contains('.') && word.starts_with(|letter: char| letter.is_ascii_digit());
        let found = said.split_whitespace().map(|word| word.trim_end_matches('.')).find(is_version);
        found.map(str::to_owned).with_context(|| format!("no version in `{said}`"))
    }

    /// Makes one call of `rootward serve` while recording what the host writes to it.
    fn listen(&self) -> Result<Heard> {
        let log = self.stage.home.join("heard");
        let mut servers = self.stage.servers();
        servers.truncate(1);
        for server in &mut servers {
            let Reached::Command(command) = &mut server.reached else { bail!("`{}` has no command", server.name) };
            let tee = ["sh", "-c", "tee -a \"$0\" | exec \"$@\""].map(str::to_owned).into_iter();
            *command = tee.chain([log.display().to_string()]).chain(command.drain(..)).collect();
        }
        (self.host.configure)(&self.stage, &servers)?;
        let outcomes = self.carry_out("one", vec![self.stage.call(TOOLS[0], "one")])?;
        let lines =
            fs::read_to_string(&log).with_context(|| format!("the host sent nothing to the server: {outcomes:?}"))?;
        Ok(Heard::read(&lines, &self.stage.project("one")))
    }

    /// Makes one call of `rootward serve --http` while recording what the two send each other.
    fn listen_over_http(&self, remote: &Remote, knows: Knows) -> Result<HeardOverHttp> {
        let tap = Tap::start(remote.serve(), knows)?;
        (self.host.configure)(&self.stage, &[Server { name: REMOTE[0], reached: Reached::Url(tap.url.clone()) }])?;
        let tool = TOOLS.into_iter().find(|tool| tool.server == REMOTE[0]).context("the server has no tool")?;
        let outcomes = self.carry_out("one", vec![self.stage.call(tool, "one")])?;
        judge(Place::Inside, &self.stage.path_for(tool.does, "one"), &proof(tool.does, "one"), &outcomes[0])
            .with_context(|| format!("over HTTP, with a server that knows {knows:?}"))?;
        Ok(tap.heard(&self.stage.project("one")))
    }

    /// Configures servers, and runs the host in each project; returns the checks that failed. `names` are the names of the servers.
    fn visits(&self, servers: &[Server], names: &[&'static str], times: usize) -> Result<Vec<(String, String)>> {
        (self.host.configure)(&self.stage, servers)?;
        let mut failures = Vec::new();
        for time in 1..=times {
            for project in PROJECTS {
                let began = Instant::now();
                let found = self.visit(project, names)?;
                let (seconds, names) = (began.elapsed().as_secs_f64(), names.join(", "));
                println!("{}, project {project}, {names}, run {time}: {seconds:.1} s", self.host.name);
                let labeled = |(server, says): (&str, String)| {
                    (server.to_owned(), format!("project {project}, run {time}, {says}"))
                };
                failures.extend(found.into_iter().map(labeled));
            }
        }
        Ok(failures)
    }

    /// Lists and calls these servers in one project; returns the checks that failed.
    fn visit(&self, project: &'static str, servers: &[&'static str]) -> Result<Vec<(&'static str, String)>> {
        let mut failures = self.list(project, servers)?;
        let other = PROJECTS.into_iter().find(|other| *other != project).context("there is only one project")?;
        let places = [(Place::Inside, project), (Place::Outside, other)];
        let tools = TOOLS.into_iter().filter(|tool| servers.contains(&tool.server));
        let planned: Vec<(Tool, Place, &str)> =
            tools.flat_map(|tool| places.map(|(place, of)| (tool, place, of))).collect();
        let calls = planned.iter().map(|(tool, _, of)| self.stage.call(*tool, of)).collect();
        for ((tool, place, of), outcome) in planned.into_iter().zip(self.carry_out(project, calls)?) {
            if let Err(error) = judge(place, &self.stage.path_for(tool.does, of), &proof(tool.does, of), &outcome) {
                failures.push((tool.server, format!("`{}`, {place:?}: {error:#}", tool.name)));
            }
        }
        Ok(failures)
    }

    /// Makes the host list its servers; returns those that are missing from the list or not usable.
    fn list(&self, project: &str, servers: &[&'static str]) -> Result<Vec<(&'static str, String)>> {
        let mut lists = Vec::new();
        match self.host.talk {
            Talk::Model { list, healthy, .. } => {
                let ran = run(self.stage.command(project, list))?;
                lists.extend(servers.iter().map(|server| (*server, ran.all(), [*server, healthy])));
            }
            Talk::User { list, .. } => {
                for &server in servers {
                    let ran = run(self.stage.command(project, list(&self.stage, project, server)))?;
                    let tools = TOOLS.iter().filter(|tool| tool.server == server);
                    lists.extend(tools.map(|tool| (server, ran.all(), [tool.name; 2])));
                }
            }
        }
        let is_shown =
            |said: &str, words: [&str; 2]| said.lines().any(|line| words.iter().all(|word| line.contains(word)));
        lists.retain(|(_, said, words)| !is_shown(said, *words));
        let missing = |(server, said, words): (_, String, [&str; 2])| {
            (server, format!("list: no line with `{}`: {}", words.join("` and `"), shortened(&said)))
        };
        Ok(lists.into_iter().map(missing).collect())
    }

    /// Makes these calls: the model in one conversation, or the user one by one.
    fn carry_out(&self, project: &str, calls: Vec<ToolCall>) -> Result<Vec<Outcome>> {
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
                    // Some hosts exit with an error after a refusal.
                    let ran = run(self.stage.command(project, call(&self.stage, project, wanted)))?;
                    let said =
                        serde_json::from_str(&ran.stdout).map_or_else(|_| ran.all(), |value: Value| words(&value));
                    Ok(Outcome::Sent(said))
                });
                each.collect()
            }
        }
    }
}

/// Checks what the host sent to the model after a call with `path`. `proof` is text that the server returns only if it carries out the call.
pub(super) fn judge(place: Place, path: &Path, proof: &str, outcome: &Outcome) -> Result<()> {
    let text = match outcome {
        Outcome::Sent(text) => text,
        Outcome::NotOffered(others) => bail!("the host did not offer the tool, only {others} others"),
        Outcome::NotReached => bail!("the host ended before the call"),
    };
    let sent = || shortened(text);
    match place {
        Place::Inside => ensure!(text.contains(proof), "no `{proof}` in what the host sent to the model: {}", sent()),
        Place::Outside => {
            ensure!(!text.contains(proof), "the host sent content from outside the roots to the model: {}", sent());
            let refusal = format!("`{}` is outside every root", path.display());
            ensure!(text.contains(&refusal), "no `{refusal}` in what the host sent to the model: {}", sent());
        }
    }
    Ok(())
}

pub(super) fn shortened(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_content_inside_and_a_refusal_outside_pass() {
        let check = |place: Place, outcome: Outcome, expect: bool| {
            let judged = judge(place, Path::new("/p/one"), "the content", &outcome);
            assert_eq!(judged.is_ok(), expect, "{place:?} {outcome:?}");
        };
        let sent = |text: &str| Outcome::Sent(text.to_owned());
        let refusal = "path `/p/one` is outside every root; current roots: `/p/two`";
        check(Place::Inside, sent("here is the content"), true);
        check(Place::Inside, sent(refusal), false);
        check(Place::Inside, Outcome::NotOffered(3), false);
        check(Place::Outside, sent(refusal), true);
        check(Place::Outside, sent("path `/p/two` is outside every root"), false);
        check(Place::Outside, sent(&format!("{refusal} the content")), false);
        check(Place::Outside, sent("no such file"), false);
        check(Place::Outside, Outcome::NotReached, false);
    }

    #[test]
    fn a_report_survives_a_round_trip_through_json() {
        let heard = || Heard { first: "a".to_owned(), roots: "b".to_owned() };
        let over_http = vec![HeardOverHttp { heard: heard(), asked: "c".to_owned() }];
        let failures = vec![("npm".to_owned(), "a reason".to_owned())];
        let report = Report { version: "1.2".to_owned(), heard: heard(), over_http, failures };
        assert_eq!(Report::from_json(&report.to_json()).unwrap(), report);
        assert!(Report::from_json(&json!({})).is_err());
    }
}
