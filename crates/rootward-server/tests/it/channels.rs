//! Sessions and modern requests over channels, as a network front serves them.

use std::time::Duration;

use bytes::Bytes;
use rmcp::handler::server::router::tool::ToolRouter;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::RequestStateCodec;
use rmcp::{ServerHandler, tool, tool_handler, tool_router};
use rootward_server::{PathError, Principal, Rooted, RootsService, path_in_roots, roots_cached};
use rootward_testkit::client::message::{self, again};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::client::{roots, said};
use crate::modern::{request, state};
use crate::rooted::Files;
use crate::stage::{Stage, settings};

/// The front's ends of the channels.
struct Front {
    sender: mpsc::Sender<Bytes>,
    receiver: mpsc::Receiver<Bytes>,
}

impl Front {
    fn open(handler: Rooted<impl ServerHandler>) -> Front {
        let (sender, from_client) = mpsc::channel(4);
        let (to_client, receiver) = mpsc::channel(4);
        tokio::spawn(async move {
            let _ = handler.serve_channels(to_client, from_client).await;
        });
        Front { sender, receiver }
    }

    async fn session(handler: Rooted<impl ServerHandler>) -> Front {
        let mut front = Front::open(handler);
        let hello = message::hello(json!({"roots": {"listChanged": true}}));
        front.send(&message::request(0, "initialize", hello)).await;
        assert_eq!(front.receive().await["id"], 0);
        front.send(&message::notification("notifications/initialized", Value::Null)).await;
        front
    }

    async fn send(&self, message: &Value) {
        self.send_text(message.to_string()).await;
    }

    async fn send_text(&self, text: impl Into<Bytes>) {
        self.sender.send(text.into()).await.unwrap();
    }

    async fn receive(&mut self) -> Value {
        let bytes = tokio::time::timeout(Duration::from_secs(10), self.receiver.recv()).await.unwrap().unwrap();
        assert!(!bytes.contains(&b'\n'));
        serde_json::from_slice(&bytes).unwrap()
    }

    async fn call(&self, id: u64, tool: &str, arguments: Value) {
        self.send(&message::request(id, "tools/call", message::call(tool, arguments))).await;
    }

    /// Calls a tool, and answers `roots/list` if it comes.
    async fn call_with(&mut self, id: u64, tool: &str, arguments: Value, list: &Value) -> String {
        self.call(id, tool, arguments).await;
        let mut answer = self.receive().await;
        if answer["method"] == "roots/list" {
            assert!(answer.get("params").is_none(), "{answer}");
            self.send(&message::answer(answer["id"].clone(), list.clone())).await;
            answer = self.receive().await;
        }
        assert_eq!(answer["id"], id);
        said(&answer)
    }
}

/// Tools that use each function for reading the roots: requested, cached, and the check of a path.
struct FromCache {
    tool_router: ToolRouter<FromCache>,
}

#[derive(Deserialize, JsonSchema)]
struct Plain {
    path: String,
}

#[expect(clippy::unused_self, reason = "the router requires this signature")]
#[tool_router]
impl FromCache {
    fn new() -> FromCache {
        FromCache { tool_router: FromCache::tool_router() }
    }

    #[tool(description = "Fetch the roots")]
    async fn roots(&self) -> Result<String, PathError> {
        Ok(rootward_server::roots().await?.list().len().to_string())
    }

    #[tool(description = "Count the roots that are known")]
    fn roots_cached(&self) -> String {
        roots_cached().map_or_else(|| "unknown".to_owned(), |roots| roots.list().len().to_string())
    }

    #[tool(description = "Tell whether a path is shared")]
    fn path_in_roots(&self, Parameters(Plain { path }): Parameters<Plain>) -> String {
        path_in_roots(path).map_or_else(|| "unknown".to_owned(), |inside| inside.to_string())
    }
}

#[tool_handler(router = self.tool_router)]
impl ServerHandler for FromCache {}

#[tokio::test]
async fn a_tool_fetches_roots_and_a_change_drops_the_cache_of_its_session_only() {
    let stage = Stage::new();
    let service = RootsService::new(settings());
    let list = roots(&[&stage.path("a"), &stage.path("b")]);
    let inside = json!({"path": stage.path("a/file")});
    let outside = json!({"path": "/var/log/x"});
    let mut one = Front::session(service.install(FromCache::new())).await;
    let mut other = Front::session(service.install(FromCache::new())).await;
    for front in [&mut one, &mut other] {
        assert_eq!(front.call_with(1, "roots_cached", json!({}), &Value::Null).await, "unknown");
        assert_eq!(front.call_with(2, "path_in_roots", inside.clone(), &Value::Null).await, "unknown");
        assert_eq!(front.call_with(3, "roots", json!({}), &list).await, "2");
        assert_eq!(front.call_with(4, "roots_cached", json!({}), &Value::Null).await, "2");
        assert_eq!(front.call_with(5, "path_in_roots", inside.clone(), &Value::Null).await, "true");
        assert_eq!(front.call_with(6, "path_in_roots", outside.clone(), &Value::Null).await, "false");
    }
    one.send(&message::notification("notifications/roots/list_changed", Value::Null)).await;
    assert_eq!(one.call_with(7, "path_in_roots", inside.clone(), &Value::Null).await, "unknown");
    assert_eq!(other.call_with(7, "path_in_roots", inside.clone(), &Value::Null).await, "true");
    assert_eq!(one.call_with(8, "roots", json!({}), &roots(&[&stage.path("b")])).await, "1");
    assert_eq!(one.call_with(9, "path_in_roots", inside.clone(), &Value::Null).await, "false");
    assert_eq!(other.call_with(9, "path_in_roots", inside, &Value::Null).await, "true");
}

