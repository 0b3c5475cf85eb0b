//! A handler behind [`RootsService::install`]: paths in its arguments are grants.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rmcp::handler::server::router::tool::ToolRouter;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::{
    CallToolRequestParams, ClientCapabilities, ClientConfig, CompleteRequestParams, CompleteResult,
    GetPromptRequestParams, GetPromptResponse, GetPromptResult, PromptMessage, ReadResourceRequestParams,
    ReadResourceResponse, ReadResourceResult, ResourceContents, Role, ServerCapabilities, ServerConfig,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::{ClientHandler, ErrorData, ServerHandler, ServiceExt, tool, tool_handler, tool_router};
use rootward_core::{Access, Replace};
use rootward_server::{Create, Delete, PathError, RefusalForm, RootedPath, Roots, RootsService, Write};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::client::{self, Client, Read as _, roots, said};
use crate::stage::{Stage, settings};

pub(crate) struct Files {
    tool_router: ToolRouter<Files>,
    /// How often a tool's body ran.
    ran: Arc<AtomicUsize>,
}

#[derive(Deserialize, JsonSchema)]
struct One {
    path: RootedPath,
}

#[derive(Deserialize, JsonSchema)]
struct Several {
    sources: Vec<RootedPath>,
    target: Option<Target>,
}

#[derive(Deserialize, JsonSchema)]
struct Texts {
    sources: Vec<String>,
}

#[derive(Deserialize, JsonSchema)]
struct Target {
    path: RootedPath<Write>,
}

#[derive(Deserialize, JsonSchema)]
struct Entry {
    path: RootedPath<Delete>,
}

#[derive(Deserialize, JsonSchema)]
struct New {
    path: RootedPath<Create>,
}

#[derive(Deserialize, JsonSchema)]
struct Plain {
    path: String,
}

#[expect(clippy::unused_self, clippy::needless_pass_by_value, reason = "the router requires this signature")]
#[tool_router]
impl Files {
    pub(crate) fn new() -> Files {
        Files { tool_router: Files::tool_router(), ran: Arc::default() }
    }

    #[tool(description = "Read a file")]
    fn read(&self, Parameters(One { path }): Parameters<One>) -> Result<String, PathError> {
        self.ran.fetch_add(1, Ordering::Relaxed);
        Ok(String::from_utf8(path.read(1 << 20)?).unwrap())
    }

    #[tool(description = "Put files together")]
    fn join(&self, Parameters(Several { sources, target }): Parameters<Several>) -> Result<String, PathError> {
        let mut text = Vec::new();
        for source in sources {
            text.extend(source.read(1 << 20)?);
        }
        if let Some(target) = target {
            target.path.replace(&text)?;
        }
        Ok(String::from_utf8(text).unwrap())
    }

    #[tool(description = "Remove a file")]
    fn remove(&self, Parameters(Entry { path }): Parameters<Entry>) -> Result<String, PathError> {
        path.remove()?;
        Ok("removed".to_owned())
    }

    #[tool(description = "Move a file")]
    fn rename(&self, Parameters(Entry { path }): Parameters<Entry>, roots: Roots) -> Result<String, PathError> {
        let beside = roots.check_entry(path.named_path().with_extension("old"), Access::WRITE)?;
        path.rename_to(&beside, Replace::No)?;
        Ok("renamed".to_owned())
    }

    #[tool(description = "Make a file")]
    fn create(&self, Parameters(New { path }): Parameters<New>) -> Result<String, PathError> {
        path.create_new(b"new")?;
        Ok("created".to_owned())
    }

    #[tool(description = "Says how many roots there are")]
    fn count(&self, roots: Roots) -> String {
        roots.list().len().to_string()
    }

    #[tool(description = "Read a file, by hand")]
    async fn by_hand(&self, Parameters(Plain { path }): Parameters<Plain>) -> Result<String, PathError> {
        let grant = rootward_server::roots().await?.check(path, Access::READ)?;
        Ok(String::from_utf8(grant.read(1 << 20)?).unwrap())
    }

    #[tool(description = "Checks all paths, and fails with the first that is refused")]
    async fn all(&self, Parameters(Texts { sources }): Parameters<Texts>) -> Result<String, PathError> {
        let roots = rootward_server::roots().await?;
        let checked: Vec<_> = sources.iter().map(|path| roots.check(path, Access::READ)).collect();
        Ok(checked.into_iter().collect::<Result<Vec<_>, _>>()?.len().to_string())
    }

    #[tool(description = "Needs no roots")]
    fn echo(&self, Parameters(Plain { path }): Parameters<Plain>) -> String {
        path
    }
}

