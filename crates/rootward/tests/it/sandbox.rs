//! `sandbox`: a command confined to the roots, its exit code passed through, and the message if it is not started.

use std::fs;
use std::os::unix::net::UnixListener;

use serde_json::Value;

use crate::stage::{Stage, assert_told};

/// A stage with nothing secret in the project, and a `PATH`.
fn stage() -> Stage {
    let stage = Stage::new().with("PATH", "/usr/local/bin:/usr/bin:/bin");
    fs::remove_dir_all(stage.path("project/.ssh")).unwrap();
    stage
}

#[test]
fn the_command_is_held_and_its_code_passed_through() {
    let stage = stage();
    let check = |script: &str, code: i32| {
        let run = stage.run(["sandbox", ".", "--", "sh", "-c", script]);
        assert_eq!(run.code, Some(code), "{script}: {} {}", run.stdout, run.stderr);
        run.stdout
    };
    assert_eq!(check("cat README.md; exit 5", 5), "text");
    check("cat leak/secret", 1);
    check("cat ../outside/secret", 1);
    check("echo x > ../outside/secret", 2);
    check("kill -KILL $$", 137);
    assert_eq!(fs::read_to_string(stage.path("outside/secret")).unwrap(), "text");
    assert_ne!(check("echo $HOME", 0).trim(), stage.path("home").to_str().unwrap());
}

#[test]
fn commands_that_are_not_started() {
    let stage = Stage::new().with("PATH", "/usr/bin:/bin");
    // A program, too.
    fs::create_dir(stage.path("project/test")).unwrap();
    assert_told!(
        "sandbox_refused",
        stage,
        ["sandbox", "src:rw", "src/../src:ro", "docs", "--", "no-such-command"],
        ["sandbox", "/:ro", "--", "true"],
        ["sandbox", "docs", "--allow-read", "gone", "--", "true"],
        ["sandbox"],
        ["sandbox", "--root", "docs"],
        ["sandbox", "docs"],
        ["sandbox", "docs", "--"],
        ["sandbox", "docs", "cat", "a file"],
        ["sandbox", "docs:ro", "src"],
        ["sandbox", "--root", "docs", "cat", "--root", "x"],
        ["sandbox", "gone", "--", "true"],
        ["sandbox", "test", "--", "true"],
        ["sandbox", "docs", "cat", "--", "true"],
        ["sandbox", "docs", "--what", "--", "true"],
        ["sandbox", "--root", "gone", "true"],
        ["sandbox", "--root", "docs", "--", "src"],
        ["sandbox", "docs", "--", "echo hi"],
        ["sandbox", "docs", "--", "./gone"],
        ["sandbox", "docs", "--", "./README.md"],
        ["sandbox", "docs", "--sandbox", "off", "--", "sh", "-c", "exit 4"],
    );
}

#[test]
fn a_command_needs_no_dashes() {
    let stage = stage();
    let check = |words: &[&str], expect: &str| {
        let run = stage.run([&["sandbox"], words].concat());
        assert_eq!((run.code, run.stdout.as_str()), (Some(0), expect), "{words:?}: {}", run.stderr);
    };
    check(&["--root", ".", "cat", "README.md"], "text");
    check(&["--root=.", "sh", "-c", "echo \"$@\"", "sh", "--root", "--json", "--", "x"], "--root --json -- x\n");
    check(&[".", "--", "sh", "-c", "echo \"$@\"", "sh", "--", "x"], "-- x\n");
    check(&[".", "--sandbox", "off", "--", "cat", "README.md"], "text");
    check(&["--root", "src", "--root", "docs:ro", "ls"], "main.rs\n");
}

