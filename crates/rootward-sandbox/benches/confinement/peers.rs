//! What is measured against: what the system has, what npm fetches.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::Outcome;
use rootward_testkit::bench::built;

const PACKAGE: &str = "@anthropic-ai/sandbox-runtime";
pub(crate) const VERSION: &str = "0.0.78";

/// Whether a program of the system is there, and what it says of its version.
pub(crate) fn version(program: &str) -> Option<String> {
    let told = Command::new(program).arg("--version").stderr(Stdio::null()).output().ok()?;
    let text = String::from_utf8(told.stdout).ok()?;
    text.split_whitespace().last().map(str::to_owned)
}

/// npm's sandbox runtime and its settings file, which gives it one directory to write; fetched where it is missing.
pub(crate) fn sandbox_runtime(root: &Path, settings: &Path) -> Outcome<PathBuf> {
    let peers = built::peer("sandbox-runtime", VERSION)?;
    let program = peers.join("node_modules/.bin/srt");
    if !program.exists() {
        eprintln!("fetching {PACKAGE} {VERSION}");
        let options = ["--ignore-scripts", "--no-audit", "--no-fund", "--no-save", "--no-package-lock"];
        let fetched = Command::new("npm")
            .arg("install")
            .arg("--prefix")
            .arg(&peers)
            .arg(format!("{PACKAGE}@{VERSION}"))
            .args(options)
            .stdout(Stdio::null())
            .status();
        match fetched {
            Err(_) => return Err("no npm".into()),
            Ok(status) if !status.success() => return Err("npm could not fetch it".into()),
            Ok(_) => {}
        }
    }
    let wanted = serde_json::json!({
        "network": {"allowedDomains": [], "deniedDomains": []},
        "filesystem": {"denyRead": [], "allowWrite": [root], "denyWrite": []},
    });
    std::fs::write(settings, wanted.to_string())?;
    Ok(program)
}
