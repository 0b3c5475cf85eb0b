//! Git: repositories, worktrees and submodules (gitrepository-layout(5), gitmodules(5)).
//!
//! A repository has a directory `.git` with a `HEAD` in it. Where `.git` is a file, it says where the directory is, and that place
//! says what this one is.

use std::path::{Component, Path};

use rootward_core::Shown;

use crate::detect::Kind;
use crate::detect::found::{Found, More};
use crate::detect::members::Members;

/// A directory `.git` with a `HEAD`.
pub(in crate::detect) fn repository() -> Found {
    Found::certain(Kind::GitRepository)
}

/// A file `.git`: `gitdir: …`.
pub(super) fn read_link(_file: &str, text: &str) -> Vec<Found> {
    let Some(place) = text.strip_prefix("gitdir:").map(str::trim).filter(|place| !place.is_empty()) else {
        return Vec::new();
    };
    let names: Vec<&str> = Path::new(place)
        .components()
        .map(|component| match component {
            Component::Normal(name) => name.to_str().unwrap_or_default(),
            _ => "",
        })
        .collect();
    let found = match names.as_slice() {
        // `main/.git/worktrees/name`; of a bare repository `main.git/worktrees/name`.
        [above @ .., "worktrees", _] => {
            let above = above.strip_suffix(&[".git"]).unwrap_or(above);
            let main = above.last().filter(|name| !name.is_empty());
            let detail = main.map(|main| format!(" of `{}`", Shown::new(main))).unwrap_or_default();
            Found::certain(Kind::GitWorktree).with_detail(detail)
        }
        names if has_modules(names) => Found::certain(Kind::GitSubmodule),
        // `git init --separate-git-dir`.
        _ => Found::certain(Kind::GitRepository).with_detail(" kept elsewhere".to_owned()),
    };
    vec![found]
}

/// `….git/modules/…`, or `…/worktrees/name/modules/…` for a submodule of a worktree.
fn has_modules(names: &[&str]) -> bool {
    (1..names.len()).filter(|index| names[*index] == "modules").any(|index| {
        // By bytes: a repository may be called anything.
        names[index - 1].as_bytes().ends_with(b".git") || index >= 2 && names[index - 2] == "worktrees"
    })
}

/// `.gitmodules`: a section for each submodule, with a line `path = …`.
pub(super) fn read_modules(_file: &str, text: &str) -> Vec<Found> {
    let paths = text.lines().filter_map(|line| {
        let (key, value) = line.split_once('=')?;
        key.trim().eq_ignore_ascii_case("path").then(|| value.trim().trim_matches('"'))
    });
    vec![Found { more: More::Submodules(Members::named(paths)), ..Found::likely(Kind::GitRepository) }]
}

#[cfg(test)]
mod tests {
    use super::super::check;
    use super::*;

    #[test]
    fn links() {
        let check = |text: &str, kind, detail: &str| {
            let found = read_link(".git", text);
            assert_eq!((found[0].kind, found[0].detail.as_str()), (kind, detail), "{text}");
        };
        check("gitdir: /src/main/.git/worktrees/topic\n", Kind::GitWorktree, " of `main`");
        check("gitdir: ../main/.git/worktrees/topic", Kind::GitWorktree, " of `main`");
        check("gitdir: /srv/main.git/worktrees/topic", Kind::GitWorktree, " of `main.git`");
        check("gitdir: ../../.git/worktrees/x", Kind::GitWorktree, "");
        check("gitdir: ../.git/modules/lib", Kind::GitSubmodule, "");
        check("gitdir: ../../.git/modules/vendor/lib/modules/deep", Kind::GitSubmodule, "");
        check("gitdir: /m/.git/worktrees/topic/modules/lib", Kind::GitSubmodule, "");
        check("gitdir: /m/.git/modules/lib/worktrees/topic", Kind::GitWorktree, " of `lib`");
        check("gitdir: /modules/elsewhere", Kind::GitRepository, " kept elsewhere");
        for nothing in ["", "gitdir:", "gitdir: \n", "nonsense"] {
            assert_eq!(read_link(".git", nothing), [], "{nothing}");
        }
    }

    #[test]
    fn modules() {
        let text = "[submodule \"a\"]\n\tpath = vendor/a\n\turl = ../a.git\n[submodule \"b\"]\n\tpath = \"b c\"\n";
        check(read_modules, ".gitmodules", text, &[(Kind::GitRepository, None, 2)]);
        check(read_modules, ".gitmodules", "", &[(Kind::GitRepository, None, 0)]);
    }
}