#[test]
fn places_that_cannot_be_held_are_named() {
    let stage = Stage::new().with("PATH", "/usr/bin:/bin");
    for number in 0..8_192 {
        std::os::unix::fs::symlink("x", stage.path(&format!("project/entry-{number}"))).unwrap();
    }
    let run = stage.run(["sandbox", ".", "--", "true"]);
    assert!(run.code == Some(2) && run.stderr.contains("too many entries"), "{}", run.stderr);
    let run = stage.run(["sandbox", ".", "--unenforced", "allow", "--json", "--", "true"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let enforcement: Value = serde_json::from_str(&run.stderr).unwrap();
    assert_eq!(enforcement["strength"], "landlock");
    let has = |list: &str, pattern: &str| {
        enforcement[list].as_array().unwrap().iter().any(|one| one["rule"]["pattern"] == pattern)
    };
    assert!(has("unenforced", ".ssh") && !has("unenforced", ".git/hooks"), "{enforcement}");
    assert!(has("open_for_writing", ".git/hooks") && !has("open_for_writing", ".ssh"), "{enforcement}");
}

#[test]
fn refusals_are_told_with_what_would_permit_them() {
    let stage = stage();
    let script = "ls /; cat /proc/self/status; cat /proc/self/mountinfo; cat ../outside/secret; cat ../outside/secret; cat ../home/x; echo x > ../outside/new";
    let run = stage.run(["sandbox", ".", "--trace", "--", "sh", "-c", script]);
    let told = run.stderr.replace(stage.top().to_str().unwrap(), "[STAGE]");
    let read = "  read     [STAGE]/outside/secret  --allow-read [STAGE]/outside/secret\n";
    let write = "  write    [STAGE]/outside  --allow-write [STAGE]/outside\n";
    assert_eq!(told.matches(read).count(), 1, "{told}");
    assert_eq!(told.matches(write).count(), 1, "{told}");
    assert!(!told.contains("home/x  "), "{told}");
    assert!(told.contains("  read     /  nothing: "), "{told}");
    assert!(told.contains("  read     /proc/self/status  --own-proc\n"), "{told}");
    assert!(told.contains("  read     /proc/self/mountinfo  nothing: "), "{told}");
}

#[test]
fn a_child_reads_its_own_proc_entries_if_requested() {
    let stage = stage();
    let script = ["--", "sh", "-c", "sh -c 'read -r first rest < /proc/self/stat && test $first = $$ && echo read'; :"];
    let run = stage.run([&["sandbox", "."][..], &script].concat());
    assert_eq!(run.stdout, "", "{}", run.stderr);
    let run = stage.run([&["sandbox", ".", "--own-proc"][..], &script].concat());
    assert_eq!(run.stdout, "read\n", "{}", run.stderr);
    let run = stage.run([&["sandbox", ".", "--own-proc", "--explain"][..], &script].concat());
    assert!(run.stdout.contains("  /proc/self  read  ("), "{}", run.stdout);
    let run = stage.run([&["sandbox", ".", "--own-proc", "--json"][..], &script].concat());
    assert!(run.stderr.contains("\"own_proc\":\"every_process\""), "{}", run.stderr);
}

#[test]
fn settings_hold_unless_a_flag_says_otherwise() {
    let stage = stage().with("TOKEN", "x").with("OTHER", "y");
    let stage = stage.with_settings(
        "[sandbox]\nnetwork = 'off'\nenv = ['TOKEN']\n\
         [sandbox.filesystem]\nallowRead = ['[STAGE]/outside']\ndenyWrite = ['[STAGE]/project']\n",
    );
    let check = |flags: &[&str], script: &str, code: i32| {
        let words = [["sandbox", "."].as_slice(), flags, &["--", "bash", "-c", script]].concat();
        let run = stage.run(words);
        assert_eq!(run.code, Some(code), "{flags:?} {script}: {} {}", run.stdout, run.stderr);
        run.stdout
    };
    assert_eq!(check(&[], "cat ../outside/secret", 0), "text");
    check(&["--allow-read", "../project/docs"], "cat ../outside/secret", 1);
    check(&[], "echo x > new", 1);
    check(&["--deny-write", "../home"], "echo x > new", 1);
    assert_eq!(check(&[], "echo $TOKEN-$OTHER", 0), "x-\n");
    assert_eq!(check(&["--env", "OTHER"], "echo $TOKEN-$OTHER", 0), "-y\n");
    // Refused for lack of a network differs from refused by a listener.
    let connect = "(: < /dev/tcp/127.0.0.1/1) 2>&1 | grep -c 'Connection refused'";
    check(&[], connect, 1);
    check(&["--network", "on"], connect, 0);
}

#[test]
fn what_the_settings_close_is_not_moved_by_a_planted_link() {
    let stage = stage().with_settings("restrict = [{ pattern = '/private', below = '[STAGE]/project/app' }]");
    fs::create_dir(stage.path("project/app")).unwrap();
    assert_eq!(stage.run(["sandbox", ".", "--", "true"]).code, Some(0));
    fs::rename(stage.path("project/app"), stage.path("project/moved")).unwrap();
    std::os::unix::fs::symlink("docs", stage.path("project/app")).unwrap();
    let run = stage.run(["sandbox", ".", "--", "true"]);
    assert_eq!(run.code, Some(2), "{}", run.stderr);
    assert!(run.stderr.contains("is a link that a confined server could have made"), "{}", run.stderr);
}

#[test]
fn what_is_closed_in_a_root_is_not_opened_by_a_link() {
    let stage = stage().with_settings("restrict = [{ pattern = 'private' }]");
    let own = stage.path("project/state");
    let stage = stage.with("XDG_STATE_HOME", own.to_str().unwrap());
    let program = stage.path("project/.venv/bin/x");
    for (place, file) in [("project/private", "file"), ("project/state/rootward/audit", "log")] {
        stage.write(&format!("{place}/{file}"), "SECRET");
        let read = stage.path(place).join(file);
        stage.write("project/.venv/bin/x", &format!("#!/bin/sh\necho ran\ncat {}\n:\n", read.display()));
        fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        std::os::unix::fs::symlink(stage.path(place), stage.path("project/.venv/libexec")).unwrap();
        let run = stage.run(["sandbox", ".", "--", ".venv/bin/x"]);
        assert_eq!((run.code, run.stdout.as_str()), (Some(0), "ran\n"), "{place}: {}", run.stderr);
        fs::remove_file(stage.path("project/.venv/libexec")).unwrap();
    }
}

#[test]
fn each_place_is_explained() {
    let stage = stage();
    let run = stage.run(["sandbox", ".", "--allow-read", "../outside", "--explain", "--", "sh", "-c", "exit 5"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let told = run.stdout.replace(stage.top().to_str().unwrap(), "[STAGE]");
    for line in [
        "  [STAGE]/project  read, write, delete  (a root)\n",
        "  [STAGE]/outside  read, execute  (allowed by a flag or the settings)\n",
        " places of the system: ",
        "/home  read, write, execute, delete  (its own directory)\n",
    ] {
        assert!(told.contains(line), "{line:?} in {told}");
    }
    let json = stage.run(["sandbox", ".", "--explain", "--json", "--", "sh"]);
    let value: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(value["enforcement"]["strength"], "landlock");
    assert!(value["places"].as_array().unwrap().len() > 5, "{value}");
    // `--explain` only prints: it neither runs the command nor writes to the audit log.
    assert!(!stage.path("home/.local/state/rootward/given-for-writing").exists());
}

#[test]
fn withheld_places_are_reported_with_a_hint() {
    let stage = stage();
    fs::create_dir_all(stage.path("project/.venv/bin")).unwrap();
    fs::write(stage.path("project/.venv/bin/x"), "#!/bin/sh\necho ran\n").unwrap();
    fs::set_permissions(stage.path("project/.venv/bin/x"), std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .unwrap();
    std::os::unix::fs::symlink(stage.path("outside"), stage.path("project/.venv/libexec")).unwrap();
    let run = stage.run(["sandbox", ".", "--", ".venv/bin/x"]);
    assert_eq!((run.code, run.stdout.as_str()), (Some(0), "ran\n"), "{}", run.stderr);
    let told = run.stderr.replace(stage.top().to_str().unwrap(), "[STAGE]");
    let expect = "warning: `[STAGE]/outside` (libraries beside the program) is not given: a confined server could have written \
                  `[STAGE]/project/.venv/libexec`, which names it; pass `--allow-read [STAGE]/outside` if the command needs it\n";
    assert!(told.contains(expect), "{told}");
    fs::write(stage.path("project/script"), format!("#!{}\n", stage.path("outside/program").display())).unwrap();
    fs::copy("/bin/sh", stage.path("outside/program")).unwrap();
    fs::set_permissions(stage.path("project/script"), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let run = stage.run(["sandbox", ".", "--", "./script"]);
    assert_eq!(run.code, Some(2), "{}", run.stderr);
    let told = run.stderr.replace(stage.top().to_str().unwrap(), "[STAGE]");
    assert!(told.contains("hint: pass `--allow-read [STAGE]/outside/program` if that is what you want"), "{told}");
}

#[test]
fn unix_sockets_are_allowed_by_name() {
    let stage = stage();
    let top = stage.top().to_str().unwrap().to_owned();
    let listener = UnixListener::bind(stage.path("outside/db.sock")).unwrap();
    let _engine = UnixListener::bind(stage.path("outside/docker.sock")).unwrap();
    // The connection succeeds before the listener accepts it.
    let script = "import socket, sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1])";
    let run = |flags: &[&str], path: &str| {
        let path = stage.path(path);
        let command = ["--", "python3", "-c", script, path.to_str().unwrap()];
        let run = stage.run([&["sandbox", "."], flags, &command].concat());
        (run.code, run.stderr.replace(&top, "[STAGE]"))
    };
    let check = |flags: &[&str], path: &str, code: i32, says: &str| {
        let (ended, said) = run(flags, path);
        assert_eq!(ended, Some(code), "{flags:?} {path}: {said}");
        assert!(said.contains(says), "{flags:?} {path}: {said}");
    };
    let (db, docker) = ("outside/db.sock", "outside/docker.sock");
    check(&["--trace"], db, 1, "  connect  [STAGE]/outside/db.sock  --allow-socket [STAGE]/outside/db.sock\n");
    check(&["--trace"], docker, 1, "  [STAGE]/outside/docker.sock  nothing: it is the socket of a container engine\n");
    check(&["--unix-sockets", "none"], db, 1, "Permission denied");
    check(&["--allow-socket", "../outside/db.sock"], db, 0, "");
    check(&["--unix-sockets", "on"], db, 0, "");
    let never = "outside/docker.sock` cannot be allowed: it is the socket of a container engine";
    check(&["--allow-socket", "../outside/docker.sock"], docker, 2, never);
    check(&["--allow-socket", "../outside/docker.sock"], docker, 2, "hint: `--unix-sockets on` opens all sockets");
    check(&["--allow-socket", "../outside/db.sock", "--unix-sockets", "none"], db, 2, "exclude each other");
    // A display can be allowed by name, with a warning.
    check(&["--allow-socket", "../outside/wayland-0"], db, 1, "[STAGE]/outside/wayland-0` controls your session");
    let explained = stage.run(["sandbox", ".", "--allow-socket", "../outside/db.sock", "--explain", "--", "true"]);
    let line = "  [STAGE]/outside/db.sock  connect  (allowed by a flag or the settings)\n";
    assert!(explained.stdout.replace(&top, "[STAGE]").contains(line), "{}", explained.stdout);
    stage.write("home/.config/rootward/config.toml", &format!("[sandbox]\nsockets = [\"{top}/outside/db.sock\"]\n"));
    check(&[], db, 0, "");
    stage.write("home/.config/rootward/config.toml", "[sandbox]\nunix_sockets = \"some\"\n");
    check(&[], db, 2, "expected `on`, `off` or `none`");
    listener.set_nonblocking(true).unwrap();
    assert_eq!(listener.incoming().take_while(Result::is_ok).count(), 3);
}
