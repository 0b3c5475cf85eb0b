//! What `npx` and `bunx` run instead of a package of the registry: one that the project or the machine already has.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::command::{PackageCommand, Registry, Runner};
use super::npm;
use crate::profile::{Program, outermost_modules, read_ambient};

/// How much of a `package.json` to read.
const LONGEST_MANIFEST: u64 = 1 << 20;

/// Whether the runner finds the package without the registry. A confined command may have put it there: then the runner
/// runs as typed, confined, and gains nothing.
pub(super) fn is_local_ambient(command: &PackageCommand, runner: &Program, directory: Option<&Path>) -> bool {
    // `pnpm dlx` and Python's runners ignore the project.
    if command.registry != Registry::Npm || command.runner == Runner::PnpmDlx {
        return false;
    }
    let above = directory.into_iter().flat_map(Path::ancestors);
    above
        .into_iter()
        .any(|directory| has_ambient(&directory.join("node_modules"), command) || is_it_ambient(directory, command))
        || global_ambient(runner).iter().any(|modules| has_ambient(modules, command))
}

/// Whether a `node_modules` has the package, or a program with its name.
fn has_ambient(modules: &Path, command: &PackageCommand) -> bool {
    exists_ambient(&modules.join(&command.name)) || exists_ambient(&modules.join(".bin").join(&command.name))
}

/// Whether a directory is the package itself, or has a program with its name.
fn is_it_ambient(directory: &Path, command: &PackageCommand) -> bool {
    let manifest = read_ambient(&directory.join("package.json"), LONGEST_MANIFEST);
    let manifest = manifest.and_then(|text| serde_json::from_slice::<Value>(&text).ok()).unwrap_or_default();
    let name = manifest["name"].as_str().unwrap_or_default();
    name == command.name || npm::programs(name, &manifest).iter().any(|(program, _)| *program == command.name)
}

/// The directory of `npm install --global`: next to `npm` itself.
fn global_ambient(runner: &Program) -> Vec<PathBuf> {
    runner.places().filter_map(|place| outermost_modules(place)).collect()
}

#[expect(clippy::disallowed_methods, reason = "whether the project of the operator's command has a package")]
fn exists_ambient(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "plays the user")]
mod tests {
    use std::ffi::OsString;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn a_package_of_the_project_comes_first() {
        let directory = tempfile::tempdir().unwrap();
        let top = directory.path().canonicalize().unwrap();
        let cli = top.join("lib/node_modules/npm/bin/npx-cli.js");
        std::fs::create_dir_all(cli.parent().unwrap()).unwrap();
        std::fs::create_dir_all(top.join("bin")).unwrap();
        std::fs::write(&cli, "").unwrap();
        std::fs::set_permissions(&cli, std::fs::Permissions::from_mode(0o755)).unwrap();
        symlink("../lib/node_modules/npm/bin/npx-cli.js", top.join("bin/npx")).unwrap();
        let runner = Program::find_ambient(top.join("bin/npx").as_os_str(), None, &top).unwrap();
        let work = top.join("project/deep");
        std::fs::create_dir_all(&work).unwrap();
        let check = |line: &str, expect: bool| {
            let mut words = line.split(' ').map(OsString::from);
            let program = words.next().unwrap();
            let command = PackageCommand::read(&program, &words.collect::<Vec<_>>()).unwrap();
            assert_eq!(is_local_ambient(&command, &runner, Some(&work)), expect, "{line}");
        };
        check("npx @scope/name", false);
        for made in ["project/node_modules/@scope/name", "lib/node_modules/@scope/name"] {
            std::fs::create_dir_all(top.join(made)).unwrap();
            check("npx @scope/name", true);
            check("npx @scope/name@1.2", true);
            check("npx @scope/other", false);
            check("pnpm dlx @scope/name", false);
            check("uvx name", false);
            std::fs::remove_dir_all(top.join(made)).unwrap();
        }
        std::fs::create_dir_all(top.join("project/deep/node_modules/.bin")).unwrap();
        std::fs::write(top.join("project/deep/node_modules/.bin/tool"), "").unwrap();
        check("bunx tool", true);
        check("npx tools", false);
        std::fs::write(top.join("project/package.json"), r#"{"name": "@scope/name", "bin": {"own": "x.js"}}"#).unwrap();
        check("npx @scope/name", true);
        check("npx own", true);
        check("npx name", false);
    }
}
