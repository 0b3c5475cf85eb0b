//! Store, consent and watching against a plain model: for any edits, damage and repairs of the file and any changes
//! to the directories, each scan shares exactly the directories that the user consented to and that still exist.

#![expect(clippy::disallowed_methods, reason = "the test changes the files that are scanned")]

use std::fmt::Write;
use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use proptest::prelude::*;
use rootward_audit::AuditLines;
use rootward_core::{Access, RootSet, Yes};

use super::looking::Looking;
use super::seen::{News, Seen, Watching};
use crate::consent::{Consents, Wish};
use crate::store::{Audience, Document, Kept, Record, SavedRoot, Store, StoreError};

const PLACES: [&str; 4] = ["a", "a/inner", "b", "c"];
const PEERS: [Option<&str>; 3] = [None, Some("git"), Some("editor")];
const ACCESS: [Access; 3] = [Access::READ, Access::READ_WRITE, Access::ALL];

#[derive(Clone, Debug)]
enum Step {
    /// The user, through Rootward.
    Give(usize, usize, usize, Yes),
    Withdraw(usize, usize),
    Grant(usize, usize),
    Remove(usize),
    /// Another process, which replaces the file.
    Others(Vec<(usize, usize, usize)>),
    Damage,
    Repair,
    Delete,
    /// The disk.
    Vanish(usize),
    Return(usize),
    Link(usize),
    Replace(usize),
    /// The watcher.
    Look,
}

fn step() -> impl Strategy<Value = Step> {
    let (place, peer, access) = (|| 0..PLACES.len(), || 0..PEERS.len(), || 0..ACCESS.len());
    let yes = prop_oneof![1 => Just(Yes::Once), 1 => Just(Yes::Session), 3 => Just(Yes::Always)];
    prop_oneof![
        4 => (place(), peer(), access(), yes).prop_map(|(at, peer, access, yes)| Step::Give(at, peer, access, yes)),
        1 => (place(), peer()).prop_map(|(at, peer)| Step::Withdraw(at, peer)),
        1 => (place(), access()).prop_map(|(at, access)| Step::Grant(at, access)),
        1 => place().prop_map(Step::Remove),
        1 => prop::collection::vec((place(), peer(), access()), 0..4).prop_map(Step::Others),
        1 => Just(Step::Damage),
        1 => Just(Step::Repair),
        1 => Just(Step::Delete),
        2 => place().prop_map(Step::Vanish),
        2 => place().prop_map(Step::Return),
        2 => place().prop_map(Step::Link),
        1 => place().prop_map(Step::Replace),
        6 => Just(Step::Look),
    ]
}

/// The files, and what the model expects of them.
struct World {
    top: PathBuf,
    store: Store,
    log: AuditLines<io::Sink>,
    consents: Consents,
    /// What the file says, even if it cannot be read.
    file: Vec<SavedRoot>,
    damaged: bool,
    /// What the file said at the last scan that could read it; `None` before the first such scan.
    good: Option<Vec<SavedRoot>>,
    session: Vec<Wish>,
    looking: Looking,
    shown: Option<Seen>,
}

fn saved(path: PathBuf, peer: usize, access: usize) -> SavedRoot {
    let audience = Audience::of(PEERS[peer].map(str::to_owned));
    SavedRoot { audience, ..SavedRoot::new(path, ACCESS[access]) }
}

impl World {
    fn new(top: &Path) -> World {
        for place in PLACES {
            fs::create_dir(top.join(place)).unwrap();
        }
        fs::create_dir(top.join("elsewhere")).unwrap();
        let store = Store::new(top.join("settings/roots.toml"), None);
        World {
            top: top.to_owned(),
            looking: Looking::new_ambient(store.clone()),
            store,
            log: AuditLines::new(io::sink()),
            consents: Consents::default(),
            file: Vec::new(),
            damaged: false,
            good: None,
            session: Vec::new(),
            shown: None,
        }
    }

    fn path(&self, at: usize) -> PathBuf {
        self.top.join(PLACES[at])
    }

    fn wish(&self, at: usize, peer: usize, access: usize) -> Wish {
        Wish { path: self.path(at), access: ACCESS[access], peer: PEERS[peer].map(str::to_owned) }
    }

    /// Edits through Rootward; refused while the file is damaged.
    fn edit(&mut self, edit: impl FnOnce(&mut Document)) {
        let record = Record { audit: &self.log, requester: "model", time: SystemTime::UNIX_EPOCH };
        let edited = self.store.edit_ambient(&record, |document| {
            edit(document);
            Ok::<_, StoreError>(())
        });
        assert_eq!(edited.is_err(), self.damaged);
    }

