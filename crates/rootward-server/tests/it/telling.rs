//! What handlers and models learn about the roots: the resource, the instructions, pages of the list, and the cached
//! roots.

use rmcp::model::{CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::{ErrorData, ServerHandler};
use rootward_server::{RootsService, path_in_roots, roots_cached};
use rootward_testkit::client::message;
use serde_json::{Value, json};

use crate::client::{self, Client, Read as _, roots};
use crate::modern;
use crate::rooted::Files;
use crate::stage::{Stage, settings};

/// Tools that report the roots, cached or requested.
struct Teller;

impl ServerHandler for Teller {
    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        let text = match &*request.name {
            "cached" => roots_cached().map_or("none".to_owned(), |roots| roots.list().len().to_string()),
            "inside" => format!("{:?}", path_in_roots(arguments["path"].as_str().unwrap())),
            "page" => {
                let roots = rootward_server::roots().await?;
                let summary = roots.summary(arguments["cursor"].as_str())?;
                serde_json::to_string(&summary).unwrap()
            }
            other => panic!("{other}"),
        };
        Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into())
    }
}

async fn start(count: usize, stage: &Stage) -> (Client, Value) {
    let mut entries = Vec::new();
    for number in 0..count {
        let place = stage.path(&format!("a/{number:03}"));
        std::fs::create_dir(&place).unwrap();
        let (uri, name) = (format!("file://{place}"), number.to_string());
        entries.push(json!({"uri": uri, "name": name, "_meta": {"colour": number}}));
    }
    let handler = RootsService::new(settings()).install(Teller);
    let client = client::start_rooted(handler, json!({"roots": {"listChanged": true}})).await;
    (client, json!({"roots": entries}))
}

async fn page(client: &mut Client, cursor: Option<&str>) -> Value {
    client.call_as("page", "page", json!({"cursor": cursor})).await;
    let message = client.receive().await;
    match message["result"]["content"][0]["text"].as_str() {
        Some(text) => serde_json::from_str(text).unwrap(),
        None => message["error"].clone(),
    }
}

#[tokio::test]
async fn cached_roots_and_paths() {
    let stage = Stage::new();
    let (mut client, list) = start(2, &stage).await;
    let check = async |client: &mut Client, tool: &str, path: &str, expect: &str| {
        assert_eq!(client.calls(7, tool, json!({"path": path})).await, expect);
    };
    check(&mut client, "cached", "", "none").await;
    check(&mut client, "inside", &stage.path("a/000"), "None").await;
    client.call_as(1, "page", json!({})).await;
    client.answer_roots(list).await;
    client.receive().await;
    check(&mut client, "cached", "", "2").await;
    check(&mut client, "inside", &stage.path("a/000/new"), "Some(true)").await;
    check(&mut client, "inside", &stage.path("a"), "Some(false)").await;
    // After `list_changed` the cached roots are out of date.
    client.list_changed().await;
    check(&mut client, "cached", "", "none").await;
    check(&mut client, "inside", &stage.path("a/000"), "None").await;
}

#[tokio::test]
async fn the_list_is_read_in_pages_of_one_version() {
    let stage = Stage::new();
    let (mut client, list) = start(120, &stage).await;
    client.call_as("page", "page", json!({})).await;
    client.answer_roots(list.clone()).await;
    let first: Value = serde_json::from_str(&client.said("page").await).unwrap();
    assert_eq!((&first["rootsCount"], &first["supportsRoots"]), (&json!(120), &json!(true)));
    assert_eq!((&first["rootsListChanged"], &first["state"]), (&json!(true), &json!("ready")));
    assert_eq!(first["mode"], "narrow");
    let uri = format!("file://{}", stage.path("a/000"));
    assert_eq!(
        first["roots"][0],
        json!({"uri": uri, "name": "0", "access": ["read", "write", "delete"], "_meta": {"colour": 0}})
    );
    assert_eq!(first["filePaths"][0], stage.path("a/000"));
    let mut names: Vec<Value> = Vec::new();
    let mut seen = first.clone();
    loop {
        names.extend(seen["roots"].as_array().unwrap().iter().map(|root| root["name"].clone()));
        let Some(cursor) = seen["nextCursor"].as_str().map(str::to_owned) else { break };
        seen = page(&mut client, Some(&cursor)).await;
    }
    assert_eq!(names, (0..120).map(|number| json!(number.to_string())).collect::<Vec<_>>());

    let malformed = page(&mut client, Some("nonsense")).await;
    assert_eq!(malformed, json!({"code": -32602, "message": "Malformed cursor for roots/list"}));

    // The roots change, so the cursor is stale.
    let cursor = first["nextCursor"].as_str().unwrap().to_owned();
    client.list_changed().await;
    client.call_as("page", "page", json!({"cursor": cursor})).await;
    let question = client.asked().await;
    let mut fewer = list;
    fewer["roots"].as_array_mut().unwrap().pop();
    client.answer(question, fewer).await;
    let error = client.receive().await["error"].clone();
    assert_eq!(error["message"], "Stale cursor for roots/list; please restart pagination");
    assert_eq!((&error["code"], &error["data"]["received"]), (&json!(-32602), &first["generation"]));
    assert_eq!(error["data"]["expected"].as_u64(), Some(first["generation"].as_u64().unwrap() + 1));
}

