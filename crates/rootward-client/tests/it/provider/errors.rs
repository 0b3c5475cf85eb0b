//! Requests of a server that are refused.

use rmcp::ServiceExt;
use rmcp::model::{ClientCapabilities, ClientConfig, ErrorCode};
use rootward_client::provider::{Declaration, Server};
use rootward_testkit::client::DuplexClient;
use serde_json::{Value, json};

use super::raw::Raw;
use super::stage::Stage;

#[tokio::test]
async fn a_server_that_was_not_offered_roots_is_refused() {
    let stage = Stage::new();
    stage.share_all(&["a"]);
    let server = Server { declaration: Declaration::NotDeclared, ..Server::local("git") };
    let mut raw = Raw::connect(&stage.provider, server).await;
    assert_eq!(
        (&raw.declared["roots"], raw.declared["extensions"].get("rootward.dev/roots-paging")),
        (&Value::Null, None)
    );
    let (code, message, data) = raw.refused(Value::Null).await;
    assert_eq!((code, message.as_str()), (ErrorCode::METHOD_NOT_FOUND, "Roots not supported"));
    assert_eq!(data, json!({"reason": "the client does not declare roots to this server"}));
}

#[tokio::test]
async fn unknown_roots_are_an_error_and_not_an_empty_list() {
    let stage = Stage::new();
    let mut server = Raw::connect(&stage.provider, Server::local("git")).await;
    let (code, message, data) = server.refused(Value::Null).await;
    assert_eq!((code, message.as_str()), (ErrorCode::INTERNAL_ERROR, "Roots not known"));
    assert_eq!(data, json!({"reason": "the host has not shared anything yet"}));
    stage.share_all(&["a"]);
    server.notified().await;
    assert_eq!(server.roots().await, [stage.uri("a")]);
    stage.provider.fail("saved roots cannot be read");
    server.notified().await;
    let (code, _, data) = server.refused(Value::Null).await;
    assert_eq!((code, data), (ErrorCode::INTERNAL_ERROR, json!({"reason": "saved roots cannot be read"})));
}

#[tokio::test]
async fn cursors_without_agreed_paging_are_refused() {
    let stage = Stage::new();
    stage.share_all(&["a"]);
    let mut server = Raw::connect(&stage.provider, Server::local("git")).await;
    // The server did not declare paging.
    let (code, message, _) = server.refused(json!({"_meta": {"rootward.dev/cursor": "c"}})).await;
    assert_eq!((code, message.as_str()), (ErrorCode::INVALID_PARAMS, "Malformed cursor for roots/list"));
    let (code, ..) = server.refused(json!({"_meta": {"rootward.dev/cursor": 7}})).await;
    assert_eq!(code, ErrorCode::INVALID_PARAMS);
    assert_eq!(server.roots().await, [stage.uri("a")]);
}

/// The handler gets every request that is not about roots.
#[tokio::test]
async fn other_requests_are_left_to_the_handler() {
    let stage = Stage::new();
    let mut server = Raw::connect(&stage.provider, Server::local("git")).await;
    server.send(&json!({"jsonrpc": "2.0", "id": "p", "method": "ping"})).await;
    assert_eq!(server.receive().await, json!({"jsonrpc": "2.0", "id": "p", "result": {}}));
    server.send(&json!({"jsonrpc": "2.0", "id": "x", "method": "x/y"})).await;
    assert_eq!(server.receive().await["error"]["message"], "x/y");
}

/// The handler's own capabilities are kept, except for roots.
#[tokio::test]
async fn the_handlers_own_capabilities_stay() {
    let stage = Stage::new();
    let capabilities: ClientCapabilities =
        serde_json::from_value(json!({"elicitation": {}, "extensions": {"a/b": {}}, "roots": {"listChanged": false}}))
            .unwrap();
    let mut config = ClientConfig::default();
    config.capabilities = capabilities;
    let (here, there) = tokio::io::duplex(4096);
    let provided = stage.provider.install(config, Server::local("git"));
    drop(tokio::spawn(provided.into_dyn().serve(there)));
    let initialize = DuplexClient::over(here).receive().await;
    assert_eq!(
        initialize["params"]["capabilities"],
        json!({"elicitation": {}, "extensions": {"a/b": {}, "rootward.dev/roots-paging": {}}, "roots": {"listChanged": true}})
    );
}
