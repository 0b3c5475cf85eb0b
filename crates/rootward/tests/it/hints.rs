//! Hints: each suggests a fix that fits the origin of the roots.

use std::os::unix::fs::symlink;

use crate::stage::{Stage, assert_told};

#[test]
fn without_any_root() {
    let only = || Stage::new().with("ROOTWARD_FALLBACK_ONLY", "1");
    assert_told!("hint_fallback_only", only().with("ROOTWARD_ROOTS", "/srv"), ["check", "README.md"]);
    let strict = Stage::new().with_settings("strict = true\nfallback_dir = '[STAGE]/project'");
    assert_told!("hint_strict", strict, ["check", "README.md"]);
    let typo = Stage::new().with("ROOTWARD_ROOT", "/srv");
    assert_told!("hint_unknown_variable", typo, ["check", "README.md"]);
}

#[test]
fn more_access() {
    let write = ["check", "--access", "execute", "README.md"];
    let stage = Stage::new();
    let project = stage.path("project");
    assert_told!("hint_access_environment", stage.with("ROOTWARD_ROOTS", project), write);
    assert_told!("hint_access_file", Stage::new().with_settings("roots = ['[STAGE]/project']"), write);
    let stage = Stage::new();
    let project = stage.path("project");
    assert_told!("hint_access_fallback", stage.with("ROOTWARD_FALLBACK_DIR", project), write);
    let stage = Stage::new();
    stage.write("project/my app/x", "");
    stage.write("home/it's/x", "");
    symlink("src", stage.path("project/again")).unwrap();
    assert_told!(
        "hint_access_flag",
        stage,
        ["check", "--access", "execute", "--root", "my app", "my app/x"],
        ["check", "--access", "execute", "--root", "~/it's", "~/it's/x"],
        ["check", "--access", "write", "--root", "src:rw", "--root", "again:ro", "src/main.rs"],
        ["check", "--access", "write", "--root", "src/../src:rw", "--root", "src:ro", "--root", "docs", "src/main.rs"],
        ["check", "--access", "write", "--root", "src:ro", "--root", "docs", "--root", "docs", "src/main.rs"],
    );
}

#[test]
fn closed_places() {
    let ask = ["check", ".ssh/key"];
    let stage = Stage::new();
    let project = stage.path("project");
    assert_told!("hint_closed_environment", stage.with("ROOTWARD_ROOTS", project), ask);
    assert_told!("hint_closed_file", Stage::new().with_settings("roots = ['[STAGE]/project']"), ask);
    assert_told!("hint_closed_fallback", Stage::new().with_settings("fallback_dir = '[STAGE]/project'"), ask);
    let stage = Stage::new().with_settings("restrict = [{ pattern = '*.md' }, { pattern = 'src/rootward' }]");
    stage.write("project/src/rootward/x", "");
    assert_told!(
        "hint_closed_flag",
        stage,
        ["check", "--root", "~", "--access", "write", "~/.bashrc"],
        ["check", "--root", ".", "src/rootward/x"],
        ["check", "--root", "~", "~/.config/rootward/config.toml", "~/.local/state/rootward/audit"],
    );
}

#[test]
fn mistyped_suffixes() {
    let stage = Stage::new();
    assert_told!(
        "hint_suffix",
        stage,
        ["check", "--root", "src:RO", "src/main.rs"],
        ["check", "--root", "src:add", "src/main.rs"],
        ["check", "--root", "src:rww", "--root", "gone:RO", "--root", ".", "src/main.rs"],
    );
}
