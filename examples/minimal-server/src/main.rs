//! The smallest MCP server that is confined to its client's roots. Its only tool reads a file.

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
async fn main() -> anyhow::Result<()> {
    let server = RootsService::from_environment()?.install(Server);
    server.serve_stdio().await?.waiting().await?;
    Ok(())
}
