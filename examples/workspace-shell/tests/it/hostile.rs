//! Commands that try to escape.

use std::net::TcpListener;

use serde_json::json;

use crate::scene::{Scene, begin, shell};

#[test]
fn commands_reach_nothing_outside_the_roots() {
    let scene = Scene::new();
    std::os::unix::fs::symlink(scene.path("other"), scene.path("project/link")).unwrap();
    let mut client = begin(&scene, scene.stdio());
    let (secret, key) = (scene.text("other/secret.txt"), scene.text("home/.ssh/id"));
    for command in [
        format!("cat {secret}"),
        format!("cat {key}"),
        "cat link/secret.txt".to_owned(),
        "cat ../other/secret.txt".to_owned(),
        format!("cp {secret} stolen"),
        format!("ln {secret} stolen && cat stolen"),
        format!("ln -s {secret} stolen; cat stolen"),
        format!("echo x >> {secret}"),
        format!("rm {secret}"),
        format!("mv {secret} ."),
        format!("ls {}", scene.text("other")),
        format!("cd {} && cat secret.txt", scene.text("other")),
        format!("sh -c 'exec 3<{secret}; cat <&3'"),
        "cat /etc/shadow".to_owned(),
        "cat /proc/1/environ".to_owned(),
    ] {
        let said = shell(&mut client, &command);
        assert!(said.contains("[exit code ") && !said.contains("this is other"), "{command}: {said}");
        assert!(!said.contains("this is home"), "{command}: {said}");
    }
    assert_eq!(std::fs::read_to_string(scene.path("other/secret.txt")).unwrap(), "this is other/secret.txt\n");
}

#[test]
fn commands_have_no_network_and_no_secrets() {
    let scene = Scene::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    let mut client =
        begin(&scene, rootward_testkit::client::Client::start(scene.command().env("SECRET_TOKEN", "hidden")));
    let said = shell(&mut client, &format!("bash -c 'echo hi > /dev/tcp/127.0.0.1/{port}'"));
    assert!(said.contains("[exit code "), "{said}");
    assert_eq!(listener.accept().unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
    assert!(!shell(&mut client, "env").contains("hidden"));
    assert_ne!(shell(&mut client, "echo $HOME").trim_end(), scene.text("home"));
}

#[test]
fn background_processes_of_a_command_are_killed() {
    let scene = Scene::new();
    let mut client = begin(&scene, scene.stdio());
    let said = shell(&mut client, "(trap '' TERM HUP INT; sleep 1000; echo late > late.txt) & echo $!");
    let process = said.trim().to_owned();
    assert!(process.parse::<u32>().is_ok(), "{said}");
    // The response arrives only after all processes have ended.
    let status = std::fs::read_to_string(format!("/proc/{process}/comm")).unwrap_or_default();
    assert!(status.is_empty(), "{status}");
    assert!(!scene.path("project/late.txt").exists());
}

#[test]
fn long_output_is_cut_and_long_commands_are_refused() {
    let scene = Scene::new();
    let mut client = begin(&scene, scene.stdio());
    let said = shell(&mut client, "head -c 5000000 /dev/zero | tr '\\0' x; echo end");
    assert!(
        said.len() < 300_000 && said.contains("bytes are not shown here") && said.ends_with("end\n"),
        "{}",
        said.len()
    );
    let said = client.fails("shell", json!({"command": "x".repeat(200_000)}));
    assert!(said.contains("the limit is 131071"), "{said}");
}

#[test]
fn a_revoked_root_is_closed_for_the_next_command() {
    let scene = Scene::new();
    let mut client = begin(&scene, scene.stdio());
    assert_eq!(shell(&mut client, "ls"), "notes.txt\nsrc\n");
    client.share([scene.uri("other")]);
    let said = shell(&mut client, &format!("cat {}; ls", scene.text("project/notes.txt")));
    assert!(said.contains("Permission denied") && said.starts_with("secret.txt\n"), "{said}");
    client.share(Vec::<String>::new());
    assert_eq!(client.why("shell", json!({"command": "ls"})), "no_roots");
}
