//! Files as resources: templates, paged lists, contents and refusals, in both eras.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use rootward_files::{FileServer, Listing};
use rootward_testkit::client::{DuplexClient, message};
use serde_json::{Value, json};

use crate::stage::{Stage, connect};

fn uri(stage: &Stage, below: &str) -> String {
    format!("file://{}", stage.name(below))
}

async fn listing(stage: &Stage, roots: &[&str], listing: Listing) -> DuplexClient {
    connect(stage.settings(roots), FileServer::default().with_listing(listing), json!({})).await
}

/// The names on each page of the list.
async fn pages(client: &mut DuplexClient) -> Vec<Vec<String>> {
    let mut pages = Vec::new();
    let mut params = json!({});
    loop {
        let list = client.ask("resources/list", params).await;
        let resources = list["result"]["resources"].as_array().unwrap_or_else(|| panic!("{list}"));
        pages.push(resources.iter().map(|one| one["name"].as_str().unwrap().to_owned()).collect());
        match list["result"]["nextCursor"].as_str() {
            Some(cursor) => params = json!({"cursor": cursor}),
            None => return pages,
        }
    }
}

#[tokio::test]
async fn templates_name_the_roots() {
    let stage = Stage::new();
    let mut client = stage.connect(&["root", "outside/secret.txt"]).await;
    let list = client.ask("resources/templates/list", json!({})).await;
    let templates: Vec<_> = list["result"]["resourceTemplates"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["uriTemplate"].as_str().unwrap())
        .collect();
    assert_eq!(templates, [format!("{}/{{+path}}", uri(&stage, "root")).as_str(), "file:///{+path}"]);
    // By default no files are listed.
    assert_eq!(pages(&mut client).await, [Vec::<String>::new()]);
}

#[tokio::test]
async fn files_are_listed_as_configured() {
    let stage = Stage::new();
    stage.file("root/b.md", "12345");
    stage.file("root/a/deep/x.rs", "");
    stage.file("root/a.txt", "");
    stage.file("root/.hidden", "");
    stage.file("root/.env", "SECRET");
    stage.file("root/ignored.log", "");
    stage.file("root/.gitignore", "*.log");
    stage.link("root/link.md", stage.path("outside/secret.txt"));
    stage.fifo("root/fifo");
    std::fs::write(stage.path("root").join(OsStr::from_bytes(b"\xff.md")), "").unwrap();
    stage.file("second/c.md", "");
    let mut client = listing(&stage, &["root", "second", "root/a"], Listing::Top).await;
    assert_eq!(pages(&mut client).await, [["a.txt", "b.md", "c.md"]]);
    let list = client.ask("resources/list", json!({})).await;
    let b = &list["result"]["resources"][1];
    assert_eq!(*b, json!({"uri": uri(&stage, "root/b.md"), "name": "b.md", "mimeType": "text/markdown", "size": 5}));
    // A root inside another one is listed with that one.
    let mut client = listing(&stage, &["root", "second", "root/a"], Listing::All).await;
    assert_eq!(pages(&mut client).await, [["a/deep/x.rs", "a.txt", "b.md", "c.md"]]);
}

/// Every file is listed once, even if others are created or deleted between the pages.
#[tokio::test]
async fn a_page_continues_where_the_last_one_ended() {
    let stage = Stage::new();
    for number in 0..500 {
        stage.file(&format!("root/{}/{number:03}.txt", number % 7), "");
    }
    for number in 0..50 {
        stage.file(&format!("second/{number:02}.txt"), "");
    }
    let mut client = listing(&stage, &["root", "second"], Listing::All).await;
    let all = pages(&mut client).await;
    assert_eq!(all.iter().map(Vec::len).collect::<Vec<_>>(), [200, 200, 150]);
    let mut names = all.concat();
    let (in_root, in_second) = names.split_at(500);
    assert!(in_root.is_sorted() && in_second.is_sorted());
    names.sort();
    names.dedup();
    assert_eq!(names.len(), 550);
    let first = client.ask("resources/list", json!({})).await;
    let cursor = first["result"]["nextCursor"].clone();
    let last = first["result"]["resources"][199]["name"].clone();
    let expect = client.ask("resources/list", json!({"cursor": cursor})).await;
    // The file that the cursor names is removed, and one before it is created.
    std::fs::remove_file(stage.path("root").join(last.as_str().unwrap())).unwrap();
    stage.file("root/0/new.txt", "");
    let seen = client.ask("resources/list", json!({"cursor": cursor})).await;
    assert_eq!(seen["result"]["resources"], expect["result"]["resources"]);
}

