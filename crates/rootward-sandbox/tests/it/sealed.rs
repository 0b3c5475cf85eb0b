//! A part of a program in a separate process that cannot open files.

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::process::Command;

use crate::scene::stage;

fn tried(command: &mut Command) -> BTreeMap<String, String> {
    let output = command.env("A_SECRET", "of a server").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    text.lines().filter_map(|line| line.split_once(' ')).map(|(what, how)| (what.to_owned(), how.to_owned())).collect()
}

#[test]
fn a_sealed_process_has_what_it_was_given_and_nothing_else() {
    let scratch = tempfile::tempdir().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let sealed = tried(Command::new(stage()).arg("sealed").arg(scratch.path()));
    let free = tried(Command::new(stage()).arg("sealed-inside").arg(scratch.path()).args([&*address, "0"]));
    for what in ["read", "list", "write", "run", "connect", "listen", "signal", "inherited", "variables"] {
        assert_eq!((free[what].as_str(), sealed[what].as_str()), ("done", "refused"), "{what}");
    }
}
