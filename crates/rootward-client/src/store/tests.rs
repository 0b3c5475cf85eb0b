//! The store on disk: comments and order, damage, the lock, the record.

#![expect(clippy::disallowed_methods, reason = "tests read and write the files")]

use std::fs;
use std::io;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::sync::Mutex;
use std::time::{Duration, SystemTime};

use rootward_core::{Access, Audit, AuditEvent, ChangeEvent, Closed, RootChange, WhyRefused};
use tempfile::TempDir;

use super::*;

/// Keeps the recorded events, or refuses to record.
#[derive(Default)]
struct Log {
    events: Mutex<Vec<ChangeEvent>>,
    full: bool,
}

impl Audit for Log {
    fn record(&self, _: &AuditEvent) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn record_change(&self, event: &ChangeEvent) -> io::Result<()> {
        if self.full {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.events.lock().unwrap().push(event.clone());
        Ok(())
    }
}

struct Stage {
    directory: TempDir,
    log: Log,
}

impl Stage {
    fn new(text: Option<&str>) -> Stage {
        let stage = Stage { directory: tempfile::tempdir().unwrap(), log: Log::default() };
        if let Some(text) = text {
            fs::create_dir(stage.store().file().parent().unwrap()).unwrap();
            fs::write(stage.store().file(), text).unwrap();
        }
        stage
    }

    fn store(&self) -> Store {
        Store::new(self.directory.path().join("rootward/roots.toml"), Some("/h".into()))
    }

    fn record(&self) -> Record<'_> {
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_767_323_045);
        Record { audit: &self.log, requester: "rootward roots add", time }
    }

    fn edit(&self, edit: impl FnOnce(&mut Document)) -> Result<(), StoreError> {
        self.store().edit_ambient(&self.record(), |document| {
            edit(document);
            Ok(())
        })
    }

    fn text(&self) -> String {
        fs::read_to_string(self.store().file()).unwrap()
    }

    fn events(&self) -> Vec<(RootChange, String)> {
        self.log.events.lock().unwrap().drain(..).map(|event| (event.change, event.root)).collect()
    }
}

