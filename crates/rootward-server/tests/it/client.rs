//! A client of raw frames: it says exactly what a test tells it to, and in that order.

use std::time::Duration;

use rmcp::{ServerHandler, ServiceExt};
use rootward_server::Rooted;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf};

/// What the server says.
pub(crate) type ReadLines = Lines<BufReader<ReadHalf<DuplexStream>>>;

pub(crate) struct Client {
    lines: ReadLines,
    write: WriteHalf<DuplexStream>,
}

impl Client {
    /// A connection to `handler` on which nothing was said yet, served as rmcp does it.
    pub(crate) fn connect(handler: impl ServerHandler) -> Client {
        let (here, there) = tokio::io::duplex(1 << 20);
        tokio::spawn(async move {
            if let Ok(service) = handler.serve(there).await {
                let _ = service.waiting().await;
            }
        });
        Client::over(here)
    }

    /// The same for a handler with roots, served in order.
    pub(crate) fn connect_rooted(handler: Rooted<impl ServerHandler>) -> Client {
        Client::connect_with_room(handler, 1 << 20)
    }

    /// The same with room for this many bytes on the way, in each direction.
    pub(crate) fn connect_with_room(handler: Rooted<impl ServerHandler>, room: usize) -> Client {
        let (here, there) = tokio::io::duplex(room);
        tokio::spawn(async move {
            if let Ok(service) = handler.serve(there).await {
                let _ = service.waiting().await;
            }
        });
        Client::over(here)
    }

    fn over(here: DuplexStream) -> Client {
        let (read, write) = tokio::io::split(here);
        Client { lines: BufReader::new(read).lines(), write }
    }

    /// A legacy session whose handshake is done.
    pub(crate) async fn start(handler: impl ServerHandler, capabilities: Value) -> Client {
        Client::connect(handler).shake_hands(capabilities).await
    }

    /// Opens a legacy session.
    pub(crate) async fn shake_hands(self, capabilities: Value) -> Client {
        let mut client = self;
        let parameters = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": capabilities,
            "clientInfo": {"name": "test", "version": "1"},
        });
        client.send(json!({"jsonrpc": "2.0", "id": "init", "method": "initialize", "params": parameters})).await;
        assert_eq!(client.receive().await["id"], "init");
        client.send(json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
        client
    }

    /// Both directions, each on its own.
    pub(crate) fn split(self) -> (ReadLines, WriteHalf<DuplexStream>) {
        (self.lines, self.write)
    }

    pub(crate) async fn send(&mut self, message: Value) {
        write(&mut self.write, &message).await;
    }

    pub(crate) async fn receive(&mut self) -> Value {
        next(&mut self.lines).await
    }

    /// Asks for the file at `path`.
    pub(crate) async fn read(&mut self, id: impl Into<Value>, path: &str) {
        self.call(id, "read", json!({"path": path})).await;
    }

    pub(crate) async fn call(&mut self, id: impl Into<Value>, tool: &str, arguments: Value) {
        let parameters = json!({"name": tool, "arguments": arguments});
        self.send(json!({"jsonrpc": "2.0", "id": id.into(), "method": "tools/call", "params": parameters})).await;
    }

    /// The next message must be `roots/list`; its id.
    pub(crate) async fn asked(&mut self) -> Value {
        let message = self.receive().await;
        assert_eq!(message["method"], "roots/list", "{message}");
        message["id"].clone()
    }

    pub(crate) async fn answer(&mut self, id: Value, result: Value) {
        self.send(json!({"jsonrpc": "2.0", "id": id, "result": result})).await;
    }

    pub(crate) async fn list_changed(&mut self) {
        self.send(json!({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"})).await;
    }

    /// The next message must be the result of call `id`: what a tool said, or the code of its refusal.
    pub(crate) async fn result(&mut self, id: impl Into<Value>) -> String {
        let message = self.receive().await;
        assert_eq!(message["id"], id.into(), "{message}");
        said(&message)
    }
}

pub(crate) async fn write(to: &mut WriteHalf<DuplexStream>, message: &Value) {
    to.write_all(format!("{message}\n").as_bytes()).await.unwrap();
}

pub(crate) async fn next(lines: &mut ReadLines) -> Value {
    let line = tokio::time::timeout(Duration::from_secs(20), lines.next_line()).await;
    serde_json::from_str(&line.unwrap().unwrap().unwrap()).unwrap()
}

/// What a tool said, or the code of its refusal.
pub(crate) fn said(message: &Value) -> String {
    let result = &message["result"];
    match result["structuredContent"]["code"].as_str() {
        Some(code) => {
            assert_eq!(result["isError"], true);
            code.to_owned()
        }
        None => result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{message}")).to_owned(),
    }
}

/// A list of these paths.
pub(crate) fn roots(paths: &[&str]) -> Value {
    let entries: Vec<Value> = paths.iter().map(|path| json!({"uri": format!("file://{path}")})).collect();
    json!({"roots": entries})
}
