//! The modern era: the server answers a call that needs roots with a request for them, and the client repeats the call.

use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, InputRequest, InputRequests,
    InputRequiredResult, RequestStateCodec,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::{ErrorData, ServerHandler};
use rootward_core::{Access, Origin, Root, RootSet, Validation};
use rootward_server::{PathError, Principal, RootsService, Settings};
use rootward_testkit::client::message::{self, ROOTS_QUESTION, again};
use serde_json::{Value, json};

use crate::client::{self, roots, said};
use crate::rooted::Files;
use crate::stage::{Stage, settings};

/// A call by a modern client: everything is in one request.
pub(crate) fn request(capabilities: &Value, parameters: Value) -> Value {
    message::request(1, "tools/call", message::modern(capabilities, parameters))
}

fn read(path: &str) -> Value {
    json!({"name": "read", "arguments": {"path": path}})
}

/// Makes a call on a new connection, as over HTTP.
async fn ask(service: &RootsService, parameters: Value) -> Value {
    let mut client = client::connect(service.install(Files::new()));
    client.send(request(&json!({"roots": {}}), parameters)).await;
    client.receive().await
}

/// The request state of an answer that asks only for roots.
pub(crate) fn state(message: &Value) -> Value {
    let result = &message["result"];
    assert_eq!(result["resultType"], "input_required", "{message}");
    assert_eq!(result["inputRequests"], json!({ROOTS_QUESTION: {"method": "roots/list"}}), "{message}");
    result["requestState"].clone()
}

fn refused_state(message: &Value) {
    assert_eq!(message["error"]["code"], -32602, "{message}");
    assert_eq!(message["error"]["message"], "`requestState` does not belong to this request");
}

fn ceiling(settings: &mut Settings, path: String) {
    let root = Root::from_path(path, Origin::Flag).unwrap();
    settings.sources.ceiling = RootSet::place_ambient([root], &Validation::new(None));
}

#[tokio::test]
async fn a_call_comes_again_with_the_roots() {
    let stage = Stage::new();
    let service = RootsService::new(settings());
    for (path, expect) in [("a/file", "a"), ("b/file", "outside_roots")] {
        let call = read(&stage.path(path));
        let sealed = state(&ask(&service, call.clone()).await);
        let message = ask(&service, again(call, &sealed, &roots(&[&stage.path("a")]))).await;
        assert_eq!(said(&message), expect);
    }
}

#[tokio::test]
async fn prompts_and_resources_come_again_too() {
    let stage = Stage::new();
    let service = RootsService::new(settings());
    let path = stage.path("a/file");
    for (method, parameters) in [
        ("prompts/get", json!({"name": "show", "arguments": {"path": path}})),
        ("resources/read", json!({"uri": format!("file://{path}")})),
    ] {
        let mut client = client::connect(service.install(Files::new()));
        let mut message = request(&json!({"roots": {}}), parameters.clone());
        message["method"] = json!(method);
        client.send(message.clone()).await;
        let sealed = state(&client.receive().await);
        message["params"] = again(message["params"].clone(), &sealed, &roots(&[&stage.path("a")]));
        client.send(message).await;
        let message = client.receive().await;
        assert_eq!(message["result"]["resultType"], "complete", "{message}");
        // A state is valid for one method only.
        let tool = again(read(&path), &sealed, &roots(&[&stage.path("a")]));
        refused_state(&ask(&service, tool).await);
    }
}

#[tokio::test]
async fn one_connection_keeps_no_roots_between_calls() {
    let stage = Stage::new();
    let mut client = client::connect(RootsService::new(settings()).install(Files::new()));
    for _ in 0..2 {
        let call = read(&stage.path("a/file"));
        client.send(request(&json!({"roots": {}}), call.clone())).await;
        let sealed = state(&client.receive().await);
        client.send(request(&json!({"roots": {}}), again(call, &sealed, &roots(&[&stage.path("a")])))).await;
        assert_eq!(said(&client.receive().await), "a");
    }
}

#[tokio::test]
async fn a_client_without_roots_is_not_asked() {
    let stage = Stage::new();
    let mut settings = settings();
    ceiling(&mut settings, stage.path("a"));
    for (settings, expect) in [(crate::stage::settings(), "no_roots"), (settings, "a")] {
        let mut client = client::connect(RootsService::new(settings).install(Files::new()));
        client.send(request(&json!({}), read(&stage.path("a/file")))).await;
        assert_eq!(said(&client.receive().await), expect);
    }
}

#[tokio::test]
async fn a_call_without_paths_is_answered_at_once() {
    let message = ask(&RootsService::new(settings()), json!({"name": "echo", "arguments": {"path": "x"}})).await;
    assert_eq!(said(&message), "x");
}

#[tokio::test]
async fn the_ceiling_holds_when_the_call_comes_again() {
    let stage = Stage::new();
    let mut settings = settings();
    ceiling(&mut settings, stage.path("a"));
    let service = RootsService::new(settings);
    let call = read(&stage.path("b/file"));
    let sealed = state(&ask(&service, call.clone()).await);
    let message = ask(&service, again(call, &sealed, &roots(&[stage.place().to_str().unwrap()]))).await;
    assert_eq!(said(&message), "outside_roots");
}

#[tokio::test]
async fn answers_that_are_not_a_list() {
    let stage = Stage::new();
    let service = RootsService::new(settings());
    let call = read(&stage.path("a/file"));
    let sealed = state(&ask(&service, call.clone()).await);
    for list in [json!({}), json!(null), json!({"roots": null}), json!({"error": {"code": -32601}})] {
        let message = ask(&service, again(call.clone(), &sealed, &list)).await;
        assert_eq!(said(&message), "roots_failed");
    }
    let mut silent = call.clone();
    silent["requestState"] = sealed.clone();
    assert_eq!(said(&ask(&service, silent).await), "roots_failed");
    let good = json!({"roots": [7, {"uri": stage.path("a")}]});
    assert_eq!(said(&ask(&service, again(call, &sealed, &good)).await), "a");
}

