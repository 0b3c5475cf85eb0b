//! Tools whose paths are plain strings, checked by `require_within_roots`. Their bodies open files by path, like the
//! tools that the attribute is made for.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rmcp::handler::server::router::prompt::PromptRouter;
use rmcp::handler::server::router::tool::ToolRouter;
use rmcp::handler::server::tool::IntoCallToolResult;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::{
    CallToolResponse, CallToolResult, CompleteRequestParams, CompleteResult, ContentBlock, PromptMessage,
    ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, ResourceContents, Role, ServerCapabilities,
    ServerConfig,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::{ErrorData, ServerHandler, prompt, prompt_handler, prompt_router, tool, tool_handler, tool_router};
use rootward_server::{PathError, RefusalForm, RootsService, require_within_roots};
use rootward_testkit::client::message::again;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::client::{self, Client, Read as _, roots, said};
use crate::modern::{request, state};
use crate::stage::{Stage, settings};

pub(crate) struct Names {
    tool_router: ToolRouter<Names>,
    prompt_router: PromptRouter<Names>,
    /// How often a body ran.
    ran: Arc<AtomicUsize>,
}

#[derive(Deserialize, JsonSchema)]
struct One {
    path: String,
}

#[derive(Deserialize, JsonSchema)]
struct Copy {
    path: String,
    destination: PathBuf,
}

#[derive(Deserialize, JsonSchema)]
struct Several {
    sources: Vec<PathBuf>,
    target: Option<String>,
}

/// An author's own error type, which knows nothing about refusals.
struct Own(String);

impl From<PathError> for Own {
    fn from(error: PathError) -> Own {
        Own(format!("own error: {error}"))
    }
}

impl IntoCallToolResult for Own {
    fn into_call_tool_result(self) -> Result<CallToolResponse, ErrorData> {
        Ok(CallToolResult::success(vec![ContentBlock::text(self.0)]).into())
    }
}

type Answer = Result<String, PathError>;

#[tool_router]
impl Names {
    pub(crate) fn new() -> Names {
        Names { tool_router: Names::tool_router(), prompt_router: Names::prompt_router(), ran: Arc::default() }
    }

    fn ran(&self) {
        self.ran.fetch_add(1, Ordering::Relaxed);
    }

    #[tool(description = "Read a file")]
    #[require_within_roots(path)]
    fn read(&self, Parameters(One { path }): Parameters<One>) -> Result<String, PathError> {
        self.ran();
        Ok(std::fs::read_to_string(path).unwrap())
    }

    #[require_within_roots(path)]
    #[tool(description = "Read a file, the attributes the other way round")]
    fn read_above(&self, Parameters(One { path }): Parameters<One>) -> Answer {
        self.ran();
        Ok(std::fs::read_to_string(path).unwrap())
    }

    #[tool(description = "Copy a file")]
    #[require_within_roots(path, destination: write)]
    async fn copy(&self, Parameters(Copy { path, destination }): Parameters<Copy>) -> Result<String, ErrorData> {
        self.ran();
        tokio::task::yield_now().await;
        std::fs::copy(path, destination).unwrap();
        Ok("copied".to_owned())
    }

    #[require_within_roots(path, destination: write)]
    #[tool(description = "Copy a file, the attributes the other way round")]
    async fn copy_above(&self, Parameters(Copy { path, destination }): Parameters<Copy>) -> Answer {
        self.ran();
        tokio::task::yield_now().await;
        std::fs::copy(path, destination).unwrap();
        Ok("copied".to_owned())
    }

    #[tool(description = "Put files together")]
    #[require_within_roots(request.sources, request.target: write)]
    async fn join(&self, Parameters(request): Parameters<Several>) -> Answer {
        self.ran();
        let text: String = request.sources.iter().map(|source| std::fs::read_to_string(source).unwrap()).collect();
        if let Some(target) = request.target {
            std::fs::write(target, &text).unwrap();
        }
        Ok(text)
    }

    #[tool(description = "Remove a file")]
    #[require_within_roots(parameters.0.path: delete)]
    fn remove(parameters: Parameters<One>) -> Answer {
        std::fs::remove_file(parameters.0.path).unwrap();
        Ok("removed".to_owned())
    }

    #[tool(description = "Make a file")]
    #[require_within_roots(path: create)]
    async fn create(Parameters(One { path }): Parameters<One>) -> Answer {
        std::fs::write(path, "new").unwrap();
        Ok("created".to_owned())
    }

    #[tool(description = "Run a program")]
    #[require_within_roots(path: execute)]
    fn run(&self, Parameters(One { path }): Parameters<One>) -> Answer {
        self.ran();
        Ok(path)
    }

    #[tool(description = "Read and write a file")]
    #[require_within_roots(path)]
    #[require_within_roots(path: write)]
    async fn change(&self, Parameters(One { path }): Parameters<One>) -> Answer {
        self.ran();
        Ok(path)
    }

    #[tool(description = "Fails with an error of its own")]
    #[require_within_roots(path)]
    async fn own(&self, Parameters(One { path }): Parameters<One>) -> Result<String, Own> {
        self.ran();
        Ok(std::fs::read_to_string(path).unwrap())
    }

    #[tool(description = "Read files through functions that it calls")]
    async fn through(&self, Parameters(Several { sources, target }): Parameters<Several>) -> Answer {
        let names: Vec<&Path> = sources.iter().map(PathBuf::as_path).collect();
        let last = names[names.len() - 1].as_os_str();
        borrowed(&names[..1], target.as_deref(), names[0].as_os_str(), &last.to_owned())?;
        borrowed(&names[..1], target.as_deref(), last, &OsString::from(names[0]))?;
        boxed(sources).await
    }

    #[tool(description = "Has an item with the name of an argument")]
    #[require_within_roots(path)]
    fn shadowed(&self, Parameters(One { path }): Parameters<One>) -> Answer {
        #[expect(non_upper_case_globals, reason = "the name of the argument")]
        static path: &str = env!("CARGO_MANIFEST_DIR");
        self.ran();
        Ok(path.to_owned())
    }
}

/// Argument types that no tool can have.
#[require_within_roots(names, target, system, owned)]
fn borrowed(names: &[&Path], target: Option<&str>, system: &OsStr, owned: &OsString) -> Answer {
    Ok(String::new())
}

/// The signature that macros such as `#[async_trait]` produce.
#[require_within_roots(sources)]
fn boxed(sources: Vec<PathBuf>) -> std::pin::Pin<Box<dyn Future<Output = Answer> + Send>> {
    Box::pin(async move { Ok(sources.iter().map(|source| std::fs::read_to_string(source).unwrap()).collect()) })
}

#[prompt_router]
impl Names {
    #[prompt(description = "Show a file")]
    #[require_within_roots(path)]
    async fn show(&self, Parameters(One { path }): Parameters<One>) -> Result<Vec<PromptMessage>, ErrorData> {
        self.ran();
        Ok(vec![PromptMessage::new_text(Role::User, std::fs::read_to_string(path).unwrap())])
    }

    #[require_within_roots(path)]
    #[prompt(description = "Show a file, the attributes the other way round")]
    async fn show_above(&self, Parameters(One { path }): Parameters<One>) -> Result<Vec<PromptMessage>, ErrorData> {
        self.ran();
        Ok(vec![PromptMessage::new_text(Role::User, std::fs::read_to_string(path).unwrap())])
    }
}

#[tool_handler(router = self.tool_router)]
#[prompt_handler(router = self.prompt_router)]
impl ServerHandler for Names {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_prompts().enable_resources();
        ServerConfig::new(capabilities.build())
    }

    #[require_within_roots(request.uri)]
    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        self.ran();
        let text = std::fs::read_to_string(request.uri.trim_start_matches("file://")).unwrap();
        Ok(ReadResourceResult::new(vec![ResourceContents::text(text, request.uri)]).into())
    }

    #[expect(clippy::manual_async_fn, reason = "this tests the long form")]
    #[require_within_roots(request.argument.value)]
    fn complete(
        &self,
        request: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> impl Future<Output = Result<CompleteResult, ErrorData>> + Send + '_ {
        async move {
            self.ran();
            drop(request);
            Ok(CompleteResult::default())
        }
    }
}

