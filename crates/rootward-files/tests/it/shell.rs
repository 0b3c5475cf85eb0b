//! `shell`: real commands, confined by the kernel.

use std::fs;
use std::io;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rootward_core::{Audit, AuditEvent};
use rootward_files::FileServer;
use rootward_testkit::client::{DuplexClient, ToolResult, message};
use serde_json::{Value, json};

use crate::stage::{Stage, connect};

/// A server that can start commands.
fn server() -> FileServer {
    let launcher = Some(env!("CARGO_BIN_EXE_files-stage").into());
    FileServer::default()
        .with_confinement(rootward_sandbox::Options { launcher, ..rootward_sandbox::Options::default() })
}

async fn start(stage: &Stage, roots: &[&str]) -> DuplexClient {
    connect(stage.settings(roots), server(), json!({})).await
}

/// The data of a command that ran.
async fn run(client: &mut DuplexClient, arguments: Value) -> Value {
    let result = client.result("shell", arguments).await;
    assert_eq!(result["isError"], false, "{result:?}");
    result.data().clone()
}

#[tokio::test]
async fn it_is_listed_if_a_root_allows_execute_and_refused_in_other_roots() {
    let stage = Stage::new();
    let command = json!({"command": "echo ran > ran.txt"});
    for (roots, listed) in [(vec!["root"], false), (vec!["root:ro"], false), (vec!["root:ro", "outside:rwx"], true)] {
        let mut client = start(&stage, &roots).await;
        // The server learns the roots during the first call.
        client.says("list_directory", json!({"path": "."})).await;
        let list = client.ask("tools/list", json!({})).await;
        let tools = list["result"]["tools"].as_array().unwrap();
        assert_eq!(tools.iter().any(|tool| tool["name"] == "shell"), listed, "{roots:?}");
        if !listed {
            assert_eq!(client.why("shell", command.clone()).await, "access_denied", "{roots:?}");
        }
        let elsewhere = json!({"command": "echo ran > ran.txt", "cwd": stage.name("root")});
        assert_eq!(client.why("shell", elsewhere).await, "access_denied", "{roots:?}");
    }
    assert_eq!(stage.names("root"), Vec::<String>::new());
    let mut client = start(&stage, &[]).await;
    assert_eq!(client.why("shell", command).await, "no_roots");
}

#[tokio::test]
async fn a_command_returns_its_output_and_exit_code_and_starts_in_cwd() {
    let stage = Stage::new();
    stage.file("root/deep/f", "x");
    let mut client = start(&stage, &["outside:ro", "root:rwx"]).await;
    let (root, deep) = (stage.name("root"), stage.name("root/deep"));
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
        let result = client.result("shell", arguments.clone()).await;
        let data = json!({
            "exitCode": code, "stdout": stdout, "stderr": stderr, "timedOut": false, "stdoutMissing": 0, "stderrMissing": 0,
        });
        assert_eq!(*result.data(), data, "{arguments}");
        assert_eq!(result.text(), text, "{arguments}");
    }
    for (arguments, says) in [
        (json!({"command": "pwd", "cwd": stage.name("root/deep/f")}), "is not a directory"),
        (json!({"command": "pwd", "cwd": stage.name("root/none")}), "does not exist"),
        (json!({"command": "pwd", "timeout_ms": 0}), "must be between 1 and 600000"),
        (json!({"command": "pwd", "timeout_ms": 600_001}), "must be between 1 and 600000"),
        (json!({"command": "pwd", "timeout_ms": -1}), "invalid arguments"),
        (json!({"command": "x".repeat(1 << 17)}), "write it to a file and run that"),
        (json!({"command": "a\u{0}b"}), "the command was not run"),
        (json!({"command": "true", "cwd": stage.name("elsewhere")}), "outside_roots"),
    ] {
        let said = client.why("shell", arguments.clone()).await;
        assert!(said.contains(says), "{arguments}: {said}");
    }
    let most = json!({"command": format!("true {}", "x".repeat((1 << 17) - 6))});
    assert_eq!(run(&mut client, most).await["exitCode"], 0);
}

