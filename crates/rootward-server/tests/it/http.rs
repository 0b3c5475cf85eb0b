//! Legacy sessions over Streamable HTTP, with a client that opens no stand-alone stream: the server must ask on the
//! stream of the call that needs roots.

use std::sync::Arc;
use std::time::Duration;

use http::{HeaderValue, Request};
use http_body_util::BodyExt;
use rmcp::ServerHandler;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use rootward_server::{Rooted, RootedHttp, RootsService};
use rootward_testkit::client::message;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tower_service::Service as _;

use crate::client::{self, roots, said};
use crate::rooted::Files;
use crate::stage::{Stage, settings};

/// The HTTP service under test.
pub(crate) type Endpoint<S = Rooted<Files>> = RootedHttp<StreamableHttpService<S, LocalSessionManager>>;

/// The messages on the stream of a response.
pub(crate) type Stream = mpsc::UnboundedReceiver<Value>;

/// A response whose stream is not read until this is called.
pub(crate) type Unread = Box<dyn FnOnce() -> Stream + Send>;

pub(crate) fn endpoint(roots: &RootsService) -> Endpoint {
    let handlers = roots.clone();
    roots.http(StreamableHttpService::new(
        move || Ok(handlers.install(Files::new())),
        Arc::new(LocalSessionManager::default()),
        StreamableHttpServerConfig::default(),
    ))
}

/// A client of one session.
pub(crate) struct Client<S = Rooted<Files>> {
    service: Endpoint<S>,
    session: Option<HeaderValue>,
}

impl<S: ServerHandler> Client<S> {
    pub(crate) async fn start(service: Endpoint<S>) -> Client<S> {
        let mut client = Client { service, session: None };
        let hello = message::hello(json!({"roots": {"listChanged": true}}));
        let mut stream = client.post(message::request(0, "initialize", hello)).await;
        assert_eq!(next(&mut stream).await["id"], 0);
        client.post(message::notification("notifications/initialized", Value::Null)).await;
        client
    }

    /// Posts a message; returns the messages on the stream of its response.
    pub(crate) async fn post(&mut self, message: Value) -> Stream {
        let unread = self.post_unread(message).await;
        unread()
    }

    /// The same, without reading the stream.
    pub(crate) async fn post_unread(&mut self, message: Value) -> Unread {
        let mut request = Request::post("http://localhost/mcp")
            .header("host", "localhost")
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .header("mcp-protocol-version", "2025-11-25");
        if let Some(session) = &self.session {
            request = request.header("mcp-session-id", session);
        }
        let Ok(response) = self.service.call(request.body(message.to_string()).unwrap()).await;
        assert!(response.status().is_success(), "{response:?}");
        if let Some(session) = response.headers().get("mcp-session-id") {
            self.session = Some(session.clone());
        }
        let mut body = response.into_body();
        Box::new(|| {
            let (sender, receiver) = mpsc::unbounded_channel();
            tokio::spawn(async move {
                let mut text = String::new();
                while let Some(Ok(frame)) = body.frame().await {
                    text.push_str(std::str::from_utf8(frame.data_ref().unwrap()).unwrap());
                    while let Some((line, rest)) = text.split_once('\n') {
                        if let Some(data) = line.strip_prefix("data:").and_then(|data| serde_json::from_str(data).ok())
                        {
                            let _ = sender.send(data);
                        }
                        text = rest.to_owned();
                    }
                }
            });
            receiver
        })
    }

    pub(crate) async fn read(&mut self, id: u64, path: &str) -> Stream {
        let call = message::call("read", json!({"path": path}));
        self.post(message::request(id, "tools/call", call)).await
    }

    async fn list_changed(&mut self) {
        self.post(message::notification("notifications/roots/list_changed", Value::Null)).await;
    }

    /// The next message on a stream must be `roots/list`; answers it.
    pub(crate) async fn answer_on(&mut self, stream: &mut Stream, list: Value) {
        let question = next(stream).await;
        self.answer(&question, list).await;
    }

    pub(crate) async fn answer(&mut self, question: &Value, list: Value) {
        assert_eq!(question["method"], "roots/list", "{question}");
        self.post(message::answer(question["id"].clone(), list)).await;
    }
}

pub(crate) async fn next(stream: &mut Stream) -> Value {
    tokio::time::timeout(Duration::from_secs(20), stream.recv()).await.unwrap().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_question_comes_on_the_stream_of_the_call() {
    let stage = Stage::new();
    let mut client = Client::start(endpoint(&RootsService::new(settings()))).await;
    let mut call = client.read(1, &stage.path("a/file")).await;
    client.answer_on(&mut call, roots(&[&stage.path("a")])).await;
    assert_eq!(said(&next(&mut call).await), "a");

    // The client takes its roots back: the server asks on the stream of the next call.
    client.list_changed().await;
    let mut call = client.read(2, &stage.path("a/file")).await;
    client.answer_on(&mut call, json!({"roots": []})).await;
    assert_eq!(said(&next(&mut call).await), "no_roots");
}

/// rmcp answers a notification before it handles it in a separate task: the next call could overtake it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_over_http_is_heard_before_the_call_that_follows() {
    let stage = Stage::new();
    let mut client = Client::start(endpoint(&RootsService::new(settings()))).await;
    let mut call = client.read(0, &stage.path("a/file")).await;
    client.answer_on(&mut call, roots(&[&stage.path("a")])).await;
    assert_eq!(said(&next(&mut call).await), "a");
    for round in 1..60 {
        client.list_changed().await;
        let mut call = client.read(round, &stage.path("a/file")).await;
        client.answer_on(&mut call, roots(&[&stage.path("a")])).await;
        assert_eq!(said(&next(&mut call).await), "a");
    }
}

