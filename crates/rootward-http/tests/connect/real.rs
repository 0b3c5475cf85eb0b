//! With a server based on rmcp, in both eras.

use std::sync::Arc;

use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{tool, tool_router};
use rootward_http::connect::Ended;
use serde_json::json;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use crate::lines::Lines;

struct Server;

#[tool_router(server_handler)]
impl Server {
    #[tool(description = "Say hello")]
    fn hello() -> String {
        "hello".to_owned()
    }
}

async fn serve(address: &str) -> (String, JoinHandle<()>) {
    let service = StreamableHttpService::new(
        || Ok(Server),
        Arc::new(LocalSessionManager::default()),
        StreamableHttpServerConfig::default(),
    );
    let listener = TcpListener::bind(address).await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let app = axum::Router::new().route_service("/mcp", service);
    let task = tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
    (address, task)
}

#[tokio::test]
async fn tools_are_listed_and_called_in_both_eras() {
    let (address, _task) = serve("127.0.0.1:0").await;
    let url = format!("http://{address}/mcp");
    let mut lines = Lines::to(&url);
    assert_eq!(lines.begin().await["result"]["protocolVersion"], "2025-06-18");
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    for (id, meta) in [(1, json!({})), (11, meta)] {
        lines.ask(id, "tools/list", &json!({"_meta": meta})).await;
        let (listed, _) = lines.answer(id).await;
        assert_eq!(listed["result"]["tools"][0]["name"], "hello", "{listed}");
        for id in id + 1..id + 9 {
            lines.ask(id, "tools/call", &json!({"name": "hello", "_meta": meta})).await;
        }
        for _ in 1..9 {
            let called = lines.next().await;
            assert_eq!(called["result"]["content"][0]["text"], "hello", "{called}");
        }
    }
    assert_eq!(lines.end().await, Ended::ByClient);
}

#[tokio::test]
async fn a_server_that_was_restarted_has_no_session() {
    let (address, task) = serve("127.0.0.1:0").await;
    let url = format!("http://{address}/mcp");
    let mut lines = Lines::to(&url);
    lines.begin().await;
    task.abort();
    let _ = task.await;
    let (_, _task) = serve(&address).await;
    lines.ask(1, "tools/list", &json!({})).await;
    assert_eq!(lines.ended().await, Ended::SessionGone);
    let mut lines = Lines::to(&url);
    lines.begin().await;
    lines.ask(1, "tools/list", &json!({})).await;
    assert_eq!(lines.answer(1).await.0["result"]["tools"][0]["name"], "hello");
}
