//! `rootward status`, while servers run.

use serde_json::{Value, json};

use crate::wrap::scene::{Says, Scene, begin};

#[test]
fn running_servers_are_shown_with_their_roots() {
    let scene = Scene::new();
    let status = || scene.rootward(&["status", "--json"]).output().unwrap();
    assert_eq!(status().status.code(), Some(1), "nothing runs");
    let mut client = begin(&mut scene.wrap(&[]), Says::Roots, &[scene.uri("project")]);
    let process: u32 = client.text("process", json!({})).parse().unwrap();
    let run = status();
    assert_eq!(run.status.code(), Some(0), "{run:?}");
    let told: Value = serde_json::from_slice(&run.stdout).unwrap();
    let server = &told[0]["servers"][0];
    assert_eq!((&told[0]["kind"], &server["process"]), (&json!("wrap"), &json!(process)), "{told}");
    let root = json!({"path": scene.text("project"), "access": ["read", "write", "delete"]});
    assert_eq!(server["roots"][0], root, "{told}");
    assert_eq!(told[0].as_object().unwrap().keys().collect::<Vec<_>>(), ["kind", "process", "servers"], "{told}");
    assert_eq!(server["strength"], "landlock", "{told}");
    client.share(&[scene.uri("other")]);
    client.text("where", json!({}));
    let told: Value = serde_json::from_slice(&status().stdout).unwrap();
    assert!(told.to_string().contains(&scene.text("other")), "{told}");
    assert_eq!(client.end(), Some(0));
    assert_eq!(status().status.code(), Some(1), "nothing runs now");
}

#[test]
fn files_of_another_version_are_not_left_out_in_silence() {
    let scene = Scene::new();
    let directory = scene.path("home/.local/state/rootward/running");
    std::fs::create_dir_all(&directory).unwrap();
    // This process runs; no process has the other id.
    let (runs, gone) = (std::process::id(), u32::MAX);
    for process in [runs, gone] {
        std::fs::write(directory.join(format!("{process}.json")), r#"{"servers": [{"place": "/srv"}]}"#).unwrap();
    }
    for (words, printed) in [(&["status"][..], ""), (&["status", "--json"], "[]\n")] {
        let run = scene.rootward(words).output().unwrap();
        let told = (String::from_utf8(run.stdout).unwrap(), String::from_utf8(run.stderr).unwrap());
        let expect = "1 status file was written by another version of Rootward\n";
        assert_eq!((run.status.code(), told), (Some(0), (printed.to_owned(), expect.to_owned())), "{words:?}");
    }
    assert!(directory.join(format!("{runs}.json")).exists() && !directory.join(format!("{gone}.json")).exists());
}
