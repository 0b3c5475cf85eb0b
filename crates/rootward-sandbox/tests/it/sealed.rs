//! A part of a program in a process of its own that can open no file.

use std::collections::BTreeMap;
use std::process::Command;

use crate::scene::stage;

fn tried(how: &str) -> BTreeMap<String, String> {
    let scratch = tempfile::tempdir().unwrap();
    let output = Command::new(stage()).args(["sealed", how]).arg(scratch.path()).output().unwrap();
    let told = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{told}{}", String::from_utf8_lossy(&output.stderr));
    told.lines().filter_map(|line| line.split_once(' ')).map(|(what, how)| (what.to_owned(), how.to_owned())).collect()
}

#[test]
fn a_sealed_process_has_what_it_was_given_and_nothing_else() {
    let (on, off) = (tried("on"), tried("off"));
    for what in ["read", "list", "write", "run", "connect", "listen", "signal"] {
        assert_eq!((off[what].as_str(), on[what].as_str()), ("done", "refused"), "{what}");
    }
    // Closed either way.
    assert_eq!((on["inherited"].as_str(), off["inherited"].as_str()), ("refused", "refused"));
    assert_eq!(on["privileged"], "refused");
}
