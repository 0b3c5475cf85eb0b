//! What is measured against: `rootward` as it is shipped, and what others made, from npm and from crates.io.

#![expect(clippy::print_stderr, reason = "progress goes to stderr, so that stdout has the table alone")]

use std::error::Error;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// The release binary, built from the sources at hand; what lay there may be older.
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

/// A file of a package, named below `node_modules`; the package is fetched where the file is missing.
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

/// A program of a crate, built where it is missing, with the versions that its makers chose and its default features.
pub fn crate_program(name: &str, version: &str, program: &str) -> Result<PathBuf, Box<dyn Error>> {
    install(name, version, program, &[])
}

/// The same with these features and no others.
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

/// The directory that a peer of this name and version is kept in.
fn folder(name: &str, version: &str) -> Result<PathBuf, Box<dyn Error>> {
    Ok(target_directory()?.join("peers").join(format!("{name}-{version}")))
}

/// Where cargo builds: this program lies in `target/release/deps`.
fn target_directory() -> Result<PathBuf, Box<dyn Error>> {
    let program = std::env::current_exe()?;
    Ok(program.ancestors().nth(3).ok_or("no target directory")?.to_owned())
}
