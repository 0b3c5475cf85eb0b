//! The user's consent, without which nothing is shared: once, for this session, or always.
//!
//! The host asks the user: it knows how. It passes the answer to [`Consents`], which records each consent before it
//! counts, remembers those for a session, and saves those for always in the [`Store`]. Each can be withdrawn.

use std::path::{Path, PathBuf};

use rootward_core::{Access, Root, RootChange, RootSet, Validation, WhyRefused, Yes};
use rootward_protocol::{RootRefusal, RootRefusalKind};

use crate::store::{Audience, Document, Kept, Record, SavedRoot, Store, StoreError, YesOnRecord, change_event};

/// A request for access.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Wish {
    /// The directory or file: absolute, without links.
    pub path: PathBuf,
    /// The requested access.
    pub access: Access,
    /// The client or server that gets it; everybody if `None`.
    pub peer: Option<String>,
}

/// A granted wish. It cannot be copied: a consent for once is used once. Only [`Consents`] creates it.
#[derive(PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub struct Permit {
    /// The granted wish.
    pub wish: Wish,
    /// For how long.
    pub yes: Yes,
}

/// The consents of one session, which ends with this value.
#[derive(Debug, Default)]
pub struct Consents {
    session: Vec<Wish>,
}

impl Wish {
    /// A wish for the directory or file that a URI names, if it can be shared. The error converts to the protocol's
    /// error objects: `Invalid root URI` and `Root access denied`. `home` is the user's own.
    ///
    /// ```
    /// use rootward_client::consent::Wish;
    /// use rootward_core::Access;
    ///
    /// let refused = Wish::of_uri_ambient("http://example.com/path", Access::READ, None, None).unwrap_err();
    /// assert_eq!((refused.code(), refused.message()), (-32602, "Invalid root URI"));
    /// let refused = Wish::of_uri_ambient("file:///etc", Access::READ, None, None).unwrap_err();
    /// assert_eq!((refused.code(), refused.message()), (-32603, "Root access denied"));
    /// assert_eq!(refused.data()["uri"], "file:///etc");
    /// ```
    pub fn of_uri_ambient(
        uri: &str,
        access: Access,
        peer: Option<String>,
        home: Option<&Path>,
    ) -> Result<Wish, RootRefusal> {
        let refused = |kind, reason: String| RootRefusal { kind, uri: uri.to_owned(), reason };
        let root =
            Root::from_client(uri, home).map_err(|error| refused(RootRefusalKind::InvalidUri, error.reason()))?;
        let denied = |reason: &WhyRefused| refused(RootRefusalKind::AccessDenied, reason.to_string());
        let found = RootSet::place_ambient([root], &Validation::new(home.map(Path::to_owned)));
        match (found.roots().first(), found.refused().first()) {
            (Some(placed), _) => Ok(Wish { path: placed.place.clone(), access, peer }),
            (None, Some(refusal)) => Err(denied(&refusal.reason)),
            (None, None) => Err(denied(&WhyRefused::Missing)),
        }
    }

    /// Whether granting `self` also grants `other`.
    fn covers(&self, other: &Wish) -> bool {
        let for_them = self.peer.is_none() || self.peer == other.peer;
        for_them && other.path.starts_with(&self.path) && self.access.contains(other.access)
    }

    fn audience(&self) -> Audience {
        Audience::of(self.peer.clone())
    }

    pub(crate) fn as_root(&self) -> SavedRoot {
        SavedRoot { audience: self.audience(), ..SavedRoot::new(&self.path, self.access) }
    }
}

impl Consents {
    /// The consents for this session.
    #[cfg(feature = "provider")]
    pub(crate) fn session(&self) -> &[Wish] {
        &self.session
    }

    /// The consent that covers a wish; if `None`, the user has to be asked.
    pub fn given(&self, wish: &Wish, kept: &Kept) -> Option<Yes> {
        // The deepest saved root decides: if it gives less than a root above, that was intended.
        let saved = kept.governing(&wish.path, wish.peer.as_deref());
        // SECURITY: consent for one peer does not cover another peer, nor more access
        // (test: a_yes_covers_what_it_was_given_for)
        if saved.is_some_and(|access| access.contains(wish.access)) {
            return Some(Yes::Always);
        }
        self.session.iter().any(|given| given.covers(wish)).then_some(Yes::Session)
    }

