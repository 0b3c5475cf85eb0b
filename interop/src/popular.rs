//! `cargo xtask popular`: popular MCP servers behind `rootward wrap`, each as its README configures it.
//!
//! A user who puts `rootward wrap --` before a server's command expects the server to start, list its tools and work: with a client that
//! shares roots and with one that does not, at the first start and at the next, in this project and in another, as root and as an
//! ordinary user. Each recipe that Rootward ships has at least one server here, and passes the server's variables. `npx` and `uvx`
//! download the servers from a registry on this machine, which counts the downloads.

pub(crate) mod install;
pub(crate) mod measure;
pub(crate) mod registry;
mod rows;
mod server;
mod service;
mod stage;

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};

use crate::cases::{all_at_once, chosen, judge, lay_out};
use install::Installed;
use rows::servers;
use server::{Answer, Extra, Needs, Server, Starts, ToolCall};
use stage::{Dashes, Keys, Project, Sharing, Stage, Start, User, Wall};
use taskkit::call::Call;
use taskkit::conversation::{Conversation, Said};
use taskkit::form::Form;
use taskkit::install::Runtime;

/// How many cases run in parallel.
const AT_ONCE: usize = 3;

/// How often a server may announce changed tools until all of them are listed.
const MOST_CHANGES: usize = 10;

/// How long standard error may lag behind the answer to `initialize`.
const LAG: Duration = Duration::from_secs(10);

/// The `_meta` key of a refusal if the tool's results have structured data.
const REFUSAL: &str = "rootward.dev/refusal";

/// What a case does with a server.
#[derive(Clone, Copy, Debug)]
enum Check {
    /// Starts it three times.
    Starts(Sharing, User),
    /// Starts it once with roots from the client and once with `--root`.
    Works(User),
    Extra(Extra),
}

#[derive(Clone, Copy, Debug)]
struct Case {
    server: &'static Server,
    check: Check,
}

