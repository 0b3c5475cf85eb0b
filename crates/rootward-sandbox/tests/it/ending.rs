//! When the command or the host ends, no process and no private directory is left.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::json;

use crate::scene::{Scene, host, root, run};

/// The processes whose command line contains this word.
fn with_mark(mark: &str) -> BTreeSet<i32> {
    let numbers = fs::read_dir("/proc").unwrap().flatten();
    let numbers = numbers.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let marked = |process: &i32| {
        fs::read(format!("/proc/{process}/cmdline")).is_ok_and(|line| String::from_utf8_lossy(&line).contains(mark))
    };
    numbers.filter(marked).collect()
}

/// Waits for something that must happen; the test runner stops a test that hangs.
fn until(mut seen: impl FnMut() -> bool) {
    while !seen() {
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A confined shell that has started more processes, one of them fully detached. Also returns the private home.
fn started(scene: &Scene, mark: &str) -> (Child, String) {
    let spec = json!({"roots": [root(&scene.path("inside"), "rw")]});
    // A grandchild in its own session whose parent has ended; one that keeps forking.
    let script = format!(
        "(setsid sh -c ': {mark}; sleep 1000; :' >/dev/null 2>&1 &) ; \
         sh -c ': {mark}; while :; do (sleep 0.01 &); done' >/dev/null 2>&1 & \
         echo $HOME; exec sh -c ': {mark}; sleep 1000; :'"
    );
    let mut child = host(&spec).args(["sh", "-c", &script]).stdout(Stdio::piped()).spawn().unwrap();
    let mut home = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut home).unwrap();
    until(|| with_mark(mark).len() >= 4);
    (child, home.trim().to_owned())
}

#[test]
fn killing_the_host_ends_all_and_nothing_else() {
    let mut scene = Scene::new();
    let mark = format!("mark-{}-host", scene.victim());
    let (mut child, home) = started(&scene, &mark);
    assert!(fs::metadata(&home).is_ok(), "the private home exists: {home}");
    child.kill().unwrap();
    child.wait().unwrap();
    until(|| with_mark(&mark).is_empty());
    until(|| fs::metadata(&home).is_err());
    scene.assert_untouched();
}

#[test]
fn ending_the_command_ends_its_descendants() {
    let scene = Scene::new();
    let mark = format!("mark-{}-command", scene.victim());
    let spec = json!({"roots": [root(&scene.path("inside"), "rw")]});
    let script = format!("(setsid sh -c ': {mark}; sleep 1000; :' >/dev/null 2>&1 &); sleep 0.2; echo $HOME; exit 9");
    let run = run(&spec, ["sh", "-c", &script]);
    assert_eq!(run.code, Some(9), "{run:?}");
    assert!(with_mark(&mark).is_empty(), "left behind");
    assert!(fs::metadata(run.out.trim()).is_err(), "the private home was left behind");
}

#[test]
fn signals_reach_the_command() {
    let scene = Scene::new();
    let spec = json!({"roots": [root(&scene.path("inside"), "rw")]});
    let script = "trap 'exit 42' TERM; echo ready; while :; do sleep 0.05; done";
    let mut child = host(&spec).args(["sh", "-c", script]).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n");
    assert!(Command::new("kill").arg(child.id().to_string()).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(42));
}

#[test]
fn exit_codes_and_signals_are_passed_on() {
    let scene = Scene::new();
    let spec = json!({"roots": [root(&scene.path("inside"), "rw")]});
    assert_eq!(run(&spec, ["sh", "-c", "exit 3"]).code, Some(3));
    assert_eq!(run(&spec, ["sh", "-c", "kill -TERM $$"]).code, Some(128 + 15));
    assert_eq!(run(&spec, ["no-such-command"]).code, Some(77));
}
