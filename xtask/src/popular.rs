//! `cargo xtask popular`: popular MCP servers behind `rootward wrap`, each as its README configures it.
//!
//! A user who puts `rootward wrap --` before a server's command expects that it starts, lists its tools and works: with a client that
//! shares roots and with one that does not, at the first start and at the next, in this project and in another, as root and as an
//! ordinary user. The servers are fetched by `npx` and `uvx` from a registry on this machine, which counts what they download.

mod install;
pub(crate) mod measure;
mod registry;
mod server;
mod service;
mod stage;

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};

use crate::call::Call;
use crate::cases::{all_at_once, chosen, judge, lay_out};
use crate::check::Form;
use crate::conversation::{Conversation, Said};
use install::Installed;
use server::{Answer, Extra, SERVERS, Server, ToolCall};
use stage::{Dashes, Keys, Project, Sharing, Stage, Start, User};

/// Servers at once.
const AT_ONCE: usize = 3;

/// How often a server may say that its tools changed before all of them are there.
const MOST_CHANGES: usize = 10;

/// How a session ends: with the server's own code, or by the signal that Rootward sends to a server that takes its time.
const ENDS: [i32; 2] = [0, 143];

/// How long standard error may lag behind the answer to `initialize`.
const LAG: Duration = Duration::from_secs(10);

/// Where a server with data in its results keeps what a refusal says.
const REFUSAL: &str = "rootward.dev/refusal";

/// What is done with a server.
#[derive(Clone, Copy, Debug)]
enum Check {
    /// Three starts.
    Starts(Sharing, User),
    Extra(Extra),
}

#[derive(Clone, Copy, Debug)]
struct Case {
    server: &'static Server,
    check: Check,
}

/// When all tools must be listed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Listed {
    /// In the first answer: they are remembered.
    AtOnce,
    /// When the server has said that they changed.
    InTheEnd,
}

/// The starts of a case, in order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Turn {
    First,
    Again,
    OtherProject,
}

impl Case {
    fn name(self) -> String {
        let check = match self.check {
            Check::Starts(sharing, user) => {
                let sharing = match sharing {
                    Sharing::Client => "roots from the client",
                    Sharing::ClientWithinRoot => "roots from the client within `--root`",
                    Sharing::Root => "`--root` alone",
                    Sharing::Nobody => "nothing shared",
                };
                let user = if user == User::Ordinary { ", as an ordinary user" } else { "" };
                format!("{sharing}{user}")
            }
            Check::Extra(Extra::KeysForgotten) => "`--env` forgotten".to_owned(),
            Check::Extra(Extra::KeysByPrefix) => "`--env` with a prefix".to_owned(),
            Check::Extra(Extra::NoDashes) => "without `--`".to_owned(),
            Check::Extra(Extra::Codex { .. }) => "a client like Codex".to_owned(),
            Check::Extra(Extra::NothingShared { .. }) => "nothing shared".to_owned(),
        };
        format!("{}: {check}", self.server.name)
    }

    fn carry_out(self, installed: &Installed) -> Result<()> {
        let user = if let Check::Starts(_, user) = self.check { user } else { User::This };
        let stage = Stage::new(installed, user)?;
        match self.check {
            Check::Starts(sharing, _) => self.starts(&stage, sharing),
            Check::Extra(Extra::KeysForgotten) => self.keys_forgotten(&stage),
            Check::Extra(Extra::KeysByPrefix) => {
                let start = Start { keys: Keys::PassedByPrefix, ..Start::of(self.server, Sharing::Client) };
                self.work(&stage, start, Listed::InTheEnd)
            }
            Check::Extra(Extra::NoDashes) => {
                let start = Start { dashes: Dashes::Dropped, ..Start::of(self.server, Sharing::Client) };
                self.work(&stage, start, Listed::InTheEnd)
            }
            Check::Extra(Extra::Codex { call, refused }) => self.codex(&stage, call, refused),
            Check::Extra(Extra::NothingShared { refused }) => {
                let mut server = stage.start(Start::of(self.server, Sharing::Nobody))?;
                self.tools(&mut server, Listed::InTheEnd)?;
                refused_with_reason(&mut server, &stage, refused, &json!({}))?;
                server.end_with(&ENDS)
            }
        }
    }

