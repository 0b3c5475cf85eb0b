//! What a process other than the command itself may read about itself in `/proc`, and that it learns nothing about
//! others from it.

use std::ffi::OsString;
use std::fs;

use serde_json::{Value, json};

use crate::scene::{Run, Scene, root, run, stage};

/// What every process may read; `OWN`, `THREAD` and `PARENT` are placeholders for ids.
const OWN: [&str; 14] = [
    "/proc/self/maps",
    "/proc/self/smaps_rollup",
    "/proc/self/stat",
    "/proc/self/statm",
    "/proc/self/status",
    "/proc/self/cmdline",
    "/proc/self/comm",
    "/proc/self/limits",
    "/proc//self/./oom_score_adj",
    "/proc/OWN/stat",
    "/proc/thread-self/stat",
    "/proc/self/task/THREAD/status",
    "/proc/self/fd/",
    "/proc/OWN/task",
];

/// Files that a process may not open, not even its own.
const CLOSED: [&str; 10] = [
    "/proc/self/mem",
    "/proc/self/environ",
    "/proc/self/root",
    "/proc/self/map_files",
    "/proc/self/ns",
    "/proc/self/mountinfo",
    "/proc/self/net",
    "/proc/self/fdinfo",
    "/proc/self/task/THREAD/mem",
    "/proc/self",
];

fn spec(scene: &Scene, own_proc: &str) -> Value {
    json!({"roots": [root(&scene.path("inside"), "rw")], "own_proc": own_proc})
}

/// Runs an act in a grandchild of the command, because the rules let every process read the command's own files.
fn in_child<A: Into<OsString>>(spec: &Value, act: impl IntoIterator<Item = A>) -> Run {
    let words = [stage().into(), "own".into(), "child".into(), "child".into()]
        .into_iter()
        .chain(act.into_iter().map(Into::into));
    let run = run(spec, words);
    assert_eq!(run.code, Some(0), "{run:?}");
    run
}

fn read(paths: &[&str]) -> Vec<String> {
    ["read"].iter().chain(paths).map(|word| (*word).to_owned()).collect()
}

/// Checks that every line reports a refusal.
#[track_caller]
fn assert_refused(run: &Run, count: usize) {
    assert_eq!(run.out.lines().count(), count, "{run:?}");
    for line in run.out.lines() {
        let number = line.rsplit_once(": error ").map(|(_, number)| number);
        // Landlock refuses; an id that is not one of its threads does not exist below its own directory.
        assert!(matches!(number, Some("13" | "1" | "2")), "{line}: {run:?}");
    }
}

#[test]
fn every_process_reads_about_itself_if_asked_for() {
    let scene = Scene::new();
    let run = in_child(&spec(&scene, "every"), read(&OWN));
    let lines: Vec<&str> = run.out.lines().collect();
    assert_eq!(lines.len(), OWN.len(), "{run:?}");
    assert!(!lines.iter().any(|line| line.contains(": error ")), "{lines:#?}");
    for (line, expect) in [(2, "OWN"), (9, "OWN"), (12, "listed"), (13, "listed")] {
        assert!(lines[line].ends_with(&format!(": {expect}")), "{lines:#?}");
    }
    // The control: without the option, only the command itself reads about itself.
    assert_refused(&in_child(&spec(&scene, "first"), read(&OWN)), OWN.len());
}

#[test]
fn the_command_itself_reads_the_same() {
    let scene = Scene::new();
    let words = [stage().into_os_string(), "own".into()].into_iter();
    let run = run(&spec(&scene, "every"), words.chain(read(&OWN).into_iter().map(OsString::from)));
    assert!(run.code == Some(0) && !run.out.contains(": error "), "{run:?}");
}

#[test]
fn a_process_gets_nothing_of_another() {
    let scene = Scene::new();
    let mut paths: Vec<String> = Vec::new();
    // The parent is confined in the same way; the victim and the first process are not.
    for other in ["PARENT".to_owned(), scene.victim().to_string(), "1".to_owned()] {
        for name in ["maps", "stat", "status", "mem", "environ", "cmdline", "auxv", "fd", "task", "smaps"] {
            paths.push(format!("/proc/{other}/{name}"));
        }
        paths.extend(["stat", "comm", "maps"].map(|name| format!("/proc/{other}/task/{other}/{name}")));
        paths.push(format!("/proc/self/task/{other}/maps"));
        paths.push(format!("/proc/self/../{other}/maps"));
    }
    let words: Vec<&str> = paths.iter().map(String::as_str).collect();
    assert_refused(&in_child(&spec(&scene, "every"), read(&words)), paths.len());
}