#[tool_handler(router = self.tool_router)]
impl ServerHandler for Files {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().enable_resources().build())
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let roots = rootward_server::roots().await?;
        let grant = roots.check(&request.uri, Access::READ).map_err(PathError::from)?;
        let text = String::from_utf8(grant.read(1 << 20).map_err(PathError::from)?).unwrap();
        Ok(ReadResourceResult::new(vec![ResourceContents::text(text, request.uri)]).into())
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let text = read_one(request.arguments)?;
        Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]).into())
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let roots = rootward_server::roots().await?;
        roots.check(&request.argument.value, Access::READ).map_err(PathError::from)?;
        Ok(CompleteResult::default())
    }
}

/// Parses the parameters, as a handler without a router does.
fn read_one(arguments: Option<rmcp::model::JsonObject>) -> Result<String, ErrorData> {
    let arguments = Value::Object(arguments.unwrap_or_default());
    let One { path } =
        serde_json::from_value(arguments).map_err(|error| ErrorData::invalid_params(error.to_string(), None))?;
    Ok(String::from_utf8(path.read(1 << 20).map_err(PathError::from)?).unwrap())
}

/// A session that shares `a`, with one call made.
async fn sharing_a(stage: &Stage) -> Client {
    let handler = RootsService::new(settings()).install(Files::new());
    let mut client = client::start_rooted(handler, json!({"roots": {"listChanged": true}})).await;
    client.read("first", &stage.path("a/file")).await;
    let question = client.asked().await;
    let uri = format!("file://{}", stage.path("a"));
    client.answer(question, json!({"roots": [{"uri": uri, "name": "the project"}]})).await;
    assert_eq!(client.said("first").await, "a");
    client
}

#[tokio::test]
async fn arguments_are_grants() {
    let stage = Stage::new();
    let mut client = sharing_a(&stage).await;
    let (inside, outside) = (stage.path("a/file"), stage.path("b/file"));
    std::os::unix::fs::symlink(stage.path("b"), stage.path("a/out")).unwrap();
    let checks = [
        ("read", json!({"path": inside}), "a"),
        ("read", json!({"path": "file"}), "a"),
        ("read", json!({"path": format!("file://{inside}")}), "a"),
        ("read", json!({"path": format!("{}/../a/file", stage.path("a"))}), "a"),
        ("read", json!({"path": format!("file://{outside}")}), "outside_roots"),
        ("read", json!({"path": outside}), "outside_roots"),
        ("read", json!({"path": "out/file"}), "outside_roots"),
        ("read", json!({"path": "../b/file"}), "outside_roots"),
        ("read", json!({"path": ""}), "invalid_path"),
        ("read", json!({"path": "C:\\x"}), "foreign_path"),
        ("join", json!({"sources": [inside, inside]}), "aa"),
        ("join", json!({"sources": [inside, outside]}), "outside_roots"),
        ("join", json!({"sources": [inside], "target": {"path": outside}}), "outside_roots"),
        ("join", json!({"sources": [inside, inside], "target": {"path": "new"}}), "aa"),
        ("read", json!({"path": "new"}), "aa"),
        ("read", json!({"path": "none"}), ""),
        ("rename", json!({"path": "new"}), "renamed"),
        ("remove", json!({"path": "new.old"}), "removed"),
        // The link itself, not what it leads to.
        ("remove", json!({"path": "out"}), "removed"),
        ("create", json!({"path": "made"}), "created"),
        ("create", json!({"path": outside}), "outside_roots"),
        ("count", json!({}), "1"),
        ("by_hand", json!({"path": inside}), "a"),
        ("by_hand", json!({"path": outside}), "outside_roots"),
    ];
    for (tool, arguments, expect) in checks {
        client.call_as(1, tool, arguments.clone()).await;
        let said = client.said(1).await;
        if expect.is_empty() {
            assert!(said.contains("No such file"), "{tool} {arguments}: {said}");
        } else {
            assert_eq!(said, expect, "{tool} {arguments}");
        }
    }
    assert!(stage.place().join("b/file").exists());
}

#[tokio::test]
async fn a_refusal_names_the_path_and_the_roots() {
    let stage = Stage::new();
    let mut client = sharing_a(&stage).await;
    client.read(1, "/etc/passwd").await;
    let result = client.receive().await["result"].clone();
    let root = stage.path("a");
    let sentence = format!(
        "path `/etc/passwd` is outside every root; current roots: `{root}` \"the project\" (read, write, delete)"
    );
    let access = json!(["read", "write", "delete"]);
    let named = json!([{"uri": format!("file://{root}"), "name": "the project", "access": access}]);
    let data = json!({"code": "outside_roots", "message": sentence, "path": "/etc/passwd", "access": ["read"], "roots": named});
    assert_eq!(
        result,
        json!({"content": [{"type": "text", "text": sentence}], "isError": true, "structuredContent": data})
    );
    // Resources are refused as errors.
    let parameters = json!({"uri": "file:///etc/passwd"});
    client.send(json!({"jsonrpc": "2.0", "id": 2, "method": "resources/read", "params": parameters})).await;
    let error = client.receive().await["error"].clone();
    assert_eq!((&error["code"], &error["data"]["code"]), (&json!(-32602), &json!("outside_roots")));
}

