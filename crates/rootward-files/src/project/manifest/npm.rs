//! `package.json`, for npm, yarn, pnpm and bun.

use serde_json::{Map, Value};

use super::super::marker::Beside;
use super::super::shown;
use super::{Facts, Purpose, malformed};

pub(super) fn read(text: &str, beside: &Beside) -> Result<Facts, String> {
    // serde_json stops at 128 levels.
    let package: Map<String, Value> = serde_json::from_str(text).map_err(|error| malformed("a JSON object", error))?;
    let word = |key: &str| package.get(key).and_then(Value::as_str);
    let mut facts = Facts {
        name: word("name").map(shown),
        version: word("version").map(shown),
        workspace: package.contains_key("workspaces"),
        ..Facts::default()
    };
    let (install, run) = runner(word("packageManager"), beside);
    facts.command(Purpose::Install, install);
    for (name, does) in package.get("scripts").and_then(Value::as_object).into_iter().flatten() {
        if let Some(does) = does.as_str() {
            facts.script(run, name, Some(does));
        }
    }
    for key in ["main", "module", "browser"] {
        if let Some(path) = word(key) {
            facts.start(path);
        }
    }
    match package.get("bin") {
        Some(Value::String(path)) => facts.start(path),
        Some(Value::Object(programs)) => programs.values().filter_map(Value::as_str).for_each(|path| facts.start(path)),
        _ => {}
    }
    Ok(facts)
}

/// The commands to install packages and to run a script.
fn runner(named: Option<&str>, beside: &Beside) -> (&'static str, &'static str) {
    let named = named.and_then(|named| named.split('@').next()).unwrap_or_default();
    if named == "pnpm" || beside.has("pnpm-lock.yaml") {
        ("pnpm install", "pnpm run")
    } else if named == "yarn" || beside.has("yarn.lock") {
        ("yarn install", "yarn run")
    } else if named == "bun" || beside.has("bun.lock") || beside.has("bun.lockb") {
        ("bun install", "bun run")
    } else if beside.has("package-lock.json") {
        ("npm ci", "npm run")
    } else {
        ("npm install", "npm run")
    }
}
