//! Where a server starts, and what relative paths mean there.

use std::path::Path;

use serde_json::json;

use super::giving::words_of;
use super::scene::{Says, Scene, begin};

#[test]
fn a_relative_path_means_the_same_to_the_guard_and_to_the_server() {
    let scene = Scene::new();
    std::fs::create_dir(scene.path("other/deep")).unwrap();
    std::fs::write(scene.path("other/deep/file.txt"), "deep").unwrap();
    let roots = [scene.uri("project"), scene.uri("other")];
    for strength in ["auto", "off"] {
        for (here, place) in
            [("project", "project"), ("other", "other"), ("other/deep", "other/deep"), ("outside", "project")]
        {
            let mut wrap = scene.wrap(&["--sandbox", strength]);
            let mut client = begin(wrap.current_dir(scene.path(here)), Says::Roots, &roots);
            let says = place.rsplit('/').next().unwrap();
            assert_eq!(client.text("where", json!({})), scene.text(place), "{here}");
            assert_eq!(client.text("read", json!({"path": "file.txt"})), says, "{here}");
            // The guard resolves it in the same way, so the server cannot leave through a relative path.
            let up = "../".repeat(place.split('/').count());
            let refused = client.call("read", json!({"path": format!("{up}outside/file.txt")}));
            assert_eq!(refused["result"]["structuredContent"]["code"], "outside_roots", "{here}: {refused}");
            if here == "other/deep" {
                assert_eq!(client.text("read", json!({"path": "../file.txt"})), "other");
            }
            // The root that contains the working directory is removed.
            client.share(&[scene.uri("project")]);
            assert_eq!(client.text("read", json!({"path": "file.txt"})), "project", "{here}");
            assert_eq!(client.text("where", json!({})), scene.text("project"), "{here}");
            assert_eq!(client.end(), Some(0));
        }
    }
}

#[test]
fn a_relative_script_is_found_wherever_the_server_starts() {
    let scene = Scene::new();
    let server = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/wrap/server.py");
    std::fs::copy(server, scene.path("outside/server.py")).unwrap();
    for strength in ["auto", "off"] {
        let command = ["python3", "server.py", "./file.txt", "word", "../other"];
        let mut wrap = scene.wrap_command(&["--sandbox", strength], &command);
        let mut client = begin(&mut wrap, Says::Roots, &[scene.uri("project")]);
        let outside = scene.text("outside");
        let expect = json!([format!("{outside}/./file.txt"), "word", format!("{outside}/../other")]);
        assert_eq!(words_of(&mut client), expect);
        assert_eq!(client.text("where", json!({})), scene.text("project"));
        client.share(&[scene.uri("outside")]);
        assert_eq!(words_of(&mut client), json!(["./file.txt", "word", "../other"]));
        assert_eq!(client.end(), Some(0));
    }
}
