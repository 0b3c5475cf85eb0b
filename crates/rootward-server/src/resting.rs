//! Sessions that rest while their clients are silent.
//!
//! The memory that rmcp keeps for a running session, mainly its two queues, is larger than everything else combined. A
//! silent session frees it: the service ends, the session's own state stays, and the next message starts the service
//! again.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use rmcp::service::{RoleServer, RunningService, ServerInitializeError, serve_directly};
use rmcp::{ServerHandler, ServiceExt};
use thiserror::Error;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinError;

use crate::announce::Paging;
use crate::channels::{FromClient, Rests, channels};
use crate::in_order::InOrder;
use crate::rooted::{Asks, Rooted};

/// Why a session failed.
#[derive(Error, Debug)]
pub enum SessionError {
    /// The client disconnected before it began a session. It may have sent `ping` or `server/discover`.
    #[error("the client disconnected before it began a session")]
    Disconnected,
    /// The client did not speak MCP.
    #[error("the client did not begin a session")]
    NotBegun(#[source] Box<ServerInitializeError>),
    /// The session was aborted.
    #[error("the session ended unexpectedly")]
    BrokenOff(#[source] JoinError),
}

impl From<ServerInitializeError> for SessionError {
    fn from(error: ServerInitializeError) -> SessionError {
        match error {
            ServerInitializeError::ConnectionClosed(_) => SessionError::Disconnected,
            other => SessionError::NotBegun(Box::new(other)),
        }
    }
}

impl<H: ServerHandler> Rooted<H> {
    /// Serves a session, or one modern request, to its end. A front end passes messages over channels: each item is one
    /// JSON message or a batch. Dropping the front end's sender means that the client sends no more. Dropping its
    /// receiver means that the client is gone, which ends the session and stops its calls.
    ///
    /// The server asks a legacy client for its roots only during one of its calls, so that the front end has a stream
    /// for the question. While the client is silent, the session rests: the handler stays, but a `Peer` that it kept
    /// from an earlier call is closed. [`Session::keep_awake`](crate::Session::keep_awake) prevents that.
    pub async fn serve_channels(
        self,
        to_client: mpsc::Sender<Bytes>,
        from_client: mpsc::Receiver<Bytes>,
    ) -> Result<(), SessionError> {
        let rooted = Arc::new(self.over_channels(Paging::Declared, Asks::InCalls));
        let may_rest = Arc::new(AtomicBool::new(false));
        // Boxed so that the session does not keep the memory of the handshake.
        let begun = Box::pin(begin(&rooted, &to_client, from_client, &may_rest)).await;
        let (mut running, mut rested) = begun?;
        let client = running.peer().peer_info();
        // A modern request says nothing about its client that would apply to the next request.
        may_rest.store(client.is_some(), Ordering::Relaxed);
        loop {
            running.waiting().await.map_err(SessionError::BrokenOff)?;
            let (Ok(mut from_client), Some(client)) = (rested.await, &client) else { return Ok(()) };
            rooted.session().rest();
            let first = tokio::select! {
                biased;
                () = to_client.closed() => None,
                first = from_client.recv() => first,
            };
            let Some(first) = first else { return Ok(()) };
            let (rests, next) = Rests::new(&may_rest, rooted.session().awake());
            let transport = channels(&to_client, from_client, Some(first), rests);
            let transport = InOrder::new(transport, rooted.session().clone());
            running = serve_directly(Arc::clone(&rooted), transport, Some((**client).clone()));
            rested = next;
        }
    }
}

type Running<H> = RunningService<RoleServer, Arc<Rooted<H>>>;

async fn begin<H: ServerHandler>(
    rooted: &Arc<Rooted<H>>,
    to_client: &mpsc::Sender<Bytes>,
    from_client: FromClient,
    may_rest: &Arc<AtomicBool>,
) -> Result<(Running<H>, oneshot::Receiver<FromClient>), ServerInitializeError> {
    let (rests, rested) = Rests::new(may_rest, rooted.session().awake());
    let transport = channels(to_client, from_client, None, rests);
    let transport = InOrder::new(transport, rooted.session().clone());
    Ok((ServiceExt::serve(Arc::clone(rooted), transport).await?, rested))
}
