//! A server that fills the disk of its home: its calls fail with the reason, and Rootward loses none of its own data.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};

use rootward_testkit::client::Client;
use serde_json::json;

use super::scene::{Says, Scene, begin};

/// The size of the disk, in bytes.
const SIZE: usize = 1 << 20;

const STATE: &str = "home/.local/state";

/// The state directory on a small separate disk, in a namespace that several commands enter in turn.
struct Disk<'s> {
    scene: &'s Scene,
    /// Keeps the namespace until its input is closed.
    keeper: Child,
}

impl Disk<'_> {
    fn mount(scene: &Scene) -> Disk<'_> {
        fs::create_dir_all(scene.path(STATE)).unwrap();
        let script = format!("mount -t tmpfs -o size={SIZE} none \"$0\" && echo mounted && exec cat");
        let mut keeper = Command::new("unshare");
        keeper.args(["--map-root-user", "--mount", "sh", "-c", &script]).arg(scene.path(STATE));
        let mut keeper = keeper.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(keeper.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "mounted\n");
        Disk { scene, keeper }
    }

    /// The same command, with that disk.
    fn enter(&self, command: &Command) -> Command {
        let mut entered = Command::new("nsenter");
        entered.args(["--target", &self.keeper.id().to_string(), "--user", "--mount", "--preserve-credentials"]);
        entered.args(["--", "sh", "-c", "cd \"$0\" && exec \"$@\""]).arg(command.get_current_dir().unwrap());
        entered.arg(command.get_program()).args(command.get_args());
        self.scene.alone(&mut entered);
        entered
    }

    fn wrap(&self) -> Command {
        let project = self.scene.text("project");
        self.enter(&self.scene.wrap(&["--treat", "write_file.path=text", "--root", &project]))
    }

    fn start(&self) -> Client {
        begin(self.wrap().stderr(Stdio::piped()), Says::Nothing, &[])
    }

    fn run(&self, words: &[&str]) -> Output {
        self.enter(&self.scene.rootward(words)).output().unwrap()
    }

    /// A place on the disk, as the test sees it.
    fn seen(&self, below: &str) -> PathBuf {
        let path = self.scene.path(STATE).join(below);
        PathBuf::from(format!("/proc/{}/root", self.keeper.id())).join(path.strip_prefix("/").unwrap())
    }
}

impl Drop for Disk<'_> {
    fn drop(&mut self) {
        drop(self.keeper.stdin.take());
        let _ = self.keeper.wait();
    }
}

#[test]
fn a_server_that_fills_its_home_takes_nothing_of_rootwards() {
    let scene = Scene::new();
    let disk = Disk::mount(&scene);
    let mut client = disk.start();
    let read = |client: &mut Client| client.call("read", json!({"path": "file.txt"}))["result"].clone();
    assert_eq!(read(&mut client)["content"][0]["text"], "project");
    let home: String = serde_json::from_str(&client.text("variable", json!({"name": "HOME"}))).unwrap();
    let record = fs::read(disk.seen("rootward/given-for-writing")).unwrap();
    let write = |client: &mut Client, name: &str| {
        let content = "x".repeat(2 * SIZE);
        client.text("write_file", json!({"path": format!("{home}/{name}"), "content": content}))
    };
    assert_eq!(write(&mut client, "large"), "failed: No space left on device");
    // Some lines may still fit into the last block of the log.
    let refused = (0..64).map(|_| read(&mut client)).find(|result| result["isError"] == true);
    let refused = refused.expect("the disk is larger than it should be");
    assert_eq!(refused["structuredContent"]["code"], "audit_unavailable", "{refused}");
    for _ in 0..3 {
        assert_eq!(read(&mut client)["structuredContent"]["code"], "audit_unavailable");
    }
    // A call without a path needs no audit entry.
    assert_eq!(client.text("echo", json!({"number": 7})), r#"{"number": 7}"#);
    let (code, says) = client.end_with_errors();
    assert_eq!(code, Some(0), "{says}");
    let warnings = says.matches("cannot be written: no space left on device; calls with paths are refused").count();
    assert_eq!(warnings, 1, "{says}");

    // The next server starts, too, and is refused all paths for the same reason.
    let mut client = disk.start();
    assert_eq!(read(&mut client)["structuredContent"]["code"], "audit_unavailable");
    let (code, says) = client.end_with_errors();
    assert_eq!(code, Some(0), "{says}");
    assert!(says.contains("cannot be written: no space left on device"), "{says}");

    // As documented: the user can remove what a server keeps.
    assert_eq!(fs::read(disk.seen("rootward/given-for-writing")).unwrap(), record);
    fs::remove_dir_all(disk.seen("rootward/homes")).unwrap();
    let mut client = disk.start();
    assert_eq!(read(&mut client)["content"][0]["text"], "project");
    assert_eq!(client.end_with_errors().0, Some(0));
    assert_eq!(fs::read(disk.seen("rootward/given-for-writing")).unwrap(), record);
    let verified = disk.run(&["audit", "verify"]);
    assert_eq!(verified.status.code(), Some(0), "{verified:?}");
    let shown = String::from_utf8(disk.run(&["audit", "show"]).stdout).unwrap();
    let first = shown.lines().next().unwrap_or_default();
    assert!(first.contains("allow") && first.contains("`file.txt`"), "{shown}");
    assert!(shown.lines().count() >= 2, "{shown}");
}

#[test]
fn a_server_that_makes_many_small_files_does_no_more_harm() {
    let scene = Scene::new();
    let disk = Disk::mount(&scene);
    let mut client = disk.start();
    let home: String = serde_json::from_str(&client.text("variable", json!({"name": "HOME"}))).unwrap();
    let write = |client: &mut Client, number: usize| {
        client.text("write_file", json!({"path": format!("{home}/{number}"), "content": "x".repeat(2000)}))
    };
    let filled = (0..2 * SIZE / 2000).find(|number| write(&mut client, *number) != "written");
    assert!(filled.is_some(), "the disk is larger than it should be");
    client.end_with_errors();
    fs::remove_dir_all(disk.seen("rootward/homes")).unwrap();
    let mut client = disk.start();
    assert_eq!(client.text("read", json!({"path": "file.txt"})), "project");
    assert_eq!(write(&mut client, 0), "written", "it has a home again");
    assert_eq!(client.end_with_errors().0, Some(0));
    assert_eq!(disk.run(&["audit", "verify"]).status.code(), Some(0));
}
