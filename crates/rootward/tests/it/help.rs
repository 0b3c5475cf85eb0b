//! Help texts, and messages about wrong use.

use crate::stage::{Stage, assert_told};

#[test]
fn help_of_each_verb() {
    let stage = Stage::new();
    assert_told!("help", stage, ["--help"], ["--version"]);
    assert_told!("help_adopt", stage, ["adopt", "--help"]);
    assert_told!("help_check", stage, ["check", "--help"]);
    assert_told!("help_explain", stage, ["explain", "--help"]);
    assert_told!("help_sandbox", stage, ["sandbox", "--help"]);
    assert_told!("help_serve", stage, ["serve", "--help"]);
    assert_told!("help_wrap", stage, ["wrap", "--help"]);
    assert_told!(
        "help_audit",
        stage,
        ["audit", "--help"],
        ["audit", "show", "--help"],
        ["audit", "tail", "--help"],
        ["audit", "verify", "--help"],
    );
    assert_told!(
        "help_roots",
        stage,
        ["roots", "--help"],
        ["roots", "detect", "--help"],
        ["roots", "pick", "--help"],
        ["roots", "list", "--help"],
        ["roots", "add", "--help"],
        ["roots", "remove", "--help"],
        ["roots", "rename", "--help"],
        ["roots", "grant", "--help"],
        ["roots", "import", "--help"],
        ["roots", "watch", "--help"],
    );
    assert_told!("help_cache", stage, ["cache", "--help"], ["cache", "list", "--help"], ["cache", "clean", "--help"],);
    assert_told!("help_doctor", stage, ["doctor", "--help"]);
}

#[test]
fn wrong_use() {
    let stage = Stage::new();
    assert_told!(
        "wrong_use",
        stage,
        ["check"],
        ["check", "--access", "fly", "README.md"],
        ["check", "--stdin", "README.md"],
        ["explain"],
        ["audit", "show", "--last", "few"],
        ["chekc"],
    );
}
