//! Notifies a modern client of changes to resources, for as long as its request is open.

use std::path::PathBuf;

use rmcp::model::SubscriptionFilter;
use rmcp::service::SubscriptionContext;
use rootward_server::{Access, Roots, listener_roots};

use super::is_file_uri;
use super::watches::{BETWEEN_LOOKS, MOST_WATCHES, Watches};

/// What such a client can watch: files, as many as a session can subscribe to, and the resource list. `None` if it asks
/// for neither.
pub(crate) fn accepted(requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
    let named = requested.resource_subscriptions.iter().flatten();
    let files: Vec<String> = named.filter(|uri| is_file_uri(uri)).take(MOST_WATCHES).cloned().collect();
    let mut accepted = SubscriptionFilter::new();
    accepted.resource_subscriptions = (!files.is_empty()).then_some(files);
    accepted.resources_list_changed = requested.resources_list_changed.filter(|asked| *asked);
    (accepted != SubscriptionFilter::new()).then_some(accepted)
}

/// Notifies the client until it stops listening. Says nothing about files that the client may not read.
pub(crate) async fn listen(context: &SubscriptionContext) {
    let Some(wanted) = accepted(context.accepted()) else { return context.cancelled().await };
    let Some(roots) = listener_roots().await else { return context.cancelled().await };
    let (watches, sink) = (Watches::default(), context.sink());
    for uri in wanted.resource_subscriptions.iter().flatten() {
        // An unreadable file is refused and recorded; there is nobody to report the error to.
        let _ = watches.add(&roots, uri);
    }
    let is_list_wanted = wanted.resources_list_changed == Some(true);
    if watches.is_empty() && !is_list_wanted {
        return context.cancelled().await;
    }
    let mut listed = named(&roots);
    loop {
        tokio::select! {
            () = context.cancelled() => return,
            () = tokio::time::sleep(BETWEEN_LOOKS) => {}
        }
        let Some(roots) = listener_roots().await else { continue };
        let now = named(&roots);
        if is_list_wanted && now != listed && sink.notify_resource_list_changed().await.is_err() {
            return;
        }
        listed = now;
        for uri in watches.changed_since(roots).await {
            if sink.notify_resource_updated(uri).await.is_err() {
                return;
            }
        }
    }
}

/// The properties of the roots that affect a resource list.
fn named(roots: &Roots) -> Vec<(PathBuf, Access)> {
    roots.list().iter().map(|placed| (placed.root.path.clone(), placed.root.access)).collect()
}
