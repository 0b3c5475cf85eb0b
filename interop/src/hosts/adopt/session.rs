//! Tests one client: its own command adds servers, `rootward adopt` wraps them, the client lists and uses them, and `--undo` restores its
//! files.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::slice;
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use serde_json::json;

use super::super::host::Talk;
use super::super::model::{Model, Outcome, ToolCall};
use super::super::running::{run, succeed};
use super::super::session::{Place, judge, shortened};
use super::super::stage::{Does, Programs, Stage, Tool, build, proof};
use super::answer::Answer;
use super::client::{Client, List};
use super::servers::{Entry, Fate, Few, VARIABLE, ten};
use crate::popular::registry::Sources;

/// The project that the client works in, and another one.
const PROJECT: &str = "one";
const OTHER: &str = "two";

/// Time limit for a command that fetches ten servers, in seconds.
const LONG: u32 = 400;

/// The scope of the servers in a project's file. `adopt --yes` does not start them.
const PROJECT_SCOPE: &str = "project";

/// Whether a client also talks to its model if its list already shows which servers work.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Conversations {
    Run,
    Skipped,
}

/// Whether the servers are wrapped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Now {
    Bare,
    Adopted,
}

/// A client with these servers.
#[derive(Debug)]
struct Session<'m> {
    client: &'static Client,
    stage: Stage,
    model: &'m Model,
    /// Environment variables for every command.
    variables: Vec<(&'static str, String)>,
    entries: Vec<Entry>,
    conversations: Conversations,
}

/// Runs a client that has a few installed servers.
pub(super) fn with_few(
    client: &'static Client,
    programs: &Programs,
    directory: &Path,
    few: &Few,
    conversations: Conversations,
) -> Result<()> {
    build(directory)?;
    let model = Model::start()?;
    let stage = Stage::new(client.host, directory, "home", programs, &model.address)?;
    let entries = few.entries(client, &stage.project(PROJECT));
    Session { client, stage, model: &model, variables: Vec::new(), entries, conversations }.run()
}

/// Runs a client that has ten popular servers.
pub(super) fn with_ten(
    client: &'static Client,
    programs: &Programs,
    directory: &Path,
    sources: &Sources,
) -> Result<()> {
    build(directory)?;
    let (model, registry) = (Model::start()?, sources.serve()?);
    let mut stage = Stage::new(client.host, directory, "home", programs, &model.address)?;
    stage.limit = LONG;
    let entries = ten(client, &stage.project(PROJECT), &registry.url)?;
    let variables = vec![
        ("npm_config_registry", registry.url.clone()),
        ("UV_DEFAULT_INDEX", format!("{}/simple", registry.url)),
        // How long Claude Code waits for a server, in milliseconds. Without Rootward, `npx` fetches each server first.
        ("MCP_TIMEOUT", "180000".to_owned()),
    ];
    Session { client, stage, model: &model, variables, entries, conversations: Conversations::Run }.run()
}

