//! The wrapper around a host's handler: it answers requests for roots, and leaves everything else to the handler.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use rmcp::model::{ClientConfig, ClientResult, ServerNotification, ServerRequest};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, ClientServiceExt, NotificationContext, RequestContext, RoleClient,
    RunningService, RxJsonRpcMessage, Service, TxJsonRpcMessage,
};
use rmcp::transport::{IntoTransport, Transport};
use rmcp::{ClientHandler, ErrorData};
use tokio::io::{AsyncRead, AsyncWrite};

use super::Shared;
use super::answer::{self, Cursors};
use super::connection::Connection;
use super::pipes::KeepCursors;
use super::server::Declaration;
use super::telling::tell;
use super::wire::{self, Changes};

/// A handler whose server is told about roots. One for each connection, like the handler itself.
///
/// Serve it with its own methods: rmcp's methods of the same name do not announce changes.
pub struct Provided<H> {
    handler: H,
    shared: Arc<Shared>,
    connection: Arc<Connection>,
    cursors: Cursors,
    changes: Changes,
}

impl<H> Provided<H> {
    pub(super) fn new(handler: H, shared: Arc<Shared>, connection: Arc<Connection>) -> Provided<H> {
        Provided { handler, shared, connection, cursors: Cursors::AreLost, changes: Changes::Announced }
    }

    /// The handler inside.
    pub fn handler(&self) -> &H {
        &self.handler
    }
}

impl<H: ClientHandler> Provided<H> {
    /// Connects to a legacy server over `transport`.
    pub async fn serve<T, E, A>(
        self,
        transport: T,
    ) -> Result<RunningService<RoleClient, Provided<H>>, ClientInitializeError>
    where
        T: IntoTransport<RoleClient, E, A>,
        E: std::error::Error + Send + Sync + 'static,
    {
        self.serve_with_lifecycle(transport, ClientLifecycleMode::Initialize).await
    }

    /// Connects to a server over `transport`, in the requested era, or in either.
    pub async fn serve_with_lifecycle<T, E, A>(
        mut self,
        transport: T,
        lifecycle: ClientLifecycleMode,
    ) -> Result<RunningService<RoleClient, Provided<H>>, ClientInitializeError>
    where
        T: IntoTransport<RoleClient, E, A>,
        E: std::error::Error + Send + Sync + 'static,
    {
        if matches!(lifecycle, ClientLifecycleMode::Discover { .. }) {
            self.changes = Changes::NotAnnounced;
        }
        let (shared, connection) = (Arc::clone(&self.shared), Arc::clone(&self.connection));
        shared.announce();
        let number = shared.enter(&connection).await;
        let transport = Left { transport: transport.into_transport(), shared, number };
        let running = Box::pin(ClientServiceExt::serve_with_lifecycle(self, transport, lifecycle)).await?;
        let declared = connection.server().declaration == Declaration::Declared;
        if declared && !wire::is_modern(running.peer().peer_info().as_deref()) {
            tokio::spawn(tell(connection, running.peer().clone()));
        }
        Ok(running)
    }

    /// The same over the two pipes of a process, or anything else that speaks in lines. Here the cursors of legacy
    /// servers arrive, so they can get long lists in pages.
    pub async fn serve_pipes<R, W>(
        self,
        read: R,
        write: W,
        lifecycle: ClientLifecycleMode,
    ) -> Result<RunningService<RoleClient, Provided<H>>, ClientInitializeError>
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let provided = Provided { cursors: Cursors::Arrive, ..self };
        provided.serve_with_lifecycle((KeepCursors::new(read), write), lifecycle).await
    }

    async fn list_roots(&self, context: &RequestContext<RoleClient>) -> Result<ClientResult, ErrorData> {
        let view = self.shared.view_now(&self.connection).await;
        answer::answer(&view, context, self.cursors, self.shared.settings.page)
    }
}

impl<H: ClientHandler> Service<RoleClient> for Provided<H> {
    async fn handle_request(
        &self,
        request: ServerRequest,
        context: RequestContext<RoleClient>,
    ) -> Result<ClientResult, ErrorData> {
        if !wire::asks_for_roots(&request) {
            return self.handler.handle_request(request, context).await;
        }
        match self.connection.server().declaration {
            Declaration::Declared => self.list_roots(&context).await,
            // SECURITY: a server that was not told about roots gets none
            // (test: a_server_that_was_not_offered_roots_is_refused)
            Declaration::NotDeclared => Err(answer::not_declared()),
        }
    }

    async fn handle_notification(
        &self,
        notification: ServerNotification,
        context: NotificationContext<RoleClient>,
    ) -> Result<(), ErrorData> {
        self.handler.handle_notification(notification, context).await
    }

    fn get_info(&self) -> ClientConfig {
        let mut info = ClientHandler::get_info(&self.handler);
        match self.connection.server().declaration {
            Declaration::Declared => wire::declare(&mut info.capabilities, self.changes),
            Declaration::NotDeclared => wire::declare_none(&mut info.capabilities),
        }
        info
    }
}

impl<H: fmt::Debug> fmt::Debug for Provided<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let server = self.connection.server();
        f.debug_struct("Provided").field("handler", &self.handler).field("server", server).finish_non_exhaustive()
    }
}

/// A transport that removes its connection when it closes.
struct Left<T> {
    transport: T,
    shared: Arc<Shared>,
    number: u64,
}

impl<T: Transport<RoleClient>> Transport<RoleClient> for Left<T> {
    type Error = T::Error;

    fn name() -> Cow<'static, str> {
        T::name()
    }

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), T::Error>> + Send + 'static {
        self.transport.send(item)
    }

    fn receive(&mut self) -> impl Future<Output = Option<RxJsonRpcMessage<RoleClient>>> + Send {
        self.transport.receive()
    }

    fn close(&mut self) -> impl Future<Output = Result<(), T::Error>> + Send {
        self.transport.close()
    }
}

impl<T> Drop for Left<T> {
    fn drop(&mut self) {
        self.shared.leave(self.number);
    }
}
