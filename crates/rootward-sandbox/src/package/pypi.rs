//! Packages of the Python package index: how `uv` and `pipx` install one, and which of its programs runs.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::command::{PackageCommand, Registry, Runner};
use super::error::PackageError;
use super::inside::{Leads, follow_inside_ambient, is_program_ambient, names_inside_ambient};
use super::install::{Attempt, Install, Place};

/// How a package is installed, in its own virtual environment.
pub(super) fn install(command: &PackageCommand, place: Place<'_>, attempt: Attempt) -> Install {
    let Place { install, home } = place;
    let mut arguments: Vec<OsString> = match command.runner {
        Runner::PipxRun => vec!["install".into(), "--quiet".into()],
        _ => vec!["tool".into(), "install".into(), "--quiet".into()],
    };
    for (option, value) in &command.options {
        arguments.extend([option.into(), value.into()]);
    }
    arguments.push(command.spec().into());
    let variables: Vec<(&str, OsString)> = match command.runner {
        Runner::PipxRun => vec![
            ("PIPX_HOME", install.join("pipx").into()),
            ("PIPX_BIN_DIR", install.join("bin").into()),
            ("PIPX_MAN_DIR", install.join("man").into()),
            ("PIP_CACHE_DIR", home.join("pip").into()),
            ("USE_EMOJI", "0".into()),
        ],
        _ => {
            let mut variables: Vec<(&str, OsString)> = vec![
                ("UV_TOOL_DIR", install.join("tools").into()),
                ("UV_TOOL_BIN_DIR", install.join("bin").into()),
                ("UV_CACHE_DIR", home.join("uv").into()),
                // A server cannot write next to its modules later.
                ("UV_COMPILE_BYTECODE", "1".into()),
                ("UV_NO_PROGRESS", "1".into()),
                ("UV_NO_CONFIG", "1".into()),
            ];
            match attempt {
                // The user's own versions cannot be extended.
                Attempt::First | Attempt::Refresh => variables.push(("UV_PYTHON_DOWNLOADS", "never".into())),
                Attempt::WithPython => {
                    variables.push(("UV_PYTHON_INSTALL_DIR", install.join("python").into()));
                    variables.push(("UV_PYTHON_PREFERENCE", "only-managed".into()));
                    variables.push(("UV_PYTHON_DOWNLOADS", "automatic".into()));
                }
            }
            variables
        }
    };
    Install { arguments, variables: variables.into_iter().map(|(name, value)| (name.into(), value)).collect() }
}

/// Whether a fetch failed because it found no suitable Python.
pub(super) fn lacks_python(command: &PackageCommand, said: &str) -> bool {
    let said = said.to_ascii_lowercase();
    command.runner == Runner::Uvx
        && ["no interpreter found", "python downloads are", "managed python download", "failed to query python"]
            .iter()
            .any(|part| said.contains(part))
}

/// The package's virtual environment.
pub(super) fn environment(command: &PackageCommand, install: &Path) -> PathBuf {
    let environments = match command.runner {
        Runner::PipxRun => install.join("pipx/venvs"),
        _ => install.join("tools"),
    };
    environments.join(&command.name)
}

/// The file to run.
pub(super) fn program_ambient(command: &PackageCommand, install: &Path) -> Result<PathBuf, PackageError> {
    let bin = environment(command, install).join("bin");
    let wanted = command.program.as_deref().unwrap_or(&command.name);
    let names = names_inside_ambient(install, &bin);
    let is_wanted = |name: &&str| Registry::PyPi.normalized(name) == Registry::PyPi.normalized(wanted);
    let names: Vec<&str> = names.iter().filter_map(|name| name.to_str()).collect();
    let exact = names.iter().copied().find(|name| *name == wanted);
    // `uvx a.b` requests `a-b`, and its program is called `a.b`.
    let Some(name) = exact.or_else(|| names.iter().copied().find(is_wanted)) else {
        return Err(no_program_ambient(command, install, wanted));
    };
    let link = bin.join(name);
    match follow_inside_ambient(install, &link) {
        Leads::Inside(place) if is_program_ambient(&place) => Ok(link),
        Leads::Outside => Err(PackageError::Outside { package: command.spec(), link }),
        Leads::Inside(_) | Leads::Nowhere => Err(no_program_ambient(command, install, wanted)),
    }
}

