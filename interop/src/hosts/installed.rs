//! Installs hosts from npm, and finds the program for this machine.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use taskkit::install::packages;

/// Installs the packages of `peers/hosts/NAME`; returns the program for this machine's processor. `places` lists the program's path for
/// each processor.
pub(super) fn npm_program(top: &Path, name: &str, places: &[(&str, &str)]) -> Result<Vec<PathBuf>> {
    let here = std::env::consts::ARCH;
    let (_, place) = places
        .iter()
        .find(|(processor, _)| *processor == here)
        .with_context(|| format!("{name} has no program for {here}"))?;
    let program = npm_folder(top, name)?.join(place);
    ensure!(program.is_file(), "{name} was installed without `{place}`");
    Ok(vec![program])
}

/// Installs the packages of `peers/hosts/NAME`; returns their `node_modules`.
pub(super) fn npm_folder(top: &Path, name: &str) -> Result<PathBuf> {
    Ok(packages(top, &format!("hosts/{name}"))?.join("node_modules"))
}
