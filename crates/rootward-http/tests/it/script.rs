//! A scripted backend: a small MCP server that counts its wires.

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use rootward_http::{Backend, Config, Credential, Limits, NO_ROOM, OpenError, PrincipalId, Purpose, Wire, wire};
use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::sleep;

use crate::client::{Ask, LONG};

#[derive(Clone, Default)]
pub(crate) struct Script {
    /// Open wires.
    pub(crate) wires: Arc<AtomicUsize>,
    /// The number of readiness checks.
    pub(crate) asked: Arc<AtomicUsize>,
}

impl Backend for Script {
    async fn open(&self, principal: PrincipalId, purpose: Purpose) -> Result<Wire, OpenError> {
        let (ours, theirs) = wire(8);
        self.wires.fetch_add(1, Ordering::SeqCst);
        let wires = Arc::clone(&self.wires);
        tokio::spawn(async move {
            play(theirs, principal, purpose).await;
            wires.fetch_sub(1, Ordering::SeqCst);
        });
        Ok(ours)
    }

    async fn is_ready(&self) -> bool {
        self.asked.fetch_add(1, Ordering::SeqCst);
        true
    }

    async fn metrics(&self) -> String {
        "# TYPE script_wires gauge\nscript_wires 1\n".to_owned()
    }
}

/// One session or request. The names of tools say what they do.
async fn play(mut wire: Wire, principal: PrincipalId, purpose: Purpose) {
    let mut heard: Vec<String> = Vec::new();
    let mut waiting: Vec<Value> = Vec::new();
    let gone = wire.sender.clone();
    loop {
        let frame = tokio::select! {
            frame = wire.receiver.recv() => frame,
            () = gone.closed() => None,
        };
        let Some(frame) = frame else { return };
        assert!(!frame.contains(&b'\n') && !frame.contains(&b'\r'), "a line break in a message");
        let message: Value = serde_json::from_slice(&frame).unwrap();
        let say = |message: Value| {
            let sender = wire.sender.clone();
            async move { drop(sender.send(Bytes::from(message.to_string())).await) }
        };
        let answer = |result: Value| json!({"jsonrpc": "2.0", "id": message["id"], "result": result});
        let no = |code: i64| json!({"jsonrpc": "2.0", "id": message["id"], "error": {"code": code, "message": "no"}});
        let note = |method: &str| json!({"jsonrpc": "2.0", "method": method, "params": {}});
        let method = message["method"].as_str().unwrap_or("answer");
        heard.push(method.to_owned());
        match method {
            // A backend that accepts no more sends this.
            "initialize" if message["params"]["full"] == true => return drop(wire.sender.send(NO_ROOM.into()).await),
            "initialize" if message["params"]["fails"] == true => {
                say(no(-32602)).await;
            }
            "initialize" => {
                let version = &message["params"]["protocolVersion"];
                say(answer(json!({"protocolVersion": version, "capabilities": {}, "principal": principal.0}))).await;
            }
            "answer" => {
                for call in std::mem::take(&mut waiting) {
                    say(json!({"jsonrpc": "2.0", "id": call["id"], "result": {"heard": message["result"]}})).await;
                }
            }
            "tools/list" => {
                let schema =
                    json!({"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Region"}}});
                say(answer(json!({"tools": [{"name": "regional", "inputSchema": schema}, {"name": "echo"}]}))).await;
            }
            "subscriptions/listen" => {
                say(note("notifications/subscriptions/acknowledged")).await;
                sleep(Duration::from_millis(50)).await;
                say(note("notifications/tools/list_changed")).await;
            }
            "tools/call" | "x/call" => {
                let arguments = &message["params"]["arguments"];
                match message["params"]["name"].as_str().unwrap_or_default() {
                    "ask" => {
                        waiting.push(message.clone());
                        say(json!({"jsonrpc": "2.0", "id": "q1", "method": "roots/list"})).await;
                    }
                    "change" => {
                        say(note("notifications/tools/list_changed")).await;
                        say(answer(json!({}))).await;
                    }
                    "progress" => {
                        let token = &message["params"]["_meta"]["progressToken"];
                        let params = json!({"progressToken": token, "progress": 1});
                        say(json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})).await;
                        say(answer(json!({}))).await;
                    }
                    "slow" => {
                        sleep(Duration::from_millis(arguments["ms"].as_u64().unwrap_or(300))).await;
                        say(answer(json!({"slow": true}))).await;
                    }
                    "count" => {
                        for at in 0..arguments["to"].as_u64().unwrap() {
                            let data = json!({"data": at, "pad": "x".repeat(usize::try_from(arguments["pad"].as_u64().unwrap_or(0)).unwrap())});
                            let method = arguments["method"].as_str().unwrap_or("notifications/message");
                            let mut params = data.clone();
                            params["progressToken"] = message["params"]["_meta"]["progressToken"].clone();
                            say(json!({"jsonrpc": "2.0", "method": method, "params": params})).await;
                        }
                        say(answer(json!({"counted": true}))).await;
                    }
                    "pretty" => {
                        let text = serde_json::to_string_pretty(&answer(json!({"a": 1}))).unwrap();
                        drop(wire.sender.send(Bytes::from(text.replace('\n', "\r\n"))).await);
                    }
                    "large" => say(answer(json!({"text": "y".repeat(2 << 20)}))).await,
                    "never" => {}
                    "end" => return,
                    "full" => return drop(wire.sender.send(NO_ROOM.into()).await),
                    "heard" => say(answer(json!({"heard": heard}))).await,
                    "unknown" => say(no(-32601)).await,
                    "incapable" => say(no(-32021)).await,
                    _ => say(answer(json!({"principal": principal.0, "echo": arguments}))).await,
                }
            }
            _ if message["id"].is_null() => {}
            _ => say(answer(json!({"principal": principal.0}))).await,
        }
        assert!(purpose == Purpose::Session || heard.len() == 1, "one message per request");
    }
}