/// Each attack has a similar command that works, to show that the confinement is what stops it.
#[tokio::test]
async fn a_command_reaches_only_what_the_roots_allow() {
    let stage = Stage::new();
    stage.file("root/mine", "mine");
    stage.file("read-only/kept", "kept");
    stage.file("add/kept", "kept");
    stage.file("root/script", "#!/bin/sh\necho script ran\n");
    fs::copy(stage.path("root/script"), stage.path("add/script")).unwrap();
    for script in ["root/script", "add/script"] {
        fs::set_permissions(stage.path(script), fs::Permissions::from_mode(0o755)).unwrap();
    }
    symlink(stage.path("outside"), stage.path("root/out")).unwrap();
    let mut client = start(&stage, &["root:rwx", "read-only:ro", "add:rw-nodelete"]).await;
    let outside = stage.name("outside");
    let works = |script: String| (script, true);
    let fails = |script: String| (script, false);
    for (script, works) in [
        works("cat mine && echo new > new && rm new".into()),
        works("./script".into()),
        works(format!("cat {}", stage.name("read-only/kept"))),
        works(format!("echo new > {}", stage.name("add/new"))),
        fails(format!("cat {outside}/secret.txt")),
        fails("cat out/secret.txt".into()),
        fails("cat ../outside/secret.txt".into()),
        fails(format!("ls {outside}")),
        fails(format!("echo x > {outside}/new")),
        fails(format!("ln {outside}/secret.txt stolen && cat stolen")),
        fails(format!("echo x > {}", stage.name("read-only/new"))),
        fails(format!("echo x >> {}", stage.name("read-only/kept"))),
        fails(format!("rm {}", stage.name("add/kept"))),
        fails(stage.name("add/script")),
        fails("test -n \"$CARGO_BIN_EXE_NOT_A_VARIABLE$CARGO_MANIFEST_DIR\"".into()),
    ] {
        let data = run(&mut client, json!({"command": script})).await;
        assert_eq!(data["exitCode"] == 0, works, "{script}: {data}");
        assert!(!data["stdout"].as_str().unwrap().contains("SECRET"), "{script}: {data}");
    }
    assert_eq!(
        (stage.read("outside/secret.txt"), stage.names("outside")),
        ("SECRET".into(), vec!["secret.txt".into()])
    );
    assert_eq!((stage.read("read-only/kept"), stage.read("add/kept")), ("kept".into(), "kept".into()));
    assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some(), "control: the variable is set outside the sandbox");
}

/// Codex sends the state of its own sandbox with each call.
#[tokio::test]
async fn a_command_is_not_run_if_codex_allows_less() {
    let stage = Stage::new();
    let mut client = start(&stage, &["root:rwx"]).await;
    let mut call = async |state: Value| {
        let mut params = message::call("shell", json!({"command": "echo ran > ran.txt"}));
        params["_meta"] = json!({"codex/sandbox-state-meta": state});
        ToolResult::of(client.ask("tools/call", params).await)
    };
    let entry = json!({"path": {"type": "special", "value": {"kind": "project_roots"}}, "access": "write"});
    let profile =
        json!({"type": "managed", "file_system": {"type": "restricted", "entries": [entry]}, "network": "enabled"});
    let cwd = format!("file://{}", stage.name("root"));
    for state in [json!({"permissionProfile": profile, "sandboxCwd": cwd}), json!(7)] {
        assert_eq!(call(state).await.code(), Some("restricted"));
        assert_eq!(stage.names("root"), Vec::<String>::new());
    }
    let result = call(json!({"permissionProfile": {"type": "disabled"}, "sandboxCwd": cwd})).await;
    assert_eq!((result["isError"].clone(), stage.names("root")), (json!(false), vec!["ran.txt".to_owned()]));
}

#[tokio::test]
async fn a_secret_below_a_root_is_closed_to_commands() {
    let stage = Stage::new();
    let mut client = start(&stage, &["root:rwx"]).await;
    assert_eq!(run(&mut client, json!({"command": "true"})).await["exitCode"], 0, "control");
    stage.file("root/.ssh/id_ed25519", "SECRET");
    stage.file("root/src/file", "text");
    for (script, works) in [("cat src/file; touch src/ran", true), ("cat .ssh/id_ed25519", false), ("touch ran", false)]
    {
        let data = run(&mut client, json!({"command": script})).await;
        assert_eq!(data["exitCode"] == 0, works, "{script}: {data}");
        assert!(!data["stdout"].as_str().unwrap().contains("SECRET"), "{script}: {data}");
    }
    assert_eq!(stage.names("root/src"), ["file", "ran"]);
}

