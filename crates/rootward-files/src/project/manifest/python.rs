//! `pyproject.toml`.

use super::super::marker::Beside;
use super::{Facts, MOST_STARTS, Purpose, is_word, malformed, toml_table, toml_text};

pub(super) fn read(text: &str, beside: &Beside) -> Result<Facts, String> {
    let table: toml::Table = text.parse().map_err(|error| malformed("TOML", error))?;
    let project = toml_table(&table, &["project"]);
    let poetry = toml_table(&table, &["tool", "poetry"]);
    let mut facts = Facts {
        name: toml_text(project, "name").or_else(|| toml_text(poetry, "name")),
        version: toml_text(project, "version").or_else(|| toml_text(poetry, "version")),
        workspace: toml_table(&table, &["tool", "uv", "workspace"]).is_some(),
        ..Facts::default()
    };
    let (install, build, run) = if beside.has("uv.lock") || toml_table(&table, &["tool", "uv"]).is_some() {
        ("uv sync", "uv build", "uv run ")
    } else if beside.has("poetry.lock") || poetry.is_some() {
        ("poetry install", "poetry build", "poetry run ")
    } else if beside.has("pdm.lock") {
        ("pdm install", "pdm build", "pdm run ")
    } else {
        ("python -m pip install -e .", "python -m build", "")
    };
    facts.command(Purpose::Install, install);
    if table.contains_key("build-system") || poetry.is_some() {
        facts.command(Purpose::Build, build);
    }
    let tool = |name: &str| toml_table(&table, &["tool", name]).is_some();
    for (has, purpose, line) in [
        (tool("pytest"), Purpose::Test, "pytest"),
        (tool("ruff"), Purpose::Lint, "ruff check"),
        (tool("mypy"), Purpose::Lint, "mypy ."),
        (tool("black"), Purpose::Format, "black ."),
    ] {
        if has {
            facts.command(purpose, format!("{run}{line}"));
        }
    }
    let scripts = [project.and_then(|project| project.get("scripts")), poetry.and_then(|poetry| poetry.get("scripts"))];
    let scripts = scripts.into_iter().flatten().filter_map(toml::Value::as_table).flatten();
    for (name, _) in scripts.filter(|(name, _)| is_word(name)).take(MOST_STARTS) {
        facts.command(Purpose::Run, format!("{run}{name}"));
    }
    Ok(facts)
}
