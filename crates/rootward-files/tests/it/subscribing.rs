//! Subscriptions in both eras: which changes clients are notified of, and which not.

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use rootward_files::FileServer;
use rootward_server::RootsService;
use rootward_testkit::client::{DuplexClient, message};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::stage::{Stage, connect};

fn uri(stage: &Stage, below: &str) -> String {
    format!("file://{}", stage.name(below))
}

async fn subscribe(client: &mut DuplexClient, uri: &str) -> Value {
    client.ask("resources/subscribe", json!({"uri": uri})).await
}

/// The resource in the next update notification.
async fn updated(client: &mut DuplexClient) -> String {
    let told = client.next_where(|message| message["method"] == "notifications/resources/updated").await;
    told["params"]["uri"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn changes_are_reported() {
    let stage = Stage::new();
    stage.file("root/a.txt", "one");
    stage.file("root/b.txt", "one");
    stage.directory("root/dir");
    let mut client = stage.connect(&["root"]).await;
    let (a, b, directory) = (uri(&stage, "root/a.txt"), uri(&stage, "root/b.txt"), uri(&stage, "root/dir"));
    for one in [&a, &b, &directory] {
        assert_eq!(subscribe(&mut client, one).await["result"], json!({}));
    }
    // Written in place, replaced as editors do, removed, and created again.
    stage.file("root/a.txt", "three");
    assert_eq!(updated(&mut client).await, a);
    stage.file("root/new", "four");
    fs::rename(stage.path("root/new"), stage.path("root/a.txt")).unwrap();
    assert_eq!(updated(&mut client).await, a);
    fs::remove_file(stage.path("root/a.txt")).unwrap();
    assert_eq!(updated(&mut client).await, a);
    stage.file("root/a.txt", "five");
    assert_eq!(updated(&mut client).await, a);
    stage.file("root/dir/new.txt", "");
    assert_eq!(updated(&mut client).await, directory);
    // After unsubscribing, changes are no longer reported.
    let back = client.ask("resources/unsubscribe", json!({"uri": a})).await;
    assert_eq!(back["result"], json!({}));
    stage.file("root/a.txt", "six!!");
    stage.file("root/b.txt", "two!!");
    assert_eq!(updated(&mut client).await, b);
}

#[tokio::test]
async fn what_cannot_be_read_cannot_be_subscribed_to() {
    let stage = Stage::new();
    stage.file("root/.env", "SECRET");
    stage.fifo("root/fifo");
    stage.link("root/link", stage.path("outside/secret.txt"));
    let mut client = stage.connect(&["root"]).await;
    for (below, code) in [
        ("outside/secret.txt", "outside_roots"),
        ("root/link", "outside_roots"),
        ("root/.env", "restricted"),
        ("root/fifo", "special_file"),
    ] {
        let refused = subscribe(&mut client, &uri(&stage, below)).await;
        assert_eq!(refused["error"]["data"]["code"], code, "{refused}");
    }
    let missing = subscribe(&mut client, &uri(&stage, "root/missing")).await;
    assert_eq!(missing["error"]["code"], -32002, "{missing}");
    let path = subscribe(&mut client, "link").await;
    assert_eq!(path["error"]["code"], -32602, "{path}");
}

#[tokio::test]
async fn a_session_can_subscribe_to_64_resources() {
    let stage = Stage::new();
    for number in 0..65 {
        stage.file(&format!("root/{number}"), "");
    }
    let mut client = stage.connect(&["root"]).await;
    for number in 0..64 {
        assert_eq!(subscribe(&mut client, &uri(&stage, &format!("root/{number}"))).await["result"], json!({}));
    }
    let full = subscribe(&mut client, &uri(&stage, "root/64")).await;
    assert!(full["error"]["message"].as_str().unwrap().contains("64 resources are watched"), "{full}");
    // Subscribing to the same resource again does not count.
    assert_eq!(subscribe(&mut client, &uri(&stage, "root/7")).await["result"], json!({}));
    client.ask("resources/unsubscribe", json!({"uri": uri(&stage, "root/7")})).await;
    assert_eq!(subscribe(&mut client, &uri(&stage, "root/64")).await["result"], json!({}));
}

/// Changes to a file in a revoked root, and to one that was replaced by a link to the outside, are not reported.
#[tokio::test]
async fn a_subscription_does_not_report_what_is_no_longer_shared() {
    let stage = Stage::new();
    stage.file("root/a.txt", "one");
    stage.file("other/b.txt", "one");
    stage.file("kept/c.txt", "one");
    let mut client = connect(stage.settings(&[]), FileServer::default(), json!({"roots": {"listChanged": true}})).await;
    client.answer_roots(message::roots(["root", "other", "kept"].map(|below| uri(&stage, below)))).await;
    let (a, b, c) = (uri(&stage, "root/a.txt"), uri(&stage, "other/b.txt"), uri(&stage, "kept/c.txt"));
    for one in [&a, &b, &c] {
        assert_eq!(subscribe(&mut client, one).await["result"], json!({}));
    }
    client.list_changed().await;
    client.answer_roots(message::roots(["root", "kept"].map(|below| uri(&stage, below)))).await;
    stage.link("root/trap", stage.path("outside/secret.txt"));
    fs::rename(stage.path("root/trap"), stage.path("root/a.txt")).unwrap();
    for round in 0..3 {
        stage.file("other/b.txt", format!("two {round}"));
        stage.file("outside/secret.txt", format!("changed {round}"));
        stage.file("kept/c.txt", format!("two {round}"));
        assert_eq!(updated(&mut client).await, c);
    }
    assert!(client.kept().iter().all(|message| message["method"] != "notifications/resources/updated"), "{client:?}");
}

#[tokio::test]
async fn the_roots_themselves_can_be_subscribed_to() {
    let stage = Stage::new();
    let settings = stage.settings(&[]);
    let serve = async move |there| {
        let rooted = RootsService::new(settings).install(FileServer::default()).with_roots_resource();
        if let Ok(service) = rooted.serve(there).await {
            let _ = service.waiting().await;
        }
    };
    let mut client = DuplexClient::connect(1 << 20, serve);
    let hello = client.shake_hands(json!({"roots": {"listChanged": true}})).await;
    assert_eq!(hello["result"]["capabilities"]["resources"], json!({"subscribe": true, "listChanged": true}));
    client.answer_roots(message::roots([uri(&stage, "root")])).await;
    assert_eq!(subscribe(&mut client, "rootward://roots").await["result"], json!({}));
    client.list_changed().await;
    client.answer_roots(message::roots([uri(&stage, "outside")])).await;
    assert_eq!(updated(&mut client).await, "rootward://roots");
}

/// A modern client gets notifications while its request is open.
#[tokio::test]
async fn a_listener_gets_reports_only_about_the_operators_roots() {
    let stage = Stage::new();
    stage.file("root/a.txt", "one");
    stage.file("kept/c.txt", "one");
    stage.link("root/out", stage.path("outside"));
    let service = RootsService::new(stage.settings(&["root", "kept"]));
    let rooted = service.install(FileServer::default()).with_roots_resource();
    let mut client = DuplexClient::connect(1 << 20, async move |there| {
        if let Ok(service) = rooted.serve(there).await {
            let _ = service.waiting().await;
        }
    });
    let (a, c) = (uri(&stage, "root/a.txt"), uri(&stage, "kept/c.txt"));
    let files = [a.clone(), uri(&stage, "root/out/secret.txt"), uri(&stage, "outside/secret.txt"), c.clone()];
    let mut named: Vec<&str> = files.iter().map(String::as_str).collect();
    named.push("https://example.org/x");
    let filter = json!({"resourceSubscriptions": named, "resourcesListChanged": true});
    let listen = |id: u64, capabilities: Value| {
        message::request(id, "subscriptions/listen", message::modern(&capabilities, json!({"notifications": filter})))
    };
    client.send(listen(1, json!({}))).await;
    let told = client.receive().await;
    let accepted = json!({"resourcesListChanged": true, "resourceSubscriptions": files});
    assert_eq!(told["params"]["notifications"], accepted, "{told}");
    // A client with roots sends them only in its calls, so it gets no reports.
    client.send(listen(2, json!({"roots": {}}))).await;
    client.receive().await;
    for round in 0..2 {
        stage.file("outside/secret.txt", format!("changed {round}"));
        stage.file("root/a.txt", format!("changed {round}"));
        let told = client.receive().await;
        assert_eq!((&told["method"], &told["params"]["uri"]), (&json!("notifications/resources/updated"), &json!(a)));
        assert_eq!(told["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], 1, "{told}");
    }
    // The operator removes a root: the list changes, and files in that root are no longer reported.
    service.change(stage.settings(&["kept"]).sources, Arc::clone(&service.settings().guard.restrictions));
    assert_eq!(client.receive().await["method"], "notifications/resources/list_changed");
    stage.file("root/a.txt", "changed again");
    stage.file("kept/c.txt", "changed again");
    assert_eq!(client.receive().await["params"]["uri"], c);
}

/// Over channels, as used for HTTP, an idle session is suspended, unless it has subscriptions.
#[tokio::test]
async fn an_idle_session_over_channels_still_gets_reports() {
    let stage = Stage::new();
    stage.file("root/a.txt", "one");
    let (to_server, from_client) = mpsc::channel::<Bytes>(4);
    let (to_client, mut from_server) = mpsc::channel::<Bytes>(4);
    let service = RootsService::new(stage.settings(&["root"]));
    tokio::spawn(FileServer::default().serve_channels(service, to_client, from_client));
    let mut next = async || -> Value { serde_json::from_slice(&from_server.recv().await.unwrap()).unwrap() };
    let send = async |message: Value| to_server.send(message.to_string().into()).await.unwrap();
    send(message::request(0, "initialize", message::hello(json!({})))).await;
    assert_eq!(next().await["id"], 0);
    send(message::notification("notifications/initialized", Value::Null)).await;
    send(message::request(1, "resources/subscribe", json!({"uri": uri(&stage, "root/a.txt")}))).await;
    assert_eq!(next().await["result"], json!({}));
    // Longer than the time after which an idle session is suspended.
    tokio::time::sleep(Duration::from_secs(3)).await;
    stage.file("root/a.txt", "other");
    assert_eq!(next().await["params"]["uri"], uri(&stage, "root/a.txt"));
}
