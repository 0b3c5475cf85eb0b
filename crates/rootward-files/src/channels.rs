//! A whole session, or one modern request, over channels: what a front on the network serves.

use bytes::Bytes;
use rootward_server::RootsService;
use tokio::sync::mpsc;

use crate::server::Tells;
use crate::{FileServer, SessionError};

impl FileServer {
    /// Serves a session, or one modern request, to its end, in the roots of this service. Each item of a channel is one JSON message.
    ///
    /// The future is small, so that many sessions can wait: what a handshake needs is boxed and goes with it.
    pub async fn serve_channels(
        self,
        roots: RootsService,
        to_client: mpsc::Sender<Bytes>,
        from_client: mpsc::Receiver<Bytes>,
    ) -> Result<(), SessionError> {
        let rooted = roots.install(self.telling(Tells::AfterCalls)).with_roots_resource();
        let running = Box::pin(rooted.serve_channels(to_client, from_client)).await;
        let running = running.map_err(|error| SessionError::NotBegun(Box::new(error)))?;
        running.waiting().await.map_err(SessionError::BrokenOff)?;
        Ok(())
    }
}
