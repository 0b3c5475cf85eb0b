//! The client's end of a relay.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use rootward_http::connect::{Ended, PlainHttp, Target, relay};
use rootward_http::{Wire, wire};
use serde_json::{Value, json};
use tokio::task::JoinHandle;

/// The longest time that anything may take.
pub(crate) const SOON: Duration = Duration::from_secs(20);

/// A client, the relay behind it, and the relay's messages to the operator.
pub(crate) struct Lines {
    wire: Wire,
    relay: JoinHandle<Ended>,
    pub(crate) said: Arc<Mutex<Vec<String>>>,
}

impl Lines {
    pub(crate) fn to(url: &str) -> Lines {
        Lines::with(url, &[])
    }

    pub(crate) fn with(url: &str, headers: &[(&str, &str)]) -> Lines {
        let target = Target::new(url, headers.iter().copied(), PlainHttp::Loopback).unwrap();
        let (client, server) = wire(64);
        let said = Arc::new(Mutex::new(Vec::new()));
        let to = Arc::clone(&said);
        let says = Arc::new(move |text: &str| to.lock().unwrap().push(text.to_owned()));
        let relay = tokio::spawn(async move { relay(target, server, says).await.unwrap() });
        Lines { wire: client, relay, said }
    }

    pub(crate) async fn send(&self, message: &Value) {
        self.wire.sender.send(Bytes::from(message.to_string())).await.unwrap();
    }

    pub(crate) async fn ask(&self, id: u64, method: &str, params: &Value) {
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).await;
    }

    pub(crate) async fn notify(&self, method: &str) {
        self.send(&json!({"jsonrpc": "2.0", "method": method})).await;
    }

    /// The next message to the client.
    pub(crate) async fn next(&mut self) -> Value {
        let line = tokio::time::timeout(SOON, self.wire.receiver.recv()).await.expect("nothing came").unwrap();
        assert!(!line.contains(&b'\n'), "{line:?}");
        serde_json::from_slice(&line).unwrap()
    }

    /// The answer to a request, and the messages before it.
    pub(crate) async fn answer(&mut self, id: u64) -> (Value, Vec<Value>) {
        let mut before = Vec::new();
        loop {
            let message = self.next().await;
            if message["id"] == id && message.get("method").is_none() {
                return (message, before);
            }
            before.push(message);
        }
    }

    /// Whether nothing arrives for a moment.
    pub(crate) async fn is_quiet(&mut self) -> bool {
        tokio::time::timeout(Duration::from_millis(200), self.wire.receiver.recv()).await.is_err()
    }

    /// The handshake of a legacy client.
    pub(crate) async fn begin(&mut self) -> Value {
        let hello =
            json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
        self.ask(0, "initialize", &hello).await;
        let (answer, _) = self.answer(0).await;
        self.notify("notifications/initialized").await;
        answer
    }

    /// Disconnects the client; returns how the relay ended.
    pub(crate) async fn end(self) -> Ended {
        drop(self.wire);
        tokio::time::timeout(SOON, self.relay).await.expect("the relay still runs").unwrap()
    }

    /// Waits until the relay ends on its own; returns how.
    pub(crate) async fn ended(self) -> Ended {
        tokio::time::timeout(SOON, self.relay).await.expect("the relay still runs").unwrap()
    }
}
