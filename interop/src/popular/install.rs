//! What a user has who follows the READMEs: `npx` and `uvx`, and a registry to fetch from. All of it comes from lock files and lies
//! below `target/peers`.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result};
use tempfile::TempDir;

use super::registry::{Registry, Sources, read_lock, specifiers};
use crate::servers::install::wheels;
use taskkit::built;
use taskkit::call::Call;
use taskkit::form::Form;
use taskkit::install::{Runtime, environment, once, runtimes};

/// How many packages one call of npm fetches: it is ended if it takes too long.
const AT_ONCE: usize = 50;

/// What is there.
#[derive(Debug)]
pub(crate) struct Installed {
    /// Copies of the programs: an ordinary user may not reach the directory that they were built in.
    programs: TempDir,
    pub(super) registry: Arc<Registry>,
    /// What the registry is made of.
    pub(crate) sources: Sources,
}

impl Installed {
    /// The program under test.
    pub(crate) fn rootward(&self) -> PathBuf {
        self.programs.path().join("bin/rootward")
    }

    /// Where programs are looked up.
    pub(crate) fn path(&self) -> Result<OsString> {
        let inherited = std::env::var_os("PATH").unwrap_or_default();
        let all = [self.programs.path().join("bin")].into_iter().chain(std::env::split_paths(&inherited));
        std::env::join_paths(all).context("`PATH` cannot be extended")
    }
}

/// A folder of `peers` that locks servers, and the files there that lock those of Python.
pub(crate) type Folder = (&'static str, &'static [&'static str]);

/// The servers of the short form, and those that the long form has besides.
const SHORT: Folder = ("popular", &["requirements", "requirements-sqlite"]);
const LONG: Folder = ("popular-long", &["requirements", "requirements-markitdown", "requirements-v1"]);

/// One whose packages take more than a gigabyte.
const LARGE: Folder = ("popular-large", &[]);

/// The servers of `cargo xtask hub`.
pub(crate) const OF_HUB: Folder = ("servers", &["requirements-uvx"]);

/// Fetches what is not there yet for a form of the check and what else it needs, and builds the program under test.
pub(crate) fn run(top: &Path, form: Form, needed: &[Runtime], build: Call) -> Result<Installed> {
    fetch(top, if form == Form::Short { &[SHORT][..] } else { &[SHORT, LONG, LARGE] }, needed, build)
}

/// The same for the servers of these folders.
pub(crate) fn fetch(top: &Path, folders: &[Folder], needed: &[Runtime], build: Call) -> Result<Installed> {
    let runtimes_needed: Vec<Runtime> =
        [Runtime::Node, Runtime::Python].into_iter().chain(needed.iter().copied()).collect();
    runtimes(top, &runtimes_needed)?;
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
    let (mut locks, mut files) = (Vec::new(), Vec::new());
    for (folder, requirements) in folders {
        locks.push(top.join("peers").join(folder).join("package-lock.json"));
        files.push(archives(top, folder)?);
        for name in *requirements {
            files.push(wheels(top, &python, &format!("{folder}/{name}.txt"), &format!("{folder}-{name}"))?);
        }
    }
    let sources = Sources { locks, files };
    Ok(Installed { programs, registry: Arc::new(Registry::read(&sources)?), sources })
}

/// The packages that a folder of `peers` locks, as the archives that npm downloads.
fn archives(top: &Path, folder: &str) -> Result<PathBuf> {
    let source = top.join("peers").join(folder).join("package-lock.json");
    let target = top.join("target/peers").join(format!("{folder}-archives"));
    let lock = read_lock(&source)?;
    let names = specifiers(&lock)?;
    once(&target, &lock.to_string(), || {
        for names in names.chunks(AT_ONCE) {
            // It prints a name for each package, which nobody needs.
            Call::npm("pack --silent --ignore-scripts").arguments(names).stdout(&target)?;
        }
        Ok(())
    })?;
    Ok(target)
}