/// A session that shares these paths, with one call made.
async fn sharing(paths: &[&str], refusals: RefusalForm) -> (Client, Arc<AtomicUsize>) {
    let mut settings = settings();
    settings.refusals = refusals;
    let names = Names::new();
    let ran = Arc::clone(&names.ran);
    let mut client =
        client::start_rooted(RootsService::new(settings).install(names), json!({"roots": {"listChanged": true}})).await;
    client.call_as("first", "run", json!({"path": paths[0]})).await;
    client.answer_roots(roots(paths)).await;
    client.receive().await;
    (client, ran)
}

async fn sharing_a(stage: &Stage) -> (Client, Arc<AtomicUsize>) {
    sharing(&[&stage.path("a")], RefusalForm::ToolError).await
}

#[tokio::test]
async fn arguments_are_checked_before_the_body() {
    let stage = Stage::new();
    let (mut client, ran) = sharing_a(&stage).await;
    let (inside, outside, new) = (stage.path("a/file"), stage.path("b/file"), stage.path("a/new"));
    std::os::unix::fs::symlink(stage.path("b"), stage.path("a/out")).unwrap();
    let through = stage.path("a/out/file");
    let mut checks = vec![
        ("join", json!({"sources": [inside, inside]}), "aa"),
        ("join", json!({"sources": [inside, inside], "target": null}), "aa"),
        ("join", json!({"sources": [inside, inside], "target": new}), "aa"),
        ("join", json!({"sources": [inside, outside]}), "outside_roots"),
        ("join", json!({"sources": [inside], "target": outside}), "outside_roots"),
        ("join", json!({"sources": [outside], "target": new}), "outside_roots"),
        ("through", json!({"sources": [inside, inside], "target": new}), "aa"),
        ("through", json!({"sources": [inside, outside]}), "outside_roots"),
        ("through", json!({"sources": [outside]}), "outside_roots"),
        ("through", json!({"sources": [inside], "target": outside}), "outside_roots"),
        ("remove", json!({"path": new}), "removed"),
        ("remove", json!({"path": outside}), "outside_roots"),
        ("create", json!({"path": new}), "created"),
        ("create", json!({"path": outside}), "outside_roots"),
        ("change", json!({"path": inside}), &inside),
        ("change", json!({"path": outside}), "outside_roots"),
        ("run", json!({"path": inside}), "access_denied"),
        ("own", json!({"path": inside}), "a"),
        ("own", json!({"path": outside}), "outside_roots"),
    ];
    for tool in ["read", "read_above"] {
        checks.extend([
            (tool, json!({"path": inside}), "a"),
            (tool, json!({"path": outside}), "outside_roots"),
            (tool, json!({"path": through}), "outside_roots"),
            (tool, json!({"path": ""}), "invalid_path"),
            (tool, json!({"path": "C:\\x"}), "foreign_path"),
            (tool, json!({"path": "http://x/y"}), "unsupported_scheme"),
        ]);
    }
    for tool in ["copy", "copy_above"] {
        checks.extend([
            (tool, json!({"path": inside, "destination": new}), "copied"),
            (tool, json!({"path": outside, "destination": new}), "outside_roots"),
            (tool, json!({"path": inside, "destination": outside}), "outside_roots"),
            (tool, json!({"path": inside, "destination": through}), "outside_roots"),
        ]);
    }
    for (tool, arguments, expect) in checks {
        let before = ran.load(Ordering::Relaxed);
        client.call_as(1, tool, arguments.clone()).await;
        let message = client.receive().await;
        assert_eq!(said(&message), expect, "{tool} {arguments}");
        if message["result"]["isError"] == true {
            assert_eq!(ran.load(Ordering::Relaxed), before, "{tool} {arguments}: the body ran");
        }
    }
    // The link itself, not what it leads to.
    assert_eq!(client.calls(2, "remove", json!({"path": stage.path("a/out")})).await, "removed");
    assert_eq!(std::fs::read_to_string(outside).unwrap(), "b");
}

