//! Which resources a client wants to hear of, and what has changed among them.
//!
//! A resource is looked at again and again, each time by a decision of the current roots: whatever was renamed, replaced, linked or taken
//! out of the roots since, nothing outside is seen, and no name is opened without a guard. The number of resources is limited, and one look
//! costs each of them one `openat2` and one `fstat`. It works on every file system, and holds nothing of the kernel's between looks.
//!
//! This is the source of events for both eras: a legacy session has one for its subscriptions (`telling.rs`), a modern
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

/// How long between two looks.
pub(crate) const BETWEEN_LOOKS: Duration = Duration::from_millis(500);

/// The resources that a client wants to hear of.
#[derive(Clone, Default, Debug)]
pub(crate) struct Watches {
    seen: Arc<Mutex<BTreeMap<String, Seen>>>,
}

/// What a resource was when it was last looked at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Seen {
    /// A file or directory in this state; none where there is nothing any more.
    File(Option<Version>),
    /// The roots themselves, by generation.
    Roots(u64),
}

impl Watches {
    /// Begins to watch a resource, which must be there and readable.
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

    /// Ends to watch a resource.
    pub(crate) fn remove(&self, uri: &str) {
        self.seen().remove(uri);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.seen().is_empty()
    }

    /// What has changed since the last look. May block.
    fn look(&self, roots: &Roots) -> Vec<String> {
        let watched: Vec<(String, Seen)> = self.seen().iter().map(|(uri, seen)| (uri.clone(), *seen)).collect();
        let mut changed = Vec::new();
        for (uri, before) in watched {
            let now = match before {
                Seen::Roots(_) => Some(Seen::Roots(roots.generation())),
                Seen::File(_) => again(roots, &uri),
            };
            let Some(now) = now.filter(|now| *now != before) else { continue };
            // Nobody is told of what was removed or added again meanwhile.
            if let Some(seen) = self.seen().get_mut(&uri).filter(|seen| **seen == before) {
                *seen = now;
                changed.push(uri);
            }
        }
        changed
    }

    /// Waits until something has changed. `roots` tells the current ones; nothing is looked at while they are not known.
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

    /// What has changed since the last look.
    pub(crate) async fn changed_since(&self, roots: Roots) -> Vec<String> {
        let watches = self.clone();
        // Apart, because a file system may not answer.
        tokio::task::spawn_blocking(move || watches.look(&roots)).await.unwrap_or_default()
    }

    fn seen(&self) -> MutexGuard<'_, BTreeMap<String, Seen>> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The first look, whose decision goes on record.
fn first(roots: &Roots, uri: &str) -> Result<Seen, ErrorData> {
    let grant = decide(roots, uri)?;
    let told = |error: rootward_server::GrantError| super::told(error.into(), uri);
    match grant.kind() {
        Some(FileKind::File | FileKind::Directory) => Ok(Seen::File(grant.version().map_err(told)?)),
        // Reading says why there is nothing to watch.
        _ => Err(grant.open().err().map_or_else(|| ErrorData::resource_not_found("nothing to watch", None), told)),
    }
}

/// A later look; none where the resource may not be read now.
fn again(roots: &Roots, uri: &str) -> Option<Seen> {
    // SECURITY: what is no longer shared, or leads outside by now, is not told of
    // (test: a_subscription_tells_nothing_of_what_is_no_longer_shared)
    let grant = roots.guard().check(uri, Access::READ).ok()?;
    match grant.kind() {
        None | Some(FileKind::File | FileKind::Directory) => grant.version().ok().map(Seen::File),
        Some(FileKind::Link | FileKind::Special) => None,
    }
}
