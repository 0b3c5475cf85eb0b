//! A client gets the same results through `rootward hub` as directly.
//!
//! The hub answers `initialize` itself and merges lists. Tool names have no prefix here, so everything else can be compared unchanged.

use std::collections::BTreeMap;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use crate::servers::install::Installed;
use crate::wrap::fidelity::{Run, once, without_time};
use crate::wrap::script::{Script, Step};

/// The URI prefix of resources that server-everything creates in a session.
const OF_A_SESSION: &str = "demo://resource/session/";

/// The answers of a run by id, and its progress notifications.
struct Received {
    answers: BTreeMap<String, Value>,
    progress: Vec<Value>,
}

/// Plays a script directly and twice through the hub: with an unknown server, then with a remembered one. Returns how many answers were
/// compared.
pub(super) fn play(script: &Script, installed: &Installed) -> Result<usize> {
    let stage = tempfile::Builder::new().prefix("hub-").tempdir()?;
    let play = |run: Run| once(script, installed, stage.path(), run).and_then(|lines| Received::read(&lines));
    let direct = play(Run::Direct).context("directly")?;
    let mut compared = 0;
    for when in ["for the first time", "remembered"] {
        let hub = play(Run::Hub).context(when)?;
        compared += same(script, &direct, &hub).context(when)?;
    }
    Ok(compared)
}

impl Received {
    fn read(lines: &[String]) -> Result<Received> {
        let mut received = Received { answers: BTreeMap::new(), progress: Vec::new() };
        for line in lines {
            let message: Value = serde_json::from_str(&without_time(line))?;
            match message["method"].as_str() {
                None => drop(received.answers.insert(message["id"].to_string(), message)),
                Some("notifications/progress") => received.progress.push(message["params"].clone()),
                Some(_) => {}
            }
        }
        Ok(received)
    }
}

fn same(script: &Script, direct: &Received, hub: &Received) -> Result<usize> {
    ensure!(direct.progress == hub.progress, "progress {:?} instead of {:?}", hub.progress, direct.progress);
    let mut compared = 0;
    for (number, step) in (2..).zip(script.steps) {
        let (id, method) = match step {
            Step::Ask(method, _) => (number.to_string(), *method),
            Step::AskAs(id, method, _) => (serde_json::from_str::<Value>(id)?.to_string(), *method),
            Step::Call(..) => (number.to_string(), "tools/call"),
            Step::Say(_) | Step::Hear(_) => continue,
        };
        let answer =
            |received: &Received| received.answers.get(&id).cloned().with_context(|| format!("no answer: {step:?}"));
        let (expect, mut heard) = (answer(direct)?, answer(hub)?);
        if let Some(Value::Array(tools)) = heard.pointer_mut("/result/tools") {
            tools.retain(|tool| tool["name"] != "get-roots");
        }
        // A remembered list still names the resources of the last session.
        if let Some(Value::Array(resources)) = heard.pointer_mut("/result/resources") {
            resources.retain(|resource| !resource["uri"].as_str().is_some_and(|uri| uri.starts_with(OF_A_SESSION)));
        }
        // If no server offers a method, the hub refuses it with its own message. The hub has no `tasks/list`, and returns an empty list
        // for one that a server lacks.
        let is_refused = |answer: &Value| !answer["error"].is_null() || answer["result"]["isError"] == true;
        let lacks = matches!(heard["result"].as_object(), Some(lists) if lists.values().all(|list| *list == json!([])));
        let is_own = (is_refused(&heard) && (is_refused(&expect) || method == "tasks/list"))
            || (is_refused(&expect) && method.ends_with("/list") && lacks);
        ensure!(
            is_own || expect["result"] == heard["result"],
            "{step:?}: through the hub\n{heard}\ninstead of\n{expect}"
        );
        compared += 1;
    }
    ensure!(compared > 3, "only {compared} answers");
    Ok(compared)
}
