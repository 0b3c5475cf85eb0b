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
    assert_eq!(server["roots"][0]["place"], scene.text("project"), "{told}");
    assert_eq!(server["strength"], "landlock", "{told}");
    client.share(&[scene.uri("other")]);
    client.text("where", json!({}));
    let told: Value = serde_json::from_slice(&status().stdout).unwrap();
    assert!(told.to_string().contains(&scene.text("other")), "{told}");
    assert_eq!(client.end(), Some(0));
    assert_eq!(status().status.code(), Some(1), "nothing runs any more");
}
