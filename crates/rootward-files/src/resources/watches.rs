//! Which resources a client watches, and which of them have changed.
//!
//! The server polls each resource, and checks it against the current roots each time. So even if something was renamed,
//! replaced, linked or removed from the roots, nothing outside is seen, and no name is opened without a guard. The
//! number of resources is limited, and one poll costs one `openat2` and one `fstat` per resource. It works on every
//! file system, and holds no kernel resources between polls.
//!
//! Both kinds of clients use this: a legacy session has one for its subscriptions (`telling.rs`), a modern
//! `subscriptions/listen` has one for as long as it is open (`listening.rs`).

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rmcp::ErrorData;
use rootward_core::{FileKind, Version};
use rootward_server::{Access, ROOTS_URI, Roots};

use super::decide;

/// How many resources a client can watch.
pub(crate) const MOST_WATCHES: usize = 64;

/// The time between two polls.
pub(crate) const BETWEEN_LOOKS: Duration = Duration::from_millis(500);

/// The resources that a client watches.
#[derive(Clone, Default, Debug)]
pub(crate) struct Watches {
    seen: Arc<Mutex<BTreeMap<String, Seen>>>,
}

/// The state of a resource at the last poll.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Seen {
    /// A file or directory with this version; `None` if it no longer exists.
    File(Option<Version>),
    /// The roots resource, by generation.
    Roots(u64),
}

impl Watches {
    /// Starts watching a resource, which must exist and be readable.
    pub(crate) fn add(&self, roots: &Roots, uri: &str) -> Result<(), ErrorData> {
        let now = if uri == ROOTS_URI { Seen::Roots(roots.generation()) } else { first(roots, uri)? };
        let mut seen = self.seen();
        if seen.len() >= MOST_WATCHES && !seen.contains_key(uri) {
            let sentence = format!("{MOST_WATCHES} resources are watched already: unsubscribe from one of them first");
            return Err(ErrorData::invalid_params(sentence, None));
        }
        seen.insert(uri.to_owned(), now);
        Ok(())
    }

    /// Stops watching a resource.
    pub(crate) fn remove(&self, uri: &str) {
        self.seen().remove(uri);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.seen().is_empty()
    }

    /// What has changed since the last poll. May block.
    fn look(&self, roots: &Roots) -> Vec<String> {
        let watched: Vec<(String, Seen)> = self.seen().iter().map(|(uri, seen)| (uri.clone(), *seen)).collect();
        let mut changed = Vec::new();
        for (uri, before) in watched {
            let now = match before {
                Seen::Roots(_) => Some(Seen::Roots(roots.generation())),
                Seen::File(_) => again(roots, &uri),
            };
            let Some(now) = now.filter(|now| *now != before) else { continue };
            // Do not report resources that were removed or added again in the meantime.
            if let Some(seen) = self.seen().get_mut(&uri).filter(|seen| **seen == before) {
                *seen = now;
                changed.push(uri);
            }
        }
        changed
    }

    /// Waits until something has changed. `roots` returns the current roots; while they are not known, nothing is
    /// polled.
    pub(crate) async fn changed<F: Future<Output = Option<Roots>>>(&self, roots: impl Fn() -> F) -> Vec<String> {
        loop {
            tokio::time::sleep(BETWEEN_LOOKS).await;
            let Some(roots) = roots().await else { continue };
            let changed = self.changed_since(roots).await;
            if !changed.is_empty() {
                return changed;
            }
        }
    }

    /// What has changed since the last poll.
    pub(crate) async fn changed_since(&self, roots: Roots) -> Vec<String> {
        let watches = self.clone();
        // On its own thread, because a file system may not respond.
        tokio::task::spawn_blocking(move || watches.look(&roots)).await.unwrap_or_default()
    }

    fn seen(&self) -> MutexGuard<'_, BTreeMap<String, Seen>> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The first poll, whose decision is recorded.
fn first(roots: &Roots, uri: &str) -> Result<Seen, ErrorData> {
    let grant = decide(roots, uri)?;
    let told = |error: rootward_server::GrantError| super::told(error.into(), uri);
    match grant.kind() {
        Some(FileKind::File | FileKind::Directory) => Ok(Seen::File(grant.version().map_err(told)?)),
        // Opening it tells why it cannot be watched.
        _ => Err(grant.open().err().map_or_else(|| ErrorData::resource_not_found("nothing to watch", None), told)),
    }
}

/// A later poll; `None` if the resource may not be read now.
fn again(roots: &Roots, uri: &str) -> Option<Seen> {
    // SECURITY: do not report a resource that is no longer shared or now leads outside
    // (test: a_subscription_does_not_report_what_is_no_longer_shared)
    let grant = roots.guard().check(uri, Access::READ).ok()?;
    match grant.kind() {
        None | Some(FileKind::File | FileKind::Directory) => grant.version().ok().map(Seen::File),
        Some(FileKind::Link | FileKind::Special) => None,
    }
}
