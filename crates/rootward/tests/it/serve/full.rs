//! A full disk: a file system of a few MiB, mounted in a private namespace.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use rootward_testkit::client::Client;
use serde_json::json;

use crate::place::{Place, begin};

/// The size of the disk.
const SIZE: usize = 2 << 20;

/// A server with a separate disk at `place/below`. The test reaches its files only through `/proc`.
fn serve_with_disk(place: &Place, below: &str, roots: &[&str]) -> Client {
    let script = format!(
        "mount -t tmpfs -o size={SIZE} none \"$DISK\" && mkdir -p \"$DISK/audit\" && exec \"$ROOTWARD\" serve {}",
        roots.join(" ")
    );
    fs::create_dir_all(place.path(below)).unwrap();
    let mut command = Command::new("unshare");
    command.args(["--map-root-user", "--mount", "sh", "-c", &script]);
    place.alone(&mut command);
    command.env("DISK", place.path(below)).env("ROOTWARD", env!("CARGO_BIN_EXE_rootward"));
    begin(&mut command, json!({}))
}

/// A path as the server sees it.
fn seen(client: &Client, place: &Place, below: &str) -> PathBuf {
    let path = place.path(below);
    PathBuf::from(format!("/proc/{}/root", client.line.child.id())).join(path.strip_prefix("/").unwrap())
}

fn names(directory: &PathBuf) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_full_disk_leaves_every_file_as_it_was() {
    let place = Place::new();
    let mut client = serve_with_disk(&place, "disk", &["disk", "root"]);
    let disk = seen(&client, &place, "disk");
    let lines = "line\n".repeat(1 << 16);
    client.says("write_file", json!({"path": "old.txt", "content": lines}));
    fs::write(place.path("root/large"), "x".repeat(SIZE)).unwrap();
    let before = names(&disk);
    let (large, source) = ("x".repeat(SIZE), place.text("root/large"));
    let edits: Vec<_> = (0..40).map(|_| json!({"oldText": "line\n", "newText": "y".repeat(SIZE / 20)})).collect();
    for (tool, arguments) in [
        ("write_file", json!({"path": "old.txt", "content": large})),
        ("write_file", json!({"path": "new.txt", "content": large})),
        ("append_file", json!({"path": "old.txt", "content": large})),
        ("edit_file", json!({"path": "old.txt", "edits": edits})),
        ("copy_file", json!({"source": source, "destination": "copy"})),
        ("move_file", json!({"source": source, "destination": "moved"})),
    ] {
        let said = client.why(tool, arguments);
        assert!(said.contains("was not changed: no space left on its disk"), "{tool}: {said}");
        assert_eq!(names(&disk), before, "{tool}");
        assert!(fs::read_to_string(disk.join("old.txt")).unwrap() == lines, "{tool}");
    }
    assert_eq!(fs::metadata(place.path("root/large")).unwrap().len(), SIZE as u64);
    // The control: a write that fits succeeds.
    client.says("append_file", json!({"path": "old.txt", "content": "end"}));
    client.says("write_file", json!({"path": "new.txt", "content": "new"}));
    assert_eq!(client.end(), Some(0));
}

#[test]
fn a_log_on_a_full_disk_closes_every_path_until_there_is_room() {
    let place = Place::new();
    fs::write(place.path("root/a.txt"), "a").unwrap();
    let mut client = serve_with_disk(&place, "home/.local/state", &["root:rwx"]);
    let state = seen(&client, &place, "home/.local/state");
    client.says("read_text_file", json!({"path": "a.txt"}));
    // The test fills the disk to the last byte.
    let filled = fs::write(state.join("filler"), vec![0; SIZE]);
    assert!(filled.is_err(), "the disk is larger than it should be");
    let calls = || {
        [
            ("read_text_file", json!({"path": "a.txt"})),
            ("list_directory", json!({"path": "."})),
            ("write_file", json!({"path": "b.txt", "content": "b"})),
            ("delete_file", json!({"path": "a.txt"})),
            ("move_file", json!({"source": "a.txt", "destination": "b.txt"})),
            ("shell", json!({"command": "touch ran"})),
        ]
    };
    // Some lines may still fit into the last block.
    for _ in 0..64 {
        client.result("get_file_info", json!({"path": "a.txt"}));
    }
    for (tool, arguments) in calls() {
        assert_eq!(client.why(tool, arguments), "audit_unavailable", "{tool}");
    }
    assert_eq!(names(&place.path("root")), ["a.txt"]);
    fs::remove_file(state.join("filler")).unwrap();
    client.says("read_text_file", json!({"path": "a.txt"}));
    // The entries that were written form a valid log.
    let log = fs::read_dir(state.join("rootward/audit")).unwrap().next().unwrap().unwrap().path();
    let kept = place.path("home/kept/rootward/audit");
    fs::create_dir_all(&kept).unwrap();
    fs::copy(&log, kept.join(log.file_name().unwrap())).unwrap();
    assert_eq!(client.end(), Some(0));
    let mut verify = place.rootward(&["audit", "verify"]);
    let verified = verify.env("XDG_STATE_HOME", place.path("home/kept")).output().unwrap();
    assert_eq!(verified.status.code(), Some(0), "{verified:?}");
}
