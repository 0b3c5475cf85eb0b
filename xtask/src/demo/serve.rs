//! `cargo demo serve`: the MCP Inspector reads a file through `rootward serve`, and fails to read another.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::{prepare, shown};
use taskkit::install::{Runtime, node_at_least, packages, runtimes};

/// The oldest Node that the Inspector's command line runs on. The whole Inspector asks for 22.19, which few systems have and which is
/// slow to download.
const NODE: u64 = 20;

/// Builds, installs and shows the demo.
pub(crate) fn run(top: &Path) -> Result<()> {
    let (rootward, (node, inspector)) = prepare(top, "--no-default-features --features serve", || fetch(top))?;
    let project = top.join("docs");
    for (file, sharing) in [("files.md", Sharing::Shared), ("../Cargo.toml", Sharing::NotShared)] {
        let words = format!("--method tools/call --tool-name read_text_file --tool-arg path={file} --tool-arg head=3");
        println!("\n$ mcp-inspector --cli {} serve {} {words}", shown(top, &rootward), shown(top, &project));
        let mut command = Command::new(&node);
        command.arg(&inspector).args(["--cli", "-q", "--format", "json"]).args(words.split(' '));
        // Do not write to the user's own log, and ignore the user's settings.
        for (variable, place) in [("XDG_STATE_HOME", "target/demo/state"), ("XDG_CONFIG_HOME", "target/demo/config")] {
            command.args(["-e", &format!("{variable}={}", top.join(place).display())]);
        }
        let output = command.arg("--").arg(&rootward).arg("serve").arg(&project).output()?;
        let said: Value = serde_json::from_slice(&output.stdout)
            .with_context(|| format!("the Inspector said {}", String::from_utf8_lossy(&output.stderr)))?;
        let result = &said["result"];
        let text = result["content"][0]["text"].as_str().context("a result without text")?;
        println!("{text}");
        ensure!((result["isError"] == true) == (sharing == Sharing::NotShared), "`{file}`: {result}");
    }
    Ok(())
}

/// Whether a file is shared.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sharing {
    Shared,
    NotShared,
}

/// Installs Node and the Inspector. Returns their paths.
fn fetch(top: &Path) -> Result<(PathBuf, PathBuf)> {
    runtimes(top, &[Runtime::Node])?;
    Ok((node_at_least(top, NODE)?, packages(top, "inspector")?.join("node_modules/.bin/mcp-inspector")))
}
