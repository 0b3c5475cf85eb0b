//! How a session ends, and what a client can cancel.

use std::fs;
use std::io::Write;
use std::time::Duration;

use rootward_testkit::client::{Client, message};
use serde_json::{Value, json};

use crate::place::{Place, memory, until};

/// Writes `alive` repeatedly until it is killed.
const ALIVE: &str = "while :; do echo > alive; sleep 0.02; done";

/// Starts a command that runs until it is killed, in its own process session.
fn begin_command(client: &mut Client, place: &Place) -> u64 {
    let id = client.begin_call("shell", json!({"command": format!("setsid sh -c '{ALIVE}' & {ALIVE}")}));
    until("the command did not start", || place.path("root/alive").exists());
    id
}

/// Waits until nothing writes `alive`.
fn is_over(place: &Place) {
    let alive = place.path("root/alive");
    until("a command is left", || {
        let _ = fs::remove_file(&alive);
        std::thread::sleep(Duration::from_millis(300));
        !alive.exists()
    });
}

/// The CPU time of a process, in ticks.
fn ticks(process: u32) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
    let (_, fields) = stat.rsplit_once(") ").unwrap();
    fields.split(' ').skip(11).take(2).map(|field| field.parse::<u64>().unwrap()).sum()
}

/// As in a script: every request is answered, although the input ends at once.
#[test]
fn requests_before_the_end_of_input_are_answered() {
    let place = Place::new();
    fs::write(place.path("root/f"), "text").unwrap();
    for _ in 0..5 {
        let mut client = place.serve(&["root"]);
        let mut ids: Vec<u64> = (0..100).map(|_| client.begin_call("read_text_file", json!({"path": "f"}))).collect();
        let content = "x".repeat(4 << 20);
        ids.push(client.begin_call("write_file", json!({"path": "large", "content": content})));
        ids.push(client.begin_call("directory_tree", json!({"path": "."})));
        let (rest, code) = client.end_with_rest();
        for id in ids {
            assert!(rest.iter().any(|message| message["id"] == id), "{id} of {}", rest.len());
        }
        assert_eq!(code, Some(0));
        assert_eq!(fs::metadata(place.path("root/large")).unwrap().len(), 4 << 20);
    }
}

#[test]
fn the_end_of_input_ends_commands_and_the_process() {
    let place = Place::new();
    let mut client = place.serve(&["root:rwx"]);
    begin_command(&mut client, &place);
    assert_eq!(client.end(), Some(0));
    is_over(&place);
}

#[test]
fn a_signal_ends_commands_and_the_process() {
    for signal in ["TERM", "INT"] {
        let place = Place::new();
        let mut client = place.serve(&["root:rwx"]);
        begin_command(&mut client, &place);
        client.signal(signal);
        while client.next().is_some() {}
        assert_eq!(client.line.child.wait().unwrap().code(), Some(0), "{signal}");
        is_over(&place);
    }
}

#[test]
fn a_signal_during_a_write_leaves_a_whole_file_and_nothing_else() {
    const LENGTH: usize = 4 << 20;
    for (round, signal) in ["TERM", "INT", "TERM", "INT"].into_iter().enumerate() {
        let place = Place::new();
        fs::write(place.path("root/f"), "a".repeat(LENGTH)).unwrap();
        let mut client = place.serve(&["root"]);
        for letter in ["b", "c", "d"] {
            client.begin_call("write_file", json!({"path": "f", "content": letter.repeat(LENGTH)}));
        }
        if round >= 2 {
            // One file is complete; the next is being written, or is about to be.
            client.next();
        }
        client.signal(signal);
        while client.next().is_some() {}
        assert_eq!(client.line.child.wait().unwrap().code(), Some(0), "{signal}");
        let found = fs::read(place.path("root/f")).unwrap();
        assert!(found.len() == LENGTH && found.iter().all(|byte| *byte == found[0]), "{signal}");
        // The current write is finished, and no temporary file is left.
        assert_eq!(fs::read_dir(place.path("root")).unwrap().count(), 1, "{signal}");
    }
}

