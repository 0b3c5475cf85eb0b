//! `Cargo.toml`.

use super::{Facts, MOST_STARTS, Purpose, is_word, malformed, toml_table, toml_text};

pub(super) fn read(text: &str) -> Result<Facts, String> {
    let table: toml::Table = text.parse().map_err(|error| malformed("TOML", error))?;
    let package = toml_table(&table, &["package"]);
    let mut facts = Facts {
        name: toml_text(package, "name"),
        version: toml_text(package, "version"),
        workspace: table.contains_key("workspace"),
        ..Facts::default()
    };
    let whole = if facts.workspace { " --workspace" } else { "" };
    facts.command(Purpose::Build, format!("cargo build{whole}"));
    facts.command(Purpose::Test, format!("cargo test{whole}"));
    let programs = table.get("bin").and_then(toml::Value::as_array);
    for program in programs.into_iter().flatten().filter_map(toml::Value::as_table).take(MOST_STARTS) {
        if let Some(path) = program.get("path").and_then(toml::Value::as_str) {
            facts.start(path);
        }
        if let Some(name) = program.get("name").and_then(toml::Value::as_str).filter(|name| is_word(name)) {
            facts.command(Purpose::Run, format!("cargo run --bin {name}"));
        }
    }
    if let Some(path) = toml_table(&table, &["lib"]).and_then(|library| library.get("path")?.as_str()) {
        facts.start(path);
    }
    facts.command(Purpose::Lint, format!("cargo clippy{whole} --all-targets"));
    facts.command(Purpose::Format, "cargo fmt");
    Ok(facts)
}