    fn take(&mut self, step: &Step) {
        let path = |at: &usize| self.top.join(PLACES[*at]);
        match step {
            Step::Give(at, peer, access, yes) => self.give(*at, *peer, *access, *yes),
            Step::Withdraw(at, peer) => self.withdraw(*at, *peer),
            Step::Grant(at, access) => {
                let position = self.file.iter().position(|root| root.path == path(at));
                let Some(position) = position else { return };
                self.edit(|document| document.grant(position, ACCESS[*access]));
                if !self.damaged {
                    self.file[position].access = ACCESS[*access];
                }
            }
            Step::Remove(at) => {
                let Some(position) = self.file.iter().position(|root| root.path == path(at)) else { return };
                self.edit(|document| document.remove(position));
                if !self.damaged {
                    self.file.remove(position);
                }
            }
            Step::Others(entries) => {
                let roots = entries.iter().map(|(at, peer, access)| saved(path(at), *peer, *access)).collect();
                self.file = roots;
                self.damaged = false;
                self.write(&self.text());
            }
            Step::Damage => {
                self.damaged = true;
                self.write(&(self.text() + "\n[[root]]\npath = 1\n"));
            }
            Step::Repair => {
                self.damaged = false;
                self.write(&self.text());
            }
            Step::Delete => {
                let _ = fs::remove_file(self.store.file());
                self.file.clear();
                self.damaged = false;
            }
            Step::Vanish(at) => self.clear(*at),
            Step::Return(at) => {
                self.clear(*at);
                let _ = fs::create_dir(path(at));
            }
            Step::Link(at) => {
                let path = path(at);
                self.clear(*at);
                let _ = symlink(self.top.join("elsewhere"), path);
            }
            Step::Replace(at) => {
                let aside = self.top.join("aside");
                if fs::symlink_metadata(path(at)).is_ok_and(|found| found.is_dir()) {
                    fs::create_dir(&aside).unwrap();
                    fs::rename(path(at), self.top.join("gone")).unwrap();
                    fs::rename(&aside, path(at)).unwrap();
                    fs::remove_dir_all(self.top.join("gone")).unwrap();
                }
            }
            Step::Look => unreachable!("the caller handles this step"),
        }
    }

    fn give(&mut self, at: usize, peer: usize, access: usize, yes: Yes) {
        let wish = self.wish(at, peer, access);
        let record = Record { audit: &self.log, requester: "model", time: SystemTime::UNIX_EPOCH };
        let given = self.consents.give_ambient(wish.clone(), yes, &self.store, &record);
        assert_eq!(given.is_err(), self.damaged && yes == Yes::Always);
        match yes {
            Yes::Once => {}
            Yes::Session => self.session.push(wish),
            Yes::Always if self.damaged => {}
            Yes::Always => {
                let new = saved(wish.path, peer, access).given(&record);
                let same = |root: &&mut SavedRoot| root.path == new.path && root.audience == new.audience;
                match self.file.iter_mut().find(same) {
                    Some(root) => (root.access, root.given) = (root.access | new.access, new.given),
                    None => self.file.push(new),
                }
            }
        }
    }

    fn withdraw(&mut self, at: usize, peer: usize) {
        let (path, peer) = (self.path(at), PEERS[peer]);
        let record = Record { audit: &self.log, requester: "model", time: SystemTime::UNIX_EPOCH };
        let taken = self.consents.withdraw_ambient(&path, peer, &self.store, &record);
        assert_eq!(taken.is_err(), self.damaged);
        self.session.retain(|wish| wish.path != path || wish.peer.as_deref() != peer);
        if !self.damaged {
            // The store's own model checks the effect on a file.
            self.file = self.store.load_ambient().unwrap().roots;
        }
    }

    fn clear(&self, at: usize) {
        let path = self.path(at);
        let _ = fs::remove_file(&path);
        let _ = fs::remove_dir_all(&path);
    }

    /// The file as another process writes it.
    fn text(&self) -> String {
        let mut text = "version = 1\n".to_owned();
        for root in &self.file {
            let names: Vec<String> =
                root.audience.names().unwrap_or_default().iter().map(|name| format!("'{name}'")).collect();
            let audience = if names.is_empty() { String::new() } else { format!("for = [{}]\n", names.join(", ")) };
            let access = root.access.to_string();
            let access = if root.access.is_empty() { "none" } else { &access };
            let yes = root.given.as_ref().map_or("", |_| "yes = 1970-01-01T00:00:00Z\nby = 'model'\n");
            let path = root.path.display();
            write!(text, "[[root]]\npath = '{path}'\naccess = '{access}'\n{audience}{yes}").unwrap();
        }
        text
    }

