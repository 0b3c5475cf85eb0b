//! A session between a client and the hub: first in one project, then, after the client changes its roots, in the other.

use std::collections::BTreeMap;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};

use super::five::{Act, GET_ROOTS, INSIDE, OUTSIDE, SERVERS};
use super::stage::{PROJECTS, Stage};
use crate::peers::case::printed_within;
use crate::peers::step::Era;

/// A client that runs longer is stuck. The first start downloads the servers.
const LONGEST: Duration = Duration::from_mins(4);

/// Whether the hub knows the servers from an earlier session.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Known {
    /// It must download them, and lists the tools of slow ones late.
    Not,
    /// The first list has all tools.
    FromBefore,
}

/// What the client must print for a step.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Expect {
    /// The names of all tools.
    Tools(Known),
    /// An answer that contains the first string and not the second.
    Done(String, String),
    /// A refusal that names this path.
    Refused(String),
    /// The answer of `get-roots` when this directory is shared.
    Roots(String),
}

/// Plays the session. Returns the number of answers that were checked.
pub(super) fn play(mut client: Command, stage: &Stage<'_>, era: Era, known: Known) -> Result<usize> {
    let plan = plan(stage, era, known)?;
    let steps: Vec<&Value> = plan.iter().map(|(step, _)| step).collect();
    let script = json!({"era": era.name(), "declares": true, "server": stage.server()?, "steps": steps});
    let printed = printed_within(client.arg(script.to_string()).current_dir(stage.top()), LONGEST)?;
    let lines: Vec<Value> = printed.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    let expected: Vec<&Expect> = plan.iter().filter_map(|(_, expect)| expect.as_ref()).collect();
    let [version, seen @ .., end] = lines.as_slice() else { bail!("the client did nothing: {printed}") };
    let agreed = if era == Era::Modern { "2026-07-28" } else { "2025-11-25" };
    ensure!(version["version"] == agreed, "the client negotiated {version}");
    ensure!(seen.len() == expected.len(), "{} outcomes instead of {}: {printed}", seen.len(), expected.len());
    for (line, expect) in seen.iter().zip(&expected) {
        judge(line, expect)?;
    }
    let asked = end["asked"].as_u64().context("the client did not print how often it was asked")?;
    // A legacy client is asked at least once in each project, and again for a server that starts late. A modern client is asked in each
    // call.
    let calls = expected.iter().filter(|expect| !matches!(expect, Expect::Tools(_))).count() as u64;
    let times = if era == Era::Modern { calls..=calls } else { 2..=2 * (SERVERS.len() as u64 + 1) };
    ensure!(times.contains(&asked), "the client was asked for its roots {asked} times");
    Ok(expected.len())
}

/// The client's steps, and what it must print for each.
fn plan(stage: &Stage<'_>, era: Era, known: Known) -> Result<Vec<(Value, Option<Expect>)>> {
    let mut plan = Vec::new();
    for (position, project) in PROJECTS.into_iter().enumerate() {
        plan.push((json!({"answer": {"roots": [stage.path(project)]}}), None));
        if position == 0 {
            let count: usize = SERVERS.iter().map(|(_, tools)| tools).sum();
            plan.push((json!({"names": count + 1}), Some(Expect::Tools(known))));
        } else if era != Era::Modern {
            plan.push((json!({"announce": true}), None));
        }
        let call = |act: &Act| -> Result<Value> {
            let arguments: Value = serde_json::from_str(&stage.fill(act.arguments, project))?;
            Ok(json!({"call": {"name": act.tool, "arguments": arguments}}))
        };
        let other = PROJECTS[1 - position];
        for act in &INSIDE {
            let expect = Expect::Done(stage.fill(act.proof, project), format!("of {other}"));
            plan.push((call(act)?, Some(expect)));
        }
        for act in &OUTSIDE {
            plan.push((call(act)?, Some(Expect::Refused(stage.fill(act.proof, project)))));
        }
        let roots = json!({"call": {"name": GET_ROOTS, "arguments": {}}});
        plan.push((roots, Some(Expect::Roots(stage.path(project).display().to_string()))));
    }
    Ok(plan)
}

fn judge(line: &Value, expect: &Expect) -> Result<()> {
    match expect {
        Expect::Tools(known) => judge_tools(line, *known),
        Expect::Done(proof, forbidden) => {
            let shown = line["shown"].as_array().with_context(|| format!("no `{proof}` but {line}"))?;
            let text: Vec<&str> = shown.iter().filter_map(|block| block["text"].as_str()).collect();
            let text = text.join("\n");
            ensure!(text.contains(proof), "no `{proof}` in {line}");
            ensure!(!text.contains(forbidden), "`{forbidden}` in {line}");
            Ok(())
        }
        Expect::Refused(path) => {
            let refusal = format!("`{path}` is outside every root");
            let says = line["failed"].as_str().with_context(|| format!("`{path}` was not refused: {line}"))?;
            ensure!(says.contains(&refusal), "no `{refusal}` in {line}");
            ensure!(line["code"] == "outside_roots", "wrong code: {line}");
            Ok(())
        }
        Expect::Roots(root) => judge_roots(&line["data"], root).with_context(|| format!("`{GET_ROOTS}` said {line}")),
    }
}

