//! Compares the tool lists of both servers: names, titles, annotations, arguments.

use std::collections::BTreeSet;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

/// The tools that only Rootward has.
const MORE_TOOLS: [&str; 5] = ["append_file", "copy_file", "delete_file", "path_in_roots", "search_content"];

/// The arguments that only Rootward has, by tool.
const MORE_ARGUMENTS: [(&str, &[&str]); 1] = [("read_text_file", &["limit", "offset"])];

/// Compares two answers to `tools/list`. Returns the number of tools that agree.
pub(super) fn compare(reference: &Value, rootward: &Value) -> Result<usize> {
    let [reference, rootward] = [reference, rootward].map(|answer| answer["result"]["tools"].as_array());
    let (reference, rootward) =
        (reference.context("the reference lists no tools")?, rootward.context("Rootward lists no tools")?);
    for tool in reference {
        let name = name(tool)?;
        let own = rootward.iter().find(|own| own["name"] == tool["name"]);
        let own = own.with_context(|| format!("Rootward has no `{name}`"))?;
        same(name, tool, own)?;
    }
    let of_reference = |tool: &&Value| reference.iter().any(|other| other["name"] == tool["name"]);
    let more: BTreeSet<&str> = rootward.iter().filter(|tool| !of_reference(tool)).map(name).collect::<Result<_>>()?;
    ensure!(more == BTreeSet::from(MORE_TOOLS), "the tools that only Rootward has are {more:?}");
    Ok(reference.len())
}

fn same(name: &str, reference: &Value, rootward: &Value) -> Result<()> {
    ensure!(
        reference["title"] == rootward["title"],
        "the title of `{name}` is {} in the reference, {} in Rootward",
        reference["title"],
        rootward["title"]
    );
    let notes = |tool: &Value| tool["annotations"].clone();
    ensure!(
        notes(reference) == notes(rootward),
        "the annotations of `{name}` are {} in the reference, {} in Rootward",
        notes(reference),
        notes(rootward)
    );
    let ours = arguments(rootward);
    let more: BTreeSet<&str> = ours.difference(&arguments(reference)).copied().collect();
    let known = MORE_ARGUMENTS.iter().find(|(tool, _)| *tool == name).map_or(&[][..], |(_, known)| known);
    ensure!(more == known.iter().copied().collect(), "only Rootward's `{name}` has the arguments {more:?}");
    let missing: BTreeSet<&str> = arguments(reference).difference(&ours).copied().collect();
    ensure!(missing.is_empty(), "`{name}` does not take {missing:?}");
    let [must_reference, must_rootward] = [reference, rootward].map(required);
    ensure!(
        must_reference == must_rootward,
        "`{name}` requires {must_reference:?} in the reference, {must_rootward:?} in Rootward"
    );
    for output in [reference, rootward] {
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
