//! The known runtimes: where version managers keep their installations. A program in a place that confined commands can
//! write may only choose among these.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use rootward_core::follow_ambient;

use super::finding::Anchor;
use super::program::{INSTALLED, in_path_ambient, prefix};

/// Each with the variable that moves it, and its default below the home.
const MANAGERS: &[(&str, &str)] = &[
    ("UV_PYTHON_INSTALL_DIR", ".local/share/uv/python"),
    ("PYENV_ROOT", ".pyenv"),
    ("NVM_DIR", ".nvm"),
    ("FNM_DIR", ".local/share/fnm"),
    ("", ".fnm"),
    ("VOLTA_HOME", ".volta"),
    ("MISE_DATA_DIR", ".local/share/mise"),
    ("ASDF_DATA_DIR", ".asdf"),
    ("", "miniconda3"),
    ("", "anaconda3"),
    ("", "miniforge3"),
    ("", "mambaforge"),
    ("MAMBA_ROOT_PREFIX", "micromamba"),
];

/// Outside any home.
const SHARED: &[&str] = &["/opt/conda", "/opt/homebrew", "/home/linuxbrew/.linuxbrew"];

/// The interpreters that are looked up in the user's `PATH`.
const INTERPRETERS: [&str; 5] = ["python3", "python", "node", "bun", "deno"];

/// The runtimes that the user has.
pub(crate) fn find_ambient(home: Option<&Path>, variables: &[(OsString, OsString)], here: &Path) -> Vec<Anchor> {
    let variable = |name: &str| variables.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_os_str());
    let mut runtimes = Vec::new();
    let mut add = |path: &Path, links: Vec<PathBuf>| {
        let Some(mut found) = Anchor::find_ambient(path) else { return };
        found.links.extend(links);
        runtimes.push(found);
    };
    for (name, usual) in MANAGERS {
        let named = variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
        if let Some(path) = named.or_else(|| Some(home?.join(usual))) {
            add(&path, Vec::new());
        }
    }
    for path in SHARED {
        add(Path::new(path), Vec::new());
    }
    // A version manager that the user's `PATH` names, anywhere.
    let entries = variable("PATH").into_iter().flat_map(std::env::split_paths);
    for shims in entries.filter(|entry| entry.is_absolute() && entry.ends_with("shims")) {
        let Some(shims) = Anchor::find_ambient(&shims) else { continue };
        if let Some(top) = shims.top.parent() {
            add(top, shims.links);
        }
    }
    for name in INTERPRETERS {
        let Some(found) = in_path_ambient(OsStr::new(name), variable("PATH"), here) else { continue };
        let Some(followed) = follow_ambient(&found) else { continue };
        // SECURITY: never the prefix itself: for `~/bin/node` that is the home
        // (test: an_interpreter_in_the_home_does_not_make_a_runtime_of_it)
        match prefix(&followed.place) {
            Some(prefix) => INSTALLED.iter().for_each(|part| add(&prefix.join(part), followed.links.clone())),
            None => add(&followed.place, followed.links),
        }
    }
    runtimes
}
