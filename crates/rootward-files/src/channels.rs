//! A whole session, or one modern request, over channels: for a front end on the network.

use bytes::Bytes;
use rootward_server::{RootsService, SessionError};
use tokio::sync::mpsc;

use crate::FileServer;
use crate::server::Tells;

impl FileServer {
    /// Serves a session, or one modern request, to its end, with the roots of this service. Each item of a channel is
    /// one JSON message.
    pub async fn serve_channels(
        self,
        roots: RootsService,
        to_client: mpsc::Sender<Bytes>,
        from_client: mpsc::Receiver<Bytes>,
    ) -> Result<(), SessionError> {
        let rooted = roots.install(self.telling(Tells::AfterCalls)).with_roots_resource().with_roots_in_tools();
        drop(roots);
        rooted.serve_channels(to_client, from_client).await
    }
}
