//! Long lists in pages, for servers that support paging.

use rmcp::model::ErrorCode;
use rootward_client::provider::Server;
use serde_json::{Value, json};

use super::raw::{ROOM, Raw, Route, uris};
use super::stage::Stage;

fn follows() -> Value {
    json!({"extensions": {"rootward.dev/roots-paging": {}}})
}

fn share(stage: &Stage, numbers: std::ops::Range<usize>) -> Vec<String> {
    let names: Vec<String> = numbers.map(|number| format!("r{number}")).collect();
    stage.share_all(&names.iter().map(String::as_str).collect::<Vec<_>>());
    names.iter().map(|name| stage.uri(name)).collect()
}

/// Reads the list from a cursor to its end; returns the error if the server gets one.
async fn walk(server: &mut Raw, mut cursor: Value) -> Result<Vec<String>, Value> {
    let mut all = Vec::new();
    loop {
        let mut answer = server.ask(if cursor.is_null() { Value::Null } else { json!({"cursor": cursor}) }).await;
        if answer["error"].is_object() {
            return Err(answer["error"].take());
        }
        let page = uris(&answer["result"]);
        assert!(page.len() <= 50);
        all.extend(page);
        cursor = answer["result"]["nextCursor"].take();
        if cursor.is_null() {
            return Ok(all);
        }
    }
}

#[tokio::test]
async fn a_list_in_pages_is_the_list_of_one_version() {
    let stage = Stage::new();
    let before = share(&stage, 0..120);
    let mut server = Raw::connect_over(&stage.provider, Server::local("git"), follows(), Route::Pipes, ROOM).await;
    assert_eq!(walk(&mut server, Value::Null).await.unwrap(), before);
    // The list changes between pages: the old cursor is refused as stale.
    let first = server.ask(Value::Null).await;
    let cursor = first["result"]["nextCursor"].clone();
    let after = share(&stage, 1..121);
    server.notified().await;
    let error = walk(&mut server, cursor.clone()).await.unwrap_err();
    assert_eq!(error["code"], ErrorCode::INVALID_PARAMS.0);
    assert_eq!(error["message"], "Stale cursor for roots/list; please restart pagination");
    let (expected, received) =
        (error["data"]["expected"].as_u64().unwrap(), error["data"]["received"].as_u64().unwrap());
    assert_ne!(expected, received);
    assert_eq!(walk(&mut server, Value::Null).await.unwrap(), after);
    // The old list is back: the cursor is valid again, for any server.
    share(&stage, 0..120);
    server.notified().await;
    assert_eq!(walk(&mut server, cursor.clone()).await.unwrap(), before[50..]);
    let mut other = Raw::connect_over(&stage.provider, Server::local("other"), follows(), Route::Pipes, ROOM).await;
    assert_eq!(walk(&mut other, cursor).await.unwrap(), before[50..]);
    for garbage in [json!("garbage"), json!(""), json!(7), json!({"a": 1})] {
        let (code, message, data) = server.refused(json!({"cursor": garbage})).await;
        assert_eq!((code, message.as_str()), (ErrorCode::INVALID_PARAMS, "Malformed cursor for roots/list"));
        assert!(data.is_object());
    }
}

/// If the transport loses cursors, or the server does not declare paging, the list is sent whole.
#[tokio::test]
async fn a_list_is_whole_for_all_others() {
    let stage = Stage::new();
    let all = share(&stage, 0..120);
    for (capabilities, route) in [(json!({}), Route::Pipes), (follows(), Route::Transport)] {
        let mut server = Raw::connect_over(&stage.provider, Server::local("git"), capabilities, route, ROOM).await;
        let answer = server.ask(Value::Null).await;
        assert_eq!((uris(&answer["result"]), answer["result"].get("nextCursor")), (all.clone(), None));
    }
}
