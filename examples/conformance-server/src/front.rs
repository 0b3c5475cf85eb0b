//! The same server behind Rootward's own HTTP front, in the same process. Each session and each modern request has its own wire.

use std::io;
use std::net::TcpListener;
use std::time::Duration;

use anyhow::Context;
use bytes::Bytes;
use rmcp::model::{ClientCapabilities, Implementation, InitializeRequestParams, ProtocolVersion};
use rmcp::service::{RoleServer, RxJsonRpcMessage, TxJsonRpcMessage, serve_directly};
use rmcp::transport::Transport;
use rmcp::{ServerHandler, ServiceExt};
use rootward_http::{Backend, Config, Credential, OpenError, PrincipalId, Purpose, Wire, wire};

/// The clients' token. It is not a secret: the server runs only during a run of the suite, on the loopback address.
const TOKEN: &str = "a-token-for-checks-on-the-loopback-address";

/// Serves until standard input ends.
#[expect(clippy::print_stdout, reason = "the parent process reads the address")]
pub(crate) async fn serve<H: ServerHandler>(
    handler: impl Fn() -> H + Send + Sync + 'static,
    only_streams: bool,
    ended: impl Future<Output = ()>,
) -> anyhow::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").context("cannot listen on the loopback address")?;
    println!("http://{}/mcp", listener.local_addr()?);
    let principal = Credential { name: "suite".to_owned(), token: TOKEN.to_owned() };
    let mut config = Config { principals: vec![principal], ..Config::default() };
    if only_streams {
        config.limits.answer_wait = Duration::ZERO;
    }
    Ok(rootward_http::serve(vec![listener], config, Handlers(handler), ended).await?)
}

/// A handler per wire.
struct Handlers<F>(F);

impl<H: ServerHandler, F: Fn() -> H + Send + Sync + 'static> Backend for Handlers<F> {
    async fn open(&self, _: PrincipalId, purpose: Purpose) -> Result<Wire, OpenError> {
        let (ours, theirs) = wire(16);
        let handler = (self.0)();
        tokio::spawn(async move {
            let transport = Messages(theirs);
            let running = match purpose {
                Purpose::Session => match handler.serve(transport).await {
                    Ok(running) => running,
                    // The client has its response, or has disconnected.
                    Err(_) => return,
                },
                Purpose::Request => serve_directly(handler, transport, Some(modern_peer())),
            };
            let _ = running.waiting().await;
        });
        Ok(ours)
    }
}

/// rmcp's view of a modern client before it reads the request's own metadata.
fn modern_peer() -> InitializeRequestParams {
    let mut peer = InitializeRequestParams::new(ClientCapabilities::default(), Implementation::default());
    peer.protocol_version = ProtocolVersion::V_2026_07_28;
    peer
}

/// A wire as an rmcp transport.
struct Messages(Wire);

impl Transport<RoleServer> for Messages {
    type Error = io::Error;

    fn send(&mut self, message: TxJsonRpcMessage<RoleServer>) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let sender = self.0.sender.clone();
        async move {
            let message = Bytes::from(serde_json::to_vec(&message)?);
            sender.send(message).await.map_err(|_| io::ErrorKind::BrokenPipe.into())
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            let message = self.0.receiver.recv().await?;
            // Like rmcp's own transports, skip messages that rmcp cannot parse.
            if let Ok(message) = serde_json::from_slice(&message) {
                return Some(message);
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        Ok(())
    }
}
