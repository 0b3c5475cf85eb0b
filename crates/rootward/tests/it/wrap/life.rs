//! How a server starts, crashes and ends, as its client sees it.

use std::io::{BufRead, BufReader, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::Stdio;

use rootward_testkit::client::Client;
use serde_json::json;

use super::recipes::install;
use super::scene::{Mark, Says, Scene, begin, start};

const STRENGTHS: [&str; 2] = ["auto", "off"];

#[test]
fn a_server_that_ends_before_it_answers() {
    let scene = Scene::new();
    for strength in STRENGTHS {
        let words = [&*scene.text("project"), "--sandbox", strength, "--env", "ENDS"];
        let mut client = start(scene.wrap(&words).env("ENDS", "early"));
        let answer = client.ask("initialize", json!({"capabilities": {}}));
        assert_eq!(answer["error"]["code"], -32603, "{answer}");
        assert!(answer["error"]["message"].as_str().unwrap().contains("the server ended"), "{answer}");
        assert_eq!(client.next(), None);
        assert_eq!(client.line.child.wait().unwrap().code(), Some(5), "{strength}");
    }
}

/// The server dies because its child cannot read its own `/proc` entries. Rootward starts it once more, traced, and then it works.
/// With the flag, the first start works.
#[test]
fn a_server_whose_child_reads_about_itself() {
    let scene = Scene::new();
    let server = install(&scene, "tools/bin", "real");
    let program = scene.text("tools/bin/needy");
    let script = format!("#!/bin/sh\nsh -c 'read -r first < /proc/self/stat' || exit 3\nexec {server}\n");
    std::fs::write(&program, script).unwrap();
    std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    for (flag, is_told) in [("--home=private", true), ("--own-proc", false)] {
        let mut command = scene.wrap_command(&[flag], &[&program]);
        let mut client = Client::start(command.stderr(Stdio::piped()));
        client.reply("roots/list", Some(json!({"result": {"roots": [{"uri": scene.uri("project")}]}})));
        let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {"roots": {}}});
        assert!(client.ask("initialize", hello)["result"].is_object());
        client.notify("notifications/initialized", ());
        assert_eq!(client.text("where", json!({})), scene.text("project"), "{flag}");
        let (_, says) = client.end_with_errors();
        assert_eq!(says.contains("`--own-proc` permits that without tracing"), is_told, "{says}");
    }
}

#[test]
fn a_server_that_cannot_be_started() {
    let scene = Scene::new();
    for strength in STRENGTHS {
        let mut command = scene.wrap_command(&[&scene.text("project"), "--sandbox", strength], &["no-such-server"]);
        let mut client = start(command.stderr(Stdio::piped()));
        let answer = client.ask("initialize", json!({"capabilities": {}}));
        assert!(answer["error"]["message"].as_str().unwrap().contains("`no-such-server` was not found"), "{answer}");
        let (code, says) = client.end_with_errors();
        assert_eq!(code, Some(2));
        assert!(says.contains("no-such-server") && !says.contains("launcher"), "{says}");
    }
}

#[test]
fn a_crash_fails_the_open_calls_and_no_others() {
    let scene = Scene::new();
    for strength in STRENGTHS {
        let wrap = &mut scene.wrap(&["--sandbox", strength]);
        let mut client = begin(wrap, Says::Roots, &[scene.uri("project")]);
        assert_eq!(client.text("where", json!({})), scene.text("project"));
        let held = client.begin_call("hold", json!({}));
        let crashed = client.begin("tools/call", json!({"name": "crash"}));
        for id in [held, crashed] {
            let answer = client.answer_to(id);
            assert_eq!(answer["error"]["code"], -32603, "{answer}");
            let says = answer["error"]["message"].as_str().unwrap();
            assert!(says.contains("the server ended"), "{answer}");
        }
        // A new server with the same roots answers the next call.
        assert_eq!(client.text("where", json!({})), scene.text("project"));
        assert_eq!(client.text("read", json!({"path": "file.txt"})), "project");
        // An earlier crash does not affect the exit code of the session.
        assert_eq!(client.end(), Some(0), "{strength}");
    }
}

#[test]
fn a_restarted_server_gets_what_was_found_at_first() {
    let scene = Scene::new();
    let server = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/wrap/server.py");
    let program = scene.path("tool/bin/server.py");
    std::fs::create_dir_all(program.parent().unwrap()).unwrap();
    std::fs::copy(server, &program).unwrap();
    let server = ["python3", program.to_str().unwrap()];
    let words = [&*scene.text("project"), "--treat", "read.path=text"];
    let mut client = begin(&mut scene.wrap_command(&words, &server), Says::Nothing, &[]);
    let outside = json!({"path": scene.path("outside/file.txt")});
    assert_eq!(client.text("read", outside.clone()), "failed: Permission denied");
    // A change beside the program has no effect while this process runs.
    std::fs::rename(scene.path("tool/bin"), scene.path("tool/moved")).unwrap();
    std::fs::create_dir(scene.path("outside/bin")).unwrap();
    std::fs::copy(scene.path("tool/moved/server.py"), scene.path("outside/bin/server.py")).unwrap();
    std::os::unix::fs::symlink(scene.path("outside"), scene.path("tool/bin")).unwrap();
    std::fs::copy(scene.path("tool/moved/server.py"), scene.path("outside/server.py")).unwrap();
    let crashed = client.begin("tools/call", json!({"name": "crash"}));
    assert_eq!(client.answer_to(crashed)["error"]["code"], -32603);
    let answer = client.call("read", outside);
    assert_ne!(answer["result"]["content"][0]["text"], "outside", "{answer}");
    client.end();
}

