//! A whole session on standard input and output.

use rmcp::service::ServerInitializeError;
use rootward_server::RootsService;
use thiserror::Error;
use tokio::task::JoinError;

use crate::FileServer;

/// Why a session did not end as it should.
#[derive(Error, Debug)]
pub enum SessionError {
    /// The client is no client, or left at once.
    #[error("the client did not begin a session")]
    NotBegun(#[source] Box<ServerInitializeError>),
    /// It broke off.
    #[error("the session broke off")]
    BrokenOff(#[source] JoinError),
}

impl FileServer {
    /// Serves a session on standard input and output to its end, in the roots of this service, which it offers as a resource, too.
    pub async fn serve_stdio(self, roots: &RootsService) -> Result<(), SessionError> {
        let running = roots.install(self).with_roots_resource().serve_stdio().await;
        let running = running.map_err(|error| SessionError::NotBegun(Box::new(error)))?;
        running.waiting().await.map_err(SessionError::BrokenOff)?;
        Ok(())
    }
}