/// A front with the scripted backend, and its address.
pub(crate) struct Running {
    pub(crate) address: SocketAddr,
    pub(crate) script: Script,
    stop: Option<oneshot::Sender<()>>,
    pub(crate) served: JoinHandle<std::io::Result<()>>,
}

impl Running {
    pub(crate) fn start() -> Running {
        Running::with(Config { limits: Limits::default(), ..Config::default() })
    }

    pub(crate) fn limited(limits: Limits) -> Running {
        Running::with(Config { limits, ..Config::default() })
    }

    pub(crate) fn with(mut config: Config) -> Running {
        let principal = |name: &str| Credential { name: name.to_owned(), token: format!("{name}-token") };
        config.principals = vec![principal("ada"), principal("bob")];
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel();
        let script = Script::default();
        let shutdown = async move { drop(stopped.await) };
        let served = tokio::spawn(rootward_http::serve(vec![listener], config, script.clone(), shutdown));
        Running { address, script, stop: Some(stop), served }
    }

    pub(crate) async fn send(&self, ask: Ask) -> crate::client::Answer {
        ask.send(self.address).await
    }

    /// Opens a session in this revision. Returns its id.
    pub(crate) async fn session(&self, revision: &str) -> String {
        let mut answer = self.send(hello(revision)).await;
        assert_eq!(answer.status, 200);
        let id = answer.header("mcp-session-id").unwrap().to_owned();
        assert_eq!(answer.message().await["result"]["protocolVersion"], revision);
        id
    }

    pub(crate) fn stop(&mut self) {
        drop(self.stop.take());
    }

    /// A value from `/metrics`.
    pub(crate) async fn metric(&self, name: &str) -> f64 {
        let ask = Ask::new("GET", "/metrics").with("Authorization", "Bearer ada-token");
        let shown = self.send(ask).await.text().await;
        let line = shown.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.unwrap_or_else(|| panic!("no {name} in {shown}")).parse().unwrap()
    }

    /// Waits until this many wires are open.
    pub(crate) async fn wires(&self, expect: usize) {
        let reached = async {
            while self.script.wires.load(Ordering::SeqCst) != expect {
                sleep(Duration::from_millis(5)).await;
            }
        };
        let open = || self.script.wires.load(Ordering::SeqCst);
        assert!(tokio::time::timeout(LONG, reached).await.is_ok(), "{} wires are open, not {expect}", open());
    }
}

pub(crate) fn hello(revision: &str) -> Ask {
    let params = json!({"protocolVersion": revision, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    Ask::post(json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}))
}

pub(crate) fn call(id: u64, tool: &str, arguments: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": tool, "arguments": arguments}})
}
