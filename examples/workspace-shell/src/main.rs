//! A shell, a file reader and a search for the workspace, over stdio or HTTP. The kernel confines commands to the client's roots, grants
//! confine file access; `roots`, `roots_cached` and `path_in_roots` tell a client what the server knows.

use std::sync::mpsc::sync_channel;
use std::time::Duration;

use rmcp::handler::server::wrapper::{Json, Parameters};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::{ServerHandler, tool, tool_handler, tool_router};
use rootward_core::{Visit, WalkOptions};
use rootward_server::sandbox::{Network, Options, launcher};
use rootward_server::{Access, CommandError, ConfinedCommand, PathError, Read, RootedPath, RootsService, roots};
use serde_json::{Value, json};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Shell {
    /// The command for `/bin/sh -c`; its stdin is empty
    command: String,
    /// The working directory; default: the first root
    cwd: Option<RootedPath<Read>>,
    /// Timeout in milliseconds; default: 120000
    timeout_ms: Option<u64>,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct ReadFile {
    /// The file: absolute, or relative to the first root
    path: RootedPath,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct SearchFiles {
    /// A part of the file's name
    pattern: String,
    /// The directory to search; default: the first root
    path: Option<RootedPath>,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct PathInRoots {
    /// The path, or a `file:` URI
    path: String,
}

struct Server;
#[tool_handler(name = "workspace-shell")]
impl ServerHandler for Server {}

#[tool_router]
impl Server {
    #[tool(description = "Run a shell command. The kernel confines it to the roots; it has no network.")]
    async fn shell(
        &self,
        Parameters(Shell { command, cwd, timeout_ms }): Parameters<Shell>,
        context: RequestContext<RoleServer>,
    ) -> Result<String, CommandError> {
        let roots = roots().await?;
        let directory = cwd.map_or_else(|| roots.working_directory(Access::READ), |cwd| Ok(cwd.into_grant()))?;
        let limit = Duration::from_millis(timeout_ms.unwrap_or(120_000));
        let options = Options { network: Network::Off, ..Options::default() };
        let command = ConfinedCommand::shell(command).in_directory(directory).for_at_most(limit).with_options(options);
        Ok(command.run(&roots, &context.ct).await?.to_string())
    }

    #[tool(description = "Read a text file.")]
    fn read_file(Parameters(ReadFile { path }): Parameters<ReadFile>) -> Result<String, PathError> {
        Ok(String::from_utf8_lossy(&path.read(1 << 20)?).into_owned())
    }

    #[tool(description = "Find files and directories by a part of their name, one path per line.")]
    async fn search_files(&self, Parameters(asked): Parameters<SearchFiles>) -> Result<String, PathError> {
        let (SearchFiles { pattern, path }, roots) = (asked, roots().await?);
        let start = path.map_or_else(|| roots.working_directory(Access::READ), |path| Ok(path.into_grant()))?;
        let (sender, found) = sync_channel(1000);
        start.walk(WalkOptions::default(), |entry| {
            let fits = entry.path().file_name().is_some_and(|name| name.to_string_lossy().contains(&pattern));
            let path = start.named_path().join(entry.path());
            if fits && sender.try_send(path.display().to_string()).is_err() { Visit::Stop } else { Visit::Continue }
        })?;
        let mut found: Vec<String> = found.try_iter().collect();
        found.sort_unstable();
        Ok(if found.is_empty() { "no matches".to_owned() } else { found.join("\n") })
    }

    #[tool(description = "The directories that the client shares, requested if necessary.")]
    async fn roots(&self) -> Result<Json<Value>, PathError> {
        Ok(Json(json!({"roots": roots().await?.entries()})))
    }

    #[tool(description = "The directories that the client shared last, without a request: null before the first list.")]
    fn roots_cached() -> Json<Value> {
        Json(json!({"roots": rootward_server::roots_cached().map(|roots| roots.entries())}))
    }

    #[tool(description = "Whether a path lies in the roots: true, false, or null if they are not known yet.")]
    fn path_in_roots(Parameters(PathInRoots { path }): Parameters<PathInRoots>) -> Json<Value> {
        Json(json!({"inRoots": rootward_server::path_in_roots(path)}))
    }
}

#[expect(clippy::print_stderr, reason = "prints its address")]
fn main() -> anyhow::Result<()> {
    // This program runs itself again to confine commands.
    launcher();
    let roots = RootsService::from_environment()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        match &std::env::args().skip(1).collect::<Vec<_>>()[..] {
            [] => drop(roots.install(Server).with_described_tools().serve_stdio().await?.waiting().await?),
            [flag, address] if flag == "--http" => {
                let server = |roots: &RootsService| roots.install(Server).with_described_tools();
                let listener = roots.listen_http(address.parse()?, server).await?;
                eprintln!("listening on {}", listener.url());
                listener.serve().await?;
            }
            _ => anyhow::bail!("usage: workspace-shell [--http ADDRESS:PORT]"),
        }
        Ok(())
    })
}
