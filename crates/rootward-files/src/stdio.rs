//! A whole session on standard input and output.

use rootward_server::{RootsService, SessionError};

use crate::FileServer;

impl FileServer {
    /// Serves a session on standard input and output to its end, with the roots of this service, which it also offers
    /// as a resource.
    pub async fn serve_stdio(self, roots: &RootsService) -> Result<(), SessionError> {
        let running = roots.install(self).with_roots_resource().with_roots_in_tools().serve_stdio().await?;
        running.waiting().await.map_err(SessionError::BrokenOff)?;
        Ok(())
    }
}
