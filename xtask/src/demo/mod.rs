//! `cargo demo`: the product at its work, before and behind programs of others.

pub(crate) mod serve;
pub(crate) mod wrap;

use std::path::{Path, PathBuf};
use std::thread;

use anyhow::{Result, anyhow};

use taskkit::built;
use taskkit::call::Call;

/// Builds the program with the features that `words` say while `fetch` brings what else is needed.
fn prepare<F: Send>(top: &Path, words: &str, fetch: impl FnOnce() -> Result<F> + Send) -> Result<(PathBuf, F)> {
    let (rootward, fetched) = thread::scope(|scope| {
        let fetched = scope.spawn(fetch);
        (build(top, words), fetched.join())
    });
    Ok((rootward?, fetched.map_err(|_| anyhow!("fetching panicked"))??))
}

/// As this program was built, so that what both are made of is built once.
fn build(top: &Path, words: &str) -> Result<PathBuf> {
    let call = Call::cargo(&format!("build --profile once -p rootward --bin rootward {words}"));
    let [rootward] = built::programs(top, call, ["rootward"])?;
    Ok(rootward)
}

/// A path below the workspace, without what is above.
fn shown(top: &Path, path: &Path) -> String {
    let below: PathBuf = path.strip_prefix(top).unwrap_or(path).into();
    below.display().to_string()
}