#[test]
fn a_process_gets_nothing_else_of_its_own() {
    let scene = Scene::new();
    assert_refused(&in_child(&spec(&scene, "every"), read(&CLOSED)), CLOSED.len());
}

#[test]
fn a_process_changes_nothing_of_its_own_in_proc() {
    let scene = Scene::new();
    let paths = ["/proc/self/comm", "/proc/self/oom_score_adj", "/proc/self/maps", "/proc/self/limits"];
    assert_refused(&in_child(&spec(&scene, "every"), [&["change"][..], &paths].concat()), paths.len());
}

#[test]
fn the_list_of_open_files_opens_nothing() {
    let mut scene = Scene::new();
    let act = [OsString::from("around"), scene.path("outside").into()];
    let run = in_child(&spec(&scene, "every"), act);
    let (own, refused): (Vec<&str>, Vec<&str>) = run.out.lines().partition(|line| line.contains("from the top"));
    assert_eq!(own, ["self/fd/ from the top: listed", "the top from the top: listed"], "{run:?}");
    assert_eq!(refused.len(), 13, "{run:?}");
    for line in refused {
        assert!(line.ends_with(": error 13") || line.ends_with(": error 2"), "{line}: {run:?}");
    }
    scene.assert_untouched();
}

#[test]
fn the_descriptor_is_as_it_was_asked_for() {
    let scene = Scene::new();
    let run = in_child(&spec(&scene, "every"), ["flags"]);
    let expect = "kept: Some(0)\nclosed: Some(1)\nonly for reading: true\nnot a directory: Some(20)\nno descriptors left: Some(24)\n";
    assert_eq!(run.out, expect, "{run:?}");
}

#[test]
fn many_threads_each_get_their_own() {
    let scene = Scene::new();
    assert_eq!(in_child(&spec(&scene, "every"), ["threads"]).out, "3200 of 3200\n");
}

#[test]
fn a_path_that_is_swapped_opens_nothing_else() {
    let scene = Scene::new();
    let victim = format!("/proc/{}/environ", scene.victim());
    for other in [scene.path("outside/secret.txt").into_os_string(), victim.into()] {
        let run = in_child(&spec(&scene, "every"), ["swap".into(), other]);
        assert_eq!(run.out, "opened its own: true\ngained 0\n", "{run:?}");
    }
}

#[test]
fn callers_that_are_killed_do_no_harm() {
    let scene = Scene::new();
    assert_eq!(in_child(&spec(&scene, "every"), ["killed"]).out, "true\n");
}

#[test]
fn a_process_that_hides_its_memory_still_opens_files() {
    let scene = Scene::new();
    let file = scene.path("inside/file.txt");
    fs::write(&file, "hello").unwrap();
    let traced = json!({"roots": [root(&scene.path("inside"), "rw")], "trace": true});
    for spec in [spec(&scene, "every"), traced] {
        let run = in_child(&spec, [OsString::from("hidden"), file.clone().into()]);
        assert!(run.out.contains("hello\n"), "{run:?}");
    }
}

/// The trace reports a read that only tracing allowed, with the flag that always allows it.
#[test]
fn a_trace_reports_which_files_need_own_proc() {
    let scene = Scene::new();
    let mut spec = spec(&scene, "first");
    spec["trace"] = json!(true);
    let run = in_child(&spec, read(&["/proc/self/stat", "/proc/self/mountinfo", "/proc/PARENT/maps"]));
    assert!(run.out.contains("/proc/self/stat: OWN\n"), "{run:?}");
    assert!(run.out.contains("refused read /proc/self/stat: --own-proc\n"), "{run:?}");
    assert!(run.out.contains("refused read /proc/self/mountinfo: nothing\n"), "{run:?}");
    let parent =
        run.out.lines().find(|line| line.starts_with("refused read /proc/") && line.ends_with("/maps: nothing"));
    assert!(parent.is_some_and(|line| !line.contains("self")), "{run:?}");
    spec["own_proc"] = json!("every");
    let run = in_child(&spec, read(&["/proc/self/stat"]));
    assert!(!run.out.contains("refused read /proc/self/stat"), "{run:?}");
}
