//! Concurrent calls, in the order that would lose one of them if a verb did not prevent it.

#![expect(clippy::disallowed_methods, reason = "builds trees and checks the results")]

use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;

use tempfile::TempDir;

use super::between::{Moment, meanwhile};
use super::{Grant, GrantError, Replace};
use crate::{Access, Guard, GuardOptions, Origin, Root, RootSet, Validation};

struct Scene {
    directory: TempDir,
    guard: Guard,
}

impl Scene {
    /// A root with `a.txt` ("old").
    fn new() -> Scene {
        Scene::of(|top| top)
    }

    /// The same file as a root itself.
    fn of_a_file() -> Scene {
        Scene::of(|top| top.join("a.txt"))
    }

    fn of(root: impl Fn(PathBuf) -> PathBuf) -> Scene {
        let directory = TempDir::new().unwrap();
        let top = directory.path().canonicalize().unwrap();
        fs::write(top.join("a.txt"), "old").unwrap();
        let root = Root::from_path(root(top), Origin::Flag).unwrap();
        let set = RootSet::place_ambient([root], &Validation::new(None));
        Scene { directory, guard: Guard::new(set, GuardOptions::default()) }
    }

    fn grant(&self, name: &str) -> Grant {
        let path = self.directory.path().canonicalize().unwrap().join(name);
        self.guard.check_entry(path, Access::READ_WRITE).unwrap()
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.directory.path().join(name)).unwrap()
    }

    /// All names, unfinished files included.
    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.directory.path()).unwrap().flatten();
        let mut names: Vec<String> = entries.map(|entry| entry.file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

/// Both calls found no file. One creates it while the other appends.
#[test]
fn an_append_that_creates_the_file_writes_over_nothing() {
    let scene = Scene::new();
    let (first, second) = (scene.grant("log"), scene.grant("log"));
    let other = meanwhile(Moment::Written, move || second.append(b"second\n").unwrap());
    first.append(b"first\n").unwrap();
    other.join().unwrap();
    assert_eq!(scene.text("log"), "second\nfirst\n");
    assert_eq!(scene.names(), ["a.txt", "log"]);
}

#[test]
fn an_append_that_creates_a_shared_file_writes_over_nothing() {
    let scene = Scene::of_a_file();
    fs::remove_file(scene.directory.path().join("a.txt")).unwrap();
    let (first, second) = (scene.grant("a.txt"), scene.grant("a.txt"));
    let other = meanwhile(Moment::CreatedInPlace, move || second.append(b"second\n").unwrap());
    first.append(b"first\n").unwrap();
    other.join().unwrap();
    assert_eq!(scene.text("a.txt"), "first\nsecond\n");
}

/// The same with another process, which does not wait for its turn.
#[test]
fn an_append_by_another_process_to_a_new_file_is_kept() {
    let scene = Scene::of_a_file();
    let path = scene.directory.path().join("a.txt");
    fs::remove_file(&path).unwrap();
    let other = meanwhile(Moment::CreatedInPlace, move || fs::write(path, "longer than first\n").unwrap());
    scene.grant("a.txt").append(b"first\n").unwrap();
    other.join().unwrap();
    assert_eq!(scene.text("a.txt"), "longer than first\nfirst\n");
}

#[test]
fn of_two_concurrent_creations_one_fails() {
    let scene = Scene::new();
    let (first, second) = (scene.grant("new"), scene.grant("new"));
    let other = meanwhile(Moment::Written, move || second.create_new(b"second").unwrap());
    assert_eq!(first.create_new(b"first").unwrap_err().io_kind(), Some(ErrorKind::AlreadyExists));
    other.join().unwrap();
    assert_eq!(scene.text("new"), "second");
    assert_eq!(scene.names(), ["a.txt", "new"]);
}

/// An append opened the file. The edit that replaces it waits, and then finds that the file has changed.
#[test]
fn an_append_is_not_lost_to_an_edit() {
    let scene = Scene::new();
    let version = scene.grant("a.txt").open().unwrap().version();
    let edit = scene.grant("a.txt");
    let other = meanwhile(Moment::OpenedToAppend, move || {
        let edited = edit.replace_version(version, b"edited");
        assert!(matches!(edited, Err(GrantError::Changed { .. })), "{edited:?}");
    });
    scene.grant("a.txt").append(b" added").unwrap();
    other.join().unwrap();
    assert_eq!(scene.text("a.txt"), "old added");
}

/// An edit found the version that it expects. No other verb runs before the new file has the name.
#[test]
fn nothing_comes_between_the_check_of_a_version_and_the_new_file() {
    type Act = fn(&Grant, &Grant);
    let acts: [(&str, Act, &str, &[&str]); 4] = [
        ("append", |file, _| file.append(b" added").unwrap(), "edited added", &["a.txt"]),
        ("replace", |file, _| file.replace(b"replaced").unwrap(), "replaced", &["a.txt"]),
        ("remove", |file, _| file.remove().unwrap(), "", &[]),
        // The rename was decided on the old file, so it is refused. The edit stays either way.
        ("rename", |file, to| drop(file.rename_to(to, Replace::No)), "edited", &["a.txt"]),
    ];
    for (name, act, expect, names) in acts {
        let scene = Scene::new();
        let version = scene.grant("a.txt").open().unwrap().version();
        let (file, to) = (scene.grant("a.txt"), scene.grant("b.txt"));
        let other = meanwhile(Moment::VersionChecked, move || act(&file, &to));
        scene.grant("a.txt").replace_version(version, b"edited").unwrap();
        other.join().unwrap();
        assert_eq!(scene.names(), names, "{name}");
        if !names.is_empty() {
            assert_eq!(scene.text("a.txt"), expect, "{name}");
        }
    }
}

/// Moving to another disk copies the file and then removes it, but not if somebody appended in between.
#[test]
fn an_append_during_a_move_to_another_disk_is_not_lost() {
    let scene = Scene::new();
    let writer = scene.grant("a.txt");
    let other = meanwhile(Moment::Copied, move || writer.append(b" added").unwrap());
    let moved = scene.grant("a.txt").copy_and_remove(&scene.grant("b.txt"), Replace::No);
    assert!(matches!(moved, Err(GrantError::Changed { .. })), "{moved:?}");
    other.join().unwrap();
    assert_eq!(scene.text("a.txt"), "old added");
    assert_eq!(scene.text("b.txt"), "old");
    // Without interference, it moves.
    let to = scene.grant("c.txt");
    scene.grant("a.txt").copy_and_remove(&to, Replace::No).unwrap();
    assert_eq!(scene.names(), ["b.txt", "c.txt"]);
}
