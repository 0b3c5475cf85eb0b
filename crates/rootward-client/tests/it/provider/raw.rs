//! A server that sends and reads raw frames exactly as a test says.

use rmcp::model::{ClientConfig, ErrorCode};
use rmcp::service::{ClientLifecycleMode, RoleClient, RunningService};
use rootward_client::provider::{Provided, Provider, Server};
use rootward_testkit::client::DuplexClient;
use serde_json::{Value, json};

/// A buffer that is large enough for every test.
pub(super) const ROOM: usize = 1 << 20;

/// How the client connects to a server.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Route {
    /// Over the provider's own pipes.
    Pipes,
    /// Over a transport of rmcp.
    Transport,
}

/// A connected server, and the client's end of it.
pub(super) struct Raw {
    peer: DuplexClient,
    /// The capabilities that the client declared.
    pub(super) declared: Value,
    pub(super) client: RunningService<RoleClient, Provided<ClientConfig>>,
}

impl Raw {
    /// A server right after the handshake.
    pub(super) async fn connect(provider: &Provider, server: Server) -> Raw {
        Raw::connect_over(provider, server, json!({}), Route::Transport, ROOM).await
    }

    /// The same with these capabilities, and a buffer of this size.
    pub(super) async fn connect_over(
        provider: &Provider,
        server: Server,
        capabilities: Value,
        route: Route,
        room: usize,
    ) -> Raw {
        let (here, there) = tokio::io::duplex(room);
        let handler = provider.install(ClientConfig::default(), server);
        let client = tokio::spawn(async move {
            match route {
                Route::Transport => handler.serve(there).await,
                Route::Pipes => {
                    let (read, write) = tokio::io::split(there);
                    handler.serve_pipes(read, write, ClientLifecycleMode::Initialize).await
                }
            }
        });
        let mut peer = DuplexClient::over(here);
        let initialize = peer.receive().await;
        assert_eq!(initialize["method"], "initialize", "{initialize}");
        let result = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": capabilities,
            "serverInfo": {"name": "raw", "version": "1"},
        });
        peer.answer(initialize["id"].clone(), result).await;
        assert_eq!(peer.receive().await["method"], "notifications/initialized");
        let declared = initialize["params"]["capabilities"].clone();
        Raw { peer, declared, client: client.await.unwrap().unwrap() }
    }

    /// Ends the server; returns the client's end.
    pub(super) fn die(self) -> RunningService<RoleClient, Provided<ClientConfig>> {
        self.client
    }

    pub(super) async fn send(&mut self, message: &Value) {
        self.peer.send(message).await;
    }

    pub(super) async fn receive(&mut self) -> Value {
        self.peer.receive().await
    }

    /// The next frame must be the notification of a change.
    pub(super) async fn notified(&mut self) {
        let message = self.receive().await;
        assert_eq!(message, json!({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"}));
    }

    /// Asks for the roots; the next frame must be the answer.
    pub(super) async fn ask(&mut self, parameters: Value) -> Value {
        let id = self.peer.begin("roots/list", parameters).await;
        let answer = self.receive().await;
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    /// Asks for the roots; returns their URIs.
    pub(super) async fn roots(&mut self) -> Vec<String> {
        uris(&self.ask(Value::Null).await["result"])
    }

    /// The same if the request reveals a change, which is announced before or after the answer.
    pub(super) async fn roots_and_news(&mut self) -> Vec<String> {
        let id = self.peer.begin("roots/list", Value::Null).await;
        let frames = [self.receive().await, self.receive().await];
        let answer = frames.iter().find(|frame| frame["id"] == id);
        assert!(frames.iter().any(|frame| frame["method"] == "notifications/roots/list_changed"), "{frames:?}");
        uris(&answer.unwrap()["result"])
    }

    /// Asks for the roots; returns the error.
    pub(super) async fn refused(&mut self, parameters: Value) -> (ErrorCode, String, Value) {
        let mut answer = self.ask(parameters).await;
        let error = &mut answer["error"];
        let code = i32::try_from(error["code"].as_i64().unwrap()).unwrap();
        (ErrorCode(code), error["message"].as_str().unwrap().to_owned(), error["data"].take())
    }
}

pub(super) fn uris(result: &Value) -> Vec<String> {
    let roots = result["roots"].as_array().unwrap_or_else(|| panic!("{result}"));
    roots.iter().map(|root| root["uri"].as_str().unwrap().to_owned()).collect()
}
