//! Packages of the npm registry: how `npm`, `bun` and `pnpm` install one, and which of its programs runs.

use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

use serde_json::Value;

use super::command::{PackageCommand, Runner};
use super::error::PackageError;
use super::inside::{Leads, follow_inside_ambient, is_program_ambient, read_inside_ambient};
use super::install::{Attempt, Install, Place};

/// How much of a `package.json` to read.
const LONGEST_MANIFEST: u64 = 1 << 20;

/// The contents of the directory before the install: without it, some programs search the parent directories for one.
pub(super) const MANIFEST: (&str, &str) = ("package.json", "{\"private\": true}\n");

/// How a package is installed. The program's cache is in its private home: in a shared cache, one package could place
/// files for another.
pub(super) fn install(command: &PackageCommand, place: Place<'_>, attempt: Attempt) -> Install {
    let Place { install, home } = place;
    let (options, variables): (&[&str], Vec<(&str, PathBuf)>) = match command.runner {
        Runner::Bunx => {
            (&["add", "--no-progress", "--no-summary", "--cwd"], vec![("BUN_INSTALL_CACHE_DIR", home.join("bun"))])
        }
        Runner::PnpmDlx => (
            &["add", "--ignore-workspace", "--reporter=append-only", "--config.strict-dep-builds=false", "--dir"],
            vec![("npm_config_store_dir", home.join("store")), ("npm_config_cache", home.join("pnpm"))],
        ),
        _ => (
            &["install", "--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error", "--prefix"],
            vec![("npm_config_cache", home.join("npm"))],
        ),
    };
    let mut arguments: Vec<OsString> = options.iter().map(OsString::from).collect();
    arguments.push(install.into());
    if command.runner == Runner::Npx {
        // A client waits. Without these options, npm tries for more than a minute if there is no answer, and there may
        // be an old install.
        let retries = if attempt == Attempt::Refresh { "--fetch-retries=0" } else { "--fetch-retries=2" };
        arguments
            .extend([retries, "--fetch-retry-mintimeout=1000", "--fetch-retry-maxtimeout=5000"].map(OsString::from));
    }
    arguments.push(command.spec().into());
    Install { arguments, variables: variables.into_iter().map(|(name, value)| (name.into(), value.into())).collect() }
}

/// The file to run.
pub(super) fn program_ambient(command: &PackageCommand, install: &Path) -> Result<PathBuf, PackageError> {
    let package = install.join("node_modules").join(&command.name);
    let manifest = manifest_ambient(install, &package);
    let programs = programs(&command.name, &manifest);
    let own_name = unscoped(&command.name);
    let Some((name, file)) = chosen(&programs, own_name) else {
        return Err(PackageError::NoProgram {
            package: command.spec(),
            program: own_name.to_owned(),
            programs: programs.into_iter().map(|(name, _)| name).collect(),
        });
    };
    let link = match command.runner {
        // pnpm puts a shell script there, which hides the interpreter.
        Runner::PnpmDlx => package.join(file),
        _ => install.join("node_modules/.bin").join(name),
    };
    match follow_inside_ambient(install, &link) {
        Leads::Inside(place) if is_program_ambient(&place) => Ok(link),
        Leads::Outside => Err(PackageError::Outside { package: command.spec(), link }),
        Leads::Inside(_) | Leads::Nowhere => {
            Err(PackageError::NoProgram { package: command.spec(), program: name.clone(), programs: Vec::new() })
        }
    }
}

/// The version according to the package.
pub(super) fn version_ambient(command: &PackageCommand, install: &Path) -> Option<String> {
    let manifest = manifest_ambient(install, &install.join("node_modules").join(&command.name));
    manifest["version"].as_str().map(str::to_owned)
}

fn manifest_ambient(install: &Path, package: &Path) -> Value {
    let text = read_inside_ambient(install, &package.join("package.json"), LONGEST_MANIFEST);
    text.and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default()
}

/// A package's name without its scope.
pub(super) fn unscoped(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

/// The programs in a manifest, each with its file.
pub(super) fn programs(package: &str, manifest: &Value) -> Vec<(String, String)> {
    match &manifest["bin"] {
        Value::String(file) => vec![(unscoped(package).to_owned(), file.clone())],
        Value::Object(programs) => {
            programs.iter().filter_map(|(name, file)| Some((name.clone(), file.as_str()?.to_owned()))).collect()
        }
        _ => Vec::new(),
    }
    .into_iter()
    .filter(|(name, file)| is_plain_name(name) && stays_inside(file))
    .collect()
}

/// Chooses like `npx`: the only program, under whatever names, or the one named like the package.
fn chosen<'p>(programs: &'p [(String, String)], own_name: &str) -> Option<&'p (String, String)> {
    let (first, rest) = programs.split_first()?;
    if rest.iter().all(|(_, file)| *file == first.1) {
        return Some(first);
    }
    programs.iter().find(|(name, _)| name == own_name)
}

