//! The programs that benchmarks run: the release build of `rootward`, and peers from npm and crates.io.

#![expect(clippy::print_stderr, reason = "progress goes to stderr, so that stdout has only the table")]

use std::error::Error;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// The release binary, always rebuilt because an existing one may be outdated.
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

/// A file of an npm package, relative to `node_modules`. Installs the package if the file is missing.
pub fn npm_package(package: &str, version: &str, file: &str) -> Result<PathBuf, Box<dyn Error>> {
    let name = package.rsplit('/').next().unwrap_or(package);
    let folder = folder(name, version)?;
    let file = folder.join("node_modules").join(file);
    if !file.exists() {
        eprintln!("fetching {package} {version}");
        let options = ["--ignore-scripts", "--no-audit", "--no-fund", "--no-save", "--no-package-lock"];
        let fetched = Command::new("npm")
            .arg("install")
            .arg("--prefix")
            .arg(&folder)
            .arg(format!("{package}@{version}"))
            .args(options)
            .stdout(Stdio::null())
            .status();
        match fetched {
            Err(_) => return Err("no npm".into()),
            Ok(status) if !status.success() => return Err("npm could not fetch it".into()),
            Ok(_) => {}
        }
    }
    Ok(file)
}

/// A program from a crate, with its default features and its own `Cargo.lock`. Builds it if it is missing.
pub fn crate_program(name: &str, version: &str, program: &str) -> Result<PathBuf, Box<dyn Error>> {
    install(name, version, program, &[])
}

/// The same with only these features.
pub fn crate_program_with(name: &str, version: &str, program: &str, features: &str) -> Result<PathBuf, Box<dyn Error>> {
    install(name, version, program, &["--no-default-features", "--features", features])
}

fn install(name: &str, version: &str, program: &str, features: &[&str]) -> Result<PathBuf, Box<dyn Error>> {
    let folder = folder(name, version)?;
    let file = folder.join("bin").join(program);
    if !file.exists() {
        eprintln!("building {name} {version}");
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let built = Command::new(cargo)
            .args(["install", "--quiet", "--locked", "--bin", program, &format!("{name}@{version}"), "--root"])
            .arg(&folder)
            .args(features)
            .stdout(Stdio::null())
            .status();
        if !built.is_ok_and(|status| status.success()) {
            return Err("cargo could not install it".into());
        }
    }
    Ok(file)
}

/// The directory of a peer with this name and version.
fn folder(name: &str, version: &str) -> Result<PathBuf, Box<dyn Error>> {
    Ok(target_directory()?.join("peers").join(format!("{name}-{version}")))
}

/// Cargo's target directory: this program is in `target/release/deps`.
fn target_directory() -> Result<PathBuf, Box<dyn Error>> {
    let program = std::env::current_exe()?;
    Ok(program.ancestors().nth(3).ok_or("no target directory")?.to_owned())
}
