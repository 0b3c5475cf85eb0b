//! A hostile client: every call is answered, memory stays bounded, and the session continues.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::sync::atomic::{AtomicBool, Ordering};

use rootward_testkit::client::Client;
use serde_json::{Value, json};

use crate::place::{Place, memory};

/// The limit for the peak memory of the process, in KiB. An idle debug build needs about 30,000.
const MOST_MEMORY: u64 = 512 << 10;

/// Checks that the process still answers, and that its memory is within the limit.
fn is_well(client: &mut Client, what: &str) {
    assert_eq!(client.says("read_text_file", json!({"path": "well"})), "well", "{what}");
    let memory = memory(client.line.child.id(), "VmHWM");
    assert!(memory < MOST_MEMORY, "{what}: {memory} KiB");
}

/// Hostile values in every argument of every tool.
#[test]
fn rubbish_in_any_place_is_answered() {
    let place = Place::new();
    fs::write(place.path("root/well"), "well").unwrap();
    fs::write(place.path("root/text"), "line\n".repeat(1000)).unwrap();
    let mut client = place.serve(&["root:rwx"]);
    client.says("list_directory", json!({"path": "."}));
    let list = client.ask("tools/list", json!({}));
    let mut nested = json!("x");
    for _ in 0..100 {
        nested = json!([nested]);
    }
    let values = [
        json!(null),
        json!(true),
        json!(-1),
        json!(0),
        json!(u64::MAX),
        json!(i64::MIN),
        json!(1e308),
        json!(-0.0),
        json!(0.5),
        json!("NaN"),
        json!(""),
        json!("\u{0}"),
        json!("a\nb\u{202e}\u{7f}"),
        json!("9".repeat(400)),
        json!("../".repeat(10_000)),
        json!("x".repeat(2 << 20)),
        json!("*".repeat(100_000)),
        json!("{a,b}".repeat(2_000)),
        json!("[".repeat(10_000)),
        json!("{".repeat(10_000)),
        json!("\\".repeat(9_999)),
        json!([]),
        json!({}),
        nested,
        json!(vec!["x"; 20_000]),
        json!(vec![Value::Null; 20_000]),
        json!(vec![json!({"oldText": "l", "newText": "ll"}); 20_000]),
        json!([{"oldText": "line", "newText": "x".repeat(1 << 20)}, {"oldText": "x", "newText": "y"}]),
        json!([{"oldText": "line\n".repeat(1000), "newText": ""}]),
        json!({"path": {"path": {}}}),
    ];
    let mut calls = 0;
    for tool in list["result"]["tools"].as_array().unwrap().clone() {
        let name = tool["name"].as_str().unwrap();
        let properties = tool["inputSchema"]["properties"].as_object().cloned().unwrap_or_default();
        let usual = |key: &str| match key {
            "paths" => json!(["text"]),
            "edits" => json!([{"oldText": "line", "newText": "line"}]),
            "command" => json!("true"),
            "source" | "path" if name.contains("director") || name.contains("search") => json!("."),
            "source" | "path" => json!("text"),
            "destination" => json!("copy"),
            "cwd" => json!("."),
            "pattern" => json!("**"),
            _ => json!("x"),
        };
        let required = tool["inputSchema"]["required"].as_array().cloned().unwrap_or_default();
        let base: Value =
            required.iter().map(|key| (key.as_str().unwrap().to_owned(), usual(key.as_str().unwrap()))).collect();
        for key in properties.keys() {
            for (number, value) in values.iter().enumerate() {
                let mut arguments = base.clone();
                arguments[key] = value.clone();
                let answer = client.ask("tools/call", json!({"name": name, "arguments": arguments}));
                assert!(answer["result"].is_object() || answer["error"].is_object(), "{name} {key} {number}");
                assert!(answer.to_string().len() < 48 << 20, "{name} {key} {number}");
                assert!(!answer.to_string().contains("failed unexpectedly"), "{name} {key} {number}: a panic");
                calls += 1;
            }
            is_well(&mut client, &format!("{name} {key}"));
            // Undo what the tools did.
            fs::write(place.path("root/text"), "line\n".repeat(1000)).unwrap();
            let _ = fs::remove_file(place.path("root/copy"));
        }
    }
    assert!(calls > 800, "{calls}");
    assert_eq!(fs::read_to_string(place.path("outside/secret.txt")).unwrap(), "SECRET");
    assert_eq!(client.end(), Some(0));
}

