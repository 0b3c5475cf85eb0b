//! Python, pip and uv: virtual environments, versions that pyenv or uv installed, and a cache for what `uvx` fetches.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use rootward_core::{Access, follow_ambient};

use super::finding::{Finding, Findings, NeededAs, Trail, read_ambient};
use super::program::Run;
use super::{KnownCommand, Profile, RUN, Surroundings, script_ambient};

const PYTHON: [&str; 4] = ["python", "pypy", "pip", "pipx"];
const UV: [&str; 2] = ["uv", "uvx"];

/// How much of `pyvenv.cfg` to read, in bytes.
const LONGEST_SETTINGS: u64 = 64 << 10;

pub(super) fn seek_ambient(surroundings: &Surroundings<'_>, findings: &mut Findings) {
    let python = surroundings.program.is_any_of(&PYTHON);
    let uv = surroundings.program.is_any_of(&UV);
    if !python && !uv {
        return;
    }
    for run in surroundings.program.chain() {
        for path in run.paths() {
            add_environment_ambient(path, run, surroundings, findings);
        }
    }
    if python && let Some(script) = script_ambient(surroundings) {
        // Modules next to a script are imported from there (`sys.path[0]`).
        let links = follow_ambient(&script).map(|followed| followed.links).unwrap_or_default();
        let trail = Trail { named_in: links, own: Vec::new() };
        match script.parent().filter(|directory| surroundings.is_its_own_ambient(directory)) {
            Some(directory) => findings.seek_ambient(directory, Access::READ, NeededAs::BesideScript, &trail),
            None => findings.seek_ambient(&script, Access::READ, NeededAs::Script, &trail),
        }
    }
    let variable = surroundings.variables.iter().find(|(name, _)| name == VERSIONS_VARIABLE);
    let versions = versions_of_uv(variable.map(|(_, value)| value.as_os_str()), surroundings.home);
    if let (true, Some(versions)) = (uv, versions) {
        findings.seek_ambient(&versions, RUN, NeededAs::Versions, &Trail::default());
    }
}

/// The variable for the directory of uv's Python versions.
const VERSIONS_VARIABLE: &str = "UV_PYTHON_INSTALL_DIR";

/// Its default, below the home.
const VERSIONS_OF_UV: &str = ".local/share/uv/python";

fn versions_of_uv(variable: Option<&OsStr>, home: Option<&Path>) -> Option<PathBuf> {
    let named = variable.map(PathBuf::from).filter(|path| path.is_absolute());
    named.or_else(|| Some(home?.join(VERSIONS_OF_UV)))
}

/// The virtual environment of a package, which its program may not name: if the first line would be too long, it names
/// a shell.
pub(super) fn seek_package_ambient(surroundings: &Surroundings<'_>, findings: &mut Findings) {
    if let Some(run) = surroundings.program.chain().first() {
        add_environment_ambient(&run.entry, run, surroundings, findings);
    }
}

pub(super) fn add(known: &KnownCommand, cache: Option<&Path>, profile: &mut Profile) {
    let program = known.program();
    let uv = program.is_any_of(&UV);
    if !uv && !program.is_any_of(&PYTHON) {
        return;
    }
    if let (true, Some(cache)) = (uv, cache) {
        profile.needs_of_own(cache, Access::ALL);
        profile.sets("UV_CACHE_DIR", cache.join("uv"));
        profile.sets("UV_TOOL_DIR", cache.join("uv-tools"));
    }
    if let (true, Some(versions)) = (uv, versions_of_uv(known.variable(VERSIONS_VARIABLE), known.home())) {
        profile.sets(VERSIONS_VARIABLE, versions);
    }
    // Python writes compiled modules next to their sources, which are read-only here.
    profile.sets("PYTHONDONTWRITEBYTECODE", "1");
}

/// The virtual environment of a program, and the Python that it was created from.
fn add_environment_ambient(program: &Path, run: &Run, surroundings: &Surroundings<'_>, findings: &mut Findings) {
    let Some(top) = program.parent().and_then(Path::parent) else { return };
    let Some(settings_file) = follow_ambient(&top.join("pyvenv.cfg")).filter(|followed| followed.exists) else {
        return;
    };
    let Some(settings) = read_ambient(&settings_file.place, LONGEST_SETTINGS) else { return };
    let settings = String::from_utf8_lossy(&settings);
    // SECURITY: `pyvenv.cfg` is what makes the directory an environment, so its author is part of the trail
    // (test: a_planted_environment_opens_nothing)
    let trail = run.trail.past(settings_file.links.into_iter().chain([settings_file.place]));
    let seek = |path: &Path| Finding::seek_ambient(path, RUN, NeededAs::VirtualEnvironment, &trail);
    if surroundings.is_its_own_ambient(top) {
        findings.seek_or_ambient(seek(top), seek(&top.join("bin")));
    }
    for part in ["pyvenv.cfg", "bin", "lib", "lib64"] {
        findings.0.extend(seek(&top.join(part)));
    }
    if let Some(base) = base_of(&settings).and_then(Path::parent) {
        for part in ["bin", "lib", "lib64"] {
            findings.seek_ambient(&base.join(part), RUN, NeededAs::BasePython, &trail);
        }
    }
}

/// `home = /usr/bin` in `pyvenv.cfg`.
fn base_of(settings: &str) -> Option<&Path> {
    let value = settings.lines().filter_map(|line| line.split_once('=')).find(|(key, _)| key.trim() == "home")?.1;
    Some(Path::new(value.trim())).filter(|path| path.is_absolute())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_base_of_an_environment() {
        assert_eq!(base_of("include = x\nhome = /opt/py/bin\n"), Some(Path::new("/opt/py/bin")));
        assert_eq!(base_of("home = relative"), None);
        assert_eq!(base_of(""), None);
    }
}
