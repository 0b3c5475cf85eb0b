//! The protocol's roots types, in one place: rmcp marks them deprecated, because revision 2026-07-28 deprecates
//! roots.
#![expect(deprecated, reason = "roots are deprecated in the protocol, and what this module is about")]

use rmcp::model::{
    ClientCapabilities, ClientResult, CustomResult, JsonObject, ListRootsResult, MetaObject, Root, RootsCapabilities,
    ServerPeerInfo, ServerRequest,
};
use rmcp::service::{Peer, RoleClient, ServiceError};
use rootward_protocol::keys;
use serde_json::{Value, json};

use super::view::Entry;

/// How servers learn about changes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Changes {
    Announced,
    /// A modern server asks again with each call.
    NotAnnounced,
}

/// Declares roots.
pub(super) fn declare(capabilities: &mut ClientCapabilities, changes: Changes) {
    let mut roots = RootsCapabilities::default();
    if changes == Changes::Announced {
        roots.list_changed = Some(true);
    }
    capabilities.roots = Some(roots);
    capabilities.extensions.get_or_insert_default().entry(keys::PAGING.to_owned()).or_default();
}

/// Declares no roots, regardless of the host's handler.
pub(super) fn declare_none(capabilities: &mut ClientCapabilities) {
    capabilities.roots = None;
    if let Some(extensions) = &mut capabilities.extensions {
        extensions.remove(keys::PAGING);
    }
}

/// Whether a request asks for the roots.
pub(super) fn asks_for_roots(request: &ServerRequest) -> bool {
    matches!(request, ServerRequest::ListRootsRequest(_))
}

/// Whether a server declared that it follows pages.
pub(super) fn follows_pages(server: &ServerPeerInfo) -> bool {
    let capabilities = &server.capabilities;
    capabilities.extensions.as_ref().is_some_and(|extensions| extensions.contains_key(keys::PAGING))
        || capabilities.experimental.as_ref().is_some_and(|experimental| experimental.contains_key(keys::PAGING))
}

/// Whether this server sends requests in place of results, so that nothing can be announced to it.
pub(super) fn is_modern(server: Option<&ServerPeerInfo>) -> bool {
    server.is_some_and(|server| !server.protocol_version.has_initialize())
}

/// Notifies the server that the list changed.
pub(super) async fn notify(peer: &Peer<RoleClient>) -> Result<(), ServiceError> {
    peer.notify_roots_list_changed().await
}

/// The answer of the modern era, which rmcp accepts in only one form.
pub(super) fn modern_answer(entries: &[Entry], next: Option<String>) -> ClientResult {
    let result = ListRootsResult::new(entries.iter().map(root).collect());
    ClientResult::ListRootsResult(match next {
        Some(next) => {
            result.with_meta(MetaObject::from(JsonObject::from_iter([(keys::NEXT_CURSOR.to_owned(), next.into())])))
        }
        None => result,
    })
}

/// The answer of the legacy era.
pub(super) fn legacy_answer(entries: &[Entry], next: Option<String>) -> ClientResult {
    let Some(next) = next else { return modern_answer(entries, None) };
    let roots: Vec<Root> = entries.iter().map(root).collect();
    ClientResult::CustomResult(CustomResult(json!({"roots": roots, "nextCursor": next})))
}

fn root(entry: &Entry) -> Root {
    let mut root = Root::new(&entry.uri);
    root.name.clone_from(&entry.name);
    let carried = entry.meta.as_deref().and_then(|meta| serde_json::from_str(meta).ok());
    let mut meta: JsonObject = carried.unwrap_or_default();
    meta.insert(keys::ACCESS.to_owned(), entry.access.words().map(Value::from).collect());
    root.meta = Some(MetaObject::from(meta));
    root
}
