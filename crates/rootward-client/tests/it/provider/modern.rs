//! The provider with servers that use `rootward-server`, in both eras: they enforce the roots that it lists.

use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::{CallToolRequestParams, ClientConfig, ProtocolVersion};
use rmcp::service::{ClientLifecycleMode, RoleClient, RunningService};
use rmcp::{tool, tool_router};
use rootward_client::provider::{Declaration, Provided, Server};
use rootward_core::Access;
use rootward_server::{PathError, RootedPath, RootsService, Settings, Write};
use serde_json::json;

use super::stage::Stage;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Read {
    path: RootedPath,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Replace {
    path: RootedPath<Write>,
}

struct Files;

#[tool_router(server_handler)]
impl Files {
    #[tool(description = "Read a file")]
    fn read(Parameters(Read { path }): Parameters<Read>) -> Result<String, PathError> {
        Ok(String::from_utf8_lossy(&path.read(100)?).into_owned())
    }

    #[tool(description = "Replace a file")]
    fn replace(Parameters(Replace { path }): Parameters<Replace>) -> Result<String, PathError> {
        path.replace(b"new")?;
        Ok("replaced".to_owned())
    }
}

type Client = RunningService<RoleClient, Provided<ClientConfig>>;

fn modern() -> ClientLifecycleMode {
    ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] }
}

fn either() -> ClientLifecycleMode {
    ClientLifecycleMode::Auto { preferred_versions: vec![ProtocolVersion::V_2026_07_28], legacy_version: None }
}

async fn connect(stage: &Stage, server: Server, lifecycle: ClientLifecycleMode) -> Client {
    let (here, there) = tokio::io::duplex(1 << 20);
    let service = RootsService::new(Settings::default()).install(Files);
    tokio::spawn(async move { service.serve(there).await.unwrap().waiting().await });
    stage.provider.install(ClientConfig::default(), server).serve_with_lifecycle(here, lifecycle).await.unwrap()
}

/// The result of a call: its text, or the code of its refusal.
async fn call(client: &Client, tool: &str, path: &str) -> String {
    let arguments = json!({"path": path}).as_object().cloned().unwrap();
    let parameters = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
    match client.call_tool(parameters).await {
        Ok(result) => {
            let result = serde_json::to_value(result).unwrap();
            let code = result["structuredContent"]["code"].as_str();
            code.unwrap_or_else(|| result["content"][0]["text"].as_str().unwrap()).to_owned()
        }
        Err(error) => format!("{error:?}"),
    }
}

fn file(stage: &Stage, name: &str) -> String {
    let path = stage.directory(name).join("file");
    std::fs::write(&path, name).unwrap();
    path.to_str().unwrap().to_owned()
}

#[tokio::test]
async fn servers_of_both_eras_enforce_the_roots_they_receive() {
    for lifecycle in [ClientLifecycleMode::Initialize, modern(), either()] {
        let stage = Stage::new();
        let (a, b) = (file(&stage, "a"), file(&stage, "b"));
        stage.share(vec![stage.root("a", Access::READ, &["files"])]);
        let client = connect(&stage, Server::local("files"), lifecycle.clone()).await;
        assert_eq!(call(&client, "read", &a).await, "a", "{lifecycle:?}");
        assert_eq!(call(&client, "replace", &a).await, "access_denied");
        assert_eq!(call(&client, "read", &b).await, "outside_roots");
        let other = connect(&stage, Server::local("other"), lifecycle.clone()).await;
        assert_ne!(call(&other, "read", &a).await, "a");
        // A change: the modern server asks during the next call, the legacy one is notified.
        stage.share(vec![stage.root("b", Access::READ_WRITE, &["files"])]);
        let mut said = String::new();
        for _ in 0..2000 {
            said = call(&client, "read", &b).await;
            if said == "b" {
                break;
            }
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
        assert_eq!(said, "b", "{lifecycle:?}");
        assert_eq!(call(&client, "read", &a).await, "outside_roots");
        assert_eq!(call(&client, "replace", &b).await, "replaced");
    }
}

/// Each page takes a round; even a long list stays below the limit on rounds per call.
#[tokio::test]
async fn a_modern_server_follows_pages() {
    for count in [1_usize, 49, 51, 120, 1000] {
        let stage = Stage::new();
        let names: Vec<String> = (0..count).map(|number| format!("r{number}")).collect();
        let last = file(&stage, &names[count - 1]);
        stage.share_all(&names.iter().map(String::as_str).collect::<Vec<_>>());
        let client = connect(&stage, Server::local("files"), modern()).await;
        assert_eq!(call(&client, "read", &last).await, names[count - 1], "{count}");
    }
}

#[tokio::test]
async fn a_modern_server_gets_only_the_roots_it_may_know() {
    let stage = Stage::new();
    let a = file(&stage, "a");
    stage.share_all(&["a"]);
    let remote = connect(&stage, Server::remote("files"), modern()).await;
    assert_eq!(call(&remote, "read", &a).await, "no_roots");
    let server = Server { declaration: Declaration::NotDeclared, ..Server::local("files") };
    let none = connect(&stage, server, modern()).await;
    assert_eq!(call(&none, "read", &a).await, "no_roots");
    stage.provider.fail("damaged");
    let unknown = connect(&stage, Server::local("files"), modern()).await;
    let said = call(&unknown, "read", &a).await;
    assert!(said.contains("Roots not known") && said.contains("damaged"), "{said}");
}