    fn write(&self, text: &str) {
        let file = self.store.file();
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file.with_extension("other"), text).unwrap();
        fs::rename(file.with_extension("other"), file).unwrap();
    }

    /// Scans, as the thread does after its debounce.
    fn look(&mut self) -> Vec<News> {
        self.looking.look_ambient(&Watching::Events);
        if !self.damaged {
            self.good = Some(self.file.clone());
        }
        let Some((seen, news)) = self.looking.tell() else { return Vec::new() };
        self.shown = Some(seen.clone());
        news
    }

    /// Whether a directory and all its parents exist.
    fn is_there(&self, path: &Path) -> bool {
        let is_directory = |path: &Path| fs::symlink_metadata(path).is_ok_and(|found| found.is_dir());
        path.ancestors().take_while(|above| *above != self.top).all(is_directory)
    }

    /// What is known about the user's consent.
    fn known(&self) -> Kept {
        Kept::from(self.good.clone().unwrap_or_default())
    }

    /// What a peer should get, place by place.
    fn expected(&self, peer: Option<&str>) -> Vec<(PathBuf, Access)> {
        let kept = self.known();
        let mut expected: Vec<(PathBuf, Access)> = Vec::new();
        for root in kept.for_peer(peer).filter(|root| self.is_there(&root.path)) {
            let above = |other: &SavedRoot| other.path != root.path && root.path.starts_with(&other.path);
            if root.access.is_empty() && !kept.for_peer(peer).any(above) {
                continue;
            }
            match expected.iter_mut().find(|(path, _)| *path == root.path) {
                Some((_, access)) => *access = *access & root.access,
                None => expected.push((root.path.clone(), root.access)),
            }
        }
        expected
    }
}

fn places(set: &RootSet) -> Vec<(PathBuf, Access)> {
    set.roots().iter().map(|found| (found.place.clone(), found.root.access)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn exactly_the_consented_and_existing_roots_are_shared(steps in prop::collection::vec(step(), 0..40)) {
        let directory = tempfile::tempdir().unwrap();
        let mut world = World::new(&directory.path().canonicalize().unwrap());
        let mut current: Vec<Vec<(PathBuf, Access)>> = vec![Vec::new(); PEERS.len()];
        for step in steps.iter().chain([&Step::Look]) {
            if matches!(step, Step::Look) {
                let before = world.shown.as_ref().map(|seen| seen.version);
                let news = world.look();
                let seen = world.shown.clone().unwrap();
                prop_assert_eq!(seen.trouble.is_some(), world.damaged);
                prop_assert_eq!(seen.kept.as_ref().map(|kept| &kept.roots), world.good.as_ref());
                current = PEERS.iter().map(|peer| world.expected(*peer)).collect();
                // Changes are reported, with an increasing number.
                prop_assert!(news.is_empty() || before.is_some_and(|before| seen.version == before + 1));
                // A second scan reports nothing.
                prop_assert!(world.look().is_empty() && world.shown.as_ref().unwrap().version == seen.version);
            } else {
                world.take(step);
            }
            // At every moment the last settled state counts, no matter what has happened since.
            for (peer, expected) in PEERS.iter().zip(&current) {
                let set = world.shown.as_ref().map(|seen| seen.set(*peer));
                // Unknown is not the same as nothing saved.
                prop_assert!(set.as_ref().is_none_or(|set| set.is_some() == world.good.is_some()));
                let shown = set.flatten().map(|set| places(&set)).unwrap_or_default();
                prop_assert_eq!(&shown, expected, "{:?} after {:?}", peer, step);
            }
            // A consent counts for what it was given for, as far as is known.
            let known = world.known();
            for (at, peer) in (0..PLACES.len()).flat_map(|at| (0..PEERS.len()).map(move |peer| (at, peer))) {
                let wish = world.wish(at, peer, 0);
                let always = known.governing(&wish.path, wish.peer.as_deref());
                let always = always.is_some_and(|access| access.contains(wish.access));
                let session = world.session.iter().any(|given| {
                    (given.peer.is_none() || given.peer == wish.peer) && wish.path.starts_with(&given.path)
                });
                let expected = if always { Some(Yes::Always) } else { session.then_some(Yes::Session) };
                prop_assert_eq!(world.consents.given(&wish, &known), expected);
            }
        }
    }
}
