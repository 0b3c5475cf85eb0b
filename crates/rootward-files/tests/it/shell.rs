//! `shell`: real commands, held by the kernel.

use std::fs;
use std::io;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rootward_core::{Audit, AuditEvent};
use serde_json::{Value, json};

use crate::yard::{Client, Setup, Yard};

fn setup() -> Setup {
    let launcher = Some(env!("CARGO_BIN_EXE_files-stage").into());
    Setup { confinement: rootward_sandbox::Options { launcher, ..rootward_sandbox::Options::default() }, audit: None }
}

async fn start(yard: &Yard, roots: &[&str]) -> Client {
    Client::start_with(yard, roots, setup()).await
}

/// The data of a command that ran.
async fn run(client: &mut Client, arguments: Value) -> Value {
    let mut result = client.call("shell", arguments).await;
    assert_ne!(result["isError"], true, "{result}");
    result["structuredContent"].take()
}

#[tokio::test]
async fn it_is_listed_where_a_root_may_be_executed_in_and_refused_elsewhere() {
    let yard = Yard::new();
    let command = json!({"command": "echo ran > ran.txt"});
    for (roots, listed) in [(vec!["root"], false), (vec!["root:ro"], false), (vec!["root:ro", "outside:rwx"], true)] {
        let mut client = start(&yard, &roots).await;
        // Roots are known once a call has asked for them.
        client.well("list_directory", json!({"path": "."})).await;
        assert_eq!(client.tools().await.contains(&"shell".to_owned()), listed, "{roots:?}");
        if !listed {
            assert_eq!(client.badly("shell", command.clone()).await, "access_denied", "{roots:?}");
        }
        let elsewhere = json!({"command": "echo ran > ran.txt", "cwd": yard.text("root")});
        assert_eq!(client.badly("shell", elsewhere).await, "access_denied", "{roots:?}");
    }
    assert_eq!(yard.names("root"), Vec::<String>::new());
    let mut client = start(&yard, &[]).await;
    assert_eq!(client.badly("shell", command).await, "no_roots");
}

#[tokio::test]
async fn a_command_has_its_output_its_code_and_its_place() {
    let yard = Yard::new();
    yard.file("root/deep/f", "x");
    let mut client = start(&yard, &["outside:ro", "root:rwx"]).await;
    let (root, deep) = (yard.text("root"), yard.text("root/deep"));
    for (arguments, code, stdout, stderr, text) in [
        (json!({"command": "pwd"}), 0, format!("{root}\n"), "", format!("{root}\n")),
        (json!({"command": "pwd", "cwd": deep}), 0, format!("{deep}\n"), "", format!("{deep}\n")),
        (json!({"command": "true"}), 0, String::new(), "", "[no output]".into()),
        (
            json!({"command": "printf a; printf b >&2; exit 3"}),
            3,
            "a".into(),
            "b",
            "a\n[stderr]\nb\n[exit code 3]".into(),
        ),
        (json!({"command": "kill -9 $$"}), 137, String::new(), "", "[exit code 137]".into()),
        (json!({"command": "cat"}), 0, String::new(), "", "[no output]".into()),
        (json!({"command": "exec >&- 2>&-; sleep 0.3; exit 4"}), 4, String::new(), "", "[exit code 4]".into()),
        (json!({"command": "printf '\\377'"}), 0, "\u{fffd}".into(), "", "\u{fffd}".into()),
    ] {
        let result = client.call("shell", arguments.clone()).await;
        let data = json!({
            "exitCode": code, "stdout": stdout, "stderr": stderr, "timedOut": false, "stdoutMissing": 0, "stderrMissing": 0,
        });
        assert_eq!(result["structuredContent"], data, "{arguments}");
        assert_eq!(crate::yard::text(&result), text, "{arguments}");
    }
    for (arguments, says) in [
        (json!({"command": "pwd", "cwd": yard.text("root/deep/f")}), "is no directory"),
        (json!({"command": "pwd", "cwd": yard.text("root/none")}), "does not exist"),
        (json!({"command": "pwd", "timeout_ms": 0}), "must lie between 1 and 600000"),
        (json!({"command": "pwd", "timeout_ms": 600_001}), "must lie between 1 and 600000"),
        (json!({"command": "pwd", "timeout_ms": -1}), "invalid arguments"),
        (json!({"command": "x".repeat(1 << 17)}), "write it to a file and run that"),
        (json!({"command": "a\u{0}b"}), "the command was not run"),
        (json!({"command": "true", "cwd": yard.text("elsewhere")}), "outside_roots"),
    ] {
        let said = client.badly("shell", arguments.clone()).await;
        assert!(said.contains(says), "{arguments}: {said}");
    }
    let most = json!({"command": format!("true {}", "x".repeat((1 << 17) - 6))});
    assert_eq!(run(&mut client, most).await["exitCode"], 0);
}

