//! Twenty concurrent runs, a kill while saving, a full disk: nothing is lost.

use std::collections::BTreeSet;
use std::fs;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use super::{STORE, stored};
use crate::stage::Stage;

/// The names of the saved directories.
fn saved(stage: &Stage) -> BTreeSet<String> {
    let run = stage.run(["roots", "list", "--json"]);
    assert!(run.stderr.is_empty(), "{}", run.stderr);
    let listed: Value = serde_json::from_str(&run.stdout).unwrap();
    let name = |root: &Value| root["path"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
    listed["roots"].as_array().unwrap().iter().map(name).collect()
}

fn directories(stage: &Stage, count: usize) -> Vec<String> {
    let names: Vec<String> = (0..count).map(|number| format!("d{number:02}")).collect();
    for name in &names {
        fs::create_dir(stage.path("project").join(name)).unwrap();
    }
    names
}

#[test]
fn twenty_processes_at_once_lose_nothing() {
    let stage = Stage::new();
    let names = directories(&stage, 40);
    let (first, second) = names.split_at(20);
    let start = |verb: &str, name: &String| {
        let mut command = stage.command(["roots", verb, name, "--yes"]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let all_done = |children: Vec<std::process::Child>| {
        for child in children {
            let output = child.wait_with_output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        }
    };
    all_done(first.iter().map(|name| start("add", name)).collect());
    assert_eq!(saved(&stage), first.iter().cloned().collect());
    // Adding and removing concurrently.
    let both = first.iter().zip(second).flat_map(|(old, new)| [start("remove", old), start("add", new)]);
    all_done(both.collect());
    assert_eq!(saved(&stage), second.iter().cloned().collect());
    let record = stage.run(["audit", "show", "--json"]).stdout;
    let counted = |change: &str| record.matches(&format!("\"change\":\"{change}\"")).count();
    assert_eq!((counted("add"), counted("remove")), (40, 20));
    assert_eq!(stage.run(["audit", "verify"]).code, Some(0));
}

#[test]
fn a_kill_while_saving_leaves_a_whole_file() {
    const ROUNDS: usize = 40;
    let stage = Stage::new();
    let names = directories(&stage, ROUNDS);
    // Large, so that saving takes a moment.
    let padding = "# A line of what somebody wrote by hand.\n".repeat(8_000);
    stage.write(STORE, &format!("{padding}version = 1\n"));
    let new = stage.path("home/.config/rootward/roots.toml.new");
    let mut sure = BTreeSet::new();
    let mut killed_while_saving = 0;
    for (round, name) in names.iter().enumerate() {
        let mut command = stage.command(["roots", "add", name, "--yes"]);
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        // Every second round kills when the new file appears; the others kill after a growing delay.
        if round % 2 == 0 {
            while !fs::exists(&new).unwrap() && child.try_wait().unwrap().is_none() {}
        } else {
            std::thread::sleep(Duration::from_millis(round as u64));
        }
        child.kill().unwrap();
        let ended = child.wait().unwrap();
        killed_while_saving += usize::from(round % 2 == 0 && !ended.success());
        if ended.success() {
            sure.insert(name.clone());
        }
        let text = stored(&stage);
        assert!(text.starts_with(&padding), "round {round}");
        let found = saved(&stage);
        assert!(found.is_superset(&sure), "round {round}: {found:?} lacks some of {sure:?}");
        sure = found;
    }
    assert!(killed_while_saving > 0, "no kill came in time");
    // The killed processes block nobody, and the next run removes what they left.
    assert_eq!(stage.run(["roots", "add", "src", "--yes"]).code, Some(0));
    assert!(!fs::exists(&new).unwrap());
    assert_eq!(stage.run(["audit", "verify"]).code, Some(0));
}

/// In its own mount namespace, where the disk of the store or of the log is small and full.
#[test]
fn a_full_disk_loses_nothing() {
    for full in [".config", ".local"] {
        let stage = Stage::new();
        assert_eq!(stage.run(["roots", "add", "docs", "--yes"]).code, Some(0));
        let script = r#"
            set -eu
            cp -a "$HOME/$FULL" "$HOME/copy"
            mount -t tmpfs -o size=256k tmpfs "$HOME/$FULL"
            cp -a "$HOME/copy/." "$HOME/$FULL/"
            cp "$HOME/.config/rootward/roots.toml" "$HOME/before"
            dd if=/dev/zero of="$HOME/$FULL/filler" bs=1k 2>/dev/null || true
            echo "add: $("$ROOTWARD" roots add src --yes 2>&1)" || true
            echo "remove: $("$ROOTWARD" roots remove docs 2>&1)" || true
            cmp "$HOME/before" "$HOME/.config/rootward/roots.toml" && echo same
            ls "$HOME/.config/rootward"
            rm "$HOME/$FULL/filler"
            "$ROOTWARD" roots add src --yes
            "$ROOTWARD" roots list
            "$ROOTWARD" audit verify
        "#;
        let mut command = Command::new("unshare");
        command.args(["--map-root-user", "--mount", "sh", "-c", script]).current_dir(stage.path("project"));
        command.env("HOME", stage.path("home")).env("FULL", full).env("ROOTWARD", env!("CARGO_BIN_EXE_rootward"));
        command.env_remove("XDG_CONFIG_HOME").env_remove("XDG_STATE_HOME");
        let output = command.stdin(Stdio::null()).output().unwrap();
        let told = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{full}: {told}{}", String::from_utf8_lossy(&output.stderr));
        for verb in ["add", "remove"] {
            let line = told.lines().find(|line| line.starts_with(&format!("{verb}: "))).unwrap();
            assert!(line.contains("error: saved roots") && line.ends_with("no space left on device"), "{full}: {line}");
        }
        assert!(told.contains("\nsame\n"), "{full}: {told}");
        assert!(!told.contains("roots.toml.new"), "{full}: {told}");
        assert!(told.contains("project/docs\n") && told.contains("project/src\n"), "{full}: {told}");
        assert!(told.contains("\nwhole: "), "{full}: {told}");
    }
}
