//! What is measured against: what cargo fetches.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::Outcome;
use rootward_testkit::bench::peers::folder;

const CRATE: &str = "mcp-hub";
pub(crate) const VERSION: &str = "0.3.0";

/// The crate `mcp-hub`, the fastest hub there is; built where it is missing.
pub(crate) fn hub() -> Outcome<PathBuf> {
    let folder = folder(CRATE, VERSION)?;
    let program = folder.join("bin").join(CRATE);
    if !program.exists() {
        eprintln!("building {CRATE} {VERSION}");
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let built = Command::new(cargo)
            .args(["install", "--quiet", "--locked", "--bin", CRATE, &format!("{CRATE}@{VERSION}"), "--root"])
            .arg(&folder)
            .stdout(Stdio::null())
            .status();
        if !built.is_ok_and(|status| status.success()) {
            return Err("cargo could not install it".into());
        }
    }
    Ok(program)
}
