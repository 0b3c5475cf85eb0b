//! Tools that take a string, take a rooted path, or request the roots.

use rmcp::handler::server::router::tool::ToolRouter;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::service::{RequestContext, RoleServer};
use rmcp::{ServerHandler, tool, tool_handler, tool_router};
use rootward_server::RootedPath;
use schemars::JsonSchema;
use serde::Deserialize;

/// The server. All sessions share its tool router.
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

#[expect(clippy::unused_self, reason = "the router requires this signature")]
#[tool_router]
impl Server {
    pub(crate) fn new() -> Server {
        Server { tool_router: std::sync::Arc::new(Server::tool_router()) }
    }

    #[tool(description = "Return the length of a string")]
    fn text(&self, Parameters(Text { path }): Parameters<Text>) -> String {
        path.len().to_string()
    }

    #[tool(description = "Request the client's roots, and discard them")]
    async fn asking(&self, context: RequestContext<RoleServer>) -> String {
        #[expect(deprecated, reason = "what a server without a roots service calls")]
        let asked = context.peer.list_roots().await;
        asked.is_ok().to_string()
    }

    #[tool(description = "Return whether a path exists")]
    fn rooted(&self, Parameters(Rooted { path }): Parameters<Rooted>) -> String {
        path.exists().to_string()
    }
}

#[tool_handler(router = self.tool_router)]
impl ServerHandler for Server {}