#[test]
fn invalid_lines_get_errors_and_the_session_continues() {
    let place = Place::new();
    fs::write(place.path("root/f"), "text").unwrap();
    let mut client = place.serve(&["root"]);
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let nested = format!("{{\"jsonrpc\":\"2.0\",\"id\":\"n\",\"method\":\"tools/call\",\"params\":{deep}}}");
    let long = json!({"jsonrpc": "2.0", "id": "long", "method": "tools/call", "params": {
        "name": "write_file", "arguments": {"path": "g", "content": "x".repeat(17 << 20)},
    }});
    let unknown = json!({"jsonrpc": "2.0", "id": "u", "method": "tools/call", "params": {"name": "no-such-tool"}});
    for line in [&b"garbage"[..], b"\xff\xfe\x00", b"[]", deep.as_bytes(), nested.as_bytes()] {
        client.line.input.as_mut().unwrap().write_all(&[line, b"\n"].concat()).unwrap();
        assert!(client.next().unwrap()["error"]["code"].is_i64());
        assert_eq!(client.says("read_text_file", json!({"path": "f"})), "text");
    }
    for (line, id) in [(long, "long"), (unknown, "u")] {
        client.send(&line);
        let answer = client.next().unwrap();
        assert_eq!(answer["id"], id);
        assert!(answer["error"]["code"].is_i64(), "{answer}");
        assert_eq!(client.says("read_text_file", json!({"path": "f"})), "text");
    }
    assert!(!place.path("root/g").exists());
    // A last line without a line break.
    client.line.input.as_mut().unwrap().write_all(b"{\"jsonrpc\":\"2.0\",\"id\":9").unwrap();
    assert_eq!(client.end(), Some(0));
}

/// The number of entries in the directory.
const MANY: u64 = 100_000;

/// How long a call must take, in hundredths of a second, so that a cancelled call is measurably shorter.
const LONG: u64 = 80;

/// A directory that takes a while: many entries, each compared with many patterns.
fn much(place: &Place) {
    fs::create_dir(place.path("root/many")).unwrap();
    let first = place.path("root/many/entry");
    fs::write(&first, "").unwrap();
    // Hard links are cheaper than files. Some file systems allow at most 65,000 per file.
    let mut file = first;
    for number in 1..MANY {
        let next = place.path("root/many").join(format!("{}{number}", "entry-".repeat(35)));
        if number % 10_000 == 0 {
            fs::write(&next, "").unwrap();
            file.clone_from(&next);
        } else {
            fs::hard_link(&file, &next).unwrap();
        }
    }
}

/// Patterns that match no entry, but take a while to compare.
fn patterns(count: u64) -> Vec<String> {
    (0..count).map(|number| format!("*e*n*t*r*y*{number}*[!0-9]*z")).collect()
}

fn is_progress(message: &Value) -> bool {
    message["method"] == "notifications/progress"
}

#[test]
fn a_long_call_reports_progress_and_ends_when_it_is_cancelled() {
    let place = Place::new();
    much(&place);
    for (tool, rest) in
        [("directory_tree", json!({"path": "many"})), ("search_files", json!({"path": "many", "pattern": "none"}))]
    {
        let mut client = place.serve(&["root"]);
        let (mut arguments, mut whole) = (rest, 0);
        // Increase the load until the call is long enough; the speed depends on the build.
        for count in [8, 32, 96] {
            arguments["excludePatterns"] = json!(patterns(count));
            let before = ticks(client.line.child.id());
            client.says(tool, arguments.clone());
            whole = ticks(client.line.child.id()) - before;
            // Without a progress token, there is no progress.
            assert!(!client.kept().iter().any(is_progress), "{tool}");
            if whole >= LONG {
                break;
            }
        }

        let asked = json!({"name": tool, "arguments": arguments, "_meta": {"progressToken": "t"}});
        let before = ticks(client.line.child.id());
        let id = client.begin("tools/call", asked);
        let told = client.next_where(is_progress);
        assert_eq!(told["params"]["progressToken"], "t", "{tool}");
        let done = told["params"]["progress"].as_f64().unwrap();
        client.notify("notifications/cancelled", json!({"requestId": id, "reason": "enough"}));
        client.ask("ping", json!({}));
        until("the cancelled call is still running", || {
            let now = ticks(client.line.child.id());
            std::thread::sleep(Duration::from_millis(200));
            ticks(client.line.child.id()) == now
        });
        let spent = ticks(client.line.child.id()) - before;
        // The cancelled call stops well before the whole is done.
        assert!(spent * 4 < whole * 3, "{tool}: {spent} of {whole} ticks, progress at {done}");
        let (rest, code) = client.end_with_rest();
        assert!(!rest.iter().any(|message| message["id"] == id), "{tool}");
        assert_eq!(code, Some(0));
    }
}