/// Outside a call there may be no stream to send a question on.
#[tokio::test]
async fn a_client_is_asked_inside_its_calls_only() {
    let stage = Stage::new();
    let mut front = Front::session(RootsService::new(settings()).install(Files::new())).await;
    let path = json!({"path": stage.path("a/file")});
    assert_eq!(front.call_with(1, "read", path.clone(), &roots(&[&stage.path("a")])).await, "a");
    front.send(&message::notification("notifications/roots/list_changed", Value::Null)).await;
    let asked = tokio::time::timeout(Duration::from_millis(200), front.receiver.recv()).await;
    assert!(asked.is_err(), "{asked:?}");
    assert_eq!(front.call_with(2, "read", path, &roots(&[&stage.path("b")])).await, "outside_roots");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_over_channels_is_heard_before_the_call_that_follows() {
    let stage = Stage::new();
    let path = json!({"path": stage.path("a/file")});
    let mut front = Front::session(RootsService::new(settings()).install(Files::new())).await;
    for round in 0..50 {
        let (granted, revoked) = (roots(&[&stage.path("a")]), roots(&[&stage.path("b")]));
        front.send(&message::notification("notifications/roots/list_changed", Value::Null)).await;
        assert_eq!(front.call_with(2 * round, "read", path.clone(), &granted).await, "a");
        front.send(&message::notification("notifications/roots/list_changed", Value::Null)).await;
        assert_eq!(front.call_with(2 * round + 1, "read", path.clone(), &revoked).await, "outside_roots");
    }
}

#[tokio::test]
async fn bad_messages_are_answered_and_batches_taken_apart() {
    let mut front = Front::session(RootsService::new(settings()).install(Files::new())).await;
    for (text, code, id) in [
        ("garbage", -32700, json!(null)),
        ("[]", -32600, json!(null)),
        ("7", -32600, json!(null)),
        ("{\"id\":7,\"method\":\"tools/list\"}", -32600, json!(7)),
    ] {
        front.send_text(text).await;
        let answer = front.receive().await;
        assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(code), &id), "{text}");
    }
    let long = format!("{{\"jsonrpc\":\"2.0\",\"id\":8,\"method\":\"ping\",\"params\":\"{}\"}}", "x".repeat(16 << 20));
    front.send_text(long).await;
    let answer = front.receive().await;
    assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(-32600), &json!(8)));
    let ping = |id: u64| message::request(id, "ping", Value::Null);
    front.send(&json!([ping(1), ping(2), 7])).await;
    let mut ids = Vec::new();
    for _ in 0..3 {
        ids.push(front.receive().await["id"].as_u64());
    }
    ids.sort_unstable();
    assert_eq!(ids, [None, Some(1), Some(2)]);
}