/// Each attack next to what shows that it would work if nothing held it.
#[tokio::test]
async fn a_command_reaches_what_the_roots_give_and_nothing_else() {
    let yard = Yard::new();
    yard.file("root/mine", "mine");
    yard.file("read-only/kept", "kept");
    yard.file("add/kept", "kept");
    yard.file("root/script", "#!/bin/sh\necho script ran\n");
    fs::copy(yard.path("root/script"), yard.path("add/script")).unwrap();
    for script in ["root/script", "add/script"] {
        fs::set_permissions(yard.path(script), fs::Permissions::from_mode(0o755)).unwrap();
    }
    symlink(yard.path("outside"), yard.path("root/out")).unwrap();
    let mut client = start(&yard, &["root:rwx", "read-only:ro", "add:add"]).await;
    let outside = yard.text("outside");
    let works = |script: String| (script, true);
    let fails = |script: String| (script, false);
    for (script, works) in [
        works("cat mine && echo new > new && rm new".into()),
        works("./script".into()),
        works(format!("cat {}", yard.text("read-only/kept"))),
        works(format!("echo new > {}", yard.text("add/new"))),
        fails(format!("cat {outside}/secret.txt")),
        fails("cat out/secret.txt".into()),
        fails("cat ../outside/secret.txt".into()),
        fails(format!("ls {outside}")),
        fails(format!("echo x > {outside}/new")),
        fails(format!("ln {outside}/secret.txt stolen && cat stolen")),
        fails(format!("echo x > {}", yard.text("read-only/new"))),
        fails(format!("echo x >> {}", yard.text("read-only/kept"))),
        fails(format!("rm {}", yard.text("add/kept"))),
        fails(yard.text("add/script")),
        fails("test -n \"$CARGO_BIN_EXE_NOT_A_VARIABLE$CARGO_MANIFEST_DIR\"".into()),
    ] {
        let data = run(&mut client, json!({"command": script})).await;
        assert_eq!(data["exitCode"] == 0, works, "{script}: {data}");
        assert!(!data["stdout"].as_str().unwrap().contains("SECRET"), "{script}: {data}");
    }
    assert_eq!((yard.read("outside/secret.txt"), yard.names("outside")), ("SECRET".into(), vec!["secret.txt".into()]));
    assert_eq!((yard.read("read-only/kept"), yard.read("add/kept")), ("kept".into(), "kept".into()));
    assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some(), "the control: there is something to leave out");
}

#[tokio::test]
async fn a_secret_below_a_root_keeps_commands_from_starting() {
    let yard = Yard::new();
    let mut client = start(&yard, &["root:rwx"]).await;
    assert_eq!(run(&mut client, json!({"command": "true"})).await["exitCode"], 0, "the control");
    yard.file("root/.ssh/id_ed25519", "SECRET");
    let said = client.badly("shell", json!({"command": "touch ran"})).await;
    assert!(said.contains("the kernel cannot hold it to its rules") && said.contains("the other tools work"), "{said}");
    assert_eq!(yard.names("root"), [".ssh"]);
}

/// A loop that writes down that it still runs; it stops the moment it is ended.
const ALIVE: &str = "while :; do date +%N > alive; sleep 0.02; done";

