//! An MCP server with every fixture of the conformance suite, behind a roots service: all features of rmcp must still work inside
//! the wrapper.
//!
//! Serves Streamable HTTP on a free port of the loopback address and prints the address. `--bare` omits the wrapper, to find out
//! which of the two causes a failure. `--front` uses Rootward's own HTTP front instead of rmcp's; with `--front --streams` every
//! response is a stream, so that the suite can test streams. `--stdio` serves on standard input and output.
//! The server exits when standard input closes, so that it cannot outlive its parent.

#![expect(clippy::needless_pass_by_value, reason = "tools get the parts of a request by value")]

mod announce;
mod ask;
mod complete;
mod content;
mod front;
mod logging;
mod prompts;
mod question;
mod resources;
mod rounds;
mod schemas;
mod server;
mod tasks;

use std::convert::Infallible;
use std::sync::Arc;

use anyhow::{Context, bail};
use axum::extract::Request;
use axum::response::IntoResponse;
use rmcp::ServerHandler;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use rootward_server::RootsService;
use tokio::net::TcpListener;
use tower_service::Service;

use crate::server::{Server, Shared};

type Streamable<H> = StreamableHttpService<H, LocalSessionManager>;

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> anyhow::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let shared = Arc::new(Shared::default());
    let server = move || Server::new(Arc::clone(&shared));
    match *words {
        [] => {
            let roots = RootsService::from_environment()?;
            let installed = roots.clone();
            serve(roots.http(service(move || installed.install(server())))).await
        }
        ["--bare"] => serve(service(server)).await,
        ["--front", ref rest @ ..] if matches!(rest, [] | ["--streams"]) => {
            let roots = RootsService::from_environment()?;
            front::serve(move || roots.install(server()), !rest.is_empty(), input_ends()).await
        }
        ["--stdio"] => {
            RootsService::from_environment()?.install(server()).serve_stdio().await?.waiting().await?;
            Ok(())
        }
        _ => {
            let hint = "use `--bare`, `--front`, `--front --streams`, `--stdio` or no argument";
            bail!("unknown arguments: `{}`\n\nhint: {hint}", words.join(" "))
        }
    }
}

/// A handler per session, or per request in the modern era.
fn service<H: ServerHandler>(handler: impl Fn() -> H + Send + Sync + 'static) -> Streamable<H> {
    StreamableHttpService::new(
        move || Ok(handler()),
        Arc::new(LocalSessionManager::default()),
        StreamableHttpServerConfig::default().with_allowed_origins(["http://127.0.0.1:*", "http://localhost:*"]),
    )
}

/// Serves until standard input ends.
#[expect(clippy::print_stdout, reason = "the parent process reads the address")]
async fn serve<S>(service: S) -> anyhow::Result<()>
where
    S: Service<Request, Error = Infallible, Response: IntoResponse> + Clone + Send + Sync + 'static,
    S::Future: Send,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.context("cannot listen on the loopback address")?;
    println!("http://{}/mcp", listener.local_addr()?);
    let app = axum::Router::new().route_service("/mcp", service);
    tokio::select! {
        served = axum::serve(listener, app) => Ok(served?),
        () = input_ends() => Ok(()),
    }
}

/// Returns when standard input closes.
async fn input_ends() {
    // An error also means that it is closed.
    let _ = tokio::task::spawn_blocking(|| std::io::copy(&mut std::io::stdin(), &mut std::io::sink())).await;
}