/// Both programs put the package's own programs into one directory.
fn no_program_ambient(command: &PackageCommand, install: &Path, wanted: &str) -> PackageError {
    let names = names_inside_ambient(install, &install.join("bin"));
    let mut programs: Vec<String> = names.iter().map(|name| name.to_string_lossy().into_owned()).collect();
    programs.sort_unstable();
    PackageError::NoProgram { package: command.spec(), program: wanted.to_owned(), programs }
}

/// Whether the Python that the environment was created from still exists.
pub(super) fn has_python_ambient(command: &PackageCommand, install: &Path) -> bool {
    let python = environment(command, install).join("bin/python");
    follow_inside_ambient(install, &python) != Leads::Nowhere
}

/// The version according to the package: it is in the name of a directory.
pub(super) fn version_ambient(command: &PackageCommand, install: &Path) -> Option<String> {
    let lib = environment(command, install).join("lib");
    names_inside_ambient(install, &lib).into_iter().find_map(|python| {
        let packages = names_inside_ambient(install, &lib.join(python).join("site-packages"));
        packages.iter().filter_map(|name| name.to_str()?.strip_suffix(".dist-info")).find_map(|name| {
            let (name, version) = name.split_once('-')?;
            (Registry::PyPi.normalized(name) == command.name).then(|| version.to_owned())
        })
    })
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

    fn install_with(programs: &[&str]) -> tempfile::TempDir {
        let directory = tempfile::tempdir().unwrap();
        let top = directory.path().join("tools/a-b");
        std::fs::create_dir_all(top.join("bin")).unwrap();
        std::fs::create_dir_all(top.join("lib/python3.12/site-packages/A.b-1.2.dist-info")).unwrap();
        std::fs::create_dir_all(directory.path().join("bin")).unwrap();
        for name in programs {
            std::fs::write(top.join("bin").join(name), "#!/bin/sh\n").unwrap();
            std::fs::set_permissions(top.join("bin").join(name), std::fs::Permissions::from_mode(0o755)).unwrap();
            symlink(top.join("bin").join(name), directory.path().join("bin").join(name)).unwrap();
        }
        directory
    }

    #[test]
    fn a_program_is_found_by_the_name_that_was_typed() {
        let check = |line: &str, programs: &[&str], expect: &str| {
            let directory = install_with(programs);
            let top = directory.path().canonicalize().unwrap();
            match program_ambient(&command(line), &top) {
                Ok(found) => assert_eq!(found, top.join("tools/a-b/bin").join(expect), "{line}"),
                Err(error) => assert_eq!(error.to_string(), expect, "{line}"),
            }
        };
        check("uvx a.b", &["a.b", "x"], "a.b");
        check("uvx A_b@latest", &["a-b", "a.b"], "a-b");
        check("uvx --from a-b x", &["a.b", "x"], "x");
        check("uvx a-b", &["y", "x"], "package `a-b` has no program `a-b`; it has `x`, `y`");
        check("uvx --from a-b z", &["x"], "package `a-b` has no program `z`; it has `x`");
        check("uvx a-b", &[], "package `a-b` has no program `a-b`: it has none");
    }

    #[test]
    fn a_program_elsewhere_is_not_run() {
        let directory = install_with(&["x"]);
        let top = directory.path().canonicalize().unwrap();
        symlink("/bin/sh", top.join("tools/a-b/bin/a-b")).unwrap();
        let error = program_ambient(&command("uvx a-b"), &top).unwrap_err();
        assert!(matches!(error, PackageError::Outside { .. }), "{error}");
        // The directory itself may also be a link.
        let elsewhere = install_with(&["a-b"]);
        std::fs::remove_dir_all(top.join("tools/a-b/bin")).unwrap();
        symlink(elsewhere.path().join("tools/a-b/bin"), top.join("tools/a-b/bin")).unwrap();
        assert!(program_ambient(&command("uvx a-b"), &top).is_err());
    }

    #[test]
    fn the_version_is_read_from_the_environment() {
        let directory = install_with(&["x"]);
        let top = directory.path().canonicalize().unwrap();
        assert_eq!(version_ambient(&command("uvx a-b"), &top).as_deref(), Some("1.2"));
        assert!(!has_python_ambient(&command("uvx a-b"), &top));
        symlink("/bin/sh", top.join("tools/a-b/bin/python")).unwrap();
        assert!(has_python_ambient(&command("uvx a-b"), &top));
    }
}
