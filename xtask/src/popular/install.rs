//! What a user has who follows the READMEs: `npx` and `uvx`, and a registry to fetch from. All of it comes from lock files and lies
//! below `target/peers`.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result};
use serde_json::Value;
use tempfile::TempDir;

use super::registry::{Registry, specifiers};
use crate::built;
use crate::call::Call;
use crate::install::{Runtime, environment, once, runtimes};
use crate::servers::install::wheels;

/// How many packages one call of npm fetches: it is ended if it takes too long.
const AT_ONCE: usize = 50;

/// What is there.
#[derive(Debug)]
pub(super) struct Installed {
    /// Copies of the programs: an ordinary user may not reach the directory that they were built in.
    programs: TempDir,
    pub(super) registry: Arc<Registry>,
    /// Whether this is the superuser, who can become another.
    pub(super) is_superuser: bool,
}

impl Installed {
    /// The program under test.
    pub(super) fn rootward(&self) -> PathBuf {
        self.programs.path().join("bin/rootward")
    }

    /// Where programs are looked up.
    pub(super) fn path(&self) -> Result<OsString> {
        let inherited = std::env::var_os("PATH").unwrap_or_default();
        let all = [self.programs.path().join("bin")].into_iter().chain(std::env::split_paths(&inherited));
        std::env::join_paths(all).context("`PATH` cannot be extended")
    }
}

/// Fetches what is not there yet, and builds the program under test.
pub(super) fn run(top: &Path, build: Call) -> Result<Installed> {
    runtimes(top, &[Runtime::Node, Runtime::Python])?;
    let [rootward] = built::programs(top, build, ["rootward"])?;
    let python = environment(top, "servers-python", "servers/requirements.txt")?;
    let programs = tempfile::Builder::new().prefix("popular-").tempdir()?;
    let directory = programs.path().join("bin");
    fs::create_dir(&directory)?;
    for program in [rootward, python.with_file_name("uv"), python.with_file_name("uvx")] {
        let name = program.file_name().context("a program has no name")?;
        fs::copy(&program, directory.join(name)).with_context(|| format!("cannot copy `{}`", program.display()))?;
    }
    fs::set_permissions(programs.path(), fs::Permissions::from_mode(0o755))?;
    let files = vec![
        archives(top)?,
        wheels(top, &python, "popular/requirements.txt", "popular-wheels")?,
        wheels(top, &python, "popular/requirements-sqlite.txt", "popular-sqlite-wheels")?,
    ];
    let registry = Registry::read(&top.join("peers/popular/package-lock.json"), files)?;
    let user = Call::program("id").arguments(["-u"]).stdout(top)?;
    Ok(Installed { programs, registry: Arc::new(registry), is_superuser: user.trim() == "0" })
}

/// The packages that `peers/popular` locks, as the archives that npm downloads.
fn archives(top: &Path) -> Result<PathBuf> {
    let (source, target) = (top.join("peers/popular/package-lock.json"), top.join("target/peers/popular-archives"));
    let lock = fs::read_to_string(&source).with_context(|| format!("cannot read `{}`", source.display()))?;
    let names = specifiers(&serde_json::from_str::<Value>(&lock).context("the lock file is not JSON")?)?;
    once(&target, &lock, || {
        for names in names.chunks(AT_ONCE) {
            // It prints a name for each package, which nobody needs.
            Call::npm("pack --silent --ignore-scripts").arguments(names).stdout(&target)?;
        }
        Ok(())
    })?;
    Ok(target)
}
