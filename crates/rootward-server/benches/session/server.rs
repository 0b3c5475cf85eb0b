//! One tool twice: with a text, and with a rooted path.

use rmcp::handler::server::router::tool::ToolRouter;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::service::{RequestContext, RoleServer};
use rmcp::{ServerHandler, tool, tool_handler, tool_router};
use rootward_server::RootedPath;
use schemars::JsonSchema;
use serde::Deserialize;

/// The server; all sessions share what its tools are made of.
#[derive(Clone, Debug)]
pub(crate) struct Server {
    tool_router: std::sync::Arc<ToolRouter<Server>>,
}

#[derive(Deserialize, JsonSchema)]
struct Text {
    path: String,
}

#[derive(Deserialize, JsonSchema)]
struct Rooted {
    path: RootedPath,
}

#[expect(clippy::unused_self, reason = "the shape that the router asks for")]
#[tool_router]
impl Server {
    pub(crate) fn new() -> Server {
        Server { tool_router: std::sync::Arc::new(Server::tool_router()) }
    }

    #[tool(description = "Say how long a text is")]
    fn text(&self, Parameters(Text { path }): Parameters<Text>) -> String {
        path.len().to_string()
    }

    #[tool(description = "Ask the client for its roots, and forget them")]
    async fn asking(&self, context: RequestContext<RoleServer>) -> String {
        #[expect(deprecated, reason = "what a server without a roots service calls")]
        let asked = context.peer.list_roots().await;
        asked.is_ok().to_string()
    }

    #[tool(description = "Say whether a path exists")]
    fn rooted(&self, Parameters(Rooted { path }): Parameters<Rooted>) -> String {
        path.exists().to_string()
    }
}

#[tool_handler(router = self.tool_router)]
impl ServerHandler for Server {}
