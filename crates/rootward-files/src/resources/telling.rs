//! Notifies a legacy session of changes to the resources that its client subscribed to.

use std::sync::{Arc, Mutex, PoisonError};

use rmcp::ErrorData;
use rmcp::model::ResourceUpdatedNotificationParam;
use rmcp::service::{Peer, RoleServer};
use rootward_server::{Roots, Session};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::watches::Watches;
use crate::server::Tells;

/// The subscriptions of a session. They end with it.
#[derive(Default, Debug)]
pub(crate) struct Subscriptions {
    watches: Watches,
    /// Held while a task polls: dropping it ends the task.
    telling: Arc<Mutex<Option<DropGuard>>>,
}

impl Subscriptions {
    /// Subscribes to a resource. The first subscription starts the polling.
    pub(crate) fn subscribe(
        &self,
        roots: &Roots,
        uri: &str,
        (session, peer, tells): (Session, Peer<RoleServer>, Tells),
    ) -> Result<(), ErrorData> {
        let mut telling = self.telling.lock().unwrap_or_else(PoisonError::into_inner);
        self.watches.add(roots, uri)?;
        if telling.is_none() {
            let ended = CancellationToken::new();
            *telling = Some(ended.clone().drop_guard());
            session.keep_awake(true);
            tokio::spawn(tell(self.watches.clone(), (session, peer, tells), ended));
        }
        Ok(())
    }

    /// Removes a subscription. Removing the last one stops the polling.
    pub(crate) fn unsubscribe(&self, uri: &str, session: &Session) {
        let mut telling = self.telling.lock().unwrap_or_else(PoisonError::into_inner);
        self.watches.remove(uri);
        if self.watches.is_empty() {
            *telling = None;
            session.keep_awake(false);
        }
    }
}

/// Notifies the client until it is gone, or until `ended`.
async fn tell(watches: Watches, (session, peer, tells): (Session, Peer<RoleServer>, Tells), ended: CancellationToken) {
    // After the client reports a root change and until it has listed its roots, nothing is known to be shared.
    let roots = async || match tells {
        Tells::AtOnce => session.roots(&peer).await.ok(),
        Tells::AfterCalls => session.roots_settled(),
    };
    loop {
        let changed = tokio::select! {
            biased;
            () = ended.cancelled() => return,
            changed = watches.changed(roots) => changed,
        };
        for uri in changed {
            if ended.is_cancelled()
                || peer.notify_resource_updated(ResourceUpdatedNotificationParam::new(uri)).await.is_err()
            {
                return;
            }
        }
    }
}