#[tokio::test]
async fn foreign_and_stale_cursors_are_refused() {
    let stage = Stage::new();
    let mut client = listing(&stage, &["root"], Listing::All).await;
    let older = "eyJnZW5lcmF0aW9uIjo5OTk5LCJyb290IjowLCJhZnRlciI6ImEiLCJsaXN0ZWQiOjF9";
    for (cursor, says) in [("x", "Malformed"), ("", "Malformed"), ("e30", "Malformed"), (older, "Stale")] {
        let refused = client.ask("resources/list", json!({"cursor": cursor})).await;
        assert_eq!(refused["error"]["code"], -32602, "{refused}");
        assert!(refused["error"]["message"].as_str().unwrap().starts_with(says), "{refused}");
    }
    // A forged position outside the roots opens nothing: it only says where to continue.
    let generation = client.result("get-roots", json!({})).await.data()["generation"].clone();
    let made = json!({"generation": generation, "root": 7, "after": "../../outside", "listed": 0}).to_string();
    let cursor = base64::Engine::encode(&base64::engine::general_purpose::URL_SAFE_NO_PAD, made);
    let list = client.ask("resources/list", json!({"cursor": cursor})).await;
    assert_eq!(list["result"]["resources"], json!([]), "{list}");
}

/// The list ends at its limit of 10,000, although there are more files.
#[tokio::test]
async fn a_list_ends_at_its_limit() {
    let stage = Stage::new();
    let long = std::env::var_os("ROOTWARD_LONG").is_some();
    let each = if long { 1000 } else { 105 };
    for directory in 0..100 {
        stage.directory(&format!("root/{directory:02}"));
        for file in 0..each {
            std::fs::File::create(stage.path(&format!("root/{directory:02}/{file:04}"))).unwrap();
        }
    }
    let mut client = listing(&stage, &["root"], Listing::All).await;
    let all = pages(&mut client).await;
    assert_eq!((all.len(), all.concat().len()), (50, 10_000));
    assert!(all.concat().is_sorted());
}

#[tokio::test]
async fn contents_are_text_or_bytes() {
    let stage = Stage::new();
    stage.file("root/notes.md", "# Käse\n");
    stage.file("root/a b#%.bin", b"\x00\xff");
    stage.file("root/latin.txt", b"k\xe4se");
    stage.file("root/large", vec![b'x'; (8 << 20) + 1]);
    stage.directory("root/dir");
    let mut client = stage.connect(&["root"]).await;
    let mut read = async |uri: &str| client.ask("resources/read", json!({"uri": uri})).await;
    let notes = read(&uri(&stage, "root/notes.md")).await;
    let expect = json!([{"uri": uri(&stage, "root/notes.md"), "mimeType": "text/markdown", "text": "# Käse\n"}]);
    assert_eq!(notes["result"]["contents"], expect);
    let in_capitals = uri(&stage, "root/notes.md").replacen("file:", "FILE:", 1);
    assert_eq!(read(&in_capitals).await["result"]["contents"][0]["text"], "# Käse\n");
    let bytes = read(&uri(&stage, "root/a%20b%23%25.bin")).await;
    assert_eq!(bytes["result"]["contents"][0]["blob"], "AP8=", "{bytes}");
    let latin = read(&uri(&stage, "root/latin.txt")).await;
    assert_eq!(latin["result"]["contents"][0]["blob"], "a+RzZQ==");
    for (below, code, says) in [
        ("root/large", -32602, "8388609 bytes"),
        ("root/missing", -32002, "does not exist"),
        ("root/dir", -32602, "is a directory"),
    ] {
        let failed = read(&uri(&stage, below)).await;
        assert_eq!(failed["error"]["code"], code, "{failed}");
        assert!(failed["error"]["message"].as_str().unwrap().contains(says), "{failed}");
        assert_eq!(failed["error"]["data"]["uri"], uri(&stage, below), "{failed}");
    }
}