#[tokio::test]
async fn a_refusal_is_the_same_as_that_of_a_rooted_path() {
    let stage = Stage::new();
    let root = stage.path("a");
    for tool in ["read", "copy", "own"] {
        let (mut client, _) = sharing_a(&stage).await;
        client.call_as(1, tool, json!({"path": "/etc/passwd", "destination": "/etc/passwd"})).await;
        let sentence =
            format!("path `/etc/passwd` is outside every root; current roots: `{root}` (read, write, delete)");
        let named = json!([{"uri": format!("file://{root}"), "name": "a", "access": ["read", "write", "delete"]}]);
        let data = json!({"code": "outside_roots", "message": sentence, "path": "/etc/passwd", "access": ["read"], "roots": named});
        let content = json!([{"type": "text", "text": sentence}]);
        let result = json!({"content": content, "isError": true, "structuredContent": data});
        assert_eq!(client.receive().await["result"], result, "{tool}");

        let (mut client, _) = sharing(&[&root], RefusalForm::ProtocolError).await;
        client.call_as(1, tool, json!({"path": "/etc/passwd", "destination": "/etc/passwd"})).await;
        let error = json!({"code": -32602, "message": sentence, "data": data});
        assert_eq!(client.receive().await["error"], error, "{tool}");
    }
}

