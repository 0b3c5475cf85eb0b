//! A client of raw frames over an in-memory pipe. It reuses its own buffer, because the benchmark measures its memory as well.

use rmcp::ServerHandler;
use rmcp::ServiceExt;
use rootward_server::Rooted;
use rootward_testkit::client::message;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf};

use crate::Outcome;

pub(crate) struct Client {
    read: BufReader<ReadHalf<DuplexStream>>,
    write: WriteHalf<DuplexStream>,
    line: String,
}

impl Client {
    /// A session with a server without roots.
    pub(crate) async fn plain(handler: impl ServerHandler) -> Outcome<Client> {
        let (here, there) = tokio::io::duplex(1 << 12);
        tokio::spawn(async move {
            // Boxed, like in `Rooted::serve`: the handshake's part must not count.
            if let Ok(service) = Box::pin(handler.serve(there)).await {
                let _ = service.waiting().await;
            }
        });
        Client::over(here).shake_hands().await
    }

    /// A session with roots.
    pub(crate) async fn rooted(handler: Rooted<impl ServerHandler>) -> Outcome<Client> {
        let (here, there) = tokio::io::duplex(1 << 12);
        tokio::spawn(async move {
            if let Ok(service) = handler.serve(there).await {
                let _ = service.waiting().await;
            }
        });
        Client::over(here).shake_hands().await
    }

    fn over(here: DuplexStream) -> Client {
        let (read, write) = tokio::io::split(here);
        Client { read: BufReader::with_capacity(1 << 10, read), write, line: String::new() }
    }

    async fn shake_hands(mut self) -> Outcome<Client> {
        let hello = message::hello(json!({"roots": {"listChanged": true}}));
        self.send(&message::request(0, "initialize", hello)).await?;
        self.receive().await?;
        self.send(&message::notification("notifications/initialized", Value::Null)).await?;
        Ok(self)
    }

    /// Calls a tool, and answers `roots/list` if it arrives.
    pub(crate) async fn call(&mut self, tool: &str, path: &str, roots: &Value) -> Outcome<Value> {
        let parameters = json!({"name": tool, "arguments": {"path": path}});
        self.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": parameters})).await?;
        let mut answer = self.receive().await?;
        if answer["method"] == "roots/list" {
            self.send(&json!({"jsonrpc": "2.0", "id": answer["id"], "result": roots})).await?;
            answer = self.receive().await?;
        }
        Ok(answer)
    }

    /// Sends a prepared frame and does not parse the response, to measure the server's time, not the client's.
    pub(crate) async fn call_ready(&mut self, frame: &str) -> Outcome<()> {
        self.write.write_all(frame.as_bytes()).await?;
        self.line.clear();
        self.read.read_line(&mut self.line).await?;
        Ok(())
    }

    /// Frees the buffer of the last response.
    pub(crate) fn rest(&mut self) {
        self.line = String::new();
    }

    async fn send(&mut self, message: &Value) -> Outcome<()> {
        Ok(self.write.write_all(format!("{message}\n").as_bytes()).await?)
    }

    async fn receive(&mut self) -> Outcome<Value> {
        self.line.clear();
        self.read.read_line(&mut self.line).await?;
        Ok(serde_json::from_str(&self.line)?)
    }
}