#[tokio::test]
async fn a_refusal_is_a_protocol_error_if_the_author_prefers() {
    let stage = Stage::new();
    let mut settings = settings();
    settings.refusals = RefusalForm::ProtocolError;
    let mut client = client::start(RootsService::new(settings).install(Files::new()), json!({})).await;
    for tool in ["read", "by_hand"] {
        client.call_as(1, tool, json!({"path": stage.path("a/file")})).await;
        let error = client.receive().await["error"].clone();
        assert_eq!((&error["code"], &error["data"]["code"]), (&json!(-32602), &json!("no_roots")));
    }
}

#[tokio::test]
async fn a_call_without_paths_costs_no_question_and_a_body_runs_once() {
    let stage = Stage::new();
    let files = Files::new();
    let ran = Arc::clone(&files.ran);
    let mut client = client::start(RootsService::new(settings()).install(files), json!({"roots": {}})).await;
    assert_eq!(client.calls(1, "echo", json!({"path": "x"})).await, "x");
    client.read(2, &stage.path("a/file")).await;
    let question = client.asked().await;
    // Other calls are served while the client is being asked.
    assert_eq!(client.calls(3, "echo", json!({"path": "y"})).await, "y");
    assert_eq!(ran.load(Ordering::Relaxed), 0);
    client.answer(question, roots(&[&stage.path("a")])).await;
    assert_eq!(client.said(2).await, "a");
    assert_eq!(ran.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn without_the_service_every_path_is_refused() {
    let stage = Stage::new();
    let mut client = client::start(Files::new(), json!({"roots": {}})).await;
    for tool in ["read", "by_hand", "count"] {
        client.call_as(1, tool, json!({"path": stage.path("a/file")})).await;
        let message = client.receive().await.to_string();
        assert!(message.contains("RootsService::install"), "{message}");
        assert!(!message.contains("\"text\":\"a\""), "{message}");
    }
}

#[tokio::test]
async fn ten_thousand_calls_behind_the_wrapper_cost_one_question() {
    let stage = Stage::new();
    let handler = RootsService::new(settings()).install(Files::new());
    let mut client = client::start(handler, json!({"roots": {"listChanged": true}})).await;
    for id in 0..10_000 {
        client.read(id, &stage.path("a/file")).await;
    }
    client.answer_roots(roots(&[&stage.path("a")])).await;
    for _ in 0..10_000 {
        assert_eq!(said(&client.receive().await), "a");
    }
}

#[tokio::test]
async fn a_revoked_root_is_gone_behind_the_wrapper() {
    let stage = Stage::new();
    let mut client = sharing_a(&stage).await;
    client.list_changed().await;
    client.read(1, &stage.path("a/file")).await;
    client.answer_roots(json!({"roots": []})).await;
    assert_eq!(client.said(1).await, "no_roots");
}

#[tokio::test]
async fn a_failed_client_is_asked_again_by_calls_with_paths_only() {
    let stage = Stage::new();
    let handler = RootsService::new(settings()).install(Files::new());
    let mut client = client::start(handler, json!({"roots": {}})).await;
    client.read(1, &stage.path("a/file")).await;
    client.answer_roots(json!({})).await;
    assert_eq!(client.said(1).await, "roots_failed");
    tokio::time::sleep(settings().policy.retry_after).await;
    assert_eq!(client.calls(2, "echo", json!({"path": "x"})).await, "x");
    client.read(3, &stage.path("a/file")).await;
    let question = client.asked().await;
    assert_eq!(client.said(3).await, "roots_failed");
    client.answer(question, roots(&[&stage.path("a")])).await;
}

#[tokio::test]
async fn prompts_and_completions_are_refused_as_errors() {
    let stage = Stage::new();
    let prompt = |path: &str| ("prompts/get", json!({"name": "show", "arguments": {"path": stage.path(path)}}));
    let complete = |path: &str| {
        let argument = json!({"name": "path", "value": stage.path(path)});
        ("completion/complete", json!({"ref": {"type": "ref/prompt", "name": "show"}, "argument": argument}))
    };
    for (shared, other) in [(prompt("a/file"), prompt("b/file")), (complete("a/file"), complete("b/file"))] {
        let handler = RootsService::new(settings()).install(Files::new());
        let mut client = client::start(handler, json!({"roots": {}})).await;
        client.send(json!({"jsonrpc": "2.0", "id": 1, "method": shared.0, "params": shared.1})).await;
        client.answer_roots(roots(&[&stage.path("a")])).await;
        let message = client.receive().await;
        assert!(message["result"].is_object(), "{message}");
        client.send(json!({"jsonrpc": "2.0", "id": 2, "method": other.0, "params": other.1})).await;
        let error = client.receive().await["error"].clone();
        assert_eq!((&error["code"], &error["data"]["code"]), (&json!(-32602), &json!("outside_roots")), "{error}");
    }
}

/// Half of the sessions end while the client is being asked.
#[tokio::test]
async fn sessions_that_ended_leave_nothing_behind() {
    let stage = Stage::new();
    let service = RootsService::new(settings());
    let ran = Arc::new(AtomicUsize::new(0));
    for round in 0..10_000 {
        let files = Files { ran: Arc::clone(&ran), ..Files::new() };
        let mut client = client::start_rooted(service.install(files), json!({"roots": {}})).await;
        client.read(1, &stage.path("a/file")).await;
        let question = client.asked().await;
        if round % 2 == 0 {
            client.answer(question, roots(&[&stage.path("a")])).await;
            assert_eq!(client.said(1).await, "a");
        }
    }
    // rmcp waits some seconds for running calls.
    let mut patience = 0..3000;
    while Arc::strong_count(&ran) > 1 {
        assert!(patience.next().is_some(), "{} handlers left", Arc::strong_count(&ran) - 1);
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn a_missing_root_comes_back_when_it_appears() {
    let stage = Stage::new();
    let handler = RootsService::new(settings()).install(Files::new());
    let mut client = client::start(handler, json!({"roots": {"listChanged": true}})).await;
    let late = stage.path("late/file");
    client.read(1, &late).await;
    client.answer_roots(roots(&[&stage.path("a"), &stage.path("late")])).await;
    assert_eq!(client.said(1).await, "outside_roots");
    std::fs::create_dir(stage.path("late")).unwrap();
    std::fs::write(&late, "late").unwrap();
    tokio::time::sleep(settings().policy.retry_after).await;
    assert_eq!(client.reads(2, &late).await, "late");
}

#[tokio::test]
async fn the_schema_says_what_a_path_is_for() {
    let schema = |tool: &str| Value::Object((*Files::new().get_tool(tool).unwrap().input_schema).clone());
    let path = |access: &str| json!({"type": "string", "x-rootward-access": access});
    assert_eq!(schema("read")["properties"]["path"], path("read"));
    assert_eq!(schema("remove")["properties"]["path"], path("delete"));
    assert_eq!(schema("join")["properties"]["sources"]["items"], path("read"));
    assert_eq!(schema("join")["$defs"]["Target"]["properties"]["path"], path("write"));
}

/// A real client: rmcp's own.
#[tokio::test]
#[expect(deprecated, reason = "roots are deprecated in the protocol")]
async fn with_the_client_of_the_sdk() {
    struct Shares(String);
    impl ClientHandler for Shares {
        async fn list_roots(
            &self,
            _: RequestContext<rmcp::RoleClient>,
        ) -> Result<rmcp::model::ListRootsResult, ErrorData> {
            Ok(rmcp::model::ListRootsResult::new(vec![rmcp::model::Root::new(format!("file://{}", self.0))]))
        }

        fn get_info(&self) -> ClientConfig {
            let mut info = ClientConfig::default();
            info.capabilities = ClientCapabilities::builder().enable_roots().enable_roots_list_changed().build();
            info
        }
    }
    let stage = Stage::new();
    let (here, there) = tokio::io::duplex(1 << 16);
    let handler = RootsService::new(settings()).install(Files::new());
    tokio::spawn(async move { handler.serve(there).await.unwrap().waiting().await });
    let client = Shares(stage.path("a")).serve(here).await.unwrap();
    for (path, is_error) in [("a/file", false), ("b/file", true)] {
        let arguments = json!({"path": stage.path(path)}).as_object().unwrap().clone();
        let result = client.call_tool(CallToolRequestParams::new("read").with_arguments(arguments)).await.unwrap();
        assert_eq!(result.is_error == Some(true), is_error, "{result:?}");
    }
}

/// On several threads rmcp may run a call before a notification that arrived first; the session handles them in order.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_is_heard_before_the_call_that_follows() {
    let stage = Stage::new();
    let mut client = sharing_a(&stage).await;
    for round in 0..60 {
        let mut notification = json!({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"});
        match round % 3 {
            0 => {}
            1 => notification["params"] = json!({}),
            _ => notification["params"] = json!(null),
        }
        client.send(notification).await;
        client.read(1, &stage.path("a/file")).await;
        client.answer_roots(roots(&[&stage.path("a")])).await;
        assert_eq!(client.said(1).await, "a");
    }
}