fn is_plain_name(name: &str) -> bool {
    !name.starts_with('.') && !name.is_empty() && !name.contains(['/', '\0'])
}

/// Whether the text of a path in a manifest stays below it.
fn stays_inside(file: &str) -> bool {
    Path::new(file).components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "plays a package")]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn command(line: &str) -> PackageCommand {
        let mut words = line.split(' ').map(OsString::from);
        let program = words.next().unwrap();
        PackageCommand::read(&program, &words.collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn a_program_is_chosen_as_npx_does() {
        let check = |manifest: &str, expect: Option<&str>| {
            let manifest: Value = serde_json::from_str(manifest).unwrap();
            let programs = programs("@scope/name", &manifest);
            assert_eq!(chosen(&programs, "name").map(|(name, _)| name.as_str()), expect, "{manifest}");
        };
        check(r#"{"bin": "dist/x.js"}"#, Some("name"));
        check(r#"{"bin": {"other": "x.js"}}"#, Some("other"));
        check(r#"{"bin": {"a": "x.js", "b": "x.js"}}"#, Some("a"));
        check(r#"{"bin": {"a": "x.js", "name": "y.js"}}"#, Some("name"));
        check(r#"{"bin": {"a": "x.js", "b": "y.js"}}"#, None);
        check(r#"{"bin": {"../a": "x.js"}}"#, None);
        check(r#"{"bin": {"a": "../../x.js"}}"#, None);
        check(r#"{"bin": "/etc/passwd"}"#, None);
        check(r#"{"bin": 1}"#, None);
        check(r"[]", None);
    }

    struct Package(tempfile::TempDir);

    impl Package {
        fn new(manifest: &str) -> Package {
            let package = Package(tempfile::tempdir().unwrap());
            let top = package.path().join("node_modules/name");
            std::fs::create_dir_all(&top).unwrap();
            std::fs::create_dir_all(package.path().join("node_modules/.bin")).unwrap();
            std::fs::write(top.join("package.json"), manifest).unwrap();
            std::fs::write(top.join("x.js"), "#!/usr/bin/env node\n").unwrap();
            std::fs::set_permissions(top.join("x.js"), std::fs::Permissions::from_mode(0o755)).unwrap();
            package
        }

        fn path(&self) -> PathBuf {
            self.0.path().canonicalize().unwrap()
        }

        fn link(&self, name: &str, target: &str) {
            symlink(target, self.path().join("node_modules/.bin").join(name)).unwrap();
        }
    }

    #[test]
    fn the_program_of_an_install_is_found() {
        let package = Package::new(r#"{"bin": {"tool": "x.js"}, "version": "1.2.3"}"#);
        package.link("tool", "../name/x.js");
        let found = program_ambient(&command("npx name"), &package.path()).unwrap();
        assert_eq!(found, package.path().join("node_modules/.bin/tool"));
        let found = program_ambient(&command("pnpm dlx name"), &package.path()).unwrap();
        assert_eq!(found, package.path().join("node_modules/name/x.js"));
        assert_eq!(version_ambient(&command("npx name"), &package.path()).as_deref(), Some("1.2.3"));
    }

    #[test]
    fn nothing_of_a_package_leads_out_of_it() {
        let package = Package::new(r#"{"bin": {"tool": "x.js"}}"#);
        package.link("tool", "/bin/sh");
        let error = program_ambient(&command("npx name"), &package.path()).unwrap_err();
        assert!(matches!(error, PackageError::Outside { .. }), "{error}");
        // A manifest elsewhere is ignored.
        let elsewhere = Package::new(r#"{"bin": {"tool": "x.js"}, "version": "9"}"#);
        let manifest = package.path().join("node_modules/name/package.json");
        std::fs::remove_file(&manifest).unwrap();
        symlink(elsewhere.path().join("node_modules/name/package.json"), &manifest).unwrap();
        let error = program_ambient(&command("npx name"), &package.path()).unwrap_err();
        assert!(matches!(error, PackageError::NoProgram { .. }), "{error}");
        assert_eq!(version_ambient(&command("npx name"), &package.path()), None);
    }

    #[test]
    fn other_programs_are_named() {
        let package = Package::new(r#"{"bin": {"a": "x.js", "b": "y.js"}}"#);
        let says = program_ambient(&command("npx name"), &package.path()).unwrap_err().to_string();
        assert_eq!(says, "package `name` has no program `name`; it has `a`, `b`");
        let package = Package::new("{}");
        let says = program_ambient(&command("npx name"), &package.path()).unwrap_err().to_string();
        assert_eq!(says, "package `name` has no program `name`: it has none");
    }
}
