//! The servers, installed below `target/peers` from lock files, and directories that stand for a user's own.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use taskkit::built;
use taskkit::call::Call;
use taskkit::install::{Runtime, environment, node, once, packages, runtimes};

/// Where everything is.
#[derive(Debug)]
pub(crate) struct Installed {
    /// The program under test.
    pub(crate) rootward: PathBuf,
    /// A server that needs no library of the system.
    pub(crate) fixed: PathBuf,
    pub(crate) node: PathBuf,
    /// The `node_modules` with the servers.
    pub(crate) modules: PathBuf,
    pub(crate) python: PathBuf,
    pub(crate) uvx: PathBuf,
    /// The locked packages as files, for `uvx` to take them from.
    pub(crate) wheels: PathBuf,
    /// What stands for the user's home, so that no test touches that.
    pub(crate) home: PathBuf,
    /// The registry that npm knows from settings which a confined command does not see.
    pub(crate) registry: String,
}

/// Installs what is not there yet.
pub(crate) fn run(top: &Path) -> Result<Installed> {
    runtimes(top, &[Runtime::Node, Runtime::Python])?;
    let [rootward] = built::programs(top, Call::cargo("build -p rootward --bin rootward"), ["rootward"])?;
    let python = environment(top, "servers-python", "servers/requirements.txt")?;
    let home = top.join("target/peers/servers-home");
    std::fs::create_dir_all(&home).context("cannot make `target/peers/servers-home`")?;
    Ok(Installed {
        rootward,
        fixed: fixed(top)?,
        node: node(top)?,
        modules: packages(top, "servers")?.join("node_modules"),
        uvx: python.with_file_name("uvx"),
        wheels: wheels(top, &python, "servers/requirements.txt", "servers-wheels")?,
        python,
        home,
        registry: Call::npm("config get registry").stdout(top)?.trim().to_owned(),
    })
}

/// The smallest server, with the C library in it. A directory of its own, so that the flag does not rebuild everything back
/// and forth; a target, because procedural macros cannot be built this way.
fn fixed(top: &Path) -> Result<PathBuf> {
    let target = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let build = Call::cargo("build -p minimal-server --target-dir target/static --target").arguments([target]);
    let build = build.variable("RUSTFLAGS", "-C target-feature=+crt-static");
    let [program] = built::programs(top, build, ["minimal-server"])?;
    Ok(program)
}

/// The files of the packages that the file `requirements` of `peers` locks, in the folder `name`.
pub(crate) fn wheels(top: &Path, python: &Path, requirements: &str, name: &str) -> Result<PathBuf> {
    let (source, target) = (top.join("peers").join(requirements), top.join("target/peers").join(name));
    let lock = std::fs::read_to_string(&source).with_context(|| format!("cannot read `{}`", source.display()))?;
    once(&target, &lock, || {
        Call::program(python.to_str().context("the path of Python is not UTF-8")?)
            .arguments(["-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--require-hashes"])
            .arguments(["--only-binary=:all:", "--no-deps", "-r"])
            .path(&source)?
            .arguments(["-d"])
            .path(&target)?
            .run(top)
    })?;
    Ok(target)
}
