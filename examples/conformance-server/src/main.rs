//! An MCP server that offers every fixture the conformance suite asks for, behind a roots service: what rmcp can do, it must
//! still do from inside the wrapper.
//!
//! Serves Streamable HTTP on a free port of the loopback address and prints where. `--bare` leaves the wrapper away, to tell
//! whose fault a failure is. It ends when its standard input does, so that it cannot outlive whoever started it.

#![expect(clippy::needless_pass_by_value, reason = "tools get the parts of a request by value")]

mod announce;
mod ask;
mod complete;
mod content;
mod logging;
mod prompts;
mod question;
mod resources;
mod rounds;
mod schemas;
mod server;
mod tasks;

use std::sync::Arc;

use anyhow::{Context, bail};
use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use rmcp::ServerHandler;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use rootward_server::RootsService;
use tokio::net::TcpListener;

use crate::server::{Server, Shared};

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> anyhow::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let shared = Arc::new(Shared::default());
    let server = move || Server::new(Arc::clone(&shared));
    match *words {
        [] => {
            let roots = RootsService::from_environment()?;
            serve(move || roots.install(server())).await
        }
        ["--bare"] => serve(server).await,
        _ => bail!("not understood: `{}`\n\nhint: `--bare` or nothing", words.join(" ")),
    }
}

/// Serves a handler per session, or per request in the modern era, until standard input ends.
#[expect(clippy::print_stdout, reason = "whoever started it waits for the address")]
async fn serve<H: ServerHandler>(handler: impl Fn() -> H + Send + Sync + 'static) -> anyhow::Result<()> {
    let service = StreamableHttpService::new(
        move || Ok(handler()),
        Arc::new(LocalSessionManager::default()),
        StreamableHttpServerConfig::default().with_allowed_origins(["http://127.0.0.1:*", "http://localhost:*"]),
    );
    let listener = TcpListener::bind("127.0.0.1:0").await.context("cannot listen on the loopback address")?;
    println!("http://{}/mcp", listener.local_addr()?);
    let input = tokio::task::spawn_blocking(|| std::io::copy(&mut std::io::stdin(), &mut std::io::sink()));
    tokio::pin!(input);
    loop {
        let (connection, _) = tokio::select! {
            accepted = listener.accept() => accepted?,
            _ = &mut input => return Ok(()),
        };
        let service = TowerToHyperService::new(service.clone());
        // A connection that breaks is its client's business.
        tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(connection), service));
    }
}