/// When the list must have all tools.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Listed {
    /// In the first answer: Rootward remembers them.
    AtOnce,
    /// After the server has announced a change.
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
                format!("{sharing}{}", user.name())
            }
            Check::Works(user) => format!("roots from the client, then `--root` alone{}", user.name()),
            Check::Extra(Extra::KeysForgotten) => "`--env` forgotten".to_owned(),
            Check::Extra(Extra::KeysByPrefix) => "`--env` with a prefix".to_owned(),
            Check::Extra(Extra::NoDashes) => "without `--`".to_owned(),
            Check::Extra(Extra::Codex { .. }) => "a client like Codex".to_owned(),
            Check::Extra(Extra::NothingShared { .. }) => "nothing shared".to_owned(),
            Check::Extra(Extra::AcceptsByItself { .. }) => "without Rootward it accepts a path outside".to_owned(),
            Check::Extra(Extra::Once { name, .. }) => name.to_owned(),
            Check::Extra(Extra::Remembers { .. }) => "its memory".to_owned(),
        };
        format!("{}: {check}", self.server.name)
    }

    fn carry_out(self, installed: &Installed) -> Result<()> {
        let user = match self.check {
            Check::Starts(_, user) | Check::Works(user) => user,
            Check::Extra(_) => User::This,
        };
        let stage = Stage::new(installed, self.server, user)?;
        match self.check {
            Check::Starts(sharing, _) => self.starts(&stage, sharing),
            Check::Works(_) => self.works(&stage),
            Check::Extra(extra) => self.extra(&stage, extra),
        }
    }

    fn works(self, stage: &Stage<'_>) -> Result<()> {
        for sharing in [Sharing::Client, Sharing::Root] {
            let work = self.work(stage, Start::of(self.server, sharing), Listed::InTheEnd);
            work.with_context(|| format!("{sharing:?}"))?;
        }
        Ok(())
    }

    fn extra(self, stage: &Stage<'_>, extra: Extra) -> Result<()> {
        let start = Start::of(self.server, Sharing::Client);
        match extra {
            Extra::KeysForgotten => self.keys_forgotten(stage),
            Extra::KeysByPrefix => self.work(stage, Start { keys: Keys::PassedByPrefix, ..start }, Listed::InTheEnd),
            Extra::NoDashes => self.work(stage, Start { dashes: Dashes::Dropped, ..start }, Listed::InTheEnd),
            Extra::Codex { call, refused } => self.codex(stage, call, refused),
            Extra::NothingShared { refused } => {
                let start = Start::of(self.server, Sharing::Nobody);
                let mut server = stage.start(start)?;
                self.tools(&mut server, Listed::InTheEnd)?;
                refused_with_reason(&mut server, stage, start, refused, &json!({}))?;
                server.end_with(self.server.ends)
            }
            Extra::AcceptsByItself { calls } => self.call_all(stage, Start { wall: Wall::Off, ..start }, calls),
            Extra::Once { calls, .. } => self.call_all(stage, start, calls),
            Extra::Remembers { told, recalled } => self.remembers(stage, told, recalled),
        }
    }

    fn call_all(self, stage: &Stage<'_>, start: Start, calls: &[ToolCall]) -> Result<()> {
        let mut server = stage.start(start)?;
        for call in calls {
            call_as_expected(&mut server, stage, start, *call)?;
        }
        server.end_with(self.server.ends)
    }

    fn remembers(self, stage: &Stage<'_>, told: ToolCall, recalled: ToolCall) -> Result<()> {
        let other = ToolCall { answer: Answer::Result(""), ..recalled };
        for (project, call) in [(Project::One, told), (Project::One, recalled), (Project::Other, other)] {
            let start = Start { project, ..Start::of(self.server, Sharing::Client) };
            let mut server = stage.start(start)?;
            self.tools(&mut server, Listed::InTheEnd)?;
            let text = call_as_expected(&mut server, stage, start, call)?;
            let (Answer::Result(memory) | Answer::Error(memory)) = recalled.answer;
            ensure!(project == Project::One || !text.contains(memory), "in another project it said {text}");
            server.end_with(self.server.ends)?;
        }
        Ok(())
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

    /// Whether the same command ran before, so Rootward remembers its tools.
    fn is_known(self, turn: Turn) -> bool {
        turn == Turn::Again || (turn == Turn::OtherProject && !self.server.names_project())
    }

    /// Starts the server and makes all of its calls.
    fn work(self, stage: &Stage<'_>, start: Start, listed: Listed) -> Result<()> {
        let mut server = stage.start(start)?;
        self.tools(&mut server, listed)?;
        for call in self.server.calls {
            call_as_expected(&mut server, stage, start, *call)?;
        }
        for refused in self.server.refused {
            refused_with_reason(&mut server, stage, start, *refused, &json!({}))?;
        }
        stage.judge_made(self.server, start.project)?;
        self.judge_recipe(&server.complaint(), start)?;
        server.end_with(self.server.ends)
    }

    /// Standard error must say that the recipe passes the variables.
    fn judge_recipe(self, complaint: &str, start: Start) -> Result<()> {
        let by_recipe = |(name, _): &(&str, &str)| !self.server.passed.contains(name);
        let Some(recipe) = self.server.recipe.filter(|_| start.keys == Keys::Passed) else { return Ok(()) };
        let is_noted = self.server.environment.iter().any(by_recipe);
        let note = format!("note: recipe `{recipe}` passes ");
        ensure!(!is_noted || complaint.contains(&note), "standard error does not say `{note}`: {complaint}");
        Ok(())
    }

    /// Waits until all tools are listed. Lists them again after each change that the server announces, as a client does.
    fn tools(self, server: &mut Conversation, listed: Listed) -> Result<()> {
        let mut tools = Vec::new();
        for _ in 0..MOST_CHANGES {
            tools = server.tools()?;
            if tools.len() == self.server.tools {
                return Ok(());
            }
            let expected = self.server.tools;
            ensure!(listed == Listed::InTheEnd, "the first list has {} of {expected} tools: {tools:?}", tools.len());
            server
                .wait_for("notifications/tools/list_changed")
                .with_context(|| format!("{} of {expected} tools were listed: {tools:?}", tools.len()))?;
        }
        bail!("{} instead of {} tools: {tools:?}\n{}", tools.len(), self.server.tools, server.complaint())
    }

    /// The first start downloads the server, for all projects of the user.
    fn judge_downloads(self, turn: Turn, downloads: &[String]) -> Result<()> {
        if turn != Turn::First {
            ensure!(downloads.is_empty(), "downloaded again: {downloads:?}");
            return Ok(());
        }
        let Some(package) = self.server.package() else { return Ok(()) };
        let times = downloads.iter().filter(|file| file.starts_with(&format!("{package}-"))).count();
        ensure!(times == 1, "the package was downloaded {times} times");
        Ok(())
    }

    /// Standard error must name the missing variables, whether or not the server starts without them.
    fn keys_forgotten(self, stage: &Stage<'_>) -> Result<()> {
        let mut server = stage.start(Start { keys: Keys::Forgotten, ..Start::of(self.server, Sharing::Client) })?;
        let began = Instant::now();
        let names = self.server.environment.iter().map(|(name, _)| *name);
        // The server may complain about a missing key itself, but only Rootward suggests `--env`.
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
        let start = Start::of(self.server, Sharing::Client);
        let mut server = stage.start(start)?;
        self.tools(&mut server, Listed::InTheEnd)?;
        let meta = json!({"exe": "/usr/bin/codex"});
        let answer = ask(&mut server, stage, start, call, &meta)?;
        let result = &answer["result"];
        ensure!(result.is_object() && result["isError"] != true, "`{}` said {answer}", call.tool);
        refused_with_reason(&mut server, stage, start, refused, &meta)?;
        server.end_with(self.server.ends)
    }
}

