//! The pages for developers name only files that exist.
//!
//! `ARCHITECTURE.md` writes most paths without the crate: the heading of a section says which crate it is about.

use super::{File, Finding, Repository};

/// The pages that name files of the repository in backticks.
const PAGES: [&str; 3] = ["ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md"];

/// Endings that only names of this repository's files and directories have in these pages.
const ENDS: [&str; 3] = [".rs", ".md", "/"];

/// A page may name only files and directories that exist.
pub(super) fn names_files_that_exist(repository: &Repository) -> Vec<Finding> {
    let places = places(repository);
    let pages = repository.files.iter().filter(|file| PAGES.contains(&&*file.path));
    pages.flat_map(|page| findings_in(page, &places)).collect()
}

fn findings_in(page: &File, places: &[Place<'_>]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut section: Vec<&str> = Vec::new();
    let mut in_block = false;
    for (number, line) in page.lines() {
        in_block ^= line.trim_start().starts_with("```");
        if in_block {
            continue;
        }
        let names = line.split('`').skip(1).step_by(2).filter(|name| looks_like_ours(name, places));
        let names: Vec<&str> = names.collect();
        let missing = names.iter().filter(|name| !places.iter().any(|place| place.is_meant_by(name, &section)));
        findings.extend(missing.map(|name| page.finding(number, format!("there is no file or directory `{name}`"))));
        if line.starts_with('#') {
            section = names;
        }
    }
    findings
}

/// A file or directory, and the ways to name it in full.
struct Place<'r> {
    /// From the top of the repository.
    path: &'r str,
    /// Without `crates/`.
    in_crate: Option<&'r str>,
    /// Also without `rootward-` and `src`: `hub/engine/gate.rs`.
    short: Option<String>,
}

/// All files and the directories that contain them.
fn places(repository: &Repository) -> Vec<Place<'_>> {
    let mut paths: Vec<&str> = Vec::new();
    for path in &repository.paths {
        paths.push(path);
        paths.extend(path.match_indices('/').map(|(end, _)| &path[..end]));
    }
    paths.sort_unstable();
    paths.dedup();
    let place = |path| {
        let in_crate = str::strip_prefix(path, "crates/");
        let short = in_crate.and_then(|path| path.strip_prefix("rootward-")).map(|path| path.replacen("/src/", "/", 1));
        Place { path, in_crate, short }
    };
    paths.into_iter().map(place).collect()
}

impl Place<'_> {
    /// Whether `name` means this place: a full name of it, or the end of its path. The end counts only below the
    /// directories in the section's heading, if it names any.
    fn is_meant_by(&self, name: &str, section: &[&str]) -> bool {
        let name = name.trim_end_matches('/');
        let in_full = [Some(self.path), self.in_crate, self.short.as_deref()];
        let is_in_section = || section.is_empty() || section.iter().any(|directory| is_below(self.path, directory));
        let is_end = || self.path.strip_suffix(name).is_some_and(|before| before.ends_with('/'));
        in_full.contains(&Some(name)) || is_end() && is_in_section()
    }
}

fn is_below(path: &str, directory: &str) -> bool {
    path.strip_prefix(directory).is_some_and(|rest| rest.starts_with('/'))
}

/// Whether a name in backticks looks like a path of this repository.
fn looks_like_ours(name: &str, places: &[Place<'_>]) -> bool {
    let is_relative = name.starts_with(|first: char| first.is_ascii_alphanumeric());
    let is_path = name.chars().all(|c| c.is_ascii_alphanumeric() || "._-/".contains(c)) && !name.ends_with('-');
    let is_from_top = || name.split_once('/').is_some_and(|(first, _)| places.iter().any(|place| place.path == first));
    let is_top = || places.iter().any(|place| place.path == name);
    is_relative && is_path && (ENDS.iter().any(|end| name.ends_with(end)) || is_from_top() || is_top())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, missing: &[&str]) {
        let known = [
            ("crates/rootward-core/src/guard/decide.rs", ""),
            ("crates/rootward-hub/src/engine/gate.rs", ""),
            ("docs/settings.md", ""),
            ("xtask/src/check.rs", ""),
        ];
        let repository = Repository::of(&[&known[..], &[("ARCHITECTURE.md", text)]].concat());
        let says: Vec<String> = missing.iter().map(|name| format!("there is no file or directory `{name}`")).collect();
        let found = names_files_that_exist(&repository).into_iter().map(|finding| finding.says);
        assert_eq!(found.collect::<Vec<_>>(), says, "{text}");
    }

    #[test]
    fn a_name_may_leave_out_where_the_file_is() {
        check("`crates/rootward-core/src/guard/decide.rs`, `crates/rootward-core`", &[]);
        check("`rootward-core/src/guard/decide.rs`, `hub/engine/gate.rs`, `core/guard/`", &[]);
        check("`guard/decide.rs`, `gate.rs`, `engine/`, `settings.md`", &[]);
        check("### `crates/rootward-hub`\n`gate.rs`, `docs/settings.md`, `rootward-core/src/guard/decide.rs`", &[]);
        check("### `crates/rootward-hub`, `xtask`\n`gate.rs`, `check.rs`\n## Tests\n`decide.rs`", &[]);
    }

    #[test]
    fn a_name_of_no_file_is_found() {
        check("`gone.rs`, `hub/engine/gone.rs`, `gone/`", &["gone.rs", "hub/engine/gone.rs", "gone/"]);
        check(
            "`crates/rootward-gone`, `xtask/src/ate.rs`, `ate.rs`",
            &["crates/rootward-gone", "xtask/src/ate.rs", "ate.rs"],
        );
        check("### `crates/rootward-hub`\n`decide.rs`", &["decide.rs"]);
        check("### `crates/rootward-gone`\n", &["crates/rootward-gone"]);
    }

    #[test]
    fn other_words_in_backticks_are_not_files() {
        check("`roots/list`, `/proc/self/fd`, `.git/hooks`, `recipes/*.toml`, `roots.toml`, `crates/rootward-`", &[]);
        check("`cargo xtask tidy`, `// SECURITY:`, `~/notes/`, `guard`", &[]);
        check("```\n`gone.rs`\n```", &[]);
    }
}