#[tokio::test]
async fn a_state_that_is_not_this_calls_is_refused() {
    let stage = Stage::new();
    let service = RootsService::new(settings());
    let call = read(&stage.path("a/file"));
    let list = roots(&[&stage.path("a")]);
    let good = state(&ask(&service, call.clone()).await);
    // Modified or invented.
    let text = good.as_str().unwrap();
    let (first, rest) = text.split_at(text.len() / 2);
    let swapped = if rest.starts_with('A') { "B" } else { "A" };
    for bad in [format!("{first}{swapped}{}", &rest[1..]), "x".to_owned(), String::new(), "rs1.e30.AAAA".to_owned()] {
        refused_state(&ask(&service, again(call.clone(), &json!(bad), &list)).await);
    }
    // Other parameters, another tool.
    refused_state(&ask(&service, again(read(&stage.path("b/file")), &good, &list)).await);
    let mut other = call.clone();
    other["name"] = json!("by_hand");
    refused_state(&ask(&service, again(other, &good, &list)).await);
    // Another server's key.
    refused_state(&ask(&RootsService::new(settings()), again(call.clone(), &good, &list)).await);
    // Still valid for its own call.
    assert_eq!(said(&ask(&service, again(call, &good, &list)).await), "a");
}

#[tokio::test]
async fn a_state_is_bound_to_its_time_and_its_client() {
    let stage = Stage::new();
    let codec = RequestStateCodec::try_new([7; 32]).unwrap();
    let mut alice = settings();
    alice.request_state = Some(codec);
    alice.principal = Principal::named("alice");
    let mut bob = alice.clone();
    bob.principal = Principal::OfRequest(|_| "bob".to_owned());
    let mut brief = alice.clone();
    brief.round_lifetime = Duration::ZERO;

    let call = read(&stage.path("a/file"));
    let list = roots(&[&stage.path("a")]);
    let alice = RootsService::new(alice);
    let good = state(&ask(&alice, call.clone()).await);
    refused_state(&ask(&RootsService::new(bob), again(call.clone(), &good, &list)).await);
    assert_eq!(said(&ask(&alice, again(call.clone(), &good, &list)).await), "a");
    let late = state(&ask(&RootsService::new(brief), call.clone()).await);
    tokio::time::sleep(Duration::from_millis(5)).await;
    refused_state(&ask(&alice, again(call, &late, &list)).await);
}

#[tokio::test]
async fn roots_that_were_not_asked_for_are_not_taken() {
    let stage = Stage::new();
    let service = RootsService::new(settings());
    let mut call = read(&stage.path("a/file"));
    call["inputResponses"] = json!({ROOTS_QUESTION: roots(&[&stage.path("a")])});
    state(&ask(&service, call).await);
}

/// A tool that asks the client for a name, before or after it needs roots.
pub(crate) struct Asking;

impl ServerHandler for Asking {
    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let path = request.arguments.as_ref().unwrap()["path"].as_str().unwrap();
        let name = || request.input_responses.as_ref()?.get("name")?["content"]["name"].as_str();
        if request.name == "roots_first" {
            rootward_server::roots().await?;
        }
        match request.request_state.as_deref() {
            None => {
                let question: InputRequest = serde_json::from_value(json!({
                    "method": "elicitation/create",
                    "params": {"mode": "form", "message": "who?", "requestedSchema": {"type": "object", "properties": {}}},
                }))
                .unwrap();
                let questions = InputRequests::from([("name".to_owned(), question)]);
                Ok(InputRequiredResult::new(Some(questions), Some("own state".to_owned())).into())
            }
            Some("own state") => {
                let roots = rootward_server::roots().await?;
                let grant = roots.check(path, Access::READ).map_err(PathError::from)?;
                let text = String::from_utf8(grant.read(1 << 20).map_err(PathError::from)?).unwrap();
                let greeting = format!("{} read {text}", name().unwrap_or("nobody"));
                Ok(CallToolResult::success(vec![ContentBlock::text(greeting)]).into())
            }
            Some(other) => Err(ErrorData::invalid_params(format!("not mine: {other}"), None)),
        }
    }
}

#[tokio::test]
async fn a_tool_with_rounds_of_its_own_still_works() {
    let stage = Stage::new();
    let service = RootsService::new(settings());
    for (tool, order) in [("roots_first", ["roots", "name"]), ("roots_last", ["name", "roots"])] {
        let call = json!({"name": tool, "arguments": {"path": stage.path("a/file")}});
        let mut parameters = call.clone();
        for question in order {
            let mut client = client::connect(service.install(Asking));
            client.send(request(&json!({"roots": {}, "elicitation": {}}), parameters)).await;
            let message = client.receive().await;
            assert_eq!(message["result"]["resultType"], "input_required", "{tool}: {message}");
            let sealed = &message["result"]["requestState"];
            parameters = again(call.clone(), sealed, &roots(&[&stage.path("a")]));
            if question == "name" {
                assert!(message["result"]["inputRequests"]["name"].is_object(), "{message}");
                parameters["inputResponses"] = json!({"name": {"action": "accept", "content": {"name": "Ada"}}});
            }
        }
        let mut client = client::connect(service.install(Asking));
        client.send(request(&json!({"roots": {}, "elicitation": {}}), parameters)).await;
        assert_eq!(said(&client.receive().await), "Ada read a", "{tool}");
    }
}
