//! What the user said yes to, found on disk for one server after another.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rootward_core::{Origin, PlacedRoot, Root, RootSet, Validation};

use crate::consent::{Consents, Wish};
use crate::store::{Audience, Kept};

/// Everything that is shared: what is saved, and what was said yes to for this session. Nothing else can be in it.
#[derive(Clone, Debug, Default)]
pub struct Shares {
    kept: Arc<Kept>,
    session: Vec<Wish>,
    home: Option<PathBuf>,
}

impl Shares {
    /// What these two say now. `home` is the user's own.
    pub fn new(kept: Arc<Kept>, consents: &Consents, home: Option<PathBuf>) -> Shares {
        Shares { kept, session: consents.session().to_vec(), home }
    }

    /// The name by which a server is looked up: one that no entry names sees what those without a name see.
    fn known_as<'n>(&self, name: Option<&'n str>) -> Option<&'n str> {
        let names = |audience: &Audience| audience.names().is_some_and(|_| audience.has(name));
        name.filter(|_| self.kept.roots.iter().any(|root| names(&root.audience)))
    }
}

/// One look at the disk for many servers: each that sees the same as another costs nothing.
#[derive(Debug)]
pub(super) struct Look<'s> {
    shares: &'s Shares,
    kept: HashMap<Option<String>, RootSet>,
}

impl Look<'_> {
    pub(super) fn new(shares: &Shares) -> Look<'_> {
        Look { shares, kept: HashMap::new() }
    }

    /// The roots in force that a server is meant to have: saved, for this session, and for this connection alone (`once`).
    pub(super) fn set_ambient(&mut self, name: Option<&str>, once: &[Wish]) -> RootSet {
        let shares = self.shares;
        let home = shares.home.as_deref();
        let known_as = shares.known_as(name);
        let find = || shares.kept.set_ambient(known_as, home);
        let kept = self.kept.entry(known_as.map(str::to_owned)).or_insert_with(find);
        // SECURITY: what was said for one server is told to no other (test: a_yes_for_one_is_told_to_no_other)
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

/// Adds a wish that was granted: a root of its own, or more access to the one that is there.
fn add_ambient(placed: &mut Vec<PlacedRoot>, wish: &Wish, home: Option<&Path>) {
    // One that is not there, or where a link leads elsewhere by now, is not in force.
    let Ok(found) = wish.as_root().find_ambient(home) else { return };
    match placed.iter_mut().find(|root| root.place == found.place) {
        Some(known) => known.root.access = known.root.access | found.root.access,
        None => placed.push(found),
    }
}

/// What of a set is still where it was found: there, and not replaced by a link.
pub(super) fn in_force_ambient(set: &RootSet) -> RootSet {
    // Whoever vouches for a place has judged it.
    let named = |root: &PlacedRoot| Root { path: root.place.clone(), origin: Origin::Flag, ..root.root.clone() };
    let found = RootSet::place_ambient(set.roots().iter().map(named), &Validation::new(None));
    let is_there =
        |root: &&PlacedRoot| found.roots().iter().any(|now| now.place == root.place && now.kind == root.kind);
    RootSet::new(set.roots().iter().filter(is_there).cloned(), [])
}