#[tokio::test]
async fn a_refusal_has_data() {
    let stage = Stage::new();
    stage.file("root/.env", "SECRET");
    stage.fifo("root/fifo");
    stage.link("root/link", stage.path("outside/secret.txt"));
    let mut client = stage.connect(&["root"]).await;
    for (asked, code) in [
        (uri(&stage, "outside/secret.txt"), "outside_roots"),
        (uri(&stage, "outside/missing.txt"), "outside_roots"),
        (uri(&stage, "root/link"), "outside_roots"),
        (uri(&stage, "root/../outside/secret.txt"), "invalid_path"),
        (uri(&stage, "root/.env"), "restricted"),
        (uri(&stage, "root/fifo"), "special_file"),
    ] {
        let refused = client.ask("resources/read", json!({"uri": asked})).await;
        assert_eq!(
            (&refused["error"]["code"], &refused["error"]["data"]["code"]),
            (&json!(-32602), &json!(code)),
            "{refused}"
        );
    }
    for asked in ["in.txt", "/etc/passwd", "https://example.com", "", "rootward://other"] {
        let refused = client.ask("resources/read", json!({"uri": asked})).await;
        assert_eq!(refused["error"]["code"], -32602, "{refused}");
        assert!(refused["error"]["message"].as_str().unwrap().contains("`file:` URIs"), "{refused}");
    }
}

/// The server asks a modern client for its roots when it reads a resource, but not when it lists them.
#[tokio::test]
async fn modern_clients_read_and_list() {
    let stage = Stage::new();
    stage.file("root/notes.md", "hello");
    let server = FileServer::default().with_listing(Listing::All);
    let mut client = connect(stage.settings(&[]), server, json!({})).await;
    let capabilities = json!({"roots": {}});
    let params = message::modern(&capabilities, json!({"uri": uri(&stage, "root/notes.md")}));
    let asked = client.ask("resources/read", params.clone()).await;
    let carried: &Value = &asked["result"]["requestState"];
    let list = message::roots([uri(&stage, "root")]);
    let read = client.ask("resources/read", message::again(params.clone(), carried, &list)).await;
    assert_eq!(read["result"]["contents"][0]["text"], "hello", "{read}");
    let elsewhere = message::roots([uri(&stage, "outside")]);
    let refused = client.ask("resources/read", message::again(params, carried, &elsewhere)).await;
    assert_eq!(
        (&refused["error"]["code"], &refused["error"]["data"]["code"]),
        (&json!(-32602), &json!("outside_roots"))
    );
    let list = client.ask("resources/list", message::modern(&capabilities, json!({}))).await;
    assert_eq!(list["result"]["resources"], json!([]), "{list}");
    // A client without roots gets the operator's.
    let server = FileServer::default().with_listing(Listing::All);
    let mut client = connect(stage.settings(&["root"]), server, json!({})).await;
    let list = client.ask("resources/list", message::modern(&json!({}), json!({}))).await;
    assert_eq!(list["result"]["resources"][0]["name"], "notes.md", "{list}");
    let missing = message::modern(&json!({}), json!({"uri": uri(&stage, "root/missing")}));
    assert_eq!(client.ask("resources/read", missing).await["error"]["code"], -32602);
}

/// When the client's roots change, it is notified that its resources changed.
#[tokio::test]
async fn lists_change_with_the_roots() {
    let stage = Stage::new();
    stage.file("root/a.md", "");
    stage.file("outside/b.md", "");
    let server = FileServer::default().with_listing(Listing::Top);
    let mut client = connect(stage.settings(&[]), server, json!({"roots": {"listChanged": true}})).await;
    client.answer_roots(message::roots([uri(&stage, "root")])).await;
    client.ask("resources/templates/list", json!({})).await;
    assert_eq!(pages(&mut client).await, [["a.md"]]);
    client.list_changed().await;
    client.answer_roots(message::roots([uri(&stage, "outside")])).await;
    client.next_where(|message| message["method"] == "notifications/resources/list_changed").await;
    assert_eq!(pages(&mut client).await, [["b.md", "secret.txt"]]);
}
