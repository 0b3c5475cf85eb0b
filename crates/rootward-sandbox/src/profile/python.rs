//! Python, pip and uv: virtual environments, versions that pyenv or uv installed, and a cache for what `uvx` fetches.

use std::path::{Path, PathBuf};

use rootward_core::Access;

use super::{Profile, RUN, Surroundings, script_ambient};

pub(super) fn add_ambient(surroundings: &Surroundings<'_>, profile: &mut Profile) {
    add_pyenv(surroundings, profile);
    let python = surroundings.program.is_any_of(&["python", "pypy", "pip", "pipx"]);
    let uv = surroundings.program.is_any_of(&["uv", "uvx"]);
    if !python && !uv {
        return;
    }
    for program in surroundings.program.chain() {
        add_environment_ambient(program, surroundings, profile);
    }
    if python && let Some(script) = script_ambient(surroundings) {
        // Modules beside a script are imported from there (`sys.path[0]`).
        match script.parent().filter(|directory| surroundings.is_its_own_ambient(directory)) {
            Some(directory) => profile.needs(directory, Access::READ),
            None => profile.needs(script, Access::READ),
        }
    }
    if let (true, Some(cache)) = (uv, surroundings.cache) {
        profile.needs_of_own(cache, Access::ALL);
        profile.sets("UV_CACHE_DIR", cache.join("uv"));
        profile.sets("UV_TOOL_DIR", cache.join("uv-tools"));
    }
    if let (true, Some(home)) = (uv, surroundings.home) {
        let versions = home.join(".local/share/uv/python");
        profile.needs(&versions, RUN);
        profile.sets("UV_PYTHON_INSTALL_DIR", versions);
    }
    // Compiled modules are kept beside their sources, where nothing can be written.
    profile.sets("PYTHONDONTWRITEBYTECODE", "1");
}

/// A shim of pyenv is a script that looks for the version and runs it.
fn add_pyenv(surroundings: &Surroundings<'_>, profile: &mut Profile) {
    let shim = |program: &PathBuf| {
        let shims = program.parent().filter(|directory| directory.file_name().is_some_and(|name| name == "shims"))?;
        shims.parent().map(Path::to_owned)
    };
    if let Some(top) = surroundings.program.chain().find_map(shim).filter(|top| !surroundings.holds_home(top)) {
        profile.needs(&top, RUN);
        profile.sets("PYENV_ROOT", top);
    }
}

/// The virtual environment that a program lies in, and the Python that it was made from.
#[expect(clippy::disallowed_methods, reason = "the operator's own command: what its interpreter belongs to")]
fn add_environment_ambient(program: &Path, surroundings: &Surroundings<'_>, profile: &mut Profile) {
    let Some(top) = program.parent().and_then(Path::parent) else { return };
    let Ok(settings) = std::fs::read_to_string(top.join("pyvenv.cfg")) else { return };
    if surroundings.is_its_own_ambient(top) {
        profile.needs(top, RUN);
    } else {
        for part in ["pyvenv.cfg", "bin", "lib", "lib64"] {
            profile.needs(top.join(part), RUN);
        }
    }
    if let Some(base) = base_of(&settings).and_then(Path::parent) {
        for part in ["bin", "lib", "lib64"] {
            profile.needs(base.join(part), RUN);
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