/// Unread answers do not pile up: at some point, the server reads no more calls.
#[test]
fn a_client_that_does_not_read_cannot_fill_the_memory() {
    let place = Place::new();
    fs::write(place.path("root/f"), "x".repeat(1 << 20)).unwrap();
    let mut command = place.rootward(&["serve", "root"]);
    let mut client = Client::start_unread(&mut command);
    client.begin("initialize", message::hello(json!({})));
    client.notify("notifications/initialized", ());
    let mut input = client.line.input.take().unwrap();
    let writer = std::thread::spawn(move || {
        for id in 0..2000 {
            let call = message::call("read_text_file", json!({"path": "f"}));
            if writeln!(input, "{}", message::request(id, "tools/call", call)).is_err() {
                return;
            }
        }
    });
    let begun = std::time::Instant::now();
    let mut largest = 0;
    while begun.elapsed() < Duration::from_secs(5) && largest < 600 << 10 {
        largest = memory(client.line.child.id(), "VmHWM");
        std::thread::sleep(Duration::from_millis(50));
    }
    client.line.child.kill().unwrap();
    writer.join().unwrap();
    assert!(largest < 400 << 10, "{largest} KiB");
}

#[test]
fn every_decision_of_a_session_is_on_record() {
    let place = Place::new();
    fs::write(place.path("root/f"), "text").unwrap();
    let mut client = place.serve(&["root"]);
    let process = client.line.child.id();
    let outside = place.text("outside/secret.txt");
    let mut expect: Vec<(&str, String, &str)> = Vec::new();
    for (tool, arguments, paths, decision) in [
        ("read_text_file", json!({"path": "f"}), vec!["f"], "allow"),
        ("read_text_file", json!({"path": outside}), vec![&*outside], "deny"),
        ("write_file", json!({"path": "g", "content": "g"}), vec!["g"], "allow"),
        ("copy_file", json!({"source": "g", "destination": "h"}), vec!["h", "g"], "allow"),
        ("move_file", json!({"source": "h", "destination": "i"}), vec!["i", "h"], "allow"),
        ("delete_file", json!({"path": "i"}), vec!["i"], "allow"),
        ("read_multiple_files", json!({"paths": ["f", "g"]}), vec!["f", "g"], "allow"),
        ("directory_tree", json!({"path": "."}), vec!["."], "allow"),
        ("path_in_roots", json!({"path": "/etc/passwd"}), vec!["/etc/passwd"], "deny"),
        ("shell", json!({"command": "true"}), vec!["."], "deny"),
    ] {
        client.result(tool, arguments);
        expect.extend(paths.into_iter().map(|path| (tool, path.to_owned(), decision)));
    }
    assert_eq!(client.end(), Some(0));
    let found = place.decisions();
    let first = &found[0];
    let parties = json!([first["client"], first["server"], first["process"]]);
    assert_eq!(parties, json!(["test 1", "rootward serve", process]), "{first}");
    let found: Vec<(String, String, String)> = found
        .iter()
        .map(|line| {
            let text = |key: &str| line[key].as_str().unwrap().to_owned();
            (text("requester"), text("path"), text("decision"))
        })
        .collect();
    let expect: Vec<(String, String, String)> = expect
        .into_iter()
        .map(|(tool, path, decision)| (format!("tools/call {tool}"), path, decision.to_owned()))
        .collect();
    assert_eq!(found, expect);
    let verified = place.rootward(&["audit", "verify"]).output().unwrap();
    assert_eq!(verified.status.code(), Some(0), "{verified:?}");
}