    fn starts(self, stage: &Stage<'_>, sharing: Sharing) -> Result<()> {
        for turn in [Turn::First, Turn::Again, Turn::OtherProject] {
            let project = if turn == Turn::OtherProject { Project::Other } else { Project::One };
            let listed =
                if self.is_known(turn) && sharing != Sharing::Root { Listed::AtOnce } else { Listed::InTheEnd };
            let work = self.work(stage, Start { project, ..Start::of(self.server, sharing) }, listed);
            let outcome = work.and_then(|()| self.judge_downloads(turn, &stage.served.take_downloads()));
            outcome.with_context(|| format!("{turn:?}"))?;
        }
        Ok(())
    }

    /// Whether the same command was run before: then its tools are remembered.
    fn is_known(self, turn: Turn) -> bool {
        turn == Turn::Again || (turn == Turn::OtherProject && !self.server.names_project())
    }

    /// Starts the server, and does what it is for.
    fn work(self, stage: &Stage<'_>, start: Start, listed: Listed) -> Result<()> {
        let mut server = stage.start(start)?;
        self.tools(&mut server, listed)?;
        for call in self.server.calls {
            let arguments = serde_json::from_str(&stage.fill(call.arguments, start.project))?;
            let said = server.call(call.tool, arguments)?;
            let holds = |text: &str, part: &str| text.contains(&stage.fill(part, start.project));
            let is_right = match (&said, call.answer) {
                (Said::Result(text), Answer::Result(part)) | (Said::Error(text), Answer::Error(part)) => {
                    holds(text, part)
                }
                _ => false,
            };
            ensure!(is_right, "`{}` said {said:?}\n{}", call.tool, server.complaint());
        }
        server.end_with(&ENDS)
    }

    /// Waits until all tools are listed, as a client does that lists them again when it hears of a change.
    fn tools(self, server: &mut Conversation, listed: Listed) -> Result<()> {
        let mut tools = Vec::new();
        for _ in 0..MOST_CHANGES {
            tools = server.tools()?;
            if tools.len() == self.server.tools {
                return Ok(());
            }
            let expected = self.server.tools;
            ensure!(listed == Listed::InTheEnd, "at first {} of {expected} tools were listed: {tools:?}", tools.len());
            server
                .wait_for("notifications/tools/list_changed")
                .with_context(|| format!("{} of {expected} tools were listed: {tools:?}", tools.len()))?;
        }
        bail!("{} instead of {} tools: {tools:?}\n{}", tools.len(), self.server.tools, server.complaint())
    }

    /// The server is downloaded once for all projects of the user.
    fn judge_downloads(self, turn: Turn, downloads: &[String]) -> Result<()> {
        if turn != Turn::First {
            ensure!(downloads.is_empty(), "it downloaded {downloads:?}");
            return Ok(());
        }
        let Some(package) = self.server.package() else { return Ok(()) };
        let times = downloads.iter().filter(|file| file.starts_with(&format!("{package}-"))).count();
        ensure!(times == 1, "it downloaded its package {times} times");
        Ok(())
    }