#[tokio::test]
async fn a_model_can_read_the_current_roots() {
    let stage = Stage::new();
    let service = RootsService::new(settings());
    let handler = service.install(Files::new()).with_roots_resource();
    let mut client = client::connect_rooted(handler);
    client.send(message::request(1, "initialize", message::hello(json!({"roots": {}})))).await;
    let result = client.receive().await["result"].clone();
    assert!(result["instructions"].as_str().unwrap().ends_with(rootward_server::ROOTS_SENTENCE));
    assert!(result["capabilities"]["resources"].is_object());
    client.notify("notifications/initialized", ()).await;
    client.send(message::request(2, "resources/list", Value::Null)).await;
    let resources = client.receive().await["result"]["resources"].clone();
    assert_eq!(resources.as_array().unwrap().last().unwrap()["uri"], "rootward://roots");

    let read = json!({"uri": "rootward://roots"});
    client.send(message::request(3, "resources/read", read)).await;
    client.answer_roots(roots(&[&stage.path("a")])).await;
    let contents = client.receive().await["result"]["contents"][0].clone();
    assert_eq!((&contents["uri"], &contents["mimeType"]), (&json!("rootward://roots"), &json!("application/json")));
    let text: Value = serde_json::from_str(contents["text"].as_str().unwrap()).unwrap();
    assert_eq!((&text["rootsCount"], &text["filePaths"]), (&json!(1), &json!([stage.path("a")])));
    let cursor = json!({"uri": "rootward://roots?cursor=x"});
    client.send(message::request(4, "resources/read", cursor)).await;
    assert_eq!(client.receive().await["error"]["message"], "Malformed cursor for roots/list");
}

#[tokio::test]
async fn get_roots_shows_roots_of_other_schemes() {
    let stage = Stage::new();
    let service = RootsService::new(settings());
    let read = async |list: Value| -> Value {
        let handler = service.install(Teller).with_roots_resource();
        let mut client = client::start_rooted(handler, json!({"roots": {}})).await;
        client.send(message::request(1, "resources/read", json!({"uri": "rootward://roots"}))).await;
        client.answer_roots(list).await;
        let contents = client.receive().await["result"]["contents"][0].clone();
        serde_json::from_str(contents["text"].as_str().unwrap()).unwrap()
    };
    let mut list = roots(&[&stage.path("a")]);
    list["roots"].as_array_mut().unwrap().insert(0, json!({"uri": "https://api.example.com/v1/", "name": "API"}));
    let seen = read(list).await;
    assert_eq!((&seen["state"], &seen["rootsCount"]), (&json!("ready"), &json!(2)));
    assert_eq!(seen["roots"][1], json!({"uri": "https://api.example.com/v1/", "name": "API", "access": []}));
    assert_eq!(seen["filePaths"], json!([stage.path("a")]));
    let seen = read(json!({"roots": [{"uri": "https://api.example.com/v1/"}]})).await;
    assert_eq!((&seen["state"], &seen["rootsCount"], &seen["filePaths"]), (&json!("unusable"), &json!(1), &json!([])));
}

