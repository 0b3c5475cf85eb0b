//! Roots that change on disk.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::time::Duration;

use rootward_client::watch::{News, Options, Seen, State, Watching};
use rustix::thread::{CapabilitySet, capabilities, set_capabilities};

use super::{BY_EVENTS, Stage};

#[test]
fn a_root_goes_comes_back_and_is_replaced() {
    let stage = Stage::new();
    let (root, aside, other) = (stage.make("src/app"), stage.path("src/aside"), stage.make("src/other"));
    stage.save(&[(&root, "name = 'app'")]);
    let mut watched = stage.watch(BY_EVENTS);
    watched.until_states("initial state", &["shared"]);
    assert_eq!(watched.seen.watching, Watching::Events);
    let first = watched.seen.set(None).unwrap().roots()[0].id;

    fs::rename(&root, &aside).unwrap();
    let news = watched.until_states("moved away", &["missing"]);
    let [News::Became { before: State::Shared(_), after }] = news.as_slice() else { panic!("{news:?}") };
    assert_eq!((after.root.name.as_deref(), after.state.word()), (Some("app"), "missing"));
    assert!(watched.seen.set(None).unwrap().is_empty());

    fs::rename(&aside, &root).unwrap();
    watched.until_states("moved back", &["shared"]);
    assert_eq!(watched.seen.set(None).unwrap().roots()[0].id, first);

    fs::rename(&root, &aside).unwrap();
    symlink(&other, &root).unwrap();
    watched.until_states("a link in its place", &["replaced"]);
    assert!(watched.seen.set(None).unwrap().is_empty());

    fs::remove_file(&root).unwrap();
    fs::rename(&other, &root).unwrap();
    let news = watched.until_states("another directory in its place", &["shared"]);
    assert!(matches!(news.as_slice(), [News::Became { .. }]), "{news:?}");
    assert_ne!(watched.seen.set(None).unwrap().roots()[0].id, first, "it is another one");

    // Exchanged atomically with another directory.
    let second = watched.seen.set(None).unwrap().roots()[0].id;
    let status = rustix::fs::RenameFlags::EXCHANGE;
    rustix::fs::renameat_with(rustix::fs::CWD, &root, rustix::fs::CWD, &aside, status).unwrap();
    watched.until("exchanged", |seen| seen.set(None).unwrap().roots().first().is_some_and(|root| root.id == first));
    assert_ne!(first, second);

    fs::remove_dir_all(&root).unwrap();
    watched.until_states("removed", &["missing"]);
    fs::write(&root, "a file").unwrap();
    watched.until_states("a file in its place", &["shared"]);
}

#[test]
fn changes_above_a_root_are_noticed() {
    let stage = Stage::new();
    let root = stage.path("one/two/three/root");
    stage.save(&[(&root, "")]);
    let mut watched = stage.watch(BY_EVENTS);
    watched.until_states("not there yet", &["missing"]);
    // Created step by step: each directory is watched once it exists.
    for below in ["one", "one/two", "one/two/three"] {
        stage.make(below);
    }
    stage.make("one/two/three/root");
    watched.until_states("made", &["shared"]);
    fs::rename(stage.path("one"), stage.path("moved")).unwrap();
    watched.until_states("moved with what lies above", &["missing"]);
    fs::rename(stage.path("moved"), stage.path("one")).unwrap();
    watched.until_states("moved back", &["shared"]);
    fs::rename(stage.path("one/two"), stage.path("one/2")).unwrap();
    symlink("2", stage.path("one/two")).unwrap();
    watched.until_states("a link on the way", &["replaced"]);
}

/// Permissions do not stop root, so the test drops the capabilities that bypass them.
#[test]
fn permissions_that_change() {
    let mut sets = capabilities(None).unwrap();
    sets.effective.remove(CapabilitySet::DAC_OVERRIDE | CapabilitySet::DAC_READ_SEARCH);
    set_capabilities(None, sets).unwrap();
    let stage = Stage::new();
    let (root, above) = (stage.make("above/root"), stage.path("above"));
    stage.save(&[(&root, "")]);
    let mut watched = stage.watch(BY_EVENTS);
    watched.until_states("initial state", &["shared"]);
    let mode = |path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    mode(&root, 0o000);
    watched.until_states("permissions removed", &["unreachable"]);
    assert!(watched.seen.set(None).unwrap().is_empty());
    mode(&root, 0o700);
    watched.until_states("permissions restored", &["shared"]);
    mode(&above, 0o000);
    watched.until_states("permissions of the parent removed", &["unreachable"]);
    mode(&above, 0o700);
    watched.until_states("permissions of the parent restored", &["shared"]);
    watched.until("watched again", |seen| seen.watching == Watching::Events);
}

#[test]
fn matches_of_a_saved_pattern_are_followed() {
    let stage = Stage::new();
    let one = stage.make("src/one/docs");
    stage.save_text(&format!("version = 1\n[[root]]\npattern = '{}'\n", stage.path("src/*/docs").display()));
    let options = Options { poll: Duration::from_millis(20), ..BY_EVENTS };
    let mut watched = stage.watch(options);
    let places =
        |seen: &Seen| -> Vec<_> { seen.set(None).unwrap().roots().iter().map(|root| root.place.clone()).collect() };
    watched.until("initial state", |seen| places(seen) == [one.clone()]);
    let two = stage.make("src/two/docs");
    let news = watched.until("another one", |seen| places(seen) == [one.clone(), two.clone()]);
    assert!(matches!(news.as_slice(), [News::Became { .. }]), "{news:?}");
    fs::remove_dir_all(&one).unwrap();
    watched.until("one is gone", |seen| places(seen) == [two.clone()]);
    fs::remove_dir_all(&two).unwrap();
    watched.until_states("both are gone", &["missing"]);
    assert!(watched.seen.set(None).unwrap().names_any(), "the saved pattern is kept");
}
