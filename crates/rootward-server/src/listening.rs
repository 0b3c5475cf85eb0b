//! `subscriptions/listen`, the only way for modern clients to be notified of changes.
//!
//! A modern client names no roots outside its calls, so it can be notified only of changes by the operator and the
//! user: their roots and restrictions. The handler's own subscriptions run alongside, and [`listener_roots`] gives them
//! the same roots.

use std::sync::{Arc, Mutex, PoisonError};

use rmcp::model::SubscriptionFilter;
use rmcp::service::{RequestContext, RoleServer, SubscriptionContext, SubscriptionSink};
use rmcp::{ErrorData, ServerHandler};
use rootward_protocol::round::Said;
use rootward_protocol::session::Given;
use tokio::task;

use crate::announce::RootsResource;
use crate::given::Changes;
use crate::modern;
use crate::record::Parties;
use crate::rooted::Rooted;
use crate::roots::Roots;
use crate::settings::Ground;
use crate::summary::ROOTS_URI;

tokio::task_local! {
    static LISTENER: Listener;
}

/// A client that listens.
#[derive(Clone)]
struct Listener {
    ground: Arc<Ground>,
    request: RequestContext<RoleServer>,
    parties: Arc<Parties>,
}

/// The current roots of a modern client that listens, for the body of [`ServerHandler::listen`]. They can change while
/// it runs, so call this for each access. Returns `None` outside such a body, and for a client with roots of its own,
/// because it names them only in its calls.
pub async fn listener_roots() -> Option<Roots> {
    let Listener { ground, request, parties } = LISTENER.try_with(Clone::clone).ok()?;
    // SECURITY: resolve the roots for each access, so that a revoked root is no longer reported
    // (test: a_listener_gets_reports_only_about_the_operators_roots)
    modern::known(&ground, &request, &parties, Said::Nothing).await
}

/// Whether the handler's tool list names the current roots.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum ToolsNameRoots {
    Yes,
    No,
}

/// Listeners whose subscription is being confirmed, by task. Each already follows the changes, so that none is lost
/// between the confirmation and [`ServerHandler::listen`].
#[derive(Debug, Default)]
pub(crate) struct Beginning(Mutex<Vec<(task::Id, Changes)>>);

impl Beginning {
    fn add(&self, changes: Changes) {
        if let Some(task) = task::try_id() {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).push((task, changes));
        }
    }

    fn take(&self) -> Option<Changes> {
        let task = task::try_id()?;
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let position = waiting.iter().position(|(of, _)| *of == task)?;
        Some(waiting.swap_remove(position).1)
    }
}

impl<H: ServerHandler> Rooted<H> {
    /// The notifications a client may receive: those of the handler and those of the service.
    pub(crate) fn accepted(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        let of_handler = self.handler().accepted_subscription_filter(requested);
        let of_service = self.told_by_service(requested);
        if of_handler.is_none() && of_service == SubscriptionFilter::new() && !self.tells() {
            return None;
        }
        self.beginning.add(self.ground().given.changes());
        let mut accepted = of_handler.unwrap_or_default();
        accepted.tools_list_changed = of_service.tools_list_changed.or(accepted.tools_list_changed);
        if let Some(uris) = of_service.resource_subscriptions {
            accepted.resource_subscriptions.get_or_insert_default().extend(uris);
        }
        Some(accepted)
    }

    /// Whether the service sends any notifications.
    fn tells(&self) -> bool {
        self.tools == ToolsNameRoots::Yes || self.resource == RootsResource::Offered
    }

    fn told_by_service(&self, requested: &SubscriptionFilter) -> SubscriptionFilter {
        let mut told = SubscriptionFilter::new();
        told.tools_list_changed =
            requested.tools_list_changed.filter(|asked| *asked && self.tools == ToolsNameRoots::Yes);
        let is_roots = requested.resource_subscriptions.iter().flatten().any(|uri| uri == ROOTS_URI);
        told.resource_subscriptions =
            (is_roots && self.resource == RootsResource::Offered).then(|| vec![ROOTS_URI.to_owned()]);
        told
    }

    /// Notifies a client of changes until it stops listening.
    pub(crate) async fn tell_listener(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let changes = self.beginning.take().unwrap_or_else(|| self.ground().given.changes());
        let (sink, request) = (context.sink().clone(), context.request_context().clone());
        let mut wanted = self.told_by_service(context.requested());
        wanted = wanted.intersection(context.accepted());
        let told = self.tell_changes(changes, &sink, &request, &wanted);
        if self.handler().accepted_subscription_filter(context.requested()).is_none() {
            return tokio::select! {
                () = context.cancelled() => Ok(()),
                () = told => Ok(()),
            };
        }
        let (ground, parties) = (Arc::clone(self.ground()), self.modern_parties(&request));
        let listener = Listener { ground, request: request.clone(), parties };
        tokio::select! {
            ended = LISTENER.scope(listener, self.handler().listen(context)) => ended,
            () = told => Ok(()),
        }
    }

    /// Ends only when nobody is listening.
    async fn tell_changes(
        &self,
        mut changes: Changes,
        sink: &SubscriptionSink,
        request: &RequestContext<RoleServer>,
        wanted: &SubscriptionFilter,
    ) {
        let mut before = Arc::clone(&changes.now);
        let mut named = self.named(&before, request).await;
        while let Some(given) = changes.next().await {
            // Neither lists nor the resource name restrictions.
            if given.sources == before.sources {
                continue;
            }
            let now = self.named(&given, request).await;
            before = given;
            let is_list_changed = wanted.tools_list_changed == Some(true) && is_other(named.as_ref(), now.as_ref());
            named = now;
            if is_list_changed && sink.notify_tool_list_changed().await.is_err() {
                return;
            }
            // For a client with roots of its own, the effect of the new ones is known only in its calls.
            if wanted.resource_subscriptions.is_some() && sink.notify_resource_updated(ROOTS_URI).await.is_err() {
                return;
            }
        }
        std::future::pending::<()>().await;
    }

    /// The roots that a tool list names for this client.
    async fn named(&self, given: &Arc<Given>, request: &RequestContext<RoleServer>) -> Option<Roots> {
        modern::known_of(self.ground(), Arc::clone(given), request, &self.modern_parties(request), Said::Nothing).await
    }
}

/// Whether tool lists for these two would differ.
fn is_other(before: Option<&Roots>, now: Option<&Roots>) -> bool {
    let shown = |roots: &Roots| {
        let list = roots.list().iter().map(|placed| (placed.root.path.clone(), placed.root.access));
        (roots.reach(), list.collect::<Vec<_>>())
    };
    before.map(shown) != now.map(shown)
}
