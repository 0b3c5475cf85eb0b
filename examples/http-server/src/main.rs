//! The tool of `minimal-server` over Streamable HTTP: each client is confined to its own roots, in both eras of the
//! protocol.

use rmcp::handler::server::wrapper::Parameters;
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
#[expect(clippy::print_stdout, reason = "prints its address")]
async fn main() -> anyhow::Result<()> {
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:8000".to_owned());
    // Loopback only, because every client chooses its own roots. There is one handler per session, or per request of a modern
    // client. They share the settings, but not the roots.
    let roots = RootsService::from_environment()?;
    let listener = roots.listen_http(address.parse()?, |roots| roots.install(Server)).await?;
    println!("listening on {}", listener.url());
    listener.serve().await?;
    Ok(())
}