    /// Whether or not the server starts without them, standard error names the variables.
    fn keys_forgotten(self, stage: &Stage<'_>) -> Result<()> {
        let mut server = stage.start(Start { keys: Keys::Forgotten, ..Start::of(self.server, Sharing::Client) })?;
        let began = Instant::now();
        let names = self.server.environment.iter().map(|(name, _)| *name);
        // A server complains of a missing key itself; only Rootward knows the way out.
        let expected: Vec<&str> = names.chain(["--env"]).collect();
        let missing = |complaint: &str| expected.iter().find(|word| !complaint.contains(*word));
        loop {
            let complaint = server.complaint();
            let Some(word) = missing(&complaint) else { return Ok(()) };
            ensure!(began.elapsed() < LAG, "standard error does not name `{word}`: {complaint}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn codex(self, stage: &Stage<'_>, call: ToolCall, refused: ToolCall) -> Result<()> {
        let mut server = stage.start(Start::of(self.server, Sharing::Client))?;
        self.tools(&mut server, Listed::InTheEnd)?;
        let meta = json!({"exe": "/usr/bin/codex"});
        let answer = ask(&mut server, stage, call, &meta)?;
        let result = &answer["result"];
        ensure!(result.is_object() && result["isError"] != true, "`{}` said {answer}", call.tool);
        refused_with_reason(&mut server, stage, refused, &meta)?;
        server.end_with(&ENDS)
    }
}

/// Calls a tool with this in `_meta`; the whole answer.
fn ask(server: &mut Conversation, stage: &Stage<'_>, call: ToolCall, meta: &Value) -> Result<Value> {
    let arguments: Value = serde_json::from_str(&stage.fill(call.arguments, Project::One))?;
    let mut params = json!({"name": call.tool, "_meta": meta});
    params["arguments"] = arguments;
    server.ask("tools/call", params)
}

/// The call must be refused, and the reason must stand in the text and in the data: some clients show only one of them.
fn refused_with_reason(server: &mut Conversation, stage: &Stage<'_>, call: ToolCall, meta: &Value) -> Result<()> {
    let (Answer::Result(reason) | Answer::Error(reason)) = call.answer;
    let answer = ask(server, stage, call, meta)?;
    let result = &answer["result"];
    ensure!(result["isError"] == true, "`{}` was not refused but said {answer}", call.tool);
    let text = result["content"][0]["text"].as_str().unwrap_or_default();
    ensure!(text.contains(reason), "the text does not say `{reason}`: {answer}");
    let data = [&result["structuredContent"], &result["_meta"][REFUSAL]].into_iter().find(|data| data.is_object());
    let message = data.and_then(|data| data["message"].as_str()).unwrap_or_default();
    ensure!(message.contains(reason), "the data does not say `{reason}`: {answer}");
    Ok(())
}

/// The cases of a form of the check. The short one has the servers that start fastest, as one user.
fn cases(form: Form, is_superuser: bool) -> Vec<Case> {
    let mut cases = Vec::new();
    for server in SERVERS.iter().filter(|server| form == Form::Long || server.form == Form::Short) {
        for user in [User::This, User::Ordinary] {
            if user == User::Ordinary && !(is_superuser && form == Form::Long) {
                continue;
            }
            for sharing in [Sharing::Client, Sharing::ClientWithinRoot, Sharing::Root] {
                // A server that is told where to work needs that place at its very start.
                if sharing != Sharing::ClientWithinRoot || server.names_project() {
                    cases.push(Case { server, check: Check::Starts(sharing, user) });
                }
            }
        }
        cases.extend(server.also.iter().map(|extra| Case { server, check: Check::Extra(*extra) }));
    }
    cases
}

/// The command that runs the cases of a form again.
pub(crate) fn repeat(form: Form) -> &'static str {
    match form {
        Form::Short => "cargo xtask popular --short",
        Form::Long => "cargo xtask popular",
    }
}

/// Runs the cases whose names hold each of `parts`; gives back a note for the table of steps.
pub(crate) fn run(top: &Path, form: Form, parts: &[&str]) -> Result<String> {
    let installed = install::run(top, Call::cargo("build -p rootward --bin rootward"))?;
    let cases = chosen(cases(form, installed.is_superuser), parts, Case::name)?;
    let mut outcomes = all_at_once(&cases, AT_ONCE, |case| case.carry_out(&installed));
    lay_out(&mut outcomes, Case::name);
    judge(cases.len(), &outcomes, Case::name)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_case_has_a_name_of_its_own() {
        let names: BTreeSet<String> = cases(Form::Long, true).into_iter().map(Case::name).collect();
        assert_eq!(names.len(), cases(Form::Long, true).len());
    }

    #[test]
    fn the_short_form_has_six_servers() {
        let cases = cases(Form::Short, true);
        let servers: BTreeSet<&str> = cases.iter().map(|case| case.server.name).collect();
        assert_eq!(servers.len(), 6);
        assert!(cases.iter().all(|case| !matches!(case.check, Check::Starts(_, User::Ordinary))));
    }
}
