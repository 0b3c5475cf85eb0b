//! What the user consented to, found on disk for each server.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rootward_core::{Origin, PlacedRoot, Root, RootSet, Validation};

use crate::consent::{Consents, Wish};
use crate::store::{Audience, Kept};

/// Everything that is shared: what is saved, and the consents for this session. It cannot contain anything else.
#[derive(Clone, Debug, Default)]
pub struct Shares {
    kept: Arc<Kept>,
    session: Vec<Wish>,
    home: Option<PathBuf>,
}

impl Shares {
    /// The current state of these two. `home` is the user's own.
    pub fn new(kept: Arc<Kept>, consents: &Consents, home: Option<PathBuf>) -> Shares {
        Shares { kept, session: consents.session().to_vec(), home }
    }

    /// The name to look a server up by: one that no entry names sees the same as a server without a name.
    fn known_as<'n>(&self, name: Option<&'n str>) -> Option<&'n str> {
        let names = |audience: &Audience| audience.names().is_some_and(|_| audience.has(name));
        name.filter(|_| self.kept.roots.iter().any(|root| names(&root.audience)))
    }
}

/// One look at the disk for many servers: servers that see the same share one lookup.
#[derive(Debug)]
pub(super) struct Look<'s> {
    shares: &'s Shares,
    kept: HashMap<Option<String>, RootSet>,
}

impl Look<'_> {
    pub(super) fn new(shares: &Shares) -> Look<'_> {
        Look { shares, kept: HashMap::new() }
    }

    /// The current roots for a server: saved, for this session, and for this connection only (`once`).
    pub(super) fn set_ambient(&mut self, name: Option<&str>, once: &[Wish]) -> RootSet {
        let shares = self.shares;
        let home = shares.home.as_deref();
        let known_as = shares.known_as(name);
        let find = || shares.kept.set_ambient(known_as, home);
        let kept = self.kept.entry(known_as.map(str::to_owned)).or_insert_with(find);
        // SECURITY: consent for one server must not reach another
        // (test: consent_for_one_server_is_not_shared_with_others)
        let mine = |wish: &&Wish| wish.peer.is_none() || wish.peer.as_deref() == name;
        let wishes: Vec<&Wish> = shares.session.iter().filter(mine).chain(once).collect();
        if wishes.is_empty() {
            return kept.clone();
        }
        let mut placed = kept.roots().to_vec();
        for wish in wishes {
            add_ambient(&mut placed, wish, home);
        }
        RootSet::new(placed, kept.refused().iter().cloned())
    }
}

/// Adds a granted wish: as a new root, or as more access to the existing one.
fn add_ambient(placed: &mut Vec<PlacedRoot>, wish: &Wish, home: Option<&Path>) {
    // If it is missing, or a link now leads elsewhere, it does not count.
    let Ok(found) = wish.as_root().find_ambient(home) else { return };
    match placed.iter_mut().find(|root| root.place == found.place) {
        Some(known) => known.root.access = known.root.access | found.root.access,
        None => placed.push(found),
    }
}

/// The part of a set that is still where it was found, and not replaced by a link.
pub(super) fn still_there_ambient(set: &RootSet) -> RootSet {
    // The host that vouches for a place has judged it.
    let named = |root: &PlacedRoot| Root { path: root.place.clone(), origin: Origin::Flag, ..root.root.clone() };
    let found = RootSet::place_ambient(set.roots().iter().map(named), &Validation::new(None));
    let is_there =
        |root: &&PlacedRoot| found.roots().iter().any(|now| now.place == root.place && now.kind == root.kind);
    RootSet::new(set.roots().iter().filter(is_there).cloned(), [])
}