/// The handler has no resources; the wrapper declares them.
#[tokio::test]
async fn an_unknown_resource_is_not_an_unknown_method() {
    let service = RootsService::new(settings());
    let handler = service.install(Teller).with_roots_resource();
    let mut client = client::start_rooted(handler, json!({})).await;
    client.send(message::request(1, "resources/read", json!({"uri": "test://nowhere"}))).await;
    let error = client.receive().await["error"].clone();
    assert_eq!(error, json!({"code": -32002, "message": "no such resource: `test://nowhere`"}));

    let mut client = client::connect_rooted(service.install(Teller).with_roots_resource());
    let mut request = modern::request(&json!({}), json!({"uri": "test://nowhere"}));
    request["method"] = json!("resources/read");
    client.send(request).await;
    assert_eq!(client.receive().await["error"]["code"], -32602);
}

/// Each modern request is a separate session, and a cursor of one is used in the next.
#[tokio::test]
async fn a_modern_cursor_is_good_for_one_list() {
    let stage = Stage::new();
    let (_, list) = start(120, &stage).await;
    let service = RootsService::new(settings());
    let page = async |cursor: Option<&str>, list: &Value| {
        let call = json!({"name": "page", "arguments": {"cursor": cursor}});
        let mut client = client::connect_rooted(service.install(Teller));
        client.send(modern::request(&json!({"roots": {}}), call.clone())).await;
        let sealed = modern::state(&client.receive().await);
        client.send(modern::request(&json!({"roots": {}}), message::again(call, &sealed, list))).await;
        client.receive().await
    };
    let seen = |message: &Value| -> Value {
        serde_json::from_str(message["result"]["content"][0]["text"].as_str().unwrap()).unwrap()
    };
    let first = seen(&page(None, &list).await);
    let cursor = first["nextCursor"].as_str();
    assert_eq!(seen(&page(cursor, &list).await)["roots"][0]["name"], "50");
    let mut fewer = list.clone();
    fewer["roots"].as_array_mut().unwrap().remove(0);
    let error = page(cursor, &fewer).await["error"].clone();
    assert_eq!(error["message"], "Stale cursor for roots/list; please restart pagination");
    assert_eq!(error["data"]["received"], first["generation"]);
}

/// Unless the author asks for the resource, only the handler's own resources are listed.
#[tokio::test]
async fn the_resource_is_offered_only_if_the_author_wants_it() {
    let service = RootsService::new(settings());
    let mut client = client::start_rooted(service.install(Files::new()), json!({})).await;
    client.send(message::request(1, "resources/list", Value::Null)).await;
    assert!(!client.receive().await.to_string().contains("rootward://"));
}

#[tokio::test]
async fn a_modern_client_reads_it_in_two_rounds() {
    let stage = Stage::new();
    let service = RootsService::new(settings());
    let read = json!({"uri": "rootward://roots"});
    let ask = async |parameters: Value| {
        let mut client = client::connect_rooted(service.install(Teller).with_roots_resource());
        let mut request = modern::request(&json!({"roots": {}}), parameters);
        request["method"] = json!("resources/read");
        client.send(request).await;
        client.receive().await
    };
    let message = ask(read.clone()).await;
    let again = message::again(read, &modern::state(&message), &roots(&[&stage.path("b")]));
    let message = ask(again).await;
    let text: Value = serde_json::from_str(message["result"]["contents"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(text["filePaths"], json!([stage.path("b")]));
}

/// A subscriber is notified of a change even if no call needs the roots.
#[tokio::test]
async fn a_subscriber_is_notified_without_a_call() {
    let stage = Stage::new();
    let handler = RootsService::new(settings()).install(Files::new());
    let mut updates = handler.session().subscribe();
    let mut client = client::start_rooted(handler, json!({"roots": {"listChanged": true}})).await;
    client.read(1, &stage.path("a/file")).await;
    client.answer_roots(roots(&[&stage.path("a")])).await;
    client.said(1).await;
    let paths = |updates: &mut tokio::sync::watch::Receiver<Option<rootward_server::Roots>>| {
        let roots = updates.borrow_and_update().clone().unwrap();
        roots.list().iter().map(|placed| placed.root.path.to_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(paths(&mut updates), [stage.path("a")]);
    client.list_changed().await;
    client.answer_roots(roots(&[&stage.path("b")])).await;
    updates.changed().await.unwrap();
    assert_eq!(paths(&mut updates), [stage.path("b")]);
}
