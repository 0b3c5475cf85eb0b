//! What `rootward wrap` writes to the audit log.

use rootward_testkit::client::Client;
use serde_json::{Value, json};

use super::scene::{Scene, start};

/// A client that sends its name.
fn begin(scene: &Scene, strength: &str) -> Client {
    let mut client = start(&mut scene.wrap(&["--sandbox", strength]));
    client.name_roots([scene.uri("project")]);
    let capabilities = json!({"roots": {"listChanged": true}});
    let info = json!({"name": "my\u{1b}editor", "version": "1.0"});
    client
        .ask("initialize", json!({"protocolVersion": "2025-06-18", "capabilities": capabilities, "clientInfo": info}));
    client.notify("notifications/initialized", ());
    client
}

#[test]
fn a_record_names_client_server_process_and_place() {
    let scene = Scene::new();
    for strength in ["auto", "off"] {
        let before = scene.decisions().len();
        let mut client = begin(&scene, strength);
        let mut expect = Vec::new();
        for root in ["project", "other"] {
            // Other roots need another process.
            client.share([scene.uri(root)]);
            for path in ["file.txt", "none.txt"] {
                client.call("read", json!({"path": path, "target": "es2020", "url": "https://example.org/file.txt"}));
                let process: u32 = client.text("process", json!({})).parse().unwrap();
                expect.push((process, path, scene.text(&format!("{root}/{path}")), scene.text(root)));
            }
        }
        assert_ne!(expect[0].0, expect[2].0);
        assert_eq!(client.end(), Some(0));
        let found = &scene.decisions()[before..];
        let text = |line: &Value, key: &str| line[key].as_str().unwrap_or_default().to_owned();
        assert_eq!(found.len(), expect.len(), "{found:?}");
        for (line, (process, path, resolved, root)) in found.iter().zip(expect) {
            assert_eq!(line["process"], process, "{line}");
            assert_eq!(
                (text(line, "client").as_str(), text(line, "server").as_str()),
                ("myeditor 1.0", "wrap"),
                "{line}"
            );
            assert_eq!(
                (text(line, "path"), text(line, "resolved"), text(line, "root")),
                (path.to_owned(), resolved, root)
            );
        }
    }
    let shown = |words: &[&str]| {
        let run = scene.rootward(&[&["audit", "show"], words].concat()).output().unwrap();
        String::from_utf8(run.stdout).unwrap().lines().count()
    };
    assert_eq!(shown(&["--server", "WRAP", "--client", "myeditor", "--since", "1h"]), 8);
    assert_eq!(shown(&["--server", "files"]), 0);
}