/// The list must have each server's tools, with the server's name as prefix, and the hub's own tool, and nothing else.
fn judge_tools(line: &Value, known: Known) -> Result<()> {
    let names = line["names"].as_array().with_context(|| format!("no names: {line}"))?;
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for name in names.iter().filter_map(Value::as_str) {
        let server = name.split_once("__").map_or(name, |(server, _)| server);
        *counts.entry(server).or_default() += 1;
    }
    let expect: BTreeMap<&str, usize> = SERVERS.into_iter().chain([(GET_ROOTS, 1)]).collect();
    ensure!(counts == expect, "tools by server: {counts:?}, expected {expect:?}: {line}");
    ensure!(
        known == Known::Not || line["lists"] == 1,
        "the servers are known, but the client needed {} lists",
        line["lists"]
    );
    Ok(())
}

/// The answer must name the one root, and list each server as running, confined by the kernel, and with that root.
fn judge_roots(said: &Value, root: &str) -> Result<()> {
    ensure!(said["filePaths"] == json!([root]), "wrong roots");
    ensure!(said["roots"][0]["uri"] == format!("file://{root}"), "wrong URI");
    let servers = said["servers"].as_array().context("no servers")?;
    ensure!(
        servers.iter().map(|server| &server["name"]).eq(SERVERS.map(|(name, _)| json!(name)).iter()),
        "wrong servers"
    );
    for server in servers {
        // A modern server gets its roots with a call. Until a call needs roots, it is listed without any (docs/rough-edges.md).
        let has_none_yet = server["name"] == "fetch" && server["roots"].is_null();
        ensure!(has_none_yet || server["roots"] == json!([root]), "wrong roots of {server}");
        ensure!(server["state"] == "running", "not running: {server}");
        let is_confined = server["confinement"].as_str().is_some_and(|how| how.contains("the kernel"));
        ensure!(is_confined, "not confined by the kernel: {server}");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &Value, expect: &Expect, fault: Option<&str>) {
        let error = judge(line, expect).err().map(|error| format!("{error:#}"));
        match (&error, fault) {
            (None, None) => {}
            (Some(error), Some(fault)) => assert!(error.contains(fault), "{error}"),
            _ => panic!("{line}: {error:?}"),
        }
    }

    #[test]
    fn an_answer_from_another_project_is_an_error() {
        let done = Expect::Done("the notes of one".to_owned(), "of two".to_owned());
        let says = |text: &str| json!({"shown": [{"type": "text", "text": text}], "data": null});
        check(&says("the notes of one"), &done, None);
        check(&says("the notes of two"), &done, Some("no `the notes of one`"));
        check(&says("the notes of one, the notes of two"), &done, Some("`of two` in"));
        check(&json!({"failed": "the notes of one", "code": null}), &done, Some("but"));
        let refused = Expect::Refused("/p/two".to_owned());
        let fails = |text: &str, code: &str| json!({"failed": text, "code": code});
        check(&fails("path `/p/two` is outside every root", "outside_roots"), &refused, None);
        check(&fails("path `/p/one` is outside every root", "outside_roots"), &refused, Some("no `"));
        check(&fails("path `/p/two` is outside every root", "no_roots"), &refused, Some("code"));
        check(&says("the notes of two"), &refused, Some("not refused"));
    }

    #[test]
    fn all_tools_of_all_servers_and_no_others() {
        let all = SERVERS.iter().flat_map(|(name, count)| (0..*count).map(move |number| format!("{name}__{number}")));
        let mut names: Vec<String> = [GET_ROOTS.to_owned()].into_iter().chain(all).collect();
        let line = |names: &[String], lists: u64| json!({"names": names, "lists": lists});
        check(&line(&names, 3), &Expect::Tools(Known::Not), None);
        check(&line(&names, 1), &Expect::Tools(Known::FromBefore), None);
        check(&line(&names, 2), &Expect::Tools(Known::FromBefore), Some("2 lists"));
        names.push("other__tool".to_owned());
        check(&line(&names, 1), &Expect::Tools(Known::Not), Some("other"));
        names.truncate(10);
        check(&line(&names, 1), &Expect::Tools(Known::Not), Some("expected"));
    }

    #[test]
    fn each_server_must_have_the_root_and_be_confined() {
        let server = |name: &str, root: &str, confinement: &str| json!({"name": name, "roots": [root], "state": "running", "confinement": confinement});
        let said = |root: &str, confinement: &str| {
            let servers = SERVERS.map(|(name, _)| server(name, root, confinement));
            json!({"data": {"filePaths": ["/p"], "roots": [{"uri": "file:///p"}], "servers": servers}})
        };
        let roots = Expect::Roots("/p".to_owned());
        check(&said("/p", "the kernel confines it"), &roots, None);
        check(&said("/q", "the kernel confines it"), &roots, Some("wrong roots of"));
        check(&said("/p", "only its calls are checked"), &roots, Some("not confined"));
        check(&said("/p", "the kernel confines it"), &Expect::Roots("/q".to_owned()), Some("wrong roots"));
    }
}