impl Session<'_> {
    fn run(&self) -> Result<()> {
        let began = Instant::now();
        let report =
            |step: &str| println!("{}: {step} after {:.1} s", self.client.host.name, began.elapsed().as_secs_f64());
        self.add()?;
        report("servers added");
        self.use_servers(Now::Bare).context("before `adopt`")?;
        report("servers used");
        let planned = self.plan()?;
        let files: Vec<PathBuf> = planned.files.iter().map(|file| file.path.clone()).collect();
        let own = texts(&files)?;
        self.adopt_and_undo(&files, &own)?;
        let wrapped = self.adopt()?;
        ensure!(wrapped.files.iter().all(|file| file.changed), "not every file was changed: {wrapped:?}");
        let adopted = texts(&files)?;
        report("adopted");
        self.use_servers(Now::Adopted).context("after `adopt`")?;
        report("servers used");
        let left = texts(&files)?;
        self.undo()?;
        for (position, file) in files.iter().enumerate() {
            // Some clients keep more than their servers in that file, and rewrite it whenever they run.
            let is_untouched = left[position] == adopted[position];
            if !is_untouched {
                println!("{} changed `{}` after `adopt`", self.client.host.name, file.display());
            }
            let is_back = texts(slice::from_ref(file))?[0] == own[position];
            ensure!(!is_untouched || is_back, "`--undo` did not restore `{}`", file.display());
        }
        let now = self.plan()?;
        ensure!(now == planned, "after `--undo`, `adopt` plans {now:?}, expected {planned:?}");
        Ok(())
    }

    /// A command that the user runs in the project.
    fn command(&self, program: &[PathBuf], words: &[&str]) -> Command {
        let mut command = self.stage.command_of(program, PROJECT, words);
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command
    }

    fn add(&self) -> Result<()> {
        (self.client.before)(&self.stage)?;
        (self.client.host.configure)(&self.stage, &[])?;
        for entry in &self.entries {
            let words = (self.client.add)(entry);
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            succeed(self.command(&self.stage.programs.host, &words))?;
        }
        (self.client.after)(&self.stage, &self.entries)
    }

    /// Runs `rootward adopt`, which must exit with this code.
    fn rootward(&self, words: &[&str], code: i32) -> Result<Answer> {
        let words = [&["adopt", "--json"][..], words].concat();
        let ran = run(self.command(slice::from_ref(&self.stage.programs.rootward), &words))?;
        let shown = words.join(" ");
        ensure!(ran.status.code() == Some(code), "`rootward {shown}` ended with {}: {}", ran.status, ran.all());
        Answer::read(&ran.stdout).with_context(|| format!("`rootward {shown}`"))
    }

    /// Runs `adopt` without `--yes`: it reports what it would change, and changes nothing.
    fn plan(&self) -> Result<Answer> {
        let planned = self.rootward(&[], 1)?;
        ensure!(planned.files.iter().all(|file| file.client == self.client.name && !file.changed), "{planned:?}");
        self.check_verdicts(&planned, "wrap")?;
        Ok(planned)
    }

    /// Checks that every server is in the answer, with this verdict.
    fn check_verdicts(&self, answer: &Answer, verdict: &str) -> Result<()> {
        let found: BTreeSet<(&str, &str)> =
            answer.servers().map(|server| (server.name.as_str(), server.verdict.as_str())).collect();
        let expect: BTreeSet<(&str, &str)> = self.entries.iter().map(|entry| (entry.name, verdict)).collect();
        ensure!(found == expect, "`adopt` found {found:?}, expected {expect:?}");
        Ok(())
    }

    /// Adopts and undoes with no run of the client in between. The files must be the same as before, byte for byte.
    fn adopt_and_undo(&self, files: &[PathBuf], own: &[String]) -> Result<()> {
        self.rootward(&["--yes", "--no-try"], 0)?;
        for (file, (now, own)) in files.iter().zip(texts(files)?.iter().zip(own)) {
            ensure!(now != own, "`{}` was not changed", file.display());
        }
        self.check_verdicts(&self.rootward(&[], 0)?, "wrapped")?;
        self.undo()?;
        for (file, (now, own)) in files.iter().zip(texts(files)?.iter().zip(own)) {
            ensure!(now == own, "`--undo` did not restore `{}`:\n{now}", file.display());
        }
        Ok(())
    }

    /// Adopts, and checks what `adopt` says about each server that it started.
    fn adopt(&self) -> Result<Answer> {
        let is_broken = self.entries.iter().any(|entry| entry.fate == Fate::Broken);
        let answer = self.rootward(&["--yes"], i32::from(is_broken))?;
        for entry in &self.entries {
            let server = answer.servers().find(|server| server.name == entry.name);
            let server = server.with_context(|| format!("`adopt` did not find `{}`", entry.name))?;
            let expect = match entry.fate {
                _ if entry.scope == PROJECT_SCOPE => None,
                Fate::Works => Some(true),
                Fate::Broken => Some(false),
            };
            ensure!(server.works == expect, "`{}` works: {:?}, {}", entry.name, server.works, server.why);
            let tools = entry.tools.and_then(|tools| u64::try_from(tools).ok());
            ensure!(tools.is_none() || tools == server.tools, "`{}` has {:?} tools", entry.name, server.tools);
        }
        Ok(answer)
    }

    fn undo(&self) -> Result<()> {
        let undone = self.rootward(&["--undo", "--yes"], 0)?;
        ensure!(undone.files.iter().all(|file| file.changed), "not every file was changed: {undone:?}");
        Ok(())
    }

    /// Makes the client list its servers, and its model call tools of some.
    fn use_servers(&self, now: Now) -> Result<()> {
        self.list()?;
        if self.client.list == List::Configured || self.conversations == Conversations::Run {
            self.converse(now)?;
        }
        Ok(())
    }

    fn list(&self) -> Result<()> {
        let Talk::Model { list, .. } = self.client.host.talk else { bail!("the client cannot list its servers") };
        let healthy = self.client.healthy;
        let said = run(self.command(&self.stage.programs.host, list))?.all();
        for entry in &self.entries {
            let is_healthy = said.lines().any(|line| names(line, entry.name) && line.contains(healthy));
            let expect = self.client.list == List::Configured || entry.fate == Fate::Works;
            ensure!(is_healthy == expect, "`{healthy}` for `{}`: {is_healthy}\n{said}", entry.name);
        }
        Ok(())
    }

    fn converse(&self, now: Now) -> Result<()> {
        let calls = self.calls();
        self.model.will_call(calls.iter().map(|(call, _)| call.clone()).collect());
        let ran = run(self.command(&self.stage.programs.host, self.client.converse))?;
        for ((call, expect), outcome) in calls.iter().zip(self.model.outcomes()) {
            let judged = self.judge(now, call, *expect, &outcome);
            judged.with_context(|| format!("`{}` of `{}`; {}", call.tool, call.server, shortened(&ran.all())))?;
        }
        Ok(())
    }

    /// The calls, and what each of them shows.
    fn calls(&self) -> Vec<(ToolCall, Shows)> {
        let file = self.stage.project(PROJECT).join("file.txt");
        let mut calls = vec![
            (ToolCall { server: "files", tool: "read_text_file", arguments: json!({"path": file}) }, Shows::Works),
            (self.stage.call(Tool { server: "git", name: "git_log", does: Does::Logs }, OTHER), Shows::IsConfined),
            (ToolCall { server: "everything", tool: "get-env", arguments: json!({}) }, Shows::HasItsVariable),
        ];
        if self.entries.iter().any(|entry| entry.fate == Fate::Broken) {
            let call = ToolCall { server: "broken", tool: "read_text_file", arguments: json!({"path": file}) };
            calls.push((call, Shows::IsBroken));
        }
        calls
    }

    fn judge(&self, now: Now, call: &ToolCall, shows: Shows, outcome: &Outcome) -> Result<()> {
        match shows {
            Shows::Works => judge(Place::Inside, Path::new(""), &proof(Does::Reads, PROJECT), outcome),
            Shows::IsConfined => {
                // The control: without Rootward, the server can read outside the project.
                let place = if now == Now::Bare { Place::Inside } else { Place::Outside };
                judge(place, &self.stage.project(OTHER), &proof(Does::Logs, OTHER), outcome)
            }
            Shows::HasItsVariable => {
                let entry = self.entries.iter().find(|entry| entry.name == call.server);
                let value = entry.and_then(|entry| entry.variables.first()).map_or(VARIABLE.1, |(_, value)| value);
                judge(Place::Inside, Path::new(""), value, outcome)
            }
            Shows::IsBroken => {
                ensure!(matches!(outcome, Outcome::NotOffered(_)), "a broken server answered: {outcome:?}");
                Ok(())
            }
        }
    }
}

/// What a call shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Shows {
    Works,
    /// The server is confined: the call has a path outside the project.
    IsConfined,
    HasItsVariable,
    IsBroken,
}

/// Whether a line of a list is about this server. A path that contains the name does not count.
fn names(line: &str, server: &str) -> bool {
    line.split_whitespace().any(|word| word.trim_end_matches(':') == server)
}

fn texts(files: &[PathBuf]) -> Result<Vec<String>> {
    let read = |file: &PathBuf| fs::read_to_string(file).with_context(|| format!("cannot read `{}`", file.display()));
    files.iter().map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_about_the_server_that_it_names() {
        let check = |line: &str, server: &str, expect: bool| assert_eq!(names(line, server), expect, "{line}");
        check("files: node /m/server-filesystem/index.js /one - ✔ Connected", "files", true);
        check("✓ git: /p/python -m mcp_server_git (stdio) - Connected", "git", true);
        check("●  ✓ git connected", "git", true);
        check("git         /p/python  -m mcp_server_git  -  -  enabled", "git", true);
        check("files: node /m/git/index.js - ✔ Connected", "git", false);
        check("memory: node /m/server-memory/dist/index.js", "server-memory", false);
    }
}
