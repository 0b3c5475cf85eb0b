//! One file for each kind of evidence. A detector parses the text of one file and looks nowhere else; `markers.rs`
//! lists the files whose name is enough.
//!
//! A file that cannot be read, is too large or is invalid is not an error: it counts without a name, or not at all.

mod cargo;
#[cfg(test)]
mod fuzz;
pub(super) mod git;
mod go;
pub(super) mod jetbrains;
mod json;
pub(super) mod markers;
mod node;
mod python;
mod vscode;

use super::found::Found;

/// Parses a file: its name and its text. The text is empty if it could not be read.
pub(super) type Detector = fn(&str, &str) -> Vec<Found>;

/// The detector for files with this name.
pub(super) fn of_file(name: &[u8]) -> Option<Detector> {
    Some(match name {
        b"Cargo.toml" => cargo::read,
        b"package.json" => node::read_package,
        b"pnpm-workspace.yaml" => node::read_pnpm,
        b"pyproject.toml" => python::read,
        b"go.mod" => go::read_module,
        b"go.work" => go::read_workspace,
        b".gitmodules" => git::read_modules,
        b".git" => git::read_link,
        _ if name.ends_with(b".code-workspace") => vscode::read,
        _ => return None,
    })
}

/// The part of a file's name before the last dot.
fn stem(file: &str) -> &str {
    file.rsplit_once('.').map_or(file, |(stem, _)| stem)
}

/// Compares what a detector finds: kind, name, members by count.
#[cfg(test)]
fn check(detector: Detector, file: &str, text: &str, expect: &[(super::Kind, Option<&str>, usize)]) {
    use super::found::More;
    let found = detector(file, text);
    let members = |more: &More| match more {
        More::Members(members) | More::Submodules(members) => members.cost().names + members.cost().patterns,
        More::Folders(folders) => folders.len(),
        More::Nothing | More::Remote(_) => 0,
    };
    let seen: Vec<_> = found.iter().map(|found| (found.kind, found.name.as_deref(), members(&found.more))).collect();
    assert_eq!(seen, expect, "{file}: {text:?}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_mean_something() {
        let known = |name: &str| of_file(name.as_bytes()).is_some();
        for name in ["Cargo.toml", ".code-workspace", "x.code-workspace", "go.mod"] {
            assert!(known(name), "{name}");
        }
        for name in
            ["cargo.toml", "Cargo.lock", "code-workspace", "a.code-workspace.bak", "main.rs", "package.json5", "", "."]
        {
            assert!(!known(name), "{name}");
        }
    }
}
