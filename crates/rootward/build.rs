//! Tells `rootward --version --verbose` how it was built. Whatever cannot be found out is left out: no build fails for it.

use std::env;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let variable = |name: &str| env::var(name).unwrap_or_default();
    println!("cargo::rustc-env=ROOTWARD_TARGET={}", variable("TARGET"));
    println!("cargo::rustc-env=ROOTWARD_PROFILE={}", variable("PROFILE"));
    if let Some(compiler) = printed(&variable("RUSTC"), &["--version"]) {
        println!("cargo::rustc-env=ROOTWARD_COMPILER={compiler}");
    }
    let names = env::vars().filter_map(|(name, _)| Some(name.strip_prefix("CARGO_FEATURE_")?.to_lowercase()));
    let mut features: Vec<String> = names.filter(|name| name != "default").collect();
    features.sort();
    println!("cargo::rustc-env=ROOTWARD_FEATURES={}", features.join(","));
    // A debug build would be linked again after every commit.
    if variable("PROFILE") == "release" {
        commit();
    }
}

/// The commit, if this package is part of a checkout. A package of a registry may lie in somebody's unrelated repository.
fn commit() {
    if printed("git", &["ls-files", "--error-unmatch", "build.rs"]).is_none() {
        return;
    }
    for path in [&["rev-parse", "--git-path", "HEAD"][..], &["rev-parse", "--git-path", "logs/HEAD"]] {
        if let Some(path) = printed("git", path) {
            println!("cargo::rerun-if-changed={path}");
        }
    }
    if let Some(commit) = printed("git", &["rev-parse", "--short=12", "HEAD"]) {
        println!("cargo::rustc-env=ROOTWARD_COMMIT={commit}");
    }
}

/// What a program prints, if it succeeds.
fn printed(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
}