    /// Records the user's consent, and keeps it for as long as it was meant.
    pub fn give_ambient(
        &mut self,
        wish: Wish,
        yes: Yes,
        store: &Store,
        record: &Record<'_>,
    ) -> Result<Permit, StoreError> {
        match yes {
            Yes::Always => store.edit_ambient(record, |document| {
                save(document, &wish, record);
                Ok::<_, StoreError>(())
            })?,
            Yes::Once | Yes::Session => {
                let event = change_event(RootChange::Add, &wish.as_root(), yes, record);
                record.audit.record_change(&event).map_err(StoreError::Record)?;
            }
        }
        if yes == Yes::Session && !self.session.contains(&wish) {
            self.session.push(wish.clone());
        }
        Ok(Permit { wish, yes })
    }

    /// Withdraws consent for this path and peer, both for this session and for always; returns how many consents
    /// that removed. A root that is also shared with others stays shared with them.
    pub fn withdraw_ambient(
        &mut self,
        path: &Path,
        peer: Option<&str>,
        store: &Store,
        record: &Record<'_>,
    ) -> Result<usize, StoreError> {
        let is_meant = |wish: &Wish| wish.path == path && wish.peer.as_deref() == peer;
        let (taken, kept): (Vec<Wish>, Vec<Wish>) = self.session.drain(..).partition(is_meant);
        // From here on less is shared, even if the rest fails.
        self.session = kept;
        for wish in &taken {
            let event = change_event(RootChange::Remove, &wish.as_root(), Yes::Session, record);
            record.audit.record_change(&event).map_err(StoreError::Record)?;
        }
        let saved = store.edit_ambient(record, |document| Ok::<_, StoreError>(withdraw(document, path, peer)))?;
        Ok(taken.len() + saved)
    }
}

/// Saves a wish: as a new root, or as more access to the existing root for the same peer.
fn save(document: &mut Document, wish: &Wish, record: &Record<'_>) {
    let audience = wish.audience();
    let known = document.roots().iter().position(|root| root.path == wish.path && root.audience == audience);
    match known {
        Some(position) => {
            document.grant(position, document.roots()[position].access | wish.access);
            document.give(position, &YesOnRecord { by: record.requester.to_owned(), at: record.time });
        }
        None => document.add(&wish.as_root().given(record)),
    }
}

/// Withdraws a path from a peer: removes the peer from the entries that name it, and adds an entry without access if
/// the path is shared with all. Without a peer, withdraws what is for all. Returns how many entries changed.
pub fn withdraw(document: &mut Document, path: &Path, peer: Option<&str>) -> usize {
    let Some(peer) = peer else { return withdraw_from_all(document, path) };
    let at_path = |root: &&SavedRoot| root.path == path;
    let for_all = document.roots().iter().filter(at_path).find(|root| root.audience == Audience::All).cloned();
    let nothing = |root: &SavedRoot| root.access.is_empty() && root.audience.names() == Some(&[peer.to_owned()]);
    let mut changed = 0;
    let mut has_nothing = false;
    for position in (0..document.roots().len()).rev() {
        let root = &document.roots()[position];
        let Audience::Only(names) = &root.audience else { continue };
        if root.path != path || !names.iter().any(|name| name == peer) {
            continue;
        }
        if for_all.is_some() && nothing(root) && !has_nothing {
            has_nothing = true;
            continue;
        }
        let others: Vec<String> = names.iter().filter(|name| *name != peer).cloned().collect();
        if others.is_empty() {
            document.remove(position);
        } else {
            document.share_with(position, &Audience::Only(others));
        }
        changed += 1;
    }
    if let Some(for_all) = for_all.filter(|_| !has_nothing) {
        // SECURITY: without its own entry, the peer would get what everybody gets, which may be more
        // (test: consent_withdrawn_from_one_peer_stays_for_others)
        document.add(&SavedRoot { access: Access::NONE, audience: Audience::of([peer.to_owned()]), ..for_all });
        changed += 1;
    }
    changed
}

