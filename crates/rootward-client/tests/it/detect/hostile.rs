//! Hostile trees: each scan ends, and finds what really exists.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Command;

use rootward_client::detect::{Bound, DetectOptions, Limits};

use super::{Tree, options};

#[test]
fn links_are_neither_followed_nor_read() {
    let outside = Tree::new(&[("p/Cargo.toml", "[package]\nname = 'outside'")]);
    let tree = Tree::new(&[("in/go.mod", "module in")]);
    let top = tree.top();
    symlink(outside.top(), top.join("out")).unwrap();
    symlink("..", top.join("in/up")).unwrap();
    symlink("loop", top.join("loop")).unwrap();
    symlink(".", top.join("in/self")).unwrap();
    fs::create_dir(top.join("linked")).unwrap();
    symlink(outside.top().join("p/Cargo.toml"), top.join("linked/Cargo.toml")).unwrap();
    fs::create_dir(top.join("repository")).unwrap();
    symlink("/etc", top.join("repository/.git")).unwrap();
    assert_eq!(tree.found(), ["in in: Go module"]);
}

#[test]
fn a_fifo_is_not_waited_for() {
    let tree = Tree::new(&[("a/go.mod", "module a")]);
    for name in ["Cargo.toml", "package.json", ".git", ".gitignore"] {
        let status = Command::new("mkfifo").arg(tree.top().join("a").join(name)).status().unwrap();
        assert!(status.success());
    }
    fs::create_dir_all(tree.top().join("b/Cargo.toml")).unwrap();
    assert_eq!(tree.found(), ["a a: Go module"]);
}

#[test]
fn a_huge_manifest_counts_without_its_name() {
    let padded = |length: usize| format!("[package]\nname = 'huge'\n{}", "\n".repeat(length));
    let tree = Tree::new(&[
        ("a/Cargo.toml", "[package]\nname = 'holes'\n"),
        ("b/Cargo.toml", &padded(1 << 20)),
        ("c/Cargo.toml", &padded(1 << 19)),
        ("d/package.json", r#"{"name": "d"}"#),
    ]);
    let file = fs::OpenOptions::new().write(true).open(tree.top().join("a/Cargo.toml")).unwrap();
    file.set_len(100 << 20).unwrap();
    let expect = ["a a: Cargo package", "b b: Cargo package", "c huge: Cargo package", "d d: Node package"];
    assert_eq!(tree.found(), expect);
}

#[test]
fn manifests_with_extreme_nesting() {
    let deep = |open: &str| open.repeat(900_000 / open.len());
    let tree = Tree::new(&[
        ("a/package.json", &deep("[")),
        ("b/x.code-workspace", &deep("{\"folders\":[")),
        ("c/Cargo.toml", &format!("a = {}", deep("["))),
        ("e/pnpm-workspace.yaml", &deep("[")),
        ("f/package.json", &deep("/*")),
        ("g/Cargo.toml", &format!("[{}a]", deep("a."))),
        ("h/pyproject.toml", &format!("a = {}", deep("{a="))),
    ]);
    let paths: Vec<_> = tree.detect().suggestions.iter().map(|found| found.title().into_owned()).collect();
    // Each still counts because of its file name.
    assert_eq!(paths, ["a", "x", "c", "e", "f", "g", "h"]);
}

#[test]
fn many_patterns_do_not_block_detection() {
    let pattern = |number: usize| format!("'{}/{number}*'", "{a,b}*".repeat(20));
    let patterns: Vec<String> = (0..3000).map(pattern).collect();
    let text = format!("[workspace]\nmembers = [{}]", patterns.join(","));
    let tree = Tree::new(&[("Cargo.toml", &text), ("a/Cargo.toml", "[package]\nname = 'a'")]);
    for number in 0..60 {
        tree.write(&format!("{number}/Cargo.toml"), text.as_bytes());
        tree.write(&format!("{number}/in/Cargo.toml"), b"[package]\nname = 'in'");
    }
    assert_eq!(tree.detect().suggestions.len(), 122);
}

#[test]
fn names_of_any_bytes() {
    let tree = Tree::new(&[]);
    let odd = tree.top().join(OsStr::from_bytes(b"\xff\xfe\x1b[31m"));
    fs::create_dir(&odd).unwrap();
    fs::write(odd.join("package.json"), b"{\"name\": \"\xff\xfe\"}").unwrap();
    fs::write(odd.join(OsStr::from_bytes(b"\xff.sln")), b"\xff").unwrap();
    fs::write(odd.join("Cargo.toml"), "[package]\nname = \"a\\u001b[31mb\"").unwrap();
    let detection = tree.detect();
    assert_eq!((detection.suggestions.len(), &detection.suggestions[0].path), (1, &odd));
    let name = detection.suggestions[0].name.as_deref().unwrap();
    assert!(!name.contains('\x1b'), "{name:?}");
}

#[test]
fn a_deep_tree_ends_at_the_limit() {
    let tree = Tree::new(&[]);
    let mut deep = tree.top();
    // About as deep as one path can be.
    for _ in 0..1800 {
        deep.push("d");
    }
    fs::create_dir_all(&deep).unwrap();
    fs::write(deep.join("go.mod"), "module deep").unwrap();
    let usual = tree.detect();
    assert_eq!((usual.bounds.as_slice(), usual.suggestions.len()), (&[Bound::Depth][..], 0));
    let all = DetectOptions { limits: Limits { depth: usize::MAX, ..Limits::default() }, ..options() };
    assert_eq!(tree.detect_with(&all).suggestions[0].name.as_deref(), Some("deep"));
}

#[test]
fn unreadable_directories_are_reported() {
    let tree = Tree::new(&[("open/go.mod", "module m"), ("shut/go.mod", "module n")]);
    let shut = tree.top().join("shut");
    fs::set_permissions(&shut, fs::Permissions::from_mode(0o000)).unwrap();
    let can_read_anyway = fs::read_dir(&shut).is_ok();
    let detection = tree.detect();
    fs::set_permissions(&shut, fs::Permissions::from_mode(0o700)).unwrap();
    // The superuser can read both.
    let expect = if can_read_anyway { (2, 0) } else { (1, 1) };
    assert_eq!((detection.suggestions.len(), detection.unreadable.len()), expect);
}

#[test]
fn secret_places_are_not_scanned() {
    let tree = Tree::new(&[(".ssh/Cargo.toml", "[package]\nname = 'keys'"), ("a/go.mod", "module a")]);
    assert_eq!(tree.found(), ["a a: Go module"]);
}

#[test]
fn a_thousand_solutions_in_one_place() {
    let tree = Tree::new(&[]);
    for number in 0..1000 {
        tree.write(&format!("a/{number}.sln"), b"");
        tree.write(&format!("a/{number}.code-workspace"), br#"{"folders": [{"path": "/srv/x"}]}"#);
    }
    let detection = tree.detect();
    let a = detection.suggestions.iter().find(|found| found.path.ends_with("a")).unwrap();
    assert!(a.reasons.len() <= 64);
}