#[test]
fn a_server_that_always_crashes_gives_errors_and_never_silence() {
    let scene = Scene::new();
    let starts = scene.path("project/starts");
    let words = [&*scene.text("project"), "--sandbox", "off"];
    let mut command = scene.wrap(&words);
    command.env("ENDS", "always").env("STARTS", &starts).env("ROOTWARD_ROOTS_TIMEOUT_MS", "2000");
    let mut client = begin(&mut command, Says::Nothing, &[]);
    for _ in 0..6 {
        let answer = client.call("echo", json!({}));
        assert_eq!(answer["error"]["code"], -32603, "{answer}");
    }
    let count = std::fs::read_to_string(&starts).unwrap().lines().count();
    assert!((3..=9).contains(&count), "{count} starts");
    client.end();
}

#[test]
fn answers_still_arrive_after_the_client_has_closed_its_end() {
    let scene = Scene::new();
    for strength in STRENGTHS {
        let words = [&*scene.text("project"), "--sandbox", strength, "--env", "CODE"];
        let mut client = begin(scene.wrap(&words).env("CODE", "3"), Says::Nothing, &[]);
        let slow = client.begin_call("slow", json!({"seconds": 3}));
        // More than a pipe holds, while the server does not read.
        let long = "y".repeat(300_000);
        let last = client.begin_call("echo", json!({"text": long}));
        client.close();
        assert_eq!(client.answer_to(slow)["result"]["content"][0]["text"], "done");
        assert!(client.answer_to(last)["result"]["content"][0]["text"].as_str().unwrap().contains(&long));
        assert_eq!(client.end(), Some(3), "{strength}");
    }
}

