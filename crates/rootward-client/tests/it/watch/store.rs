//! Changes to the store.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::SystemTime;

use rootward_audit::AuditLines;
use rootward_client::store::{Record, SavedRoot, StoreError};
use rootward_client::watch::{News, Seen};
use rootward_core::{Access, Resolver};

use super::{BY_EVENTS, Stage};

fn access(seen: &Seen) -> Vec<Access> {
    seen.roots.iter().map(|seen| seen.root.access).collect()
}

#[test]
fn a_store_that_comes_changes_and_goes() {
    let stage = Stage::new();
    let (one, two) = (stage.make("one"), stage.make("two"));
    // Not even the parent of its directory exists.
    let mut watched = stage.watch(BY_EVENTS);
    assert!(watched.seen.roots.is_empty() && watched.seen.kept.is_some());
    let log = AuditLines::new(Vec::new());
    let record = Record { audit: &log, requester: "test", time: SystemTime::now() };
    let add = |path: &Path| {
        let root = SavedRoot::new(path, Access::READ);
        stage.store().edit_ambient(&record, |document| {
            document.add(&root);
            Ok::<_, StoreError>(())
        })
    };
    add(&one).unwrap();
    let news = watched.until_states("the first root", &["shared"]);
    assert!(matches!(news.as_slice(), [News::Added(_)]), "{news:?}");
    add(&two).unwrap();
    watched.until_states("the second", &["shared", "shared"]);
    stage.save(&[(&two, "access = 'rw'\nname = 'zwei'")]);
    let news = watched.until("changed by another", |seen| access(seen) == [Access::READ_WRITE]);
    assert!(matches!(news.as_slice(), [News::Removed(_), News::Changed { .. }]), "{news:?}");
    // In place, as some editors write.
    let text = fs::read_to_string(stage.store().file()).unwrap().replace("'rw'", "'ro'");
    fs::write(stage.store().file(), &text).unwrap();
    watched.until("written in place", |seen| access(seen) == [Access::READ]);
    fs::remove_file(stage.store().file()).unwrap();
    watched.until_states("deleted", &[]);
    stage.save_text(&text);
    watched.until_states("made again", &["shared"]);
    fs::remove_dir_all(stage.path("settings")).unwrap();
    watched.until_states("deleted with its directories", &[]);
    stage.save_text(&text);
    watched.until_states("made again with its directories", &["shared"]);
    fs::rename(stage.path("settings"), stage.path("other")).unwrap();
    watched.until_states("moved away", &[]);
}

#[test]
fn a_store_that_is_a_link() {
    let stage = Stage::new();
    let (one, two) = (stage.make("one"), stage.make("two"));
    stage.save(&[(&one, "")]);
    let file = stage.store().file().to_owned();
    let real = stage.make("dotfiles").join("roots.toml");
    fs::rename(&file, &real).unwrap();
    symlink(&real, &file).unwrap();
    let mut watched = stage.watch(BY_EVENTS);
    watched.until_states("through the link", &["shared"]);
    let other = fs::read_to_string(&real).unwrap() + &format!("[[root]]\npath = '{}'\n", two.display());
    fs::write(real.with_extension("new"), &other).unwrap();
    fs::rename(real.with_extension("new"), &real).unwrap();
    watched.until_states("the target was replaced", &["shared", "shared"]);
    let elsewhere = stage.make("elsewhere").join("roots.toml");
    fs::write(&elsewhere, "version = 1\n").unwrap();
    symlink(&elsewhere, file.with_extension("link")).unwrap();
    fs::rename(file.with_extension("link"), &file).unwrap();
    watched.until_states("a link to another", &[]);
    fs::write(&elsewhere, other).unwrap();
    watched.until_states("the other is watched", &["shared", "shared"]);
}

#[test]
fn a_damaged_store_keeps_the_last_good_state() {
    let stage = Stage::new();
    let root = stage.make("root");
    stage.save(&[(&root, "restrict = [{ pattern = '*.pem' }]")]);
    let mut watched = stage.watch(BY_EVENTS);
    watched.until_states("initial state", &["shared"]);
    let closed = |seen: &Seen| seen.closed().unwrap().len();
    assert_eq!(closed(&watched.seen), 1);
    stage.save_text("version = 1\n[[root]]\npath = 1\n");
    let news = watched.until("damaged", |seen| seen.trouble.is_some());
    let [News::Damaged(error)] = news.as_slice() else { panic!("{news:?}") };
    let StoreError::Damaged { file, mistake } = &**error else { panic!("{error}") };
    assert_eq!((file.as_path(), mistake.line, mistake.column), (stage.store().file(), 3, 8));
    assert_eq!((watched.seen.set(None).unwrap().len(), closed(&watched.seen)), (1, 1));
    // The last good roots are still checked on disk.
    fs::remove_dir(&root).unwrap();
    watched.until_states("gone meanwhile", &["missing"]);
    fs::create_dir(&root).unwrap();
    watched.until_states("back meanwhile", &["shared"]);
    stage.save_text("version = 1\n[[root]]\n");
    let news = watched.until("damaged in another way", |seen| {
        seen.trouble.as_ref().is_some_and(|trouble| trouble.to_string().contains("missing key"))
    });
    assert!(matches!(news.as_slice(), [News::Damaged(_)]), "{news:?}");
    stage.save(&[]);
    let news = watched.until("repaired", |seen| seen.trouble.is_none());
    assert!(matches!(news.as_slice(), [News::Repaired, News::Removed(_)]), "{news:?}");
    assert_eq!((watched.seen.set(None).unwrap().len(), closed(&watched.seen)), (0, 0));
}

#[test]
fn a_store_that_is_damaged_from_the_start() {
    let stage = Stage::new();
    let root = stage.make("root");
    stage.save_text("version = 1\nroots = 1\n");
    let mut watched = stage.watch(BY_EVENTS);
    assert!(watched.seen.kept.is_none() && watched.seen.set(None).is_none() && watched.seen.trouble.is_some());
    stage.save(&[(&root, "")]);
    watched.until_states("repaired", &["shared"]);
    assert!(watched.seen.trouble.is_none());
}

/// If a link replaces a root, the root's restrictions also apply at the link's current target.
#[test]
fn restrictions_follow_a_link() {
    let stage = Stage::new();
    let (one, two, root) = (stage.make("one"), stage.make("two"), stage.path("root"));
    symlink(&one, &root).unwrap();
    stage.save(&[(&root, "restrict = [{ pattern = 'x' }]")]);
    let mut watched = stage.watch(BY_EVENTS);
    let same = |seen: &Seen| {
        let text = |rules: Vec<rootward_core::Restriction>| format!("{rules:?}");
        text(seen.closed().unwrap()) == text(seen.kept.as_ref().unwrap().closed_ambient(Resolver::detect()).unwrap())
    };
    assert!(same(&watched.seen) && watched.seen.closed().unwrap().len() == 2);
    fs::remove_file(&root).unwrap();
    symlink(&two, &root).unwrap();
    watched.until("another place", same);
    assert_eq!(watched.seen.version, 2);
}