#[tokio::test]
async fn a_list_in_pages_over_http() {
    let stage = Stage::new();
    let mut client = Client::start(endpoint(&RootsService::new(settings()))).await;
    let mut call = client.read(1, &stage.path("b/file")).await;
    let question = next(&mut call).await;
    let mut first = roots(&[&stage.path("a")]);
    first["nextCursor"] = json!("more");
    client.answer(&question, first).await;
    let question = next(&mut call).await;
    assert_eq!(question["params"]["cursor"], "more", "{question}");
    client.answer(&question, roots(&[&stage.path("b")])).await;
    assert_eq!(said(&next(&mut call).await), "b");
}

/// If the server loses cursors, a client that pages would share only the first page.
#[tokio::test]
async fn paging_is_declared_only_where_cursors_arrive() {
    let initialize = message::request("init", "initialize", message::hello(json!({})));
    let service = RootsService::new(settings());
    let mut over_http = Client { service: endpoint(&service), session: None };
    let result = next(&mut over_http.post(initialize.clone()).await).await;
    assert!(result["result"]["capabilities"]["extensions"]["rootward.dev/roots-paging"].is_object(), "{result}");
    let mut elsewhere = client::connect_rooted(service.install(Files::new()));
    elsewhere.send(initialize).await;
    let result = elsewhere.receive().await;
    assert!(result["result"]["capabilities"].get("extensions").is_none(), "{result}");
}

#[tokio::test]
async fn a_body_that_is_too_long_is_refused() {
    let mut endpoint = endpoint(&RootsService::new(settings())).with_longest_body(100);
    let post =
        |length| Request::post("http://localhost/mcp").header("host", "localhost").body("x".repeat(length)).unwrap();
    let Ok(response) = endpoint.call(post(101)).await;
    assert_eq!(response.status(), 413);
    let Ok(response) = endpoint.call(post(100)).await;
    assert_ne!(response.status(), 413);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cancelled_call_carries_no_more_questions() {
    let stage = Stage::new();
    let mut client = Client::start(endpoint(&RootsService::new(settings()))).await;
    let mut stopped = client.read(1, &stage.path("a/file")).await;
    assert_eq!(next(&mut stopped).await["method"], "roots/list");
    drop(stopped);
    client.post(message::notification("notifications/cancelled", json!({"requestId": 1}))).await;
    client.list_changed().await;

    // Nobody reads the stream of the cancelled call.
    let mut call = client.read(2, &stage.path("a/file")).await;
    client.answer_on(&mut call, roots(&[&stage.path("a")])).await;
    assert_eq!(said(&next(&mut call).await), "a");
}

#[tokio::test]
async fn sessions_of_one_service_are_separate() {
    let stage = Stage::new();
    let service = endpoint(&RootsService::new(settings()));
    for (mine, other) in [("a", "b"), ("b", "a")] {
        let mut client = Client::start(service.clone()).await;
        let mut call = client.read(1, &stage.path(&format!("{mine}/file"))).await;
        client.answer_on(&mut call, roots(&[&stage.path(mine)])).await;
        assert_eq!(said(&next(&mut call).await), mine);
        let mut call = client.read(2, &stage.path(&format!("{other}/file"))).await;
        assert_eq!(said(&next(&mut call).await), "outside_roots");
    }
}

/// rmcp also serves an `Arc` of a handler: shared between clients, it would give every client the roots of the first.
#[tokio::test]
async fn a_handler_that_clients_share_serves_one_of_them() {
    let stage = Stage::new();
    let service = RootsService::new(settings());
    let shared = Arc::new(service.install(Files::new()));
    let sessions = Arc::new(LocalSessionManager::default());
    let config = StreamableHttpServerConfig::default();
    let endpoint =
        service.http(StreamableHttpService::new(move || Ok(Arc::clone(&shared)), Arc::clone(&sessions), config));
    let mut first = Client::start(endpoint.clone()).await;
    let mut call = first.read(1, &stage.path("a/file")).await;
    first.answer_on(&mut call, roots(&[&stage.path("a")])).await;
    assert_eq!(said(&next(&mut call).await), "a");
    let mut second = Client::start(endpoint).await;
    let mut call = second.read(1, &stage.path("a/file")).await;
    let refused = next(&mut call).await;
    assert_eq!(refused["error"]["code"], -32603, "{refused}");
    assert!(refused["error"]["message"].as_str().unwrap().contains("RootsService::install"), "{refused}");
    // The first is not disturbed.
    let mut call = first.read(2, &stage.path("a/file")).await;
    assert_eq!(said(&next(&mut call).await), "a");
}