/// `printf … | rootward wrap -- server`.
#[test]
fn a_client_that_sends_everything_at_once_is_answered() {
    let scene = Scene::new();
    // The second time, the handshake is cached.
    for _ in 0..2 {
        for capabilities in [json!({}), json!({"roots": {}})] {
            let mut client = start(&mut scene.wrap(&[]));
            let initialize = client.begin("initialize", json!({"capabilities": capabilities}));
            client.notify("notifications/initialized", ());
            let list = client.begin("tools/list", json!({}));
            let call = client.begin_call("echo", json!({"number": 1}));
            client.close();
            assert_eq!(client.answer_to(initialize)["result"]["serverInfo"]["name"], "server");
            assert!(client.answer_to(list)["result"]["tools"].is_array());
            assert_eq!(client.answer_to(call)["result"]["content"][0]["text"], r#"{"number": 1}"#);
            assert_eq!(client.end(), Some(0));
        }
    }
}

#[test]
fn signals_end_the_server_and_the_session() {
    let scene = Scene::new();
    for strength in STRENGTHS {
        for (signal, code) in [("TERM", 143), ("INT", 130), ("HUP", 129)] {
            let words = [&*scene.text("project"), "--sandbox", strength];
            let mut client = begin(&mut scene.wrap(&words), Says::Nothing, &[]);
            let mark = scene.mark(&mut client);
            let held = client.begin_call("hold", json!({}));
            client.text("echo", json!({}));
            client.signal(signal);
            assert!(client.answer_to(held)["error"].is_object(), "a waiting call gets an error");
            assert_eq!(client.next(), None);
            assert_eq!(client.line.child.wait().unwrap().code(), Some(code), "{strength} {signal}");
            mark.is_gone();
        }
    }
}

#[test]
fn a_server_that_ignores_every_signal_to_end_is_killed() {
    let scene = Scene::new();
    for strength in STRENGTHS {
        let words = [&*scene.text("project"), "--sandbox", strength, "--env", "STUBBORN"];
        let mut client = begin(scene.wrap(&words).env("STUBBORN", "1"), Says::Nothing, &[]);
        let mark = scene.mark(&mut client);
        assert_eq!(client.end(), Some(137), "{strength}");
        mark.is_gone();
    }
}

/// The server is gone, but a process that it started keeps its output open.
#[test]
fn an_output_that_others_keep_open_does_not_hide_a_crash() {
    let scene = Scene::new();
    for strength in STRENGTHS {
        let words = [&*scene.text("project"), "--sandbox", strength];
        let mut client = begin(&mut scene.wrap(&words), Says::Nothing, &[]);
        let mark = scene.mark(&mut client);
        let started = client.text("start", json!({"mark": mark.words, "holds": "output"}));
        assert!(started.parse::<u32>().is_ok(), "{started}");
        let answer = client.call("crash", json!({}));
        assert!(answer["error"].is_object(), "{answer}");
        assert_eq!(client.text("echo", json!({})), "{}");
        mark.is_gone();
        assert_eq!(client.end(), Some(0));
    }
}

#[test]
fn a_client_that_is_killed_leaves_nothing() {
    let scene = Scene::new();
    for strength in STRENGTHS {
        let words = [&*scene.text("project"), "--sandbox", strength, "--env", "STUBBORN"];
        let mut client = Client::start_unread(scene.wrap(&words).env("STUBBORN", "1"));
        let mark = Mark::new(&scene);
        client.begin("initialize", json!({}));
        client.notify("notifications/initialized", ());
        let started = client.begin_call("start", json!({"mark": mark.words}));
        client.begin_call("slow", json!({"seconds": 1000}));
        client.answer_to(started);
        // Both ends at once, as the kernel closes them.
        client.line.hang_up();
        client.line.child.wait().unwrap();
        mark.is_gone();
    }
}

/// After that, only the kernel and the server's supervisor can clean up.
#[test]
fn a_killed_rootward_leaves_nothing() {
    let scene = Scene::new();
    for strength in STRENGTHS {
        let words = [&*scene.text("project"), "--sandbox", strength, "--env", "STUBBORN"];
        let mut client = begin(scene.wrap(&words).env("STUBBORN", "1"), Says::Nothing, &[]);
        let mark = scene.mark(&mut client);
        client.line.child.kill().unwrap();
        mark.is_gone();
    }
}

/// Node gives its children sockets, not pipes.
#[test]
fn a_client_on_sockets() {
    let scene = Scene::new();
    for strength in STRENGTHS {
        let (mut near_input, input) = UnixStream::pair().unwrap();
        let (near_output, output) = UnixStream::pair().unwrap();
        let mut command = scene.wrap(&[&scene.text("project"), "--sandbox", strength]);
        let mut child = command.stdin(OwnedFd::from(input)).stdout(OwnedFd::from(output)).spawn().unwrap();
        drop(command);
        let mut lines = BufReader::new(near_output).lines().map(|line| line.unwrap());
        for message in [
            json!({"id": 1, "method": "initialize", "params": {}}),
            json!({"method": "notifications/initialized"}),
            json!({"id": 2, "method": "tools/call", "params": {"name": "slow", "arguments": {"seconds": 1}}}),
        ] {
            writeln!(near_input, "{message}").unwrap();
        }
        near_input.shutdown(std::net::Shutdown::Write).unwrap();
        assert!(lines.next().unwrap().contains(r#""id": 1,"#));
        assert!(lines.next().unwrap().contains("done"));
        assert_eq!((lines.next(), child.wait().unwrap().code()), (None, Some(0)));
    }
}

/// A client that has closed only the end that it reads from: nothing can reach it.
#[test]
fn a_client_that_reads_no_more_is_gone() {
    let scene = Scene::new();
    let mut command = scene.wrap(&[&scene.text("project"), "--sandbox", "off"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    // The client's other end stays open.
    let input = child.stdin.take();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    drop(input);
}

#[test]
fn a_remembered_handshake_starts_the_server_once() {
    let scene = Scene::new();
    let starts = scene.path("project/starts");
    let begin = |instructions: &str| {
        let mut command = scene.wrap(&["--sandbox", "off"]);
        command.env("STARTS", &starts).env("INSTRUCTIONS", instructions);
        let mut client = begin(&mut command, Says::Roots, &[scene.uri("project")]);
        assert_eq!(client.text("where", json!({})), scene.text("project"));
        let changed = client.kept().iter().any(|message| message["method"] == "notifications/tools/list_changed");
        assert_eq!(client.end(), Some(0));
        let count = std::fs::read_to_string(&starts).unwrap().lines().count();
        std::fs::remove_file(&starts).unwrap();
        (count, changed)
    };
    assert_eq!(begin("first"), (2, false));
    assert_eq!(begin("first"), (1, false));
    // If the server's answer differs from the cached one, the client is notified.
    assert_eq!(begin("second"), (1, true));
    assert_eq!(begin("second"), (1, false));
}

#[test]
fn requests_before_initialize_reach_no_server() {
    let scene = Scene::new();
    let mut client = start(&mut scene.wrap(&[&scene.text("project")]));
    client.send(json!({"jsonrpc": "2.0", "id": "first", "method": "ping", "params": null}));
    assert_eq!(client.answer_to("first")["result"], json!({}));
    assert_eq!(client.ask("tools/call", json!({"name": "where"}))["error"]["code"], -32600);
    let answer = client.ask("initialize", json!({"capabilities": {}}));
    assert_eq!(answer["result"]["serverInfo"]["name"], "server");
    client.notify("notifications/initialized", ());
    assert_eq!(client.text("read", json!({"path": "file.txt"})), "project");
    assert_eq!(client.end(), Some(0));
}