/// A tree deeper than any path may be, and odd names.
#[test]
fn odd_trees_are_shown_within_bounds() {
    let place = Place::new();
    fs::write(place.path("root/well"), "well").unwrap();
    fs::create_dir(place.path("root/odd")).unwrap();
    for name in ["a\nb", "[DIR] x", "\u{1b}[31m", "\u{202e}txt", "-rf", "*", "{", "[a", "\"quoted\"", "b\\"] {
        fs::write(place.path("root/odd").join(name), name).unwrap();
    }
    fs::write(place.path("root/odd").join(OsStr::from_bytes(b"\xff\xfe")), "").unwrap();
    symlink("loop", place.path("root/odd/loop")).unwrap();
    symlink(place.path("outside"), place.path("root/odd/out")).unwrap();
    // 1,500 directories of 20 letters: 30,000 bytes, but a path may have only 4,096.
    let script = "cd root && mkdir deep && cd deep && n=aaaaaaaaaaaaaaaaaaaa && i=0 && \
                  while [ $i -lt 1500 ]; do mkdir $n && cd -P ./$n || exit 1; i=$((i+1)); done; echo end > end";
    let mut made = std::process::Command::new("sh");
    place.alone(&mut made);
    assert!(made.args(["-c", script]).status().unwrap().success());
    let mut client = place.serve(&["root"]);
    let listed = client.says("list_directory", json!({"path": "odd"}));
    assert_eq!(listed.lines().count(), 13, "{listed}");
    assert!(listed.lines().all(|line| line.starts_with("[FILE] ")), "{listed}");
    for (tool, arguments) in [
        ("list_directory_with_sizes", json!({"path": "odd"})),
        ("directory_tree", json!({"path": "odd"})),
        ("search_files", json!({"path": "odd", "pattern": "**"})),
    ] {
        let says = client.says(tool, arguments);
        assert!(!says.contains("secret.txt"), "{says}");
        assert!(!says.contains('\u{1b}') || tool == "directory_tree", "{says}");
    }
    for (tool, arguments) in [
        ("directory_tree", json!({"path": "deep"})),
        ("search_files", json!({"path": "deep", "pattern": "**/end"})),
        ("search_files", json!({"path": "deep", "pattern": "**"})),
        ("delete_file", json!({"path": "deep"})),
        ("move_file", json!({"source": "deep", "destination": "moved"})),
        ("directory_tree", json!({"path": "moved"})),
    ] {
        client.result(tool, arguments);
        is_well(&mut client, tool);
    }
    assert_eq!(client.end(), Some(0));
    let mut gone = std::process::Command::new("rm");
    assert!(gone.arg("-rf").arg(place.path("root")).status().unwrap().success());
}

/// While it is read, a file grows, shrinks, and becomes a FIFO, a link and a directory in turn.
#[test]
fn a_file_that_keeps_changing_is_read_or_refused() {
    let place = Place::new();
    fs::write(place.path("root/well"), "well").unwrap();
    fs::write(place.path("root/file"), "inside\n".repeat(100_000)).unwrap();
    fs::create_dir(place.path("root/directory")).unwrap();
    symlink(place.path("outside/secret.txt"), place.path("root/link")).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(place.path("root/fifo")).status().unwrap().success());
    let long = std::env::var_os("ROOTWARD_LONG").is_some_and(|value| value == "1");
    let rounds = if long { 20_000 } else { 400 };
    let stop = AtomicBool::new(false);
    let mut answered = [0, 0];
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let [target, aside] = ["root/target", "root/aside"].map(|name| place.path(name));
            while !stop.load(Ordering::Relaxed) {
                for kind in ["file", "fifo", "link", "directory", "growing"] {
                    if kind == "growing" {
                        let _ = fs::write(&target, "a\n");
                        for size in [5 << 20, 9 << 20, 1, 3 << 20] {
                            let opened = fs::OpenOptions::new().write(true).open(&target);
                            let _ = opened.and_then(|file| file.set_len(size));
                        }
                        let _ = fs::remove_file(&target);
                        continue;
                    }
                    let _ = fs::rename(place.path("root").join(kind), &target);
                    std::thread::yield_now();
                    let _ = fs::rename(&target, &aside);
                    let _ = fs::rename(&aside, place.path("root").join(kind));
                }
            }
        });
        let mut client = place.serve(&["root"]);
        for round in 0..rounds {
            let (tool, arguments) = match round % 6 {
                0 => ("read_text_file", json!({"path": "target"})),
                1 => ("read_text_file", json!({"path": "target", "tail": 3})),
                2 => ("read_text_file", json!({"path": "target", "offset": 2, "limit": 3})),
                3 => ("read_media_file", json!({"path": "target"})),
                4 => ("read_multiple_files", json!({"paths": ["target", "target"]})),
                _ => ("copy_file", json!({"source": "target", "destination": format!("copy-{}", round % 2)})),
            };
            let result = client.result(tool, arguments);
            let text = result.to_string();
            assert!(!text.contains("SECRET") && !text.contains("failed unexpectedly"), "{tool}: {text}");
            answered[usize::from(result["isError"] == true)] += 1;
            let _ = fs::remove_file(place.path("root/copy-0"));
            let _ = fs::remove_file(place.path("root/copy-1"));
        }
        stop.store(true, Ordering::Relaxed);
        is_well(&mut client, "reading a file that keeps changing");
        assert_eq!(client.end(), Some(0));
    });
    assert!(answered.iter().all(|count| *count > 0), "the reads all succeeded or all failed: {answered:?}");
}

/// Large calls are answered within the memory limit, even many at once.
#[test]
fn many_large_calls_at_once_are_answered() {
    let place = Place::new();
    fs::write(place.path("root/well"), "well").unwrap();
    fs::write(place.path("root/large"), "x".repeat(4 << 20)).unwrap();
    let mut client = place.serve(&["root"]);
    let ids: Vec<u64> = (0..40)
        .map(|number| match number % 2 {
            0 => client.begin_call("read_text_file", json!({"path": "large"})),
            _ => client
                .begin_call("write_file", json!({"path": format!("written-{number}"), "content": "y".repeat(1 << 20)})),
        })
        .collect();
    for id in ids {
        assert_eq!(client.answer_to(id)["result"]["isError"], false);
    }
    is_well(&mut client, "many at once");
}
