//! The tool of `minimal-server` over Streamable HTTP: each client is held to its own roots, in both eras of the protocol.

use std::net::SocketAddr;
use std::sync::Arc;

use rmcp::handler::server::wrapper::Parameters;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{tool, tool_router};
use rootward_server::{PathError, RootedPath, RootsService};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct ReadFile {
    /// The file: absolute, or relative to the first root.
    path: RootedPath,
}

struct Server;

#[tool_router(server_handler)]
impl Server {
    #[tool(description = "Read a text file within the roots")]
    fn read_file(Parameters(ReadFile { path }): Parameters<ReadFile>) -> Result<String, PathError> {
        let contents = path.read(1 << 20)?;
        Ok(String::from_utf8_lossy(&contents).into_owned())
    }
}

#[tokio::main(flavor = "current_thread")]
#[expect(clippy::print_stdout, reason = "says where it listens")]
async fn main() -> anyhow::Result<()> {
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:8000".to_owned());
    let address: SocketAddr = address.parse()?;
    // Whoever reaches the server names the roots. Nothing here asks who that is, so only this machine may reach it.
    anyhow::ensure!(address.ip().is_loopback(), "`{address}` is not a loopback address");
    // Nor may a page in this machine's browser: by default rmcp looks at `Host`, and lets any `Origin` pass.
    let config = StreamableHttpServerConfig::default().enforce_origin_validation();
    let roots = RootsService::from_environment()?;
    let installed = roots.clone();
    // One handler per session, or per request of a modern client; the settings are shared, the roots are not.
    let factory = move || Ok(installed.install(Server));
    let service = StreamableHttpService::new(factory, Arc::new(LocalSessionManager::default()), config);
    let listener = tokio::net::TcpListener::bind(address).await?;
    println!("listening on http://{}/mcp", listener.local_addr()?);
    axum::serve(listener, axum::Router::new().route_service("/mcp", roots.http(service))).await?;
    Ok(())
}