/// A tool that waits until its call is cancelled, and reports the start and the end.
struct Stuck(mpsc::UnboundedSender<&'static str>);

impl ServerHandler for Stuck {
    async fn call_tool(
        &self,
        _: rmcp::model::CallToolRequestParams,
        context: rmcp::service::RequestContext<rmcp::RoleServer>,
    ) -> Result<rmcp::model::CallToolResponse, rmcp::ErrorData> {
        let _ = self.0.send("began");
        context.ct.cancelled().await;
        let _ = self.0.send("stopped");
        Err(rmcp::ErrorData::internal_error("", None))
    }
}

#[tokio::test]
async fn the_calls_of_a_client_that_is_gone_are_stopped() {
    let (reports, mut reported) = mpsc::unbounded_channel();
    let front = Front::session(RootsService::new(settings()).install(Stuck(reports))).await;
    front.call(1, "any", json!({})).await;
    assert_eq!(reported.recv().await, Some("began"));
    drop(front);
    let stopped = tokio::time::timeout(Duration::from_secs(2), reported.recv()).await;
    assert_eq!(stopped, Ok(Some("stopped")));
    // The handler is dropped with the session.
    assert_eq!(tokio::time::timeout(Duration::from_secs(2), reported.recv()).await, Ok(None));
}

/// Sends one request on a new wire; the client then closes its side.
async fn ask(service: &RootsService, parameters: Value) -> Value {
    let Front { sender, receiver } = Front::open(service.install(Files::new()));
    let mut front = Front { sender, receiver };
    front.send(&request(&json!({"roots": {}}), parameters)).await;
    let answer = front.receive().await;
    drop(front.sender);
    assert_eq!(front.receiver.recv().await, None);
    answer
}

#[tokio::test]
async fn a_modern_call_comes_again_on_another_wire_from_the_same_principal() {
    let stage = Stage::new();
    let mut alice = settings();
    alice.request_state = Some(RequestStateCodec::try_new([7; 32]).unwrap());
    alice.principal = Principal::named("alice");
    let mut bob = alice.clone();
    bob.principal = Principal::named("bob");
    let (alice, bob) = (RootsService::new(alice), RootsService::new(bob));
    let call = json!({"name": "read", "arguments": {"path": stage.path("a/file")}});
    let sealed = state(&ask(&alice, call.clone()).await);
    let retried = again(call, &sealed, &roots(&[&stage.path("a")]));
    assert_eq!(ask(&bob, retried.clone()).await["error"]["code"], -32602);
    assert_eq!(said(&ask(&alice, retried).await), "a");
}

/// A front may close its side together with the request.
#[tokio::test]
async fn a_request_is_answered_after_the_client_closed_its_side() {
    let stage = Stage::new();
    let service = RootsService::new(settings());
    let Front { sender, mut receiver } = Front::open(service.install(Files::new()));
    let call = json!({"name": "read", "arguments": {"path": stage.path("a/file")}});
    sender.send(request(&json!({"roots": {}}), call).to_string().into()).await.unwrap();
    drop(sender);
    state(&serde_json::from_slice(&receiver.recv().await.unwrap()).unwrap());
    assert_eq!(receiver.recv().await, None);
}

/// Longer than the idle time after which a session rests.
const A_REST: Duration = Duration::from_millis(1300);

#[tokio::test]
async fn a_session_rests_and_goes_on() {
    let stage = Stage::new();
    let service = RootsService::new(settings());
    let mut front = Front::session(service.install(Files::new())).await;
    let (a, b) = (json!({"path": stage.path("a/file")}), json!({"path": stage.path("b/file")}));
    assert_eq!(front.call_with(1, "read", a.clone(), &roots(&[&stage.path("a")])).await, "a");
    tokio::time::sleep(A_REST).await;
    // Its roots are still known, and a change is handled before the next call.
    front.call(2, "read", a.clone()).await;
    assert_eq!(said(&front.receive().await), "a");
    tokio::time::sleep(A_REST).await;
    front.send(&message::notification("notifications/roots/list_changed", Value::Null)).await;
    assert_eq!(front.call_with(3, "read", a, &roots(&[&stage.path("b")])).await, "outside_roots");
    tokio::time::sleep(A_REST).await;
    assert_eq!(front.call_with(4, "read", b, &Value::Null).await, "b");
    tokio::time::sleep(A_REST).await;
    drop(front.sender);
    assert_eq!(front.receiver.recv().await, None);
}

#[tokio::test]
async fn a_session_that_waits_for_an_answer_does_not_rest() {
    let stage = Stage::new();
    let mut settings = settings();
    settings.policy.timeout = Duration::from_millis(100);
    let mut front = Front::session(RootsService::new(settings).install(Files::new())).await;
    let path = json!({"path": stage.path("a/file")});
    front.call(1, "read", path.clone()).await;
    let first = front.receive().await;
    assert_eq!(first["method"], "roots/list");
    let mut answer = front.receive().await;
    while answer["id"] != 1 {
        answer = front.receive().await;
    }
    tokio::time::sleep(A_REST).await;
    // The next question has another id, so that a late answer to the first is ignored.
    front.call(2, "read", path).await;
    let mut ids = Vec::new();
    loop {
        let said = front.receive().await;
        if said["method"] == "roots/list" {
            ids.push(said["id"].clone());
        }
        if said["id"] == 2 && said.get("method").is_none() {
            break;
        }
    }
    front.call(3, "count", json!({})).await;
    assert!(!ids.contains(&first["id"]), "{ids:?}");
}

#[tokio::test]
async fn a_long_call_keeps_its_session_awake() {
    let (reports, mut reported) = mpsc::unbounded_channel();
    let mut front = Front::session(RootsService::new(settings()).install(Stuck(reports))).await;
    front.call(1, "any", json!({})).await;
    assert_eq!(reported.recv().await, Some("began"));
    tokio::time::sleep(A_REST).await;
    front.send(&message::notification("notifications/cancelled", json!({"requestId": 1}))).await;
    assert_eq!(reported.recv().await, Some("stopped"));
    front.send(&message::request(2, "ping", Value::Null)).await;
    assert_eq!(front.receive().await["id"], 2);
}
