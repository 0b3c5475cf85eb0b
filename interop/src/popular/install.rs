//! What a user who follows the READMEs has: `npx`, `uvx` and a package registry. Everything comes from lock files and is installed below
//! `target/peers`.

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

/// How many packages one npm command downloads: a command that takes too long is killed.
const AT_ONCE: usize = 50;

/// The installed programs and packages.
#[derive(Debug)]
pub(crate) struct Installed {
    /// Copies of the programs: an ordinary user may have no access to the directory that they were built in.
    programs: TempDir,
    pub(super) registry: Arc<Registry>,
    /// The files that the registry serves.
    pub(crate) sources: Sources,
}

impl Installed {
    /// The program under test.
    pub(crate) fn rootward(&self) -> PathBuf {
        self.programs.path().join("bin/rootward")
    }

    /// The value of `PATH`.
    pub(crate) fn path(&self) -> Result<OsString> {
        let inherited = std::env::var_os("PATH").unwrap_or_default();
        let all = [self.programs.path().join("bin")].into_iter().chain(std::env::split_paths(&inherited));
        std::env::join_paths(all).context("`PATH` cannot be extended")
    }
}

/// A folder of `peers` with lock files of servers, and the names of its Python lock files.
pub(crate) type Folder = (&'static str, &'static [&'static str]);

/// The servers of the short form, and those that the long form adds.
const SHORT: Folder = ("popular", &["requirements", "requirements-sqlite"]);
const LONG: Folder = ("popular-long", &["requirements", "requirements-markitdown", "requirements-v1"]);

/// A server whose packages take more than a gigabyte.
const LARGE: Folder = ("popular-large", &[]);

/// The servers of `cargo xtask hub`.
pub(crate) const OF_HUB: Folder = ("servers", &["requirements-uvx"]);

/// Downloads what a form of the check needs and does not have yet, and builds the program under test.
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

/// Downloads the packages that a folder of `peers` locks, as npm archives. Returns their directory.
fn archives(top: &Path, folder: &str) -> Result<PathBuf> {
    let source = top.join("peers").join(folder).join("package-lock.json");
    let target = top.join("target/peers").join(format!("{folder}-archives"));
    let lock = read_lock(&source)?;
    let names = specifiers(&lock)?;
    once(&target, &lock.to_string(), || {
        for names in names.chunks(AT_ONCE) {
            // npm prints the name of each package. Ignore them.
            Call::npm("pack --silent --ignore-scripts").arguments(names).stdout(&target)?;
        }
        Ok(())
    })?;
    Ok(target)
}
