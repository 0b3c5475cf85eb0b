//! What benchmarks start: the binary of this workspace, and where what others made is kept.

use std::error::Error;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Builds `rootward` from the sources at hand; what lay there may be older.
pub fn rootward() -> Result<PathBuf, Box<dyn Error>> {
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

/// The directory that a peer of this name and version is kept in.
pub fn peer(name: &str, version: &str) -> Result<PathBuf, Box<dyn Error>> {
    Ok(target_directory()?.join("peers").join(format!("{name}-{version}")))
}

/// Where cargo builds: a benchmark lies in `target/release/deps`.
fn target_directory() -> Result<PathBuf, Box<dyn Error>> {
    let program = std::env::current_exe()?;
    Ok(program.ancestors().nth(3).ok_or("no target directory")?.to_owned())
}