/// Calls a tool, which must give the expected answer. Returns the answer's text.
fn call_as_expected(server: &mut Conversation, stage: &Stage<'_>, start: Start, call: ToolCall) -> Result<String> {
    let arguments = serde_json::from_str(&stage.fill(call.arguments, start.project))?;
    let said = server.call(call.tool, arguments)?;
    let holds = |text: &str, part: &str| text.contains(&stage.fill(part, start.project));
    match (said, call.answer) {
        (Said::Result(text), Answer::Result(part)) | (Said::Error(text), Answer::Error(part)) if holds(&text, part) => {
            Ok(text)
        }
        (said, _) => bail!("`{}` said {said:?}\n{}", call.tool, server.complaint()),
    }
}

/// Calls a tool with `meta` as `_meta`. Returns the whole answer.
fn ask(server: &mut Conversation, stage: &Stage<'_>, start: Start, call: ToolCall, meta: &Value) -> Result<Value> {
    let arguments: Value = serde_json::from_str(&stage.fill(call.arguments, start.project))?;
    let mut params = json!({"name": call.tool, "_meta": meta});
    params["arguments"] = arguments;
    server.ask("tools/call", params)
}

/// The call must be refused, and both the text and the data must contain the reason: some clients show only one of them.
fn refused_with_reason(
    server: &mut Conversation,
    stage: &Stage<'_>,
    start: Start,
    call: ToolCall,
    meta: &Value,
) -> Result<()> {
    let (Answer::Result(reason) | Answer::Error(reason)) = call.answer;
    let answer = ask(server, stage, start, call, meta)?;
    let result = &answer["result"];
    ensure!(result["isError"] == true, "`{}` was not refused but said {answer}", call.tool);
    let text = result["content"][0]["text"].as_str().unwrap_or_default();
    ensure!(text.contains(reason), "the text does not say `{reason}`: {answer}");
    let data = [&result["structuredContent"], &result["_meta"][REFUSAL]].into_iter().find(|data| data.is_object());
    let message = data.and_then(|data| data["message"].as_str()).unwrap_or_default();
    ensure!(message.contains(reason), "the data does not say `{reason}`: {answer}");
    Ok(())
}

