//! What is measured against: what this workspace builds, what the system has, what npm fetches.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::Outcome;

const PACKAGE: &str = "@anthropic-ai/sandbox-runtime";
pub(crate) const VERSION: &str = "0.0.78";

/// Whether a program of the system is there, and what it says of its version.
pub(crate) fn version(program: &str) -> Option<String> {
    let told = Command::new(program).arg("--version").stderr(Stdio::null()).output().ok()?;
    let text = String::from_utf8(told.stdout).ok()?;
    text.split_whitespace().last().map(str::to_owned)
}

/// Builds `rootward` from the sources at hand; what lay there may be older.
pub(crate) fn rootward() -> Outcome<PathBuf> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let built = Command::new(cargo)
        .args(["build", "--release", "--quiet", "--package", "rootward"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .stdout(Stdio::null())
        .status();
    if !built.is_ok_and(|status| status.success()) {
        return Err("`rootward` could not be built".into());
    }
    Ok(target_directory()?.join("release/rootward"))
}

/// npm's sandbox runtime and its settings file, which gives it one directory to write; fetched where it is missing.
pub(crate) fn sandbox_runtime(root: &Path, settings: &Path) -> Outcome<PathBuf> {
    let peers = target_directory()?.join("peers").join(format!("sandbox-runtime-{VERSION}"));
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

/// Where cargo builds: this program lies in `target/release/deps`.
fn target_directory() -> Outcome<PathBuf> {
    let program = std::env::current_exe()?;
    Ok(program.ancestors().nth(3).ok_or("no target directory")?.to_owned())
}