#[tokio::test]
async fn the_client_is_asked_and_the_body_runs_once() {
    let stage = Stage::new();
    for tool in ["read", "read_above", "copy", "copy_above", "own"] {
        let names = Names::new();
        let ran = Arc::clone(&names.ran);
        let mut client = client::start(RootsService::new(settings()).install(names), json!({"roots": {}})).await;
        let paths = json!({"path": stage.path("a/file"), "destination": stage.path("a/new")});
        client.call_as(1, tool, paths).await;
        let question = client.asked().await;
        assert_eq!(ran.load(Ordering::Relaxed), 0, "{tool}");
        client.answer(question, roots(&[&stage.path("a")])).await;
        assert_eq!(client.said(1).await, if tool.starts_with("copy") { "copied" } else { "a" });
        assert_eq!(ran.load(Ordering::Relaxed), 1, "{tool}");
    }
}

#[tokio::test]
async fn an_empty_argument_needs_no_roots() {
    let mut client = client::start(RootsService::new(settings()).install(Names::new()), json!({"roots": {}})).await;
    assert_eq!(client.calls(1, "join", json!({"sources": []})).await, "");
}

#[tokio::test]
async fn a_modern_call_comes_again_with_the_roots() {
    let stage = Stage::new();
    let service = RootsService::new(settings());
    for tool in ["read", "read_above", "copy", "copy_above", "own"] {
        for (path, expect) in
            [("a/file", if tool.starts_with("copy") { "copied" } else { "a" }), ("b/file", "outside_roots")]
        {
            let call =
                json!({"name": tool, "arguments": {"path": stage.path(path), "destination": stage.path("a/new")}});
            let mut client = client::connect(service.install(Names::new()));
            client.send(request(&json!({"roots": {}}), call.clone())).await;
            let sealed = state(&client.receive().await);
            let mut client = client::connect(service.install(Names::new()));
            let call = again(call, &sealed, &roots(&[&stage.path("a")]));
            client.send(request(&json!({"roots": {}}), call)).await;
            assert_eq!(said(&client.receive().await), expect, "{tool}");
        }
    }
}

