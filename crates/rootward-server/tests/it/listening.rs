//! `subscriptions/listen`: a modern client is notified when the operator's or the user's roots change.

use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::{ErrorData, ServerHandler};
use rootward_core::session::Sources;
use rootward_core::{Origin, Root, RootSet, Validation};
use rootward_server::{Rooted, RootsService};
use rootward_testkit::client::message;
use serde_json::{Value, json};

use crate::client;
use crate::rooted::Files;
use crate::stage::{Stage, settings};

/// A server whose tool descriptions name the roots.
struct Naming;

impl ServerHandler for Naming {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().enable_tool_list_changed().build())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::default())
    }
}

fn naming(service: &RootsService) -> Rooted<Naming> {
    service.install(Naming).with_roots_resource().with_roots_in_tools()
}

fn listen(id: u64, capabilities: &Value, filter: &Value) -> Value {
    let parameters = message::modern(capabilities, json!({"notifications": filter}));
    message::request(id, "subscriptions/listen", parameters)
}

fn saved(stage: &Stage, names: &[&str]) -> Sources {
    let root = |name: &&str| Root::from_path(stage.path(name), Origin::Store).unwrap();
    let saved = RootSet::place_ambient(names.iter().map(root), &Validation::new(None));
    Sources { saved, ..Sources::default() }
}

fn change(service: &RootsService, stage: &Stage, names: &[&str]) {
    service.change(saved(stage, names), Arc::clone(&service.settings().guard.restrictions));
}

fn everything() -> Value {
    json!({
        "toolsListChanged": true,
        "promptsListChanged": true,
        "resourcesListChanged": true,
        "resourceSubscriptions": ["rootward://roots", "rootward://other"],
    })
}

#[tokio::test]
async fn a_listener_hears_what_it_asked_for_and_nothing_else() {
    let stage = Stage::new();
    for (filter, accepted, heard) in [
        (
            everything(),
            json!({"toolsListChanged": true, "resourceSubscriptions": ["rootward://roots"]}),
            &["notifications/tools/list_changed", "notifications/resources/updated"][..],
        ),
        (json!({"toolsListChanged": true}), json!({"toolsListChanged": true}), &["notifications/tools/list_changed"]),
        (
            json!({"resourceSubscriptions": ["rootward://roots"]}),
            json!({"resourceSubscriptions": ["rootward://roots"]}),
            &["notifications/resources/updated"],
        ),
        (json!({}), json!({}), &[]),
    ] {
        let service = RootsService::new(settings());
        let mut client = client::connect(naming(&service));
        client.send(listen(7, &json!({}), &filter)).await;
        let message = client.receive().await;
        assert_eq!(message["method"], "notifications/subscriptions/acknowledged", "{message}");
        assert_eq!(message["params"]["notifications"], accepted, "{message}");
        // No notification if nothing changed.
        change(&service, &stage, &[]);
        change(&service, &stage, &["a"]);
        for method in heard {
            let message = client.receive().await;
            assert_eq!(message["method"], *method, "{message}");
            assert_eq!(message["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], 7, "{message}");
            if *method == "notifications/resources/updated" {
                assert_eq!(message["params"]["uri"], "rootward://roots");
            }
        }
        // Nothing else was sent: the next message is the answer to another request.
        client.send(message::request(8, "tools/list", message::modern(&json!({}), json!({})))).await;
        assert_eq!(client.receive().await["id"], 8);
    }
}

/// For a client with roots, the list of tools names no roots, so it does not change; the resource may.
#[tokio::test]
async fn the_list_of_a_client_with_roots_stays_the_same() {
    let stage = Stage::new();
    let service = RootsService::new(settings());
    let mut client = client::connect(naming(&service));
    client.send(listen(1, &json!({"roots": {}}), &everything())).await;
    assert_eq!(client.receive().await["method"], "notifications/subscriptions/acknowledged");
    change(&service, &stage, &["a"]);
    assert_eq!(client.receive().await["method"], "notifications/resources/updated");
}

/// A change right after the acknowledgement is announced.
#[tokio::test]
async fn no_change_is_lost_right_after_the_acknowledgement() {
    let stage = Stage::new();
    for _ in 0..50 {
        let service = RootsService::new(settings());
        let mut client = client::connect(naming(&service));
        client.send(listen(1, &json!({}), &json!({"toolsListChanged": true}))).await;
        assert_eq!(client.receive().await["method"], "notifications/subscriptions/acknowledged");
        change(&service, &stage, &["a"]);
        assert_eq!(client.receive().await["method"], "notifications/tools/list_changed");
    }
}

#[tokio::test]
async fn a_cancelled_listener_hears_nothing_more() {
    let stage = Stage::new();
    let service = RootsService::new(settings());
    let mut client = client::connect(naming(&service));
    client.send(listen(1, &json!({}), &everything())).await;
    assert_eq!(client.receive().await["method"], "notifications/subscriptions/acknowledged");
    client.send(message::notification("notifications/cancelled", json!({"requestId": 1}))).await;
    // The id can be used again.
    client.send(message::request(1, "tools/list", message::modern(&json!({}), json!({})))).await;
    assert!(client.receive().await["result"].is_object());
    change(&service, &stage, &["a"]);
    client.send(message::request(2, "tools/list", message::modern(&json!({}), json!({})))).await;
    assert_eq!(client.receive().await["id"], 2);
}

/// A server without subscriptions refuses the request; the capabilities declare exactly what a client can hear.
#[tokio::test]
async fn only_declared_notifications_can_be_heard() {
    let service = RootsService::new(settings());
    let mut client = client::connect(service.install(Files::new()));
    client.send(listen(1, &json!({}), &everything())).await;
    assert_eq!(client.receive().await["error"]["code"], -32601);

    let mut client = client::connect(naming(&service));
    client.send(message::request(1, "server/discover", message::modern(&json!({}), json!({})))).await;
    let capabilities = client.receive().await["result"]["capabilities"].clone();
    assert_eq!(capabilities["tools"]["listChanged"], true, "{capabilities}");
    assert_eq!(capabilities["resources"], json!({"subscribe": true}), "{capabilities}");

    // A legacy client would subscribe with `resources/subscribe`, which is not supported.
    let mut client = client::connect(naming(&service));
    client.send(message::request(1, "initialize", message::hello(json!({})))).await;
    let capabilities = client.receive().await["result"]["capabilities"].clone();
    assert_eq!(capabilities["resources"], json!({}), "{capabilities}");
}

/// An open subscription does not keep the server running after its client has left.
#[tokio::test]
async fn a_listener_ends_with_its_input() {
    let service = RootsService::new(settings());
    let (sender, from_client) = tokio::sync::mpsc::channel(4);
    let (to_client, mut receiver) = tokio::sync::mpsc::channel::<bytes::Bytes>(4);
    let served = tokio::spawn(naming(&service).serve_channels(to_client, from_client));
    sender.send(listen(1, &json!({}), &everything()).to_string().into()).await.unwrap();
    let message: Value = serde_json::from_slice(&receiver.recv().await.unwrap()).unwrap();
    assert_eq!(message["method"], "notifications/subscriptions/acknowledged");
    drop(sender);
    tokio::time::timeout(Duration::from_mins(1), served).await.expect("the server did not end").unwrap().unwrap();
}
