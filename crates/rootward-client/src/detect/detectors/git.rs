//! Git: repositories, worktrees and submodules (gitrepository-layout(5), gitmodules(5)).
//!
//! A repository has a directory `.git` with a `HEAD` in it. If `.git` is a file, it says where that directory is,
//! and the directory's path tells what this one is.

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
        // As bytes: a repository may have any name.
        names[index - 1].as_bytes().ends_with(b".git") || index >= 2 && names[index - 2] == "worktrees"
    })
}

/// `.git/config`: the last part of the repository's remote, preferably `origin` (git-config(1)).
pub(in crate::detect) fn read_config(_file: &str, text: &str) -> Vec<Found> {
    let mut remotes: Vec<(bool, String)> = Vec::new();
    let mut section = "";
    for line in text.lines().map(str::trim) {
        if line.starts_with('[') {
            section = line;
        } else if section.starts_with("[remote ")
            && let Some((key, url)) = line.split_once('=')
            && key.trim().eq_ignore_ascii_case("url")
            && let Some(name) = last_part(url.trim().trim_matches('"'))
        {
            remotes.push((section != "[remote \"origin\"]", name));
        }
    }
    // A stable sort: the first of several wins.
    remotes.sort_by_key(|(is_other, _)| *is_other);
    let name = remotes.into_iter().next().map(|(_, name)| name);
    name.map(|name| Found { more: More::Remote(name), ..Found::likely(Kind::GitRepository) }).into_iter().collect()
}

/// The last part of a remote's URL, without `.git`.
fn last_part(url: &str) -> Option<String> {
    // SECURITY: a URL may have a password before its host, which must not become part of a name that servers are
    // told
    // (test: the_last_part_of_a_remote)
    let path = match url.split_once("://") {
        Some((_, rest)) => rest.split_once('/')?.1,
        None => url.split_once(':').map_or(url, |(_, path)| path),
    };
    let last = path.trim_end_matches('/').rsplit(['/', '\\']).next()?;
    let last = last.strip_suffix(".git").unwrap_or(last);
    let is_plain = |letter: char| letter.is_alphanumeric() || "-_.+".contains(letter);
    (!last.is_empty() && !last.starts_with('.') && last.chars().all(is_plain)).then(|| last.to_owned())
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
    fn the_last_part_of_a_remote() {
        let check = |url: &str, expect: Option<&str>| assert_eq!(last_part(url).as_deref(), expect, "{url}");
        check("https://example.com/me/app.git", Some("app"));
        check("https://me:secret@example.com/me/app/", Some("app"));
        check("git@example.com:me/app.git", Some("app"));
        check("git@example.com:app", Some("app"));
        check("../app.git", Some("app"));
        check("/srv/git/app.git", Some("app"));
        for nothing in
            ["", "https://me:secret@example.com", "https://me:secret@example.com/", "x/.git", "https://h/a?token=b"]
        {
            check(nothing, None);
        }
        let named = |text: &str| match read_config("config", text).pop().map(|found| found.more) {
            Some(More::Remote(name)) => Some(name),
            _ => None,
        };
        let text = "[core]\n\tbare = false\n[remote \"fork\"]\n\turl = git@h:me/fork.git\n[remote \"origin\"]\n\tURL = https://h/app.git\n";
        assert_eq!(named(text).as_deref(), Some("app"));
        assert_eq!(named("[remote \"fork\"]\nurl=h:fork").as_deref(), Some("fork"));
        assert_eq!(named("[branch \"main\"]\n\turl = https://h/app.git"), None);
    }

    #[test]
    fn modules() {
        let text = "[submodule \"a\"]\n\tpath = vendor/a\n\turl = ../a.git\n[submodule \"b\"]\n\tpath = \"b c\"\n";
        check(read_modules, ".gitmodules", text, &[(Kind::GitRepository, None, 2)]);
        check(read_modules, ".gitmodules", "", &[(Kind::GitRepository, None, 0)]);
    }
}
