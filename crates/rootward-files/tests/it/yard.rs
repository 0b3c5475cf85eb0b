//! A client of raw lines, and directories to serve to it.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rootward_core::{Audit, Origin, Root, RootSet, Validation};
use rootward_files::FileServer;
use rootward_server::{RootsService, Settings};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf};

/// Directories: `root`, and `outside` with a `secret.txt`.
pub(crate) struct Yard(TempDir);

impl Yard {
    pub(crate) fn new() -> Yard {
        let yard = Yard(tempfile::tempdir().unwrap());
        fs::create_dir(yard.path("root")).unwrap();
        yard.file("outside/secret.txt", "SECRET");
        yard
    }

    pub(crate) fn path(&self, below: &str) -> PathBuf {
        self.0.path().join(below)
    }

    /// A path as a client sends it.
    pub(crate) fn text(&self, below: &str) -> String {
        self.path(below).to_str().unwrap().to_owned()
    }

    pub(crate) fn file(&self, below: &str, contents: impl AsRef<[u8]>) {
        let path = self.path(below);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, contents).unwrap();
    }

    pub(crate) fn read(&self, below: &str) -> String {
        fs::read_to_string(self.path(below)).unwrap()
    }

    /// The names in a directory, sorted.
    pub(crate) fn names(&self, below: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path(below)).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

/// How a server is set up for a test.
#[derive(Default)]
pub(crate) struct Setup {
    pub(crate) audit: Option<Arc<dyn Audit>>,
    pub(crate) confinement: rootward_sandbox::Options,
}

pub(crate) struct Client {
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    write: WriteHalf<DuplexStream>,
    calls: AtomicU64,
}

impl Client {
    /// A session of a client without roots of its own: the operator's are served, typed as on the command line.
    pub(crate) async fn start(yard: &Yard, roots: &[&str]) -> Client {
        Client::start_with(yard, roots, Setup::default()).await
    }

    pub(crate) async fn start_with(yard: &Yard, roots: &[&str], setup: Setup) -> Client {
        let roots = roots.iter().map(|typed| {
            let base: &Path = yard.0.path();
            Root::from_typed(typed.as_ref(), base, None, Origin::Flag).unwrap()
        });
        let mut settings = Settings::new(None);
        settings.sources.ceiling = RootSet::place_ambient(roots, &Validation::new(None));
        settings.audit = setup.audit;
        let server = FileServer::default().with_confinement(setup.confinement);
        let server = RootsService::new(settings).install(server);
        let (here, there) = tokio::io::duplex(1 << 20);
        tokio::spawn(async move {
            if let Ok(service) = server.serve(there).await {
                let _ = service.waiting().await;
            }
        });
        let (read, write) = tokio::io::split(here);
        let mut client = Client { lines: BufReader::new(read).lines(), write, calls: AtomicU64::new(0) };
        let parameters = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        });
        client.send(json!({"jsonrpc": "2.0", "id": "init", "method": "initialize", "params": parameters})).await;
        assert_eq!(client.receive().await["id"], "init");
        client.send(json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
        client
    }

    pub(crate) async fn send(&mut self, message: Value) {
        self.write.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }

    pub(crate) async fn receive(&mut self) -> Value {
        let line = tokio::time::timeout(Duration::from_mins(1), self.lines.next_line()).await;
        serde_json::from_str(&line.unwrap().unwrap().unwrap()).unwrap()
    }

    /// Asks, and does not wait; the id.
    pub(crate) async fn ask(&mut self, method: &str, parameters: Value) -> u64 {
        let id = self.calls.fetch_add(1, Ordering::Relaxed);
        self.send(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": parameters})).await;
        id
    }

    /// The answer to one question; notifications before it are passed over.
    pub(crate) async fn answer(&mut self, id: u64) -> Value {
        loop {
            let message = self.receive().await;
            if message["id"] == id {
                return message;
            }
            assert!(message["method"].is_string(), "{message}");
        }
    }

    /// The result of a tool call.
    pub(crate) async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let id = self.ask("tools/call", json!({"name": tool, "arguments": arguments})).await;
        let mut answer = self.answer(id).await;
        assert!(answer["error"].is_null(), "{answer}");
        answer["result"].take()
    }

    /// What a tool says when it goes well.
    pub(crate) async fn well(&mut self, tool: &str, arguments: Value) -> String {
        let result = self.call(tool, arguments).await;
        assert_ne!(result["isError"], true, "{result}");
        text(&result)
    }

    /// What it says when it does not: the code of a refusal, or the sentence.
    pub(crate) async fn badly(&mut self, tool: &str, arguments: Value) -> String {
        let result = self.call(tool, arguments).await;
        assert_eq!(result["isError"], true, "{result}");
        result["structuredContent"]["code"].as_str().map_or_else(|| text(&result), str::to_owned)
    }

    /// The names of the tools that are listed.
    pub(crate) async fn tools(&mut self) -> Vec<String> {
        let id = self.ask("tools/list", json!({})).await;
        let answer = self.answer(id).await;
        let tools = answer["result"]["tools"].as_array().unwrap().iter();
        tools.map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    }
}

/// The text of a result.
pub(crate) fn text(result: &Value) -> String {
    result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{result}")).to_owned()
}