fn withdraw_from_all(document: &mut Document, path: &Path) -> usize {
    let is_meant = |root: &SavedRoot| root.path == path && root.audience == Audience::All;
    let positions: Vec<usize> = (0..document.roots().len()).filter(|at| is_meant(&document.roots()[*at])).collect();
    for position in positions.iter().rev() {
        document.remove(*position);
    }
    positions.len()
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use rootward_audit::AuditLines;

    use super::*;

    fn wish(path: &str, access: Access, peer: Option<&str>) -> Wish {
        Wish { path: path.into(), access, peer: peer.map(str::to_owned) }
    }

    #[test]
    fn a_yes_covers_what_it_was_given_for() {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::new(directory.path().join("roots.toml"), None);
        let log = AuditLines::new(Vec::new());
        let record = Record { audit: &log, requester: "host", time: SystemTime::UNIX_EPOCH };
        let mut consents = Consents::default();
        let asked = wish("/p", Access::READ, Some("git"));
        let permit = consents.give_ambient(asked.clone(), Yes::Once, &store, &record).unwrap();
        assert_eq!((permit.yes, consents.given(&asked, &Kept::default())), (Yes::Once, None));
        consents.give_ambient(asked.clone(), Yes::Session, &store, &record).unwrap();
        let given = |consents: &Consents, wish: &Wish| consents.given(wish, &store.load_ambient().unwrap());
        assert_eq!(given(&consents, &asked), Some(Yes::Session));
        assert_eq!(given(&consents, &wish("/p/below", Access::READ, Some("git"))), Some(Yes::Session));
        for other in [
            wish("/p", Access::READ_WRITE, Some("git")),
            wish("/p", Access::READ, Some("editor")),
            wish("/p", Access::READ, None),
            wish("/pp", Access::READ, Some("git")),
            wish("/", Access::READ, Some("git")),
        ] {
            assert_eq!(given(&consents, &other), None, "{other:?}");
        }
        // Another session does not know about it.
        assert_eq!(given(&Consents::default(), &asked), None);
        consents.give_ambient(asked.clone(), Yes::Always, &store, &record).unwrap();
        assert_eq!(given(&Consents::default(), &asked), Some(Yes::Always));
        assert_eq!(given(&Consents::default(), &wish("/p", Access::READ, Some("editor"))), None);
        // More access for the same peer extends the same root.
        consents.give_ambient(wish("/p", Access::WRITE, Some("git")), Yes::Always, &store, &record).unwrap();
        let kept = store.load_ambient().unwrap();
        assert_eq!((kept.roots.len(), kept.roots[0].access), (1, Access::READ | Access::WRITE));
        // Withdrawn, here and permanently.
        assert_eq!(consents.withdraw_ambient(Path::new("/p"), Some("git"), &store, &record).unwrap(), 2);
        assert_eq!(given(&consents, &asked), None);
    }

    #[test]
    fn consent_withdrawn_from_one_peer_stays_for_others() {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::new(directory.path().join("roots.toml"), None);
        let log = AuditLines::new(Vec::new());
        let record = Record { audit: &log, requester: "host", time: SystemTime::UNIX_EPOCH };
        let both = Audience::of(["git", "editor"].map(str::to_owned));
        let root = SavedRoot { audience: both, ..SavedRoot::new("/p", Access::READ) };
        let add = |document: &mut Document| {
            document.add(&root);
            Ok::<_, StoreError>(())
        };
        store.edit_ambient(&record, add).unwrap();
        let mut consents = Consents::default();
        let mut withdraw = |peer: Option<&str>| {
            consents.withdraw_ambient(Path::new("/p"), peer, &store, &record).unwrap();
            store.load_ambient().unwrap().roots.iter().map(|root| root.audience.clone()).collect::<Vec<_>>()
        };
        assert_eq!(withdraw(None).len(), 1, "it was never for everybody");
        assert_eq!(withdraw(Some("git")), [Audience::of(["editor".to_owned()])]);
        assert_eq!(withdraw(Some("editor")), []);
        // One peer loses what is shared with all through an entry of its own.
        let root = SavedRoot::new("/p", Access::READ);
        let add = |document: &mut Document| {
            document.add(&root);
            Ok::<_, StoreError>(())
        };
        store.edit_ambient(&record, add).unwrap();
        for _ in ["once", "and again"] {
            assert_eq!(withdraw(Some("git")), [Audience::All, Audience::of(["git".to_owned()])]);
        }
        let kept = store.load_ambient().unwrap();
        let given = |peer| kept.governing(Path::new("/p/x"), peer);
        assert_eq!((given(Some("git")), given(Some("editor"))), (Some(Access::NONE), Some(Access::READ)));
    }

    /// If the log cannot be written, no consent counts.
    #[test]
    fn unrecorded_consent_does_not_count() {
        struct Full;
        impl rootward_core::Audit for Full {
            fn record(&self, _: &rootward_core::AuditEvent) -> std::io::Result<()> {
                Err(std::io::ErrorKind::StorageFull.into())
            }
        }
        let directory = tempfile::tempdir().unwrap();
        let store = Store::new(directory.path().join("roots.toml"), None);
        let record = Record { audit: &Full, requester: "host", time: SystemTime::UNIX_EPOCH };
        let mut consents = Consents::default();
        let asked = wish("/p", Access::READ, None);
        for yes in [Yes::Once, Yes::Session, Yes::Always] {
            assert!(consents.give_ambient(asked.clone(), yes, &store, &record).is_err());
            assert_eq!(consents.given(&asked, &store.load_ambient().unwrap()), None);
        }
    }
}