/// The cases of a form of the check. The short form runs the servers that start fastest, as one user.
fn cases(form: Form, is_superuser: bool) -> Vec<Case> {
    let mut cases = Vec::new();
    for server in servers().filter(|server| form == Form::Long || server.form == Form::Short) {
        for user in [User::This, User::Ordinary] {
            if user == User::Ordinary && !(is_superuser && form == Form::Long) {
                continue;
            }
            let checks = match server.starts {
                Starts::Once => vec![Check::Works(user)],
                Starts::Often => {
                    let all = [Sharing::Client, Sharing::ClientWithinRoot, Sharing::Root].into_iter();
                    // A server that gets the project as an argument needs it when it starts.
                    let fits = |sharing: &Sharing| *sharing != Sharing::ClientWithinRoot || server.names_project();
                    all.filter(fits).map(|sharing| Check::Starts(sharing, user)).collect()
                }
            };
            cases.extend(checks.into_iter().map(|check| Case { server, check }));
        }
        cases.extend(server.also.iter().map(|extra| Case { server, check: Check::Extra(*extra) }));
    }
    cases
}

/// A server as its README configures it.
#[derive(Debug)]
pub(crate) struct Readme {
    pub(crate) command: Vec<String>,
    pub(crate) variables: Vec<(String, String)>,
    /// The number of tools in the locked version.
    pub(crate) tools: usize,
}

/// The configuration of the server `name`, for a user of this project. `url` is the address of the services on this machine.
pub(crate) fn readme(name: &str, project: &Path, url: &str) -> Result<Readme> {
    let server = servers().find(|server| server.name == name);
    let server = server.with_context(|| format!("no server is called `{name}`"))?;
    let filled = |text: &str| text.replace("$PROJECT", &project.display().to_string()).replace("$URL", url);
    Ok(Readme {
        command: server.command.split(' ').map(filled).collect(),
        variables: server.environment.iter().map(|(name, value)| ((*name).to_owned(), filled(value))).collect(),
        tools: server.tools,
    })
}

/// The command that runs the cases of a form again.
pub(crate) fn repeat(form: Form) -> &'static str {
    match form {
        Form::Short => "cargo xtask popular --short",
        Form::Long => "cargo xtask popular",
    }
}

/// Runs the cases whose names contain all of `parts`. Returns a note for the table of steps.
pub(crate) fn run(top: &Path, form: Form, parts: &[&str]) -> Result<String> {
    let is_superuser = Call::program("id").arguments(["-u"]).stdout(top)?.trim() == "0";
    let cases = chosen(cases(form, is_superuser), parts, Case::name)?;
    let browser = cases.iter().any(|case| case.server.needs == Needs::Browser).then_some(Runtime::Browser);
    let installed = install::run(top, form, browser.as_slice(), Call::cargo("build -p rootward --bin rootward"))?;
    let mut outcomes = all_at_once(&cases, AT_ONCE, |case| case.carry_out(&installed));
    lay_out(&mut outcomes, Case::name);
    judge(cases.len(), &outcomes, Case::name)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn case_names_are_unique() {
        let names: BTreeSet<String> = cases(Form::Long, true).into_iter().map(Case::name).collect();
        assert_eq!(names.len(), cases(Form::Long, true).len());
    }

    #[test]
    fn the_short_form_has_one_user() {
        let is_ordinary =
            |case: &Case| matches!(case.check, Check::Starts(_, User::Ordinary) | Check::Works(User::Ordinary));
        assert!(!cases(Form::Short, true).iter().any(is_ordinary));
        assert!(cases(Form::Long, true).iter().any(is_ordinary));
    }
}