/// Waits until the loop runs.
async fn lives(yard: &Yard) {
    while !yard.path("root/alive").exists() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// That nobody writes any more: the file stays away once it was removed.
async fn is_over(path: &Path) {
    fs::remove_file(path).unwrap();
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert!(!path.exists(), "something still runs");
}

#[tokio::test]
async fn when_its_time_is_over_all_that_it_started_ends() {
    for script in [
        ALIVE.to_owned(),
        format!("({ALIVE}) & wait"),
        format!("setsid sh -c '{ALIVE}' < /dev/null > /dev/null 2>&1 & sleep 1000"),
        format!("trap '' TERM HUP INT; echo before; {ALIVE}"),
    ] {
        let yard = Yard::new();
        let mut client = start(&yard, &["root:rwx"]).await;
        let data = run(&mut client, json!({"command": script, "timeout_ms": 1500})).await;
        assert_eq!((&data["timedOut"], &data["exitCode"]), (&json!(true), &json!(null)), "{script}: {data}");
        assert_eq!(data["stdout"], if script.contains("before") { "before\n" } else { "" });
        is_over(&yard.path("root/alive")).await;
    }
}

#[tokio::test]
async fn what_it_leaves_in_the_background_ends_with_it() {
    let yard = Yard::new();
    let mut client = start(&yard, &["root:rwx"]).await;
    let script = format!("setsid sh -c '{ALIVE}' & while ! test -e alive; do sleep 0.01; done; echo done");
    let data = run(&mut client, json!({"command": script})).await;
    assert_eq!((&data["exitCode"], &data["stdout"]), (&json!(0), &json!("done\n")), "{data}");
    is_over(&yard.path("root/alive")).await;
}

#[tokio::test]
async fn a_call_that_is_taken_back_ends_its_command() {
    let yard = Yard::new();
    let mut client = start(&yard, &["root:rwx"]).await;
    let call = json!({"name": "shell", "arguments": {"command": format!("setsid sh -c '{ALIVE}' & wait")}});
    let id = client.ask("tools/call", call).await;
    lives(&yard).await;
    let cancelled = json!({"requestId": id, "reason": "enough"});
    client.send(json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancelled})).await;
    ends(&yard).await;
    // A client that goes away takes its calls back, too.
    let call = json!({"name": "shell", "arguments": {"command": format!("{ALIVE}")}});
    client.ask("tools/call", call).await;
    lives(&yard).await;
    drop(client);
    ends(&yard).await;
}

/// Waits until nobody writes any more.
async fn ends(yard: &Yard) {
    let path = yard.path("root/alive");
    let ended = async {
        loop {
            let _ = fs::remove_file(&path);
            tokio::time::sleep(Duration::from_millis(300)).await;
            if !path.exists() {
                return;
            }
        }
    };
    let ended = tokio::time::timeout(Duration::from_secs(30), ended).await;
    assert!(ended.is_ok(), "it still runs");
}

#[tokio::test]
async fn a_flood_of_output_is_cut_in_the_middle() {
    let yard = Yard::new();
    let mut client = start(&yard, &["root:rwx"]).await;
    let script =
        "echo first; head -c 20000000 /dev/zero | tr '\\0' x; echo last; head -c 300000 /dev/zero | tr '\\0' y >&2";
    let data = run(&mut client, json!({"command": script})).await;
    let [stdout, stderr] = ["stdout", "stderr"].map(|key| data[key].as_str().unwrap());
    assert!(stdout.len() < (256 << 10) + 200 && stderr.len() < (256 << 10) + 200);
    assert!(stdout.starts_with("first\nxxx") && stdout.ends_with("xxxlast\n"));
    let missing = 20_000_000 + 6 + 5 - (256 << 10);
    assert_eq!(data["stdoutMissing"], missing);
    assert_eq!(data["stderrMissing"], 300_000 - (256 << 10));
    assert!(stdout.contains(&format!("[{missing} bytes are not shown here")));
}

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<String>>>);

impl Audit for Log {
    fn record(&self, event: &AuditEvent) -> io::Result<()> {
        self.0.lock().unwrap().push(serde_json::to_string(event)?);
        Ok(())
    }
}

#[tokio::test]
async fn where_a_command_starts_is_on_record() {
    let yard = Yard::new();
    fs::create_dir(yard.path("root/deep")).unwrap();
    let log = Log::default();
    let mut client =
        Client::start_with(&yard, &["root:rwx"], Setup { audit: Some(Arc::new(log.clone())), ..setup() }).await;
    for (arguments, place, decision) in [
        (json!({"command": "true"}), yard.text("root"), "allow"),
        (json!({"command": "true", "cwd": "deep"}), "deep".to_owned(), "allow"),
        (json!({"command": "true", "cwd": yard.text("outside")}), yard.text("outside"), "deny"),
    ] {
        client.call("shell", arguments.clone()).await;
        let events = std::mem::take(&mut *log.0.lock().unwrap());
        let events: Vec<Value> = events.iter().map(|event| serde_json::from_str(event).unwrap()).collect();
        assert_eq!(events.len(), 1, "{arguments}: {events:?}");
        let (event, expect) = (&events[0], (json!(place), json!(decision), json!("tools/call shell")));
        assert_eq!(
            (&event["path"], &event["decision"], &event["requester"]),
            (&expect.0, &expect.1, &expect.2),
            "{event}"
        );
        assert_eq!(event["access"], json!(["execute"]), "{event}");
    }
}
