//! Compares the tool lists of both servers: names, titles, annotations, arguments.

use std::collections::BTreeSet;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

/// The tools that only Rootward has.
const MORE_TOOLS: [&str; 5] = ["append_file", "copy_file", "delete_file", "path_in_roots", "search_content"];

/// The arguments that only Rootward has, by tool.
const MORE_ARGUMENTS: [(&str, &[&str]); 1] = [("read_text_file", &["limit", "offset"])];

/// Compares two answers to `tools/list`. Returns the number of tools that agree.
pub(super) fn compare(there: &Value, here: &Value) -> Result<usize> {
    let [there, here] = [there, here].map(|answer| answer["result"]["tools"].as_array());
    let (there, here) = (there.context("the reference lists no tools")?, here.context("Rootward lists no tools")?);
    for tool in there {
        let name = name(tool)?;
        let own = here.iter().find(|own| own["name"] == tool["name"]);
        let own = own.with_context(|| format!("Rootward has no `{name}`"))?;
        same(name, tool, own)?;
    }
    let of_reference = |tool: &&Value| there.iter().any(|other| other["name"] == tool["name"]);
    let more: BTreeSet<&str> = here.iter().filter(|tool| !of_reference(tool)).map(name).collect::<Result<_>>()?;
    ensure!(more == BTreeSet::from(MORE_TOOLS), "the tools that only Rootward has are {more:?}");
    Ok(there.len())
}

fn same(name: &str, there: &Value, here: &Value) -> Result<()> {
    ensure!(
        there["title"] == here["title"],
        "the title of `{name}` is {} in the reference, {} in Rootward",
        there["title"],
        here["title"]
    );
    let notes = |tool: &Value| tool["annotations"].clone();
    ensure!(
        notes(there) == notes(here),
        "the annotations of `{name}` are {} in the reference, {} in Rootward",
        notes(there),
        notes(here)
    );
    let ours = arguments(here);
    let more: BTreeSet<&str> = ours.difference(&arguments(there)).copied().collect();
    let known = MORE_ARGUMENTS.iter().find(|(tool, _)| *tool == name).map_or(&[][..], |(_, known)| known);
    ensure!(more == known.iter().copied().collect(), "only Rootward's `{name}` has the arguments {more:?}");
    let missing: BTreeSet<&str> = arguments(there).difference(&ours).copied().collect();
    ensure!(missing.is_empty(), "`{name}` does not take {missing:?}");
    let [must_there, must] = [there, here].map(required);
    ensure!(must_there == must, "`{name}` requires {must_there:?} in the reference, {must:?} in Rootward");
    for output in [there, here] {
        let content = output["outputSchema"]["properties"].get("content");
        ensure!(content.is_some(), "`{name}` does not describe its `content`");
    }
    Ok(())
}

fn name(tool: &Value) -> Result<&str> {
    tool["name"].as_str().context("a tool has no name")
}

fn arguments(tool: &Value) -> BTreeSet<&str> {
    tool["inputSchema"]["properties"].as_object().into_iter().flatten().map(|(name, _)| name.as_str()).collect()
}

fn required(tool: &Value) -> BTreeSet<&str> {
    tool["inputSchema"]["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}
