//! `list_allowed_directories`, `get-roots`, `roots`, `path_in_roots`.

use rootward_files::FileServer;
use serde_json::{Value, json};

use crate::stage::{Stage, connect};

#[tokio::test]
async fn the_current_roots_are_listed() {
    let stage = Stage::new();
    stage.directory("other");
    let mut client = stage.connect(&["root", "other:ro"]).await;
    let (root, other) = (stage.name("root"), stage.name("other"));
    let listed = client.says("list_allowed_directories", json!({})).await;
    assert_eq!(listed, format!("Allowed directories:\n{root}\n{other}"));

    let roots = client.result("roots", json!({})).await;
    assert_eq!(roots.text(), format!("{root} (read, write, delete)\n{other} (read)"));
    let list = roots.data()["roots"].as_array().unwrap();
    assert_eq!((&list[0]["path"], &list[0]["uri"]), (&json!(root), &json!(format!("file://{root}"))));
    assert_eq!(list[1]["path"], json!(other));

    let summary = client.result("get-roots", json!({})).await;
    let data = summary.data();
    assert_eq!(serde_json::from_str::<Value>(summary.text()).unwrap(), *data);
    for (key, expect) in [
        ("supportsRoots", json!(false)),
        ("rootsListChanged", json!(false)),
        ("rootsCount", json!(2)),
        ("filePaths", json!([root, other])),
        ("state", json!("unsupported")),
        ("mode", json!("narrow")),
        ("confinement", json!("none")),
    ] {
        assert_eq!(data[key], expect, "{key}");
    }
    assert!(data["generation"].is_u64() && data.get("nextCursor").is_none());
}

#[tokio::test]
async fn many_roots_come_in_pages() {
    let stage = Stage::new();
    let names: Vec<String> = (0..60).map(|number| format!("roots/{number}")).collect();
    for name in &names {
        stage.directory(name);
    }
    let mut client = stage.connect(&names.iter().map(String::as_str).collect::<Vec<_>>()).await;
    let first = client.result("get-roots", json!({})).await;
    assert_eq!(first.data()["roots"].as_array().unwrap().len(), 50);
    let second = client.result("get-roots", json!({"cursor": first.data()["nextCursor"]})).await;
    assert_eq!(second.data()["filePaths"][0], stage.name("roots/50"));
    assert!(second.data().get("nextCursor").is_none());
    let wrong = client.ask("tools/call", json!({"name": "get-roots", "arguments": {"cursor": "?"}})).await;
    assert_eq!(wrong["error"]["code"], -32602);
    assert_eq!(wrong["error"]["message"], "Malformed cursor for roots/list");
}

#[tokio::test]
async fn the_server_asks_the_client_for_its_roots() {
    let stage = Stage::new();
    stage.directory("root/inner");
    let mut client = connect(stage.settings(&["root"]), FileServer::default(), json!({"roots": {}})).await;
    client.call_as(7, "list_allowed_directories", json!({})).await;
    let inner = stage.name("root/inner");
    client.answer_roots(json!({"roots": [{"uri": format!("file://{inner}"), "name": "Inner"}]})).await;
    let answered = client.answer_to(7).await;
    assert_eq!(answered["result"]["content"][0]["text"], format!("Allowed directories:\n{inner}"));
    assert_eq!(client.says("roots", json!({})).await, format!("{inner} (read, write, delete) \"Inner\""));
}

#[tokio::test]
async fn without_roots_nothing_is_shared() {
    let stage = Stage::new();
    let mut client = stage.connect(&[]).await;
    assert_eq!(client.says("list_allowed_directories", json!({})).await, "Allowed directories:\n");
    assert_eq!(client.says("roots", json!({})).await, "nothing is shared: every path is refused");
    let answered = client.result("path_in_roots", json!({"path": stage.name("root")})).await;
    assert_eq!((&answered.data()["inRoots"], &answered.data()["reason"]), (&json!(false), &json!("no_roots")));
}

#[tokio::test]
async fn whether_a_path_is_shared_is_true_false_or_null() {
    let stage = Stage::new();
    stage.directory("root");
    let mut settings = stage.settings(&[]);
    settings.policy.timeout = std::time::Duration::from_millis(200);
    let mut client = connect(settings, FileServer::default(), json!({"roots": {}})).await;
    let root = stage.name("root");
    // The server asks the client, which does not answer.
    client.call_as(1, "path_in_roots", json!({"path": root})).await;
    client.asked().await;
    let answered = client.answer_to(1).await["result"].clone();
    let data = &answered["structuredContent"];
    assert_eq!((&data["inRoots"], &data["path"]), (&Value::Null, &json!(root)), "{data}");
    // Either the call or the request for roots may time out first.
    assert!(["roots_pending", "roots_failed"].contains(&data["reason"].as_str().unwrap()), "{data}");
    assert_eq!(answered["isError"], false);
    // The request for roots has timed out.
    let answered = client.result("path_in_roots", json!({"path": root})).await;
    assert_eq!(*answered.data(), json!({"inRoots": null, "path": root, "reason": "roots_failed"}));
    assert!(answered.text().starts_with("not known: "), "{}", answered.text());
    // With known roots.
    let mut client = stage.connect(&["root"]).await;
    for (path, expect) in [(&root, true), (&"/etc".to_owned(), false)] {
        let answered = client.result("path_in_roots", json!({"path": path})).await;
        assert_eq!(answered.data()["inRoots"], expect);
    }
}

#[tokio::test]
async fn path_in_roots_does_not_reveal_what_exists_outside() {
    let stage = Stage::new();
    stage.file("root/.ssh/id", "key");
    stage.link("root/leaving", stage.path("outside/secret.txt"));
    stage.link("root/nowhere", stage.path("outside/nothing.txt"));
    let mut client = stage.connect(&["root:ro"]).await;
    let root = stage.name("root");
    for path in [".", "a", "a/b/c", root.as_str()] {
        let answered = client.result("path_in_roots", json!({"path": path})).await;
        assert_eq!(answered.text(), format!("yes: `{path}` is in `{root}` (read)"));
        assert_eq!((&answered.data()["inRoots"], &answered.data()["root"]), (&json!(true), &json!(root)));
    }
    // The first path of each pair exists, the second does not.
    let outside = |name: &str| stage.name(&format!("outside/{name}"));
    let pairs = [
        (outside("secret.txt"), outside("nothing.txt")),
        ("../outside/secret.txt".to_owned(), "../outside/nothing.txt".to_owned()),
        ("leaving".to_owned(), "nowhere".to_owned()),
        ("/etc/passwd".to_owned(), "/etc/nothing-of-that-name".to_owned()),
    ];
    for (there, not_there) in pairs {
        let told = [&there, &not_there].map(|path| json!({"path": path}));
        let [there_told, not_told] = told;
        let one = client.result("path_in_roots", there_told).await;
        let other = client.result("path_in_roots", not_told).await;
        let same = |text: String, path: &str| text.replace(path, "PATH");
        assert_eq!(same(one.to_string(), &there), same(other.to_string(), &not_there));
        assert_eq!((&one.data()["inRoots"], &one.data()["reason"]), (&json!(false), &json!("outside_roots")));
        assert_eq!(one["isError"], false);
    }
}
