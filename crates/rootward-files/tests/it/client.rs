//! A client of raw lines, in the same process as the server.

use std::time::Duration;

use rootward_files::FileServer;
use rootward_server::{RootsService, Settings};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf};

use crate::stage::Stage;

pub(crate) struct Client {
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    write: WriteHalf<DuplexStream>,
    calls: u64,
}

/// The result of a call.
#[derive(Debug)]
pub(crate) struct Answered(pub(crate) Value);

impl Client {
    /// A session of a client that names no roots: those of the operator are in force.
    pub(crate) async fn start(stage: &Stage, roots: &[&str]) -> Client {
        Client::with(stage.settings(roots), FileServer::default(), json!({})).await
    }

    /// A session whose handshake is done.
    pub(crate) async fn with(settings: Settings, server: FileServer, capabilities: Value) -> Client {
        let (here, there) = tokio::io::duplex(1 << 20);
        tokio::spawn(async move {
            if let Ok(service) = RootsService::new(settings).install(server).serve(there).await {
                let _ = service.waiting().await;
            }
        });
        Client::over(here, capabilities).await
    }

    /// The same, with whatever is at the other end.
    pub(crate) async fn over(here: DuplexStream, capabilities: Value) -> Client {
        let (read, write) = tokio::io::split(here);
        let mut client = Client { lines: BufReader::new(read).lines(), write, calls: 0 };
        let parameters = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": capabilities,
            "clientInfo": {"name": "test", "version": "1"},
        });
        client.send(&json!({"jsonrpc": "2.0", "id": "init", "method": "initialize", "params": parameters})).await;
        assert_eq!(client.receive().await["id"], "init");
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
        client
    }

    pub(crate) async fn send(&mut self, message: &Value) {
        self.write.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }

    pub(crate) async fn receive(&mut self) -> Value {
        let line = tokio::time::timeout(Duration::from_mins(1), self.lines.next_line()).await;
        serde_json::from_str(&line.unwrap().unwrap().unwrap()).unwrap()
    }

    /// Asks, and does not wait; the id.
    pub(crate) async fn begin(&mut self, method: &str, parameters: Value) -> u64 {
        self.calls += 1;
        let id = self.calls;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": parameters})).await;
        id
    }

    /// The answer to a request; what else comes before it is passed over.
    pub(crate) async fn ask(&mut self, method: &str, parameters: Value) -> Value {
        let id = self.begin(method, parameters).await;
        loop {
            let message = self.receive().await;
            if message["id"] == id && message.get("method").is_none() {
                return message;
            }
        }
    }

    /// The result of a tool.
    pub(crate) async fn call(&mut self, tool: &str, arguments: Value) -> Answered {
        let message = self.ask("tools/call", json!({"name": tool, "arguments": arguments})).await;
        assert!(message.get("result").is_some(), "{message}");
        Answered(message["result"].clone())
    }

    /// The text of a call that must go well.
    pub(crate) async fn text(&mut self, tool: &str, arguments: Value) -> String {
        let answered = self.call(tool, arguments.clone()).await;
        assert_eq!(answered.0["isError"], json!(false), "{tool} {arguments}: {answered:?}");
        answered.text().to_owned()
    }

    /// The sentence of a call that must fail.
    pub(crate) async fn failure(&mut self, tool: &str, arguments: Value) -> String {
        let answered = self.call(tool, arguments.clone()).await;
        assert_eq!(answered.0["isError"], json!(true), "{tool} {arguments}: {answered:?}");
        answered.text().to_owned()
    }

    /// Why a call fails, which it must: the code of a refusal, or else the sentence.
    pub(crate) async fn why(&mut self, tool: &str, arguments: Value) -> String {
        let answered = self.call(tool, arguments).await;
        answered.code().unwrap_or_else(|| answered.text()).to_owned()
    }

    /// The names of the tools that are listed.
    pub(crate) async fn tools(&mut self) -> Vec<String> {
        let list = self.ask("tools/list", json!({})).await;
        let tools = list["result"]["tools"].as_array().unwrap().iter();
        tools.map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    }
}

impl Answered {
    /// The first thing that a reader sees.
    pub(crate) fn text(&self) -> &str {
        self.0["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{self:?}"))
    }

    pub(crate) fn data(&self) -> &Value {
        &self.0["structuredContent"]
    }

    /// The code of a refusal.
    pub(crate) fn code(&self) -> Option<&str> {
        assert_eq!(self.0["isError"], true, "{self:?}");
        self.data()["code"].as_str()
    }
}
