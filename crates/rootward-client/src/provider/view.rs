//! What one server is told: a list of roots, and the version that its cursors belong to.

use std::path::PathBuf;
use std::sync::Arc;

use rootward_core::{Access, PathStyle, PlacedRoot, RootSet, RootUri};
use rootward_protocol::ContentNumber;

use super::server::{LocalPaths, Locality, RootChoice};

/// One root as sent to a server.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Entry {
    pub(super) uri: String,
    pub(super) name: Option<String>,
    /// Its access.
    pub(super) access: Access,
    /// Its `_meta`, as JSON.
    pub(super) meta: Option<Box<str>>,
}

/// The whole list. Cheap to clone.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum View {
    /// These.
    Known(Arc<[Entry]>),
    /// What is shared is not known, for this reason.
    Unknown(Arc<str>),
}

impl View {
    /// What a server of this locality is told about a set.
    pub(super) fn new(set: &RootSet, locality: Locality, choice: &RootChoice) -> View {
        // SECURITY: remote servers have no business with paths of this machine
        // (test: a_remote_server_gets_no_roots)
        if locality == Locality::Remote(LocalPaths::Withheld) {
            return View::Known(Arc::new([]));
        }
        // SECURITY: a choice removes roots, but must not remove one that closes a part of another root
        // (test: a_choice_does_not_open_what_is_closed_in_it)
        let chosen = |root: &&PlacedRoot| match choice {
            RootChoice::Only(places) => places.contains(&root.place) || closes(root, set, places),
            RootChoice::Consented | RootChoice::HostVouches(_) => true,
        };
        let told = |root: &&PlacedRoot| !root.root.access.is_empty() || lies_in_another(root, set);
        View::Known(set.roots().iter().filter(chosen).filter(told).filter_map(Entry::new).collect())
    }

    /// The version in a cursor. The same list has the same version in every process and every build.
    pub(super) fn version(entries: &[Entry]) -> u64 {
        let mut number = ContentNumber::default();
        for Entry { uri, name, access, meta } in entries {
            number.add(uri);
            number.add_optional(name.as_ref());
            number.add(access.to_string());
            number.add_optional(meta.as_deref());
        }
        number.finish()
    }
}

/// Whether an unchosen root is below a chosen one: it gives less access, and that must not be lost.
fn closes(root: &PlacedRoot, set: &RootSet, places: &[PathBuf]) -> bool {
    let above = set.roots().iter().filter(|other| other.place != root.place && other.holds(&root.place));
    let mut chosen = above.filter(|other| places.contains(&other.place));
    chosen.any(|other| !root.root.access.contains(other.root.access))
}

/// Whether a root without access takes something away from one above. Otherwise, listing it would only point there.
fn lies_in_another(root: &PlacedRoot, set: &RootSet) -> bool {
    let gives = |other: &PlacedRoot| !other.root.access.is_empty();
    set.roots().iter().any(|other| other.place != root.place && other.holds(&root.place) && gives(other))
}

impl Entry {
    /// `None` if the place is not UTF-8 and has no URI.
    fn new(root: &PlacedRoot) -> Option<Entry> {
        // Its real place, not its name: a link may lead elsewhere by the time a server looks.
        let uri = RootUri::from_path(&root.place, PathStyle::NATIVE).ok()?;
        Some(Entry {
            uri: uri.as_str().to_owned(),
            name: Some(root.root.title()),
            access: root.root.access,
            meta: root.root.meta.clone(),
        })
    }
}
