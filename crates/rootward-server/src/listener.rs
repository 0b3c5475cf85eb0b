//! Streamable HTTP on a loopback address, in one call (feature `http`): rmcp's service behind the roots of each client.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use rmcp::ServerHandler;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;

use crate::rooted::Rooted;
use crate::settings::RootsService;

/// The URL path of the server.
const PATH: &str = "/mcp";

/// A listening server; it answers requests once [`serve`](HttpListener::serve) runs.
#[derive(Debug)]
pub struct HttpListener {
    listener: TcpListener,
    router: Router,
    address: SocketAddr,
}

impl RootsService {
    /// Listens on a loopback address; with port 0 the system chooses a port. `handler` creates the handler for one
    /// session, or for one request of a modern client: return the result of [`RootsService::install`].
    ///
    /// Anyone who can reach the server can name the roots, and nothing here authenticates them. So this refuses any
    /// other address. It also refuses every request whose `Host` is not this machine or that has an `Origin`, which web
    /// pages send. A server for other machines or several users must authenticate: put rmcp's own service behind your
    /// own front end, with [`RootsService::http`].
    ///
    /// ```no_run
    /// # struct Server;
    /// # impl rmcp::ServerHandler for Server {}
    /// # async fn serve() -> Result<(), Box<dyn std::error::Error>> {
    /// use rootward_server::RootsService;
    ///
    /// let roots = RootsService::from_environment()?;
    /// let listener = roots.listen_http("127.0.0.1:8000".parse()?, |roots| roots.install(Server)).await?;
    /// eprintln!("listening on {}", listener.url());
    /// listener.serve().await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn listen_http<H: ServerHandler>(
        &self,
        address: SocketAddr,
        handler: impl Fn(&RootsService) -> Rooted<H> + Send + Sync + 'static,
    ) -> io::Result<HttpListener> {
        // SECURITY: nothing authenticates who names the roots, so only this machine may
        // (test: listens_on_this_machine_only)
        if !address.ip().is_loopback() {
            let says = format!("`{address}` is not a loopback address");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, says));
        }
        // SECURITY: nor may a web page in a local browser: by default rmcp checks `Host`, but accepts any `Origin`
        // (test: pages_in_a_browser_are_refused)
        let config = StreamableHttpServerConfig::default().enforce_origin_validation();
        let service = self.clone();
        let factory = move || Ok(handler(&service));
        let service = StreamableHttpService::new(factory, Arc::new(LocalSessionManager::default()), config);
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        Ok(HttpListener { listener, router: Router::new().route_service(PATH, self.http(service)), address })
    }
}

impl HttpListener {
    /// The URL it listens on.
    pub fn url(&self) -> String {
        format!("http://{}{PATH}", self.address)
    }

    /// Answers requests until the process ends.
    pub async fn serve(self) -> io::Result<()> {
        axum::serve(self.listener, self.router).await
    }
}
