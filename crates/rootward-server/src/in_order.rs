//! A transport that handles `list_changed` as it arrives, before any later message.
//!
//! rmcp handles each message in its own task. With several threads, a call that arrived after `list_changed` often runs
//! before it, and would still get a root that was just revoked.

use std::borrow::Cow;

use rmcp::model::{ClientNotification, GetExtensions, JsonRpcMessage};
use rmcp::service::{RoleServer, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rootward_protocol::method;

use crate::session::Session;
use crate::wire;

/// Marks a notification that the session with this number has handled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Heard(pub(crate) u64);

/// A transport and its session.
pub(crate) struct InOrder<T> {
    transport: T,
    session: Session,
}

impl<T> InOrder<T> {
    pub(crate) fn new(transport: T, session: Session) -> InOrder<T> {
        InOrder { transport, session }
    }
}

impl<T: Transport<RoleServer>> Transport<RoleServer> for InOrder<T> {
    type Error = T::Error;

    fn name() -> Cow<'static, str> {
        T::name()
    }

    fn send(
        &mut self,
        mut item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), T::Error>> + Send + 'static {
        if let JsonRpcMessage::Request(message) = &mut item {
            wire::without_progress_token(&mut message.request);
        }
        self.transport.send(item)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        let mut message = self.transport.receive().await?;
        if let JsonRpcMessage::Notification(message) = &mut message
            && is_list_changed(&message.notification)
        {
            // SECURITY: from here on, calls wait for the new list
            // (test: a_change_is_heard_before_the_call_that_follows)
            self.session.hear_list_changed();
            message.notification.extensions_mut().insert(Heard(self.session.number()));
        }
        Some(message)
    }

    fn close(&mut self) -> impl Future<Output = Result<(), T::Error>> + Send {
        self.transport.close()
    }
}

fn is_list_changed(notification: &ClientNotification) -> bool {
    match notification {
        ClientNotification::RootsListChangedNotification(_) => true,
        ClientNotification::CustomNotification(custom) => is_list_changed_method(&custom.method),
        _ => false,
    }
}

/// Whether this method is the notification that roots changed.
pub(crate) fn is_list_changed_method(method: &str) -> bool {
    method == method::ROOTS_CHANGED
}
