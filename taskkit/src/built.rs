//! Builds programs of the workspace and finds their paths.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::call::Call;

/// Runs `build`. Returns the paths of the programs, in the order of `names`.
pub fn programs<const N: usize>(top: &Path, build: Call, names: [&str; N]) -> Result<[PathBuf; N]> {
    println!("==> {build}");
    let messages = build.arguments(["--message-format=json-render-diagnostics"]).stdout(top)?;
    let mut programs = [const { PathBuf::new() }; N];
    for (program, name) in programs.iter_mut().zip(names) {
        *program = program_in(&messages, name).with_context(|| format!("cargo built no `{name}`"))?;
    }
    Ok(programs)
}

/// The path of a program from cargo's messages, because it depends on cargo's settings.
fn program_in(messages: &str, name: &str) -> Option<PathBuf> {
    messages.lines().find_map(|line| {
        let message: serde_json::Value = serde_json::from_str(line).ok()?;
        let executable = message.get("executable")?.as_str()?;
        (message.get("target")?.get("name")? == name).then(|| PathBuf::from(executable))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_found_in_cargos_messages() {
        let messages = concat!(
            r#"{"reason":"compiler-artifact","target":{"name":"rootward_core"},"executable":null}"#,
            "\n",
            r#"{"reason":"compiler-artifact","target":{"name":"corpus-adapter"},"executable":"/t/release/corpus-adapter"}"#,
            "\n",
            r#"{"reason":"build-finished","success":true}"#,
        );
        assert_eq!(program_in(messages, "corpus-adapter"), Some(PathBuf::from("/t/release/corpus-adapter")));
        assert_eq!(program_in(r#"{"reason":"build-finished","success":true}"#, "corpus-adapter"), None);
    }
}