/// Requests with a path that are not tool calls.
fn others(path: &str) -> [(&'static str, Value); 4] {
    let argument = json!({"name": "path", "value": path});
    [
        ("prompts/get", json!({"name": "show", "arguments": {"path": path}})),
        ("prompts/get", json!({"name": "show_above", "arguments": {"path": path}})),
        ("resources/read", json!({"uri": format!("file://{path}")})),
        ("completion/complete", json!({"ref": {"type": "ref/prompt", "name": "show"}, "argument": argument})),
    ]
}

#[tokio::test]
async fn prompts_resources_and_completions_are_checked_too() {
    let stage = Stage::new();
    let both = others(&stage.path("a/file")).into_iter().zip(others(&stage.path("b/file")));
    for ((method, shared), (_, other)) in both {
        let names = Names::new();
        let ran = Arc::clone(&names.ran);
        let mut client = client::start(RootsService::new(settings()).install(names), json!({"roots": {}})).await;
        client.send(json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": shared})).await;
        client.answer_roots(roots(&[&stage.path("a")])).await;
        let message = client.receive().await;
        assert!(message["result"].is_object(), "{message}");
        client.send(json!({"jsonrpc": "2.0", "id": 2, "method": method, "params": other})).await;
        let error = client.receive().await["error"].clone();
        assert_eq!((&error["code"], &error["data"]["code"]), (&json!(-32602), &json!("outside_roots")), "{error}");
        assert_eq!(ran.load(Ordering::Relaxed), 1, "{method}");
    }
    // A modern client repeats them with the roots.
    let service = RootsService::new(settings());
    for (method, parameters) in others(&stage.path("a/file")).into_iter().take(3) {
        let mut client = client::connect(service.install(Names::new()));
        let mut message = request(&json!({"roots": {}}), parameters);
        message["method"] = json!(method);
        client.send(message.clone()).await;
        let sealed = state(&client.receive().await);
        message["params"] = again(message["params"].clone(), &sealed, &roots(&[&stage.path("a")]));
        client.send(message).await;
        let message = client.receive().await;
        assert_eq!(message["result"]["resultType"], "complete", "{message}");
    }
}

#[tokio::test]
async fn without_the_service_no_argument_passes() {
    let stage = Stage::new();
    let names = Names::new();
    let ran = Arc::clone(&names.ran);
    let mut client = client::start(names, json!({"roots": {}})).await;
    let path = stage.path("a/file");
    let tool = |name: &str, arguments: Value| ("tools/call", json!({"name": name, "arguments": arguments}));
    let mut calls = vec![
        tool("read", json!({"path": path})),
        tool("copy", json!({"path": path, "destination": path})),
        tool("own", json!({"path": path})),
        // Refused although there is nothing to check.
        tool("join", json!({"sources": []})),
    ];
    calls.extend(others(&path));
    for (method, parameters) in calls {
        client.send(json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": parameters})).await;
        let message = client.receive().await.to_string();
        assert!(message.contains("RootsService::install"), "{message}");
    }
    assert_eq!(ran.load(Ordering::Relaxed), 0);
    let refused = borrowed(&[], None, OsStr::new(""), &OsString::new());
    assert!(matches!(refused, Err(PathError::NotInstalled)));
}

#[tokio::test]
async fn a_relative_path_must_be_shared_from_the_working_directory_too() {
    let stage = Stage::new();
    let here = std::env::current_dir().unwrap();
    std::fs::write(stage.path("a/Cargo.toml"), "another").unwrap();
    let (mut client, _) = sharing_a(&stage).await;
    for path in ["Cargo.toml", "./Cargo.toml", "file", "none"] {
        client.call_as(1, "read", json!({"path": path})).await;
        let message = client.receive().await;
        assert_eq!(said(&message), "outside_roots", "{path}");
        // A peer does not learn the server's working directory.
        assert_eq!(message["result"]["structuredContent"]["path"], path);
        assert!(!message.to_string().contains(here.to_str().unwrap()), "{message}");
    }
    let (mut client, _) = sharing(&[here.to_str().unwrap(), &stage.path("a")], RefusalForm::ToolError).await;
    assert_eq!(
        client.calls(1, "read", json!({"path": "Cargo.toml"})).await,
        std::fs::read_to_string("Cargo.toml").unwrap()
    );
    assert_eq!(client.calls(2, "read", json!({"path": "../rootward-core/Cargo.toml"})).await, "outside_roots");
}

#[tokio::test]
async fn a_tilde_path_is_refused_because_the_system_does_not_expand_it() {
    let stage = Stage::new();
    let mut settings = settings();
    settings.guard.home = Some(stage.place().join("a"));
    let mut client = client::start(RootsService::new(settings).install(Names::new()), json!({"roots": {}})).await;
    client.call_as(1, "read", json!({"path": "~/file"})).await;
    client.answer_roots(roots(&[&stage.path("a")])).await;
    assert_eq!(client.said(1).await, "outside_roots");
}

#[tokio::test]
async fn a_file_is_not_created_through_a_link() {
    let stage = Stage::new();
    let (mut client, _) = sharing_a(&stage).await;
    for (link, target) in [("a/link", "b/file"), ("a/dangling", "b/new")] {
        std::os::unix::fs::symlink(stage.path(target), stage.path(link)).unwrap();
        assert_eq!(client.calls(1, "create", json!({"path": stage.path(link)})).await, "outside_roots");
    }
    assert_eq!(std::fs::read_to_string(stage.path("b/file")).unwrap(), "b");
    assert!(!stage.place().join("b/new").exists());
}

#[tokio::test]
async fn an_item_in_the_body_does_not_replace_an_argument() {
    let stage = Stage::new();
    let (mut client, ran) = sharing(&[env!("CARGO_MANIFEST_DIR")], RefusalForm::ToolError).await;
    assert_eq!(client.calls(1, "shadowed", json!({"path": stage.path("a/file")})).await, "outside_roots");
    assert_eq!(ran.load(Ordering::Relaxed), 0);
}
