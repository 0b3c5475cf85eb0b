//! `explain`: each kind of path, step by step.

use crate::stage::{Stage, assert_told};

#[test]
fn allowed() {
    let stage = Stage::new();
    assert_told!(
        "explain_allowed",
        stage,
        ["explain", "--root", ".", "README.md"],
        ["explain", "--root", ".", "absolute"],
        ["explain", "--root", "..", "linked/../secret"],
        ["explain", "--root", ".", "missing"],
        ["explain", "--root", ".", "README.md/below"],
        ["explain", "--root", ".", ".git/hooks/pre-commit"],
        ["explain", "--root", "~", "~/notes", "--access", "read,write"],
        ["explain", "--root", "src", "--root", "docs:ro", "--base", "src", "../docs"],
    );
}

#[test]
fn denied() {
    let stage = Stage::new();
    assert_told!(
        "explain_denied",
        stage,
        ["explain", "--root", ".", "leak/secret"],
        ["explain", "--root", ".", "linked/../secret"],
        ["explain", "--root", ".", "/etc/passwd"],
        ["explain", "--root", ".", "--root", "../home", "file:///etc/passwd"],
        ["explain", "--root", ".", "--access", "write", ".git/hooks/pre-commit"],
        ["explain", "--root", ".", ".ssh/key"],
        ["explain", "--root", ".:ro", "--access", "write", "README.md"],
        ["explain", "--root", ".", "~other"],
        ["explain", "--root", ".", "http://example.com/x"],
        ["explain", "--root", ".", "C:\\Users\\me"],
        ["explain", "--root", ".", "fifo"],
        ["explain", "--root", ".", "--access", "delete", "."],
        ["explain", "--root", ".", "loop"],
        ["explain", "README.md"],
    );
}

#[test]
fn json() {
    let stage = Stage::new();
    assert_told!(
        "explain_json",
        stage,
        ["explain", "--json", "--root", ".", "absolute"],
        ["explain", "--json", "--root", ".", "--access", "write", ".git/hooks/pre-commit"],
        ["explain", "--json", "--root", ".", "C:\\x"],
    );
}
