//! The user's yes, without which nothing is shared: once, for this session, or always.
//!
//! Asking is the host's: it knows how. What it was answered, it gives to [`Consents`], which puts each yes on record before it
//! counts, remembers those for a session, and saves those for always in the [`Store`]. Each can be taken back.

use std::path::{Path, PathBuf};

use rootward_core::{Access, Root, RootChange, RootSet, Validation, WhyRefused, Yes};
use rootward_protocol::{RootRefusal, RootRefusalKind};

use crate::store::{Audience, Document, Kept, Record, SavedRoot, Store, StoreError, YesOnRecord, change_event};

/// What somebody would like to have.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Wish {
    /// The directory or file: absolute, without links.
    pub path: PathBuf,
    /// What it is wanted for.
    pub access: Access,
    /// The client or server that is to have it; all, where it is none.
    pub peer: Option<String>,
}

/// A wish that was granted. Not to be copied: a yes that is meant once is used once. Only [`Consents`] makes one.
#[derive(PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub struct Permit {
    /// What was wished for.
    pub wish: Wish,
    /// For how long.
    pub yes: Yes,
}

/// The yeses of one session. It ends with this value.
#[derive(Debug, Default)]
pub struct Consents {
    session: Vec<Wish>,
}

impl Wish {
    /// A wish for the directory or file that a URI names, if it can be shared. The error converts to the error objects of the protocol:
    /// `Invalid root URI` and `Root access denied`. `home` is the user's own.
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

    /// Whether granting `self` grants `other`, too.
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
    /// What was said yes to for this session.
    #[cfg(feature = "provider")]
    pub(crate) fn session(&self) -> &[Wish] {
        &self.session
    }

    /// The yes that covers a wish; where there is none, the user has to be asked.
    pub fn given(&self, wish: &Wish, kept: &Kept) -> Option<Yes> {
        // The deepest saved root decides: what is shared less below a root was meant so.
        let saved = kept.governing(&wish.path, wish.peer.as_deref());
        // SECURITY: a yes to one peer is none to another, nor one to more access
        // (test: a_yes_covers_what_it_was_given_for)
        if saved.is_some_and(|access| access.contains(wish.access)) {
            return Some(Yes::Always);
        }
        self.session.iter().any(|given| given.covers(wish)).then_some(Yes::Session)
    }

    /// Takes the user's yes: puts it on record, and keeps it for as long as it was meant.
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

    /// Takes back what was said for this path and peer, in this session and for always; says how much that was. Where a root is
    /// shared with others, too, it stays shared with them.
    pub fn withdraw_ambient(
        &mut self,
        path: &Path,
        peer: Option<&str>,
        store: &Store,
        record: &Record<'_>,
    ) -> Result<usize, StoreError> {
        let is_meant = |wish: &Wish| wish.path == path && wish.peer.as_deref() == peer;
        let (taken, kept): (Vec<Wish>, Vec<Wish>) = self.session.drain(..).partition(is_meant);
        // Less is shared from here on, whether or not the rest can be done.
        self.session = kept;
        for wish in &taken {
            let event = change_event(RootChange::Remove, &wish.as_root(), Yes::Session, record);
            record.audit.record_change(&event).map_err(StoreError::Record)?;
        }
        let saved = store.edit_ambient(record, |document| Ok::<_, StoreError>(withdraw(document, path, peer)))?;
        Ok(taken.len() + saved)
    }
}

/// Saves a wish: as a root of its own, or as more access to the one that is there for the same peer.
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

/// Takes a path back from a peer: out of the entries that name it, and by an entry that gives it nothing where the path is shared
/// with all. Without a peer, takes back what is for all. Gives back how many entries that changed.
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
        // SECURITY: without an entry of its own the peer would have what all have, which may be more
        // (test: a_yes_is_taken_back_from_one_and_stays_for_others)
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
        // Another session knows nothing of it.
        assert_eq!(given(&Consents::default(), &asked), None);
        consents.give_ambient(asked.clone(), Yes::Always, &store, &record).unwrap();
        assert_eq!(given(&Consents::default(), &asked), Some(Yes::Always));
        assert_eq!(given(&Consents::default(), &wish("/p", Access::READ, Some("editor"))), None);
        // More access for the same peer is the same root.
        consents.give_ambient(wish("/p", Access::WRITE, Some("git")), Yes::Always, &store, &record).unwrap();
        let kept = store.load_ambient().unwrap();
        assert_eq!((kept.roots.len(), kept.roots[0].access), (1, Access::READ | Access::WRITE));
        // Taken back, here and for good.
        assert_eq!(consents.withdraw_ambient(Path::new("/p"), Some("git"), &store, &record).unwrap(), 2);
        assert_eq!(given(&consents, &asked), None);
    }

    #[test]
    fn a_yes_is_taken_back_from_one_and_stays_for_others() {
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
        // What is shared with all is taken from one by an entry of its own.
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

    /// A log that cannot be written: no yes counts.
    #[test]
    fn a_yes_that_is_not_on_record_is_none() {
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
