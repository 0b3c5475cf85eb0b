//! `cargo demo`: shows the product with third-party clients and servers.

pub(crate) mod serve;
pub(crate) mod wrap;

use std::path::{Path, PathBuf};
use std::thread;

use anyhow::{Result, anyhow};

use taskkit::built;
use taskkit::call::Call;

/// Builds `rootward` with the feature flags in `words`. Meanwhile, `fetch` installs what else the demo needs.
fn prepare<F: Send>(top: &Path, words: &str, fetch: impl FnOnce() -> Result<F> + Send) -> Result<(PathBuf, F)> {
    let (rootward, fetched) = thread::scope(|scope| {
        let fetched = scope.spawn(fetch);
        (build(top, words), fetched.join())
    });
    Ok((rootward?, fetched.map_err(|_| anyhow!("fetching panicked"))??))
}

/// Builds with the profile of this program, so that both share the built dependencies.
fn build(top: &Path, words: &str) -> Result<PathBuf> {
    let call = Call::cargo(&format!("build --profile once -p rootward --bin rootward {words}"));
    let [rootward] = built::programs(top, call, ["rootward"])?;
    Ok(rootward)
}

/// The path relative to the workspace.
fn shown(top: &Path, path: &Path) -> String {
    let below: PathBuf = path.strip_prefix(top).unwrap_or(path).into();
    below.display().to_string()
}
