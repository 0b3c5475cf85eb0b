//! Concurrent runs, a kill, a full disk, a read-only directory: nothing is lost.

use std::fs;
use std::process::{Command, Stdio};
use std::time::Duration;

use super::{cursor, stage_with};
use crate::stage::Stage;

fn many() -> String {
    let entries: Vec<String> =
        (0..50).map(|number| format!("    \"s{number}\": {{\"command\": \"x{number}\"}}")).collect();
    format!("{{\n  \"mcpServers\": {{\n{}\n  }}\n}}\n", entries.join(",\n"))
}

#[test]
fn several_at_once() {
    let before = many();
    let stage = stage_with(&before);
    for _ in 0..5 {
        let start = |words: &[&str]| {
            let mut command = stage.command(words);
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
        };
        let children: Vec<_> = (0..6).map(|_| start(&["adopt", "--yes", "--no-try"])).collect();
        let codes: Vec<_> = children.into_iter().map(|mut child| child.wait().unwrap().code()).collect();
        // One wins; the others find the file changed, or nothing to do.
        assert!(codes.contains(&Some(0)) && codes.iter().all(|code| matches!(code, Some(0 | 2))), "{codes:?}");
        assert_eq!(cursor(&stage).matches("\"wrap\"").count(), 50);
        let children: Vec<_> = (0..6).map(|_| start(&["adopt", "--undo", "--yes"])).collect();
        for mut child in children {
            child.wait().unwrap();
        }
        assert_eq!(cursor(&stage), before);
    }
}

#[test]
fn a_kill_leaves_a_whole_file_that_can_be_undone() {
    let before = many();
    let stage = stage_with(&before);
    for round in 0..30_u64 {
        let mut command = stage.command(["adopt", "--yes", "--no-try"]);
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(round));
        let _ = child.kill();
        child.wait().unwrap();
        let now = cursor(&stage);
        assert!(now == before || now.matches("\"wrap\"").count() == 50, "round {round}: {now}");
        let run = stage.run(["adopt", "--undo", "--yes"]);
        assert_eq!(run.code, Some(0), "round {round}: {}", run.stderr);
        assert_eq!(cursor(&stage), before, "round {round}");
    }
}

/// In its own mount namespace, where the disk of the config or of the backup is small and full.
#[test]
fn a_full_disk_loses_nothing() {
    for full in [".cursor", ".local"] {
        let stage = stage_with(&many());
        fs::create_dir_all(stage.path("home/.local")).unwrap();
        let script = r#"
            set -u
            cp -a "$HOME/$FULL" "$HOME/copy"
            mount -t tmpfs -o size=64k tmpfs "$HOME/$FULL" || exit 1
            cp -a "$HOME/copy/." "$HOME/$FULL/"
            cp "$HOME/.cursor/mcp.json" "$HOME/before"
            dd if=/dev/zero of="$HOME/$FULL/filler" bs=1k 2>/dev/null
            "$ROOTWARD" adopt --yes --no-try 2>&1 >/dev/null
            echo "exit $?"
            cmp "$HOME/before" "$HOME/.cursor/mcp.json" && echo same
            ls -A "$HOME/.cursor" "$HOME/.local/state/rootward/adopt" 2>/dev/null
            rm "$HOME/$FULL/filler"
            "$ROOTWARD" adopt --yes --no-try >/dev/null 2>&1 && grep -c rootward "$HOME/.cursor/mcp.json"
            dd if=/dev/zero of="$HOME/$FULL/filler" bs=1k 2>/dev/null
            "$ROOTWARD" adopt --undo --yes >/dev/null 2>&1
            rm "$HOME/$FULL/filler"
            "$ROOTWARD" adopt --undo --yes >/dev/null 2>&1
            cmp "$HOME/before" "$HOME/.cursor/mcp.json" && echo undone
        "#;
        let told = in_namespace(&stage, script, full);
        assert!(told.contains("no space left on device\n"), "{full}: {told}");
        assert!(told.contains("exit 2\nsame\n"), "{full}: {told}");
        assert!(!told.contains(".tmp\n") && !told.contains(".new\n") && !told.contains(".backup\n"), "{full}: {told}");
        assert!(told.contains("\n50\n") && told.ends_with("undone\n"), "{full}: {told}");
    }
}

#[test]
fn a_directory_that_cannot_be_written_loses_nothing() {
    let stage = stage_with(&many());
    let script = r#"
        set -u
        cp "$HOME/.cursor/mcp.json" "$HOME/before"
        mount --bind "$HOME/.cursor" "$HOME/.cursor" || exit 1
        mount -o remount,bind,ro "$HOME/.cursor" || exit 1
        "$ROOTWARD" adopt --yes --no-try 2>&1 >/dev/null
        echo "exit $?"
        cmp "$HOME/before" "$HOME/.cursor/mcp.json" && echo same
        ls -A "$HOME/.local/state/rootward/adopt"
    "#;
    let told = in_namespace(&stage, script, "");
    assert!(told.starts_with("error: `~/.cursor/mcp.json` stays as it is: read-only file system\n"), "{told}");
    assert!(told.ends_with("exit 2\nsame\nlock\n"), "{told}");
}

fn in_namespace(stage: &Stage, script: &str, full: &str) -> String {
    let mut command = Command::new("unshare");
    command.args(["--map-root-user", "--mount", "sh", "-c", script]).current_dir(stage.path("project"));
    command.env("HOME", stage.path("home")).env("FULL", full).env("ROOTWARD", env!("CARGO_BIN_EXE_rootward"));
    command.env_remove("XDG_CONFIG_HOME").env_remove("XDG_STATE_HOME");
    let output = command.stdin(Stdio::null()).output().unwrap();
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{told}{}", String::from_utf8_lossy(&output.stderr));
    told
}
