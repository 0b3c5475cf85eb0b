//! Other sandboxes: from the system, and from npm.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::Outcome;
use rootward_testkit::bench::peers::npm_package;

pub(crate) const PACKAGE: &str = "@anthropic-ai/sandbox-runtime";
pub(crate) const VERSION: &str = "0.0.78";

/// The version of a system program, if it exists.
pub(crate) fn version(program: &str) -> Option<String> {
    let told = Command::new(program).arg("--version").stderr(Stdio::null()).output().ok()?;
    let text = String::from_utf8(told.stdout).ok()?;
    text.split_whitespace().last().map(str::to_owned)
}

/// npm's sandbox runtime and its settings file, which gives it one writable directory.
pub(crate) fn sandbox_runtime(root: &Path, settings: &Path) -> Outcome<PathBuf> {
    let program = npm_package(PACKAGE, VERSION, ".bin/srt")?;
    let wanted = serde_json::json!({
        "network": {"allowedDomains": [], "deniedDomains": []},
        "filesystem": {"denyRead": [], "allowWrite": [root], "denyWrite": []},
    });
    std::fs::write(settings, wanted.to_string())?;
    Ok(program)
}
