//! `roots detect`: its text and JSON output, and that it changes nothing.

use serde_json::Value;

use crate::stage::{Stage, assert_told};

/// A typical source directory.
fn stage() -> Stage {
    let stage = Stage::new();
    for (path, text) in [
        ("home/src/app/.git/HEAD", "ref: refs/heads/main\n"),
        ("home/src/app/Cargo.toml", "[workspace]\nmembers = ['crates/*']\n"),
        ("home/src/app/crates/core/Cargo.toml", "[package]\nname = 'app-core'\n"),
        ("home/src/app/crates/broken/Cargo.toml", "[package\n"),
        ("home/src/site/package.json", r#"{"name": "@me/site"}"#),
        ("home/src/site/node_modules/react/package.json", r#"{"name": "react"}"#),
        (
            "home/src/all.code-workspace",
            r#"{"folders": [{"path": "site"}, {"path": "/srv/elsewhere"}, {"path": "~/.ssh"}]}"#,
        ),
        ("home/src/odd/package.json", r#"{"name": "a\u202eb"}"#),
        ("home/deep/a/b/c/go.mod", "module example.org/deep\n"),
        ("home/empty/file", ""),
    ] {
        stage.write(path, text);
    }
    stage
}

#[test]
fn what_people_see() {
    let stage = stage();
    assert_told!(
        "roots_detect",
        stage,
        ["roots", "detect", "~/src"],
        ["roots", "detect", "--depth", "1", "~/deep"],
        ["roots", "detect", "../home/deep/a/b", "~/src/site"],
        ["roots", "detect"],
        ["roots", "detect", "~/empty"],
        ["roots", "detect", "~/gone"],
        ["roots", "detect", "~/empty/file"],
        ["roots", "detect", "--depth", "few"],
    );
}

#[test]
fn what_programs_see() {
    let stage = stage();
    assert_told!("roots_detect_json", stage, ["roots", "detect", "--json", "~/src"]);
    let run = stage.run(["roots", "detect", "--json", "--depth", "0", "~/empty"]);
    assert_eq!((run.code, run.stderr.as_str()), (Some(1), ""));
    let answer: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(answer["suggestions"], Value::Array(Vec::new()));
}

#[test]
fn detect_changes_nothing() {
    let stage = stage();
    assert_eq!(stage.run(["roots", "detect", "~/src"]).code, Some(0));
    let left: Vec<_> = std::fs::read_dir(stage.path("home")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left.len(), 3, "{left:?}");
    assert_eq!(stage.run(["check", "~/src/app/Cargo.toml"]).code, Some(1));
}

#[test]
fn closed_places_stay_closed() {
    let stage = stage().with_settings("restrict = [{ pattern = 'site' }]");
    let run = stage.run(["roots", "detect", "~/src"]);
    assert!(run.stdout.contains("app-core") && !run.stdout.contains("@me/site"), "{}", run.stdout);
    assert_eq!(stage.run(["roots", "detect", "~/.config/rootward"]).code, Some(2));
}
