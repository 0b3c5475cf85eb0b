//! `roots watch`: live, as text and as JSON, and how it ends.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::symlink;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::Value;

use super::{STORE, stage_with, stored};
use crate::stage::Stage;

/// Far longer than anything that a test waits for.
const LIMIT: Duration = Duration::from_mins(1);

const ONE: &str = "version = 1\n[[root]]\npath = '[STAGE]/project/src'\naccess = 'ro'\nname = 'source'\n";

/// A running command, and a thread that reads its output.
struct Reader {
    child: Child,
    lines: Receiver<String>,
}

impl Reader {
    fn begin(command: &mut Command) -> Reader {
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || output.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        Reader { child, lines }
    }

    fn line(&self) -> String {
        self.lines.recv_timeout(LIMIT).unwrap()
    }

    fn object(&self) -> Value {
        serde_json::from_str(&self.line()).unwrap()
    }

    fn signal(&self, signal: &str) {
        let number = self.child.id().to_string();
        assert!(Command::new("kill").args([&format!("-{signal}"), &number]).status().unwrap().success());
    }

    fn code(&mut self) -> Option<i32> {
        self.child.wait().unwrap().code()
    }
}

impl Drop for Reader {
    /// A failed test leaves no process behind.
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Replaces the store atomically.
fn replace(stage: &Stage, text: &str) {
    let text = text.replace("[STAGE]", stage.top().to_str().unwrap());
    stage.write("home/.config/rootward/other", &text);
    fs::rename(stage.path("home/.config/rootward/other"), stage.path(STORE)).unwrap();
}

#[test]
fn changes_are_shown_as_text() {
    let stage = stage_with(ONE);
    let mut reader = Reader::begin(&mut stage.command(["roots", "watch"]));
    // The current state, and that change notifications work.
    let mut told: Vec<String> = (0..7).map(|_| reader.line()).collect();
    let mut next = |count: usize| told.extend((0..count).map(|_| reader.line()));
    let (root, aside) = (stage.path("project/src"), stage.path("project/aside"));
    fs::rename(&root, &aside).unwrap();
    next(1);
    symlink(stage.path("outside"), &root).unwrap();
    next(1);
    fs::remove_file(&root).unwrap();
    fs::rename(&aside, &root).unwrap();
    next(1);
    assert_eq!(stage.run(["roots", "add", "docs", "--for", "git", "--yes"]).code, Some(0));
    next(1);
    let text = stored(&stage);
    replace(&stage, &text.replace("access = 'ro'", "access = 'rw'\nrestrict = [{ pattern = '*.pem' }]"));
    next(1);
    replace(&stage, "version = 1\n[[root]]\npath = 1\n");
    next(1);
    replace(&stage, ONE);
    next(3);
    fs::remove_file(stage.path(STORE)).unwrap();
    next(1);
    reader.signal("INT");
    assert_eq!(reader.code(), Some(0));
    let told: String = told.iter().map(|line| line.trim_end().to_owned() + "\n").collect();
    let told = told.replace(stage.top().to_str().unwrap(), "[STAGE]");
    let filters = vec![(r"(?m)^\d\d:\d\d:\d\d  ", "[TIME]  ")];
    insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => false, filters => filters }, {
        insta::assert_snapshot!("roots_watch", told);
    });
}

#[test]
fn for_programs() {
    let stage = stage_with(ONE);
    let mut reader = Reader::begin(&mut stage.command(["roots", "watch", "--json"]));
    let all = reader.object();
    let listed: Value = serde_json::from_str(&stage.run(["roots", "list", "--json"]).stdout).unwrap();
    assert_eq!((&all["file"], &all["roots"]), (&listed["file"], &listed["roots"]));
    let expect = (&"state".into(), &1.into(), &"events".into(), &Value::Null);
    assert_eq!((&all["event"], &all["version"], &all["watching"]["by"], &all["trouble"]), expect);
    fs::remove_dir_all(stage.path("project/src")).unwrap();
    let gone = reader.object();
    let root = &gone["root"];
    assert_eq!((&gone["event"], &gone["version"]), (&"missing".into(), &2.into()));
    assert_eq!((&root["state"], &root["reason"]), (&"missing".into(), &"does not exist".into()));
    replace(&stage, "version = 1\n[[root]]\npath = 1\n");
    let damaged = reader.object();
    assert_eq!((&damaged["event"], &damaged["line"], &damaged["column"]), (&"damaged".into(), &3.into(), &8.into()));
    replace(&stage, "version = 1\n");
    assert_eq!(reader.object()["event"], "repaired");
    let removed = reader.object();
    assert_eq!((&removed["event"], &removed["root"]["name"]), (&"removed".into(), &"source".into()));
    reader.signal("TERM");
    assert_eq!(reader.code(), Some(0));
}

#[test]
fn a_store_that_cannot_be_read_from_the_start() {
    let stage = stage_with("version = 1\n[[root]]\npath = 1\n");
    let mut reader = Reader::begin(&mut stage.command(["roots", "watch"]));
    let damaged = reader.line();
    let expect = "line 3, column 8: expected a string, found integer `1`; no program starts until it can be read";
    assert!(damaged.contains("  damaged      saved roots `") && damaged.ends_with(expect), "{damaged}");
    assert!(reader.line().contains("  watching  "));
    replace(&stage, ONE);
    assert!(reader.line().contains("  repaired  "));
    assert!(reader.line().ends_with("(source; read), for all clients"));
    reader.signal("HUP");
    assert_eq!(reader.code(), Some(0));
}

/// It notices that the reader is gone even if nothing changes.
#[test]
fn it_ends_when_nobody_reads() {
    let stage = stage_with(ONE);
    let mut command = stage.command(["roots", "watch"]);
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    output.read_line(&mut String::new()).unwrap();
    drop(output);
    let (sender, ended) = channel();
    std::thread::spawn(move || sender.send(child.wait().unwrap().code()));
    assert_eq!(ended.recv_timeout(LIMIT).unwrap(), Some(0));
}

/// In its own namespace, where a user may watch only three directories.
#[test]
fn a_system_without_free_watches() {
    let stage = stage_with(ONE);
    let mut command = Command::new("unshare");
    let limited = "echo 3 > /proc/sys/user/max_inotify_watches && exec \"$0\" roots watch --json";
    command.args(["--user", "--map-root-user", "sh", "-c", limited, env!("CARGO_BIN_EXE_rootward")]);
    command.env("HOME", stage.path("home"));
    let mut reader = Reader::begin(&mut command);
    let watching = &reader.object()["watching"];
    assert_eq!(watching["by"], "polling");
    let reason = watching["reason"].as_str().unwrap();
    assert!(reason.contains("cannot be watched (the system's limit for this user is reached)"), "{reason}");
    fs::remove_dir_all(stage.path("project/src")).unwrap();
    assert_eq!(reader.object()["event"], "missing");
    reader.signal("TERM");
    assert_eq!(reader.code(), Some(0));
}
