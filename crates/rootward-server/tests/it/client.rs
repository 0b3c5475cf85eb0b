//! Clients that are connected to handlers.

use rmcp::{ServerHandler, ServiceExt};
use rootward_server::Rooted;
use rootward_testkit::client::message;
pub(crate) use rootward_testkit::client::{DuplexClient as Client, said};
use serde_json::{Value, json};

/// A connection to `handler` before the first message, served by rmcp itself.
pub(crate) fn connect(handler: impl ServerHandler) -> Client {
    Client::connect(1 << 20, async move |there| {
        if let Ok(service) = handler.serve(there).await {
            let _ = service.waiting().await;
        }
    })
}

/// The same for a handler with roots, which handles messages in order.
pub(crate) fn connect_rooted(handler: Rooted<impl ServerHandler>) -> Client {
    connect_with_room(handler, 1 << 20)
}

/// The same with a buffer of this many bytes in each direction.
pub(crate) fn connect_with_room(handler: Rooted<impl ServerHandler>, room: usize) -> Client {
    Client::connect(room, async move |there| {
        if let Ok(service) = handler.serve(there).await {
            let _ = service.waiting().await;
        }
    })
}

/// A legacy session with `handler`, served by rmcp itself.
pub(crate) async fn start(handler: impl ServerHandler, capabilities: Value) -> Client {
    begin(connect(handler), capabilities).await
}

/// The same with a handler with roots, which handles messages in order.
pub(crate) async fn start_rooted(handler: Rooted<impl ServerHandler>, capabilities: Value) -> Client {
    begin(connect_rooted(handler), capabilities).await
}

/// Opens a legacy session. The server must send nothing before its answer.
pub(crate) async fn begin(mut client: Client, capabilities: Value) -> Client {
    client.shake_hands(capabilities).await;
    assert!(client.kept().is_empty(), "{client:?}");
    client
}

/// Tool calls whose next message must be the answer.
pub(crate) trait Read {
    /// Sends a call that reads the file at `path`.
    async fn read(&mut self, id: impl Into<Value>, path: &str);

    /// The same; the next message must be the answer.
    async fn reads(&mut self, id: u64, path: &str) -> String;

    /// Calls a tool; the next message must be the answer.
    async fn calls(&mut self, id: u64, tool: &str, arguments: Value) -> String;
}

impl Read for Client {
    async fn read(&mut self, id: impl Into<Value>, path: &str) {
        self.call_as(id, "read", json!({"path": path})).await;
    }

    async fn reads(&mut self, id: u64, path: &str) -> String {
        self.calls(id, "read", json!({"path": path})).await
    }

    async fn calls(&mut self, id: u64, tool: &str, arguments: Value) -> String {
        self.call_as(id, tool, arguments).await;
        self.said(id).await
    }
}

/// The result of `roots/list` with these paths.
pub(crate) fn roots(paths: &[&str]) -> Value {
    message::roots(paths.iter().map(|path| format!("file://{path}")))
}
