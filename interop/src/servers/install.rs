//! Installs the servers below `target/peers` from lock files, with a home directory for tests.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use taskkit::built;
use taskkit::call::Call;
use taskkit::install::{Runtime, environment, node, once, packages, runtimes};

/// The paths of what is installed.
#[derive(Debug)]
pub(crate) struct Installed {
    /// The program under test.
    pub(crate) rootward: PathBuf,
    /// A statically linked server.
    pub(crate) fixed: PathBuf,
    pub(crate) node: PathBuf,
    /// The `node_modules` with the servers.
    pub(crate) modules: PathBuf,
    pub(crate) python: PathBuf,
    pub(crate) uvx: PathBuf,
    /// The locked packages as wheels, for `uvx`.
    pub(crate) wheels: PathBuf,
    /// The home directory of the tests, so that none touches the user's.
    pub(crate) home: PathBuf,
    /// The registry from npm's settings, which a confined command cannot read.
    pub(crate) registry: String,
}

/// Installs what is missing.
pub(crate) fn run(top: &Path) -> Result<Installed> {
    runtimes(top, &[Runtime::Node, Runtime::Python])?;
    let [rootward] = built::programs(top, Call::cargo("build -p rootward --bin rootward"), ["rootward"])?;
    let python = environment(top, "servers-python", "servers/requirements.txt")?;
    let home = top.join("target/peers/servers-home");
    std::fs::create_dir_all(&home).context("cannot create `target/peers/servers-home`")?;
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

/// Builds `minimal-server` with a static C library. The separate target directory keeps the flag from rebuilding everything
/// back and forth. The explicit target is necessary because procedural macros cannot be built with this flag.
fn fixed(top: &Path) -> Result<PathBuf> {
    let target = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let build = Call::cargo("build -p minimal-server --target-dir target/static --target").arguments([target]);
    let build = build.variable("RUSTFLAGS", "-C target-feature=+crt-static");
    let [program] = built::programs(top, build, ["minimal-server"])?;
    Ok(program)
}

/// Downloads the packages that `requirements`, a file of `peers`, locks into the folder `name`. Returns that folder.
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
