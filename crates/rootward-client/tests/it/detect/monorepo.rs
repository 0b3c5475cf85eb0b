//! Trees that real tools made: `git` with worktrees and submodules, and this repository.

use std::path::Path;
use std::process::Command;

use rootward_client::detect::{Bond, Certainty, Kind, detect_ambient};

use super::{Tree, options};

/// Runs `git` without the user's own settings.
fn git(directory: &Path, arguments: &[&str]) {
    let output = Command::new("git")
        .args(["-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "protocol.file.allow=always"])
        .args(arguments)
        .current_dir(directory)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .env("GIT_CONFIG_COUNT", "1")
        .env("GIT_CONFIG_KEY_0", "protocol.file.allow")
        .env("GIT_CONFIG_VALUE_0", "always")
        .output()
        .unwrap();
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

fn commit(directory: &Path) {
    git(directory, &["add", "--all"]);
    git(directory, &["commit", "--quiet", "--message", "a"]);
}

#[test]
fn a_monorepo_with_worktrees_and_submodules() {
    let tree = Tree::new(&[
        ("lib/pyproject.toml", "[project]\nname = 'the-lib'"),
        ("main/Cargo.toml", "[workspace]\nmembers = ['crates/*']\nexclude = ['crates/old']"),
        ("main/crates/a/Cargo.toml", "[package]\nname = 'a'"),
        ("main/crates/old/Cargo.toml", "[package]\nname = 'old'"),
        ("main/web/package.json", r#"{"name": "web", "workspaces": ["packages/*"]}"#),
        ("main/web/packages/ui/package.json", r#"{"name": "@web/ui"}"#),
        ("main/web/node_modules/react/package.json", r#"{"name": "react"}"#),
        ("main/target/package/a-1/Cargo.toml", "[package]\nname = 'built'"),
        ("main/generated/go.mod", "module left/out"),
        ("main/.gitignore", "/generated\n"),
    ]);
    let (main, lib) = (tree.top().join("main"), tree.top().join("lib"));
    git(&lib, &["init", "--quiet"]);
    commit(&lib);
    git(&main, &["init", "--quiet"]);
    git(&main, &["submodule", "--quiet", "add", lib.to_str().unwrap(), "vendor/lib"]);
    commit(&main);
    git(&main, &["worktree", "add", "--quiet", "../topic"]);
    git(&main, &["worktree", "add", "--quiet", "--detach", "inner"]);
    git(&tree.top().join("topic"), &["submodule", "--quiet", "update", "--init"]);
    let expect = [
        "lib the-lib: git repository, Python project",
        "main main: git repository, Cargo workspace",
        "main/crates/a a: Cargo package | Member of main",
        "main/crates/old old: Cargo package | Below of main",
        "main/inner inner: git worktree of `main`, Cargo workspace | Below of main",
        "main/inner/crates/a a: Cargo package | Member of main/inner",
        "main/inner/crates/old old: Cargo package | Below of main/inner",
        "main/inner/web web: Node workspace, Node package | Below of main/inner",
        "main/inner/web/packages/ui @web/ui: Node package | Member of main/inner/web",
        "main/vendor/lib the-lib: git submodule, Python project | Submodule of main",
        "main/web web: Node workspace, Node package | Below of main",
        "main/web/packages/ui @web/ui: Node package | Member of main/web",
        "topic topic: git worktree of `main`, Cargo workspace",
        "topic/crates/a a: Cargo package | Member of topic",
        "topic/crates/old old: Cargo package | Below of topic",
        "topic/vendor/lib the-lib: git submodule, Python project | Submodule of topic",
        "topic/web web: Node workspace, Node package | Below of topic",
        "topic/web/packages/ui @web/ui: Node package | Member of topic/web",
    ];
    assert_eq!(tree.found(), expect);
}

/// A submodule with its own `.git` directory, as old versions of git created it; a worktree of a bare repository; a
/// repository whose git directory is elsewhere.
#[test]
fn other_git_layouts() {
    let tree = Tree::new(&[("old/a", ""), ("old/.gitmodules", "[submodule \"s\"]\n\tpath = sub\n"), ("old/sub/a", "")]);
    let top = tree.top();
    git(&top, &["init", "--quiet", "old"]);
    git(&top, &["init", "--quiet", "old/sub"]);
    commit(&top.join("old/sub"));
    commit(&top.join("old"));
    git(&top, &["clone", "--quiet", "--bare", "old", "bare.git"]);
    git(&top.join("bare.git"), &["worktree", "add", "--quiet", "--detach", "../of-bare"]);
    git(&top, &["init", "--quiet", "--separate-git-dir", "kept", "separate"]);
    git(&top, &["init", "--quiet", "--ref-format=reftable", "reftable"]);
    let expect = [
        "of-bare of-bare: git worktree of `bare.git`",
        "old old: git repository",
        "old/sub sub: git submodule | Submodule of old",
        "reftable reftable: git repository",
        "separate separate: git repository kept elsewhere",
    ];
    assert_eq!(tree.found(), expect);
}

#[test]
fn a_directory_called_git_is_not_a_repository() {
    let tree =
        Tree::new(&[("a/.git/hooks/pre-commit", ""), ("b/.git", "gitdir of nothing"), ("c/.gitmodules", "path = x")]);
    assert_eq!(tree.found(), [""; 0]);
}

#[test]
fn this_repository() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let detection = detect_ambient(std::slice::from_ref(&top), &options(), &|_| {}).unwrap();
    let find = |path: &str| {
        let path = if path.is_empty() { top.clone() } else { top.join(path) };
        detection.suggestions.iter().find(|suggestion| suggestion.path == path)
    };
    let workspace = find("").unwrap();
    assert!(workspace.is(Kind::CargoWorkspace));
    for member in ["rootward", "rootward-core", "rootward-client"] {
        let found = find(&format!("crates/{member}")).unwrap();
        assert_eq!((found.name.as_deref(), found.certainty), (Some(member), Certainty::Certain));
        let within = found.within.as_ref().unwrap();
        assert_eq!((&within.path, within.bond), (&top, Bond::Member));
    }
    assert_eq!(find("target"), None);
    assert_eq!(detection.bounds, []);
}