#[tokio::test]
async fn a_command_does_not_start_if_the_kernel_cannot_enforce_the_rules() {
    let stage = Stage::new();
    let mut client = start(&stage, &["root:rwx"]).await;
    stage.file("root/.ssh/id_ed25519", "SECRET");
    for number in 0..8_192 {
        symlink("x", stage.path(&format!("root/entry-{number}"))).unwrap();
    }
    let said = client.why("shell", json!({"command": "touch ran"})).await;
    assert!(said.contains("the kernel cannot enforce its rules") && said.contains("the other tools work"), "{said}");
    assert!(!stage.names("root").contains(&"ran".to_owned()));
}

/// A loop that keeps writing a file while it runs.
const ALIVE: &str = "while :; do date +%N > alive; sleep 0.02; done";

/// Waits until the loop runs.
async fn lives(stage: &Stage) {
    while !stage.path("root/alive").exists() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Asserts that the loop has ended: once removed, its file does not come back.
async fn assert_ended(path: &Path) {
    fs::remove_file(path).unwrap();
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert!(!path.exists(), "the loop still runs");
}

#[tokio::test]
async fn a_timeout_ends_everything_that_the_command_started() {
    for script in [
        ALIVE.to_owned(),
        format!("({ALIVE}) & wait"),
        format!("setsid sh -c '{ALIVE}' < /dev/null > /dev/null 2>&1 & sleep 1000"),
        format!("trap '' TERM HUP INT; echo before; {ALIVE}"),
    ] {
        let stage = Stage::new();
        let mut client = start(&stage, &["root:rwx"]).await;
        let data = run(&mut client, json!({"command": script, "timeout_ms": 1500})).await;
        assert_eq!((&data["timedOut"], &data["exitCode"]), (&json!(true), &json!(null)), "{script}: {data}");
        assert_eq!(data["stdout"], if script.contains("before") { "before\n" } else { "" });
        assert_ended(&stage.path("root/alive")).await;
    }
}

#[tokio::test]
async fn background_processes_end_with_the_command() {
    let stage = Stage::new();
    let mut client = start(&stage, &["root:rwx"]).await;
    let script = format!("setsid sh -c '{ALIVE}' & while ! test -e alive; do sleep 0.01; done; echo done");
    let data = run(&mut client, json!({"command": script})).await;
    assert_eq!((&data["exitCode"], &data["stdout"]), (&json!(0), &json!("done\n")), "{data}");
    assert_ended(&stage.path("root/alive")).await;
}

#[tokio::test]
async fn cancelling_a_call_ends_its_command() {
    let stage = Stage::new();
    let mut client = start(&stage, &["root:rwx"]).await;
    let call = json!({"name": "shell", "arguments": {"command": format!("setsid sh -c '{ALIVE}' & wait")}});
    let id = client.begin("tools/call", call).await;
    lives(&stage).await;
    client.notify("notifications/cancelled", json!({"requestId": id, "reason": "enough"})).await;
    ends(&stage).await;
    // A client that disconnects cancels its calls as well.
    let call = json!({"name": "shell", "arguments": {"command": format!("{ALIVE}")}});
    client.begin("tools/call", call).await;
    lives(&stage).await;
    drop(client);
    ends(&stage).await;
}

/// Waits until the loop has ended.
async fn ends(stage: &Stage) {
    let path = stage.path("root/alive");
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
    assert!(ended.is_ok(), "the loop still runs after 30 seconds");
}

#[tokio::test]
async fn a_flood_of_output_is_cut_in_the_middle() {
    let stage = Stage::new();
    let mut client = start(&stage, &["root:rwx"]).await;
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
async fn the_directory_of_a_command_is_audited() {
    let stage = Stage::new();
    fs::create_dir(stage.path("root/deep")).unwrap();
    let log = Log::default();
    let mut settings = stage.settings(&["root:rwx"]);
    settings.audit = Some(Arc::new(log.clone()));
    let mut client = connect(settings, server(), json!({})).await;
    for (arguments, place, decision) in [
        (json!({"command": "true"}), stage.name("root"), "allow"),
        (json!({"command": "true", "cwd": "deep"}), "deep".to_owned(), "allow"),
        (json!({"command": "true", "cwd": stage.name("outside")}), stage.name("outside"), "deny"),
    ] {
        client.result("shell", arguments.clone()).await;
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