#[test]
fn a_new_file() {
    let stage = Stage::new(None);
    let root = SavedRoot {
        name: Some("app".to_owned()),
        restrict: vec![
            Restrict { pattern: "*.pem".to_owned(), closed: Closed::Entirely },
            Restrict { pattern: "infra/prod".to_owned(), closed: Closed::ForWriting },
        ],
        audience: Audience::of(["git".to_owned()]),
        insistence: Insistence::Forced,
        ..SavedRoot::new("/srv/app", Access::READ)
    };
    let root = root.given(&stage.record());
    stage.edit(|document| document.add(&root)).unwrap();
    let expect = "# Shared directories, saved by `rootward roots`. You may edit this file.
version = 1

[[root]]
path = \"/srv/app\"
name = \"app\"
access = \"ro\"
for = [\"git\"]
restrict = [{ pattern = \"*.pem\" }, { pattern = \"infra/prod\", closed = \"writing\" }]
forced = true
yes = 2026-01-02T03:04:05Z
by = \"rootward roots add\"
";
    assert_eq!(stage.text(), expect);
    assert_eq!(stage.store().load_ambient().unwrap().roots, [root]);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(stage.store().file()), 0o600);
    assert_eq!(mode(stage.store().file().parent().unwrap()), 0o700);
    let beside: Vec<_> = fs::read_dir(stage.store().file().parent().unwrap()).unwrap().collect();
    assert_eq!(beside.len(), 2, "the file and its lock: {beside:?}");
    assert_eq!(stage.events(), [(RootChange::Add, "/srv/app".to_owned())]);
}

const BY_HAND: &str = "\
# My roots.
version = 1 # the first

# General: what follows is work.

# The editor's.
[[root]]
path = '~/src/app'   # where it lies
access = \"ro\"        # for now
# loose

# The notes.
[[root]]
path = \"/notes\"
  [[root.restrict]]  # keys
  pattern = \"*.pem\"

# The end.
";

#[test]
fn comments_and_order_are_kept() {
    let stage = Stage::new(Some(BY_HAND));
    stage.edit(|document| document.grant(0, Access::READ_WRITE)).unwrap();
    assert_eq!(stage.text(), BY_HAND.replace("\"ro\" ", "\"rw\" "));
    stage.edit(|document| document.rename(0, Some("app"))).unwrap();
    let renamed = BY_HAND.replace("\"ro\"        # for now\n", "\"rw\"        # for now\nname = \"app\"\n");
    assert_eq!(stage.text(), renamed);
    stage.edit(|document| document.remove(0)).unwrap();
    let text = stage.text();
    for comment in ["# My roots.", "# the first", "# General", "# The notes.", "# keys", "# The end."] {
        assert!(text.contains(comment), "{comment}: {text}");
    }
    assert!(!text.contains("# The editor's."), "{text}");
    stage.edit(|document| document.remove(0)).unwrap();
    let text = stage.text();
    assert!(text.contains("# General") && text.contains("# The end."), "{text}");
    assert_eq!(stage.store().load_ambient().unwrap(), Kept::default());
    let changes: Vec<_> = stage.events().into_iter().map(|(change, _)| change).collect();
    let expect = [RootChange::Grant, RootChange::Rename, RootChange::Remove, RootChange::Remove];
    assert_eq!(changes, expect);
}

#[test]
fn a_file_of_comments_and_a_list_on_one_line() {
    let stage = Stage::new(Some("# Mine.\n"));
    stage.edit(|document| document.add(&SavedRoot::new("/a", Access::READ))).unwrap();
    assert_eq!(stage.text(), "# Mine.\nversion = 1\n\n[[root]]\npath = \"/a\"\naccess = \"ro\"\n");
    let stage = Stage::new(Some("version = 1\nroot = [{ path = '/a' }, { path = '/b', access = 'ro' }]\n"));
    stage.edit(|document| document.add(&SavedRoot::new("/c", Access::READ))).unwrap();
    let kept = stage.store().load_ambient().unwrap();
    let paths: Vec<_> = kept.roots.iter().map(|root| root.path.to_str().unwrap()).collect();
    assert_eq!(paths, ["/a", "/b", "/c"]);
}

#[test]
fn a_damaged_file_is_reported_and_left_alone() {
    let check = |text: &str, says: &str| {
        let stage = Stage::new(Some(text));
        let error = stage.store().load_ambient().unwrap_err().to_string();
        assert!(error.ends_with(says), "{error}");
        let mut called = false;
        assert!(stage.edit(|_| called = true).is_err());
        assert!(!called && stage.text() == text && stage.events().is_empty());
    };
    check("version = 1\n[[root]]\npath = 7\n", "roots.toml`, line 3, column 8: expected a string, found integer `7`");
    check("version = 3\n[[x]]", "roots.toml` have version 3; this program supports only version 1");
}

#[test]
fn a_change_that_cannot_be_recorded_is_not_saved() {
    let mut stage = Stage::new(Some(BY_HAND));
    stage.log.full = true;
    assert!(matches!(stage.edit(|document| document.remove(0)), Err(StoreError::Record(_))));
    assert_eq!(stage.text(), BY_HAND);
}

#[test]
fn a_change_that_could_not_be_read_back_is_not_saved() {
    let stage = Stage::new(Some(BY_HAND));
    let error = stage.edit(|document| document.rename(0, Some("a\u{1b}"))).unwrap_err();
    assert!(matches!(error, StoreError::Unreadable(_)), "{error}");
    assert!(stage.edit(|document| document.add(&SavedRoot::new("relative", Access::READ))).is_err());
    assert_eq!((stage.text().as_str(), stage.events().len()), (BY_HAND, 0));
}

#[test]
fn an_edit_that_fails_or_changes_nothing_leaves_the_file() {
    let stage = Stage::new(Some(BY_HAND));
    let failed: Result<(), StoreError> = stage.store().edit_ambient(&stage.record(), |document| {
        document.remove(0);
        Err(StoreError::Record(io::ErrorKind::Other.into()))
    });
    assert!(failed.is_err());
    stage.edit(|document| document.rename(7, Some("nobody"))).unwrap();
    stage.edit(|document| document.remove(7)).unwrap();
    assert_eq!((stage.text().as_str(), stage.events().len()), (BY_HAND, 0));
}

#[test]
fn a_symlinked_file_stays_a_symlink() {
    let stage = Stage::new(Some(BY_HAND));
    let kept_elsewhere = stage.directory.path().join("dotfiles.toml");
    fs::rename(stage.store().file(), &kept_elsewhere).unwrap();
    symlink(&kept_elsewhere, stage.store().file()).unwrap();
    stage.edit(|document| document.remove(0)).unwrap();
    assert!(fs::symlink_metadata(stage.store().file()).unwrap().is_symlink());
    assert_eq!(stage.store().load_ambient().unwrap().roots.len(), 1);
}

#[test]
fn the_last_good_state_stays_current() {
    let stage = Stage::new(Some(BY_HAND));
    let (mut current, read) = Current::begin_ambient(stage.store());
    assert!(read.is_ok());
    let paths = |current: &Current| current.kept().map(|kept| kept.roots.len());
    assert_eq!(paths(&current), Some(2));
    fs::write(stage.store().file(), "version = 1\n[[root").unwrap();
    assert!(matches!(current.refresh_ambient(), Err(StoreError::Damaged { .. })));
    assert_eq!(paths(&current), Some(2));
    fs::write(stage.store().file(), BY_HAND.replace("\"ro\"", "\"rw\"")).unwrap();
    let changes = current.refresh_ambient().unwrap();
    let [SavedChange::Changed { before, after }] = changes.iter().as_slice() else { panic!("{changes:?}") };
    assert_eq!((before.access, after.access), (Access::READ, Access::READ_WRITE));
    assert!(current.refresh_ambient().unwrap().is_empty());
    fs::remove_file(stage.store().file()).unwrap();
    assert_eq!(current.refresh_ambient().unwrap().iter().count(), 2);
    assert_eq!(paths(&current), Some(0));
    // Damaged from the start: unknown is not the same as nothing saved.
    fs::write(stage.store().file(), "version = 1\n[[root").unwrap();
    let (mut current, read) = Current::begin_ambient(stage.store());
    assert!(read.is_err() && current.kept().is_none());
    fs::write(stage.store().file(), BY_HAND).unwrap();
    assert_eq!(current.refresh_ambient().unwrap().iter().count(), 2);
}

#[test]
fn saved_roots_on_disk() {
    let directory = tempfile::tempdir().unwrap();
    let top = directory.path().canonicalize().unwrap();
    for name in ["app", "home/src", "real"] {
        fs::create_dir_all(top.join(name)).unwrap();
    }
    symlink(top.join("real"), top.join("linked")).unwrap();
    symlink(top.join("home"), top.join("home_by_link")).unwrap();
    let find = |path: &Path, insistence| {
        let saved = SavedRoot { insistence, ..SavedRoot::new(path, Access::READ) };
        saved.find_ambient(Some(&top.join("home_by_link"))).map(|placed| placed.place)
    };
    let judged = |path: &str| find(&top.join(path), Insistence::Judged);
    assert_eq!(judged("app"), Ok(top.join("app")));
    assert_eq!(judged("gone"), Err(WhyRefused::Missing));
    assert_eq!(judged("linked"), Err(WhyRefused::Linked));
    assert_eq!(judged("home_by_link/src"), Ok(top.join("home/src")), "a link may lead to the home");
    assert!(matches!(find(Path::new("/etc"), Insistence::Judged), Err(WhyRefused::NotShareable(_))));
    assert_eq!(find(Path::new("/etc"), Insistence::Forced), Ok("/etc".into()));
    // Write access above a root must not be enough to keep every program from starting.
    symlink("loop", top.join("loop")).unwrap();
    let restrict = vec![Restrict { pattern: "*.pem".to_owned(), closed: Closed::Entirely }];
    let looped = SavedRoot { restrict, ..SavedRoot::new(top.join("loop"), Access::READ) };
    let closed = Kept::from(vec![looped]).closed_ambient(rootward_core::Resolver::detect()).unwrap();
    assert_eq!(closed.len(), 1);
    let kept = Kept::from(["app", "gone"].map(|path| SavedRoot::new(top.join(path), Access::READ)).to_vec());
    let set = kept.set_ambient(None, None);
    assert_eq!((set.len(), set.refused().len()), (1, 1));
}

/// Directories, and a store with a record of what confined servers could write.
struct Country {
    top: PathBuf,
    directories: Directories,
    _directory: TempDir,
}

impl Country {
    fn new(made: &[&str]) -> Country {
        let directory = tempfile::tempdir().unwrap();
        let top = directory.path().canonicalize().unwrap();
        for name in made {
            fs::create_dir_all(top.join(name)).unwrap();
        }
        let places = [("HOME", "home"), ("XDG_STATE_HOME", "state"), ("XDG_CONFIG_HOME", "config")];
        let environment = rootward_core::env::Environment::from(places.map(|(name, place)| (name, top.join(place))));
        Country { directories: Directories::new(&environment), top, _directory: directory }
    }

    /// Saves these entries, and returns what is shared and what is not.
    fn shared(&self, peer: Option<&str>, entries: &[(&str, &str)]) -> (Vec<String>, Vec<WhyRefused>) {
        let store = Store::of(&self.directories).unwrap();
        let entry = |(place, more): &(&str, &str)| {
            let key = if place.contains('*') { "pattern" } else { "path" };
            format!("[[root]]\n{key} = '{}'\n{more}\n", self.top.join(place).display())
        };
        fs::create_dir_all(store.file().parent().unwrap()).unwrap();
        fs::write(store.file(), format!("version = 1\n{}", entries.iter().map(entry).collect::<String>())).unwrap();
        let set = store.load_ambient().unwrap().set_ambient(peer, store.home());
        let place = |place: &Path| place.strip_prefix(&self.top).unwrap().to_str().unwrap().to_owned();
        let shared = set.roots().iter().map(|root| format!("{} {}", place(&root.place), root.root.access));
        (shared.collect(), set.refused().iter().map(|refused| refused.reason.clone()).collect())
    }

    fn planted(&self, place: &str) -> WhyRefused {
        WhyRefused::PlantedMatch(self.top.join(place))
    }
}

#[test]
fn a_saved_pattern_shares_what_it_matches() {
    let country = Country::new(&["src/one", "src/two/docs", "src/.hidden", "src/*", "out", "home/.ssh/keys"]);
    symlink("../out", country.top.join("src/link")).unwrap();
    let ro = "access = 'ro'";
    let shared = |entries: &[(&str, &str)]| country.shared(None, entries);
    assert_eq!(shared(&[("src/*", ro)]).0, ["src/* read", "src/one read", "src/two read"]);
    assert_eq!(shared(&[("src/*/docs", ro)]).0, ["src/two/docs read"]);
    assert_eq!(shared(&[("src/x*", ro)]), (vec![], vec![WhyRefused::NoMatch]));
    let (none, refused) = shared(&[("home/.ssh/*", ro)]);
    assert!(none.is_empty() && matches!(refused[..], [WhyRefused::NotShareable(_)]), "{none:?} {refused:?}");
    symlink("src", country.top.join("way")).unwrap();
    assert_eq!(shared(&[("way/*", ro)]), (vec![], vec![WhyRefused::Linked]));
    // An entry for a peer takes precedence over the same one for all, and takes nothing from others.
    let both = [("src/*", ro), ("src/*", "access = 'rw'\nfor = ['git']")];
    assert_eq!(country.shared(Some("git"), &both).0[1], "src/one read, write, delete");
    assert_eq!(country.shared(None, &both).0[1], "src/one read");
}

#[test]
fn a_saved_pattern_matches_nothing_that_a_server_could_have_created() {
    let country = Country::new(&["src/one/docs", "src/two/docs"]);
    let (ro, rw, rwx) = ("access = 'ro'", "access = 'rw'", "access = 'rwx'");
    let shared = |entries: &[(&str, &str)]| country.shared(None, entries);
    let planted = |place: &str| vec![country.planted(place)];
    assert_eq!(shared(&[("src", rw), ("src/*", rwx)]), (vec!["src read, write, delete".to_owned()], planted("src")));
    // An entry that takes access away stays, or else the root above would give more.
    assert_eq!(shared(&[("src", rw), ("src/*", ro)]).0[1..], ["src/one read", "src/two read"]);
    assert_eq!(shared(&[("src", ro), ("src/*", rw)]).0.len(), 3);
    // For any audience of the other entry; and what is open to that peer is not open to all.
    let for_git = "access = 'rw'\nfor = ['git']";
    assert_eq!(shared(&[("src", for_git), ("src/*", ro)]), (vec![], planted("src")));
    assert_eq!(shared(&[("src/*", rw), ("src/*/*", ro)]).0.len(), 4);
    assert_eq!(shared(&[("src/*", rw), ("src/*/*", rwx)]).0.len(), 2);
    // The record of an earlier start.
    country.directories.writable_record().unwrap().add_ambient([country.top.join("src/two")]).unwrap();
    assert_eq!(shared(&[("src/*", rw)]).0.len(), 2, "the pattern matched it itself");
    assert_eq!(shared(&[("src/*/*", ro)]).0, ["src/one/docs read"]);
    country.directories.writable_record().unwrap().add_ambient([country.top.join("src")]).unwrap();
    assert_eq!(shared(&[("src/*", ro)]), (vec![], planted("src")));
    assert_eq!(shared(&[("src/one", ro)]).0, ["src/one read"], "by its name");
}

#[test]
fn a_saved_pattern_matches_nothing_if_the_record_is_damaged() {
    let country = Country::new(&["src/one"]);
    assert_eq!(country.shared(None, &[("src/*", "")]).0.len(), 1);
    let record = country.directories.writable_record().unwrap();
    record.add_ambient([country.top.join("elsewhere")]).unwrap();
    fs::remove_file(record.path()).unwrap();
    fs::create_dir(record.path()).unwrap();
    assert_eq!(country.shared(None, &[("src/*", "")]).0.len(), 0);
}
