//! Tests of the package store: its own rules, and files that others planted in it.

use std::os::unix::fs::{PermissionsExt, symlink};

use super::super::command::PackageCommand;
use super::*;

fn key(line: &str) -> Key {
    let mut words = line.split(' ').map(std::ffi::OsString::from);
    let program = words.next().unwrap();
    Key::new(&PackageCommand::read(&program, &words.collect::<Vec<_>>()).unwrap(), &[])
}

struct Base(tempfile::TempDir);

impl Base {
    fn new() -> Base {
        Base(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> PathBuf {
        self.0.path().canonicalize().unwrap().join("rootward")
    }

    fn entry(&self, line: &str) -> io::Result<Entry> {
        let nothing = Material::default();
        Entry::make_ambient(&self.path(), &key(line), (&nothing, &nothing))
    }

    /// An entry with a good install.
    fn fetched(&self, line: &str) -> Entry {
        let entry = self.entry(line).unwrap();
        fetch(&entry, line);
        entry
    }
}

fn fetch(entry: &Entry, line: &str) -> u32 {
    let turn = entry.turn_ambient().unwrap().unwrap();
    let (number, directory) = turn.begin_ambient(&key(line)).unwrap();
    std::fs::write(directory.join("file"), "text").unwrap();
    turn.publish_ambient(number, Some("1.2".to_owned())).unwrap();
    turn.sweep_ambient().unwrap();
    number
}

fn numbers(entry: &Entry) -> Vec<u32> {
    let mut numbers = entry.installs_ambient().unwrap();
    numbers.sort_unstable();
    numbers
}

#[test]
fn a_fetch_replaces_the_good_install_in_one_step() {
    let base = Base::new();
    let entry = base.entry("npx name").unwrap();
    assert!(entry.hold_ambient().unwrap().is_none());
    assert_eq!(fetch(&entry, "npx name"), 1);
    let held = entry.hold_ambient().unwrap().unwrap();
    assert_eq!((held.current.install, held.current.version.as_deref()), (1, Some("1.2")));
    assert_eq!(held.directory, entry.directory().join("1"));
    drop(held);
    assert_eq!(fetch(&entry, "npx name"), 2);
    assert_eq!(numbers(&entry), [2]);
    assert_eq!(fetch(&entry, "npx name"), 1, "numbers are used again");
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(entry.directory()), 0o700);
    assert_eq!(mode(&base.path()), 0o700);
}

#[test]
fn an_install_in_use_is_not_removed() {
    let base = Base::new();
    let entry = base.fetched("npx name");
    let held = entry.hold_ambient().unwrap().unwrap();
    assert!(entry.is_in_use_ambient());
    fetch(&entry, "npx name");
    assert!(held.directory.join("file").exists());
    assert_eq!(numbers(&entry), [1, 2]);
    drop(held);
    assert!(!entry.is_in_use_ambient());
    fetch(&entry, "npx name");
    assert_eq!(numbers(&entry), [1], "the old one and the second are gone");
}

#[test]
fn leftovers_of_an_interrupted_fetch_are_removed_by_the_next() {
    let base = Base::new();
    let entry = base.fetched("npx name");
    let turn = entry.turn_ambient().unwrap().unwrap();
    let (_, cut_off) = turn.begin_ambient(&key("npx name")).unwrap();
    std::fs::create_dir_all(entry.directory().join("work-x/home")).unwrap();
    std::fs::write(entry.directory().join(".tmp1"), "half").unwrap();
    drop(turn);
    assert_eq!(entry.hold_ambient().unwrap().unwrap().current.install, 1, "the old one is still good");
    assert!(cut_off.exists());
    let turn = entry.turn_ambient().unwrap().unwrap();
    turn.sweep_ambient().unwrap();
    assert_eq!(numbers(&entry), [1]);
    assert!(!entry.directory().join("work-x").exists() && !entry.directory().join(".tmp1").exists());
}

#[test]
fn two_processes_do_not_fetch_at_once() {
    let base = Base::new();
    let (one, other) = (base.entry("npx name").unwrap(), base.entry("npx name").unwrap());
    let turn = one.turn_ambient().unwrap().unwrap();
    assert!(other.turn_ambient().unwrap().is_none());
    assert!(base.entry("npx other").unwrap().turn_ambient().unwrap().is_some());
    drop(turn);
    assert!(other.turn_ambient().unwrap().is_some());
}

#[test]
fn a_failure_is_noted_and_leaves_the_good_install() {
    let base = Base::new();
    let entry = base.fetched("npx name@latest");
    entry.turn_ambient().unwrap().unwrap().note_failure_ambient().unwrap();
    let current = entry.current_ambient().unwrap().unwrap();
    assert!(current.tried.is_some() && current.install == 1);
}

/// Checks that the entry is refused, and why.
fn refused(base: &Base, line: &str, expect: &str) {
    let says = base.entry(line).and_then(|entry| entry.hold_ambient()).unwrap_err().to_string();
    assert!(says.contains(expect), "{says}");
}

#[test]
fn a_link_in_the_package_store_is_refused() {
    let base = Base::new();
    let entry = base.fetched("npx name");
    let elsewhere = base.0.path().join("elsewhere");
    std::fs::create_dir_all(&elsewhere).unwrap();
    for place in [entry.directory(), entry.directory().parent().unwrap(), &base.path().join(STORE)] {
        let moved = place.with_extension("moved");
        std::fs::rename(place, &moved).unwrap();
        symlink(&elsewhere, place).unwrap();
        refused(&base, "npx name", "is a link");
        std::fs::remove_file(place).unwrap();
        std::fs::rename(&moved, place).unwrap();
    }
    assert_eq!(std::fs::read_dir(&elsewhere).unwrap().count(), 0, "nothing was created behind the link");
    // An install that is a link is not used.
    std::fs::rename(entry.directory().join("1"), elsewhere.join("1")).unwrap();
    symlink(elsewhere.join("1"), entry.directory().join("1")).unwrap();
    assert!(base.entry("npx name").unwrap().hold_ambient().unwrap().is_none());
}

#[test]
fn a_planted_current_is_refused() {
    let base = Base::new();
    let entry = base.fetched("npx name");
    let current = entry.directory().join(CURRENT);
    let text = std::fs::read(&current).unwrap();
    std::fs::remove_file(&current).unwrap();
    std::fs::write(base.0.path().join("planted"), text).unwrap();
    symlink(base.0.path().join("planted"), &current).unwrap();
    refused(&base, "npx name", "is a link");
    std::fs::remove_file(&current).unwrap();
    std::fs::create_dir(&current).unwrap();
    refused(&base, "npx name", "is not a file");
    std::fs::remove_dir(&current).unwrap();
    for text in [r#"{"install":"../../x","fetched":0}"#, r#"{"install":-1,"fetched":0}"#, "{"] {
        std::fs::write(&current, text).unwrap();
        assert!(base.entry("npx name").unwrap().hold_ambient().unwrap().is_none(), "{text}");
    }
}

#[test]
fn an_entry_of_another_package_is_refused() {
    let base = Base::new();
    let (one, other) = (base.fetched("npx name"), key("npx other").directory());
    let other = base.path().join(STORE).join(other);
    std::fs::rename(one.directory(), &other).unwrap();
    refused(&base, "npx other", "belongs to another package");
    std::fs::remove_file(other.join(KEY)).unwrap();
    refused(&base, "npx other", "has no key");
}

#[test]
fn an_entry_of_another_user_is_refused() {
    let base = Base::new();
    let entry = base.fetched("npx name");
    std::fs::set_permissions(entry.directory(), std::fs::Permissions::from_mode(0o777)).unwrap();
    refused(&base, "npx name", "can be written by other users");
    std::fs::set_permissions(entry.directory(), std::fs::Permissions::from_mode(0o700)).unwrap();
    // Only the superuser can give a directory away.
    if rustix::process::geteuid().is_root() {
        std::os::unix::fs::chown(entry.directory().join(CURRENT), Some(65534), None).unwrap();
        refused(&base, "npx name", "belongs to another user");
        std::os::unix::fs::chown(entry.directory(), Some(65534), None).unwrap();
        refused(&base, "npx name", "belongs to another user");
    }
}

#[test]
fn a_store_that_was_shared_is_refused() {
    let base = Base::new();
    let entry = base.fetched("npx name");
    for shared in [entry.directory(), &base.path()] {
        let material = Material::new([shared.to_owned()]);
        let says = Entry::make_ambient(&base.path(), &key("npx name"), (&Material::default(), &material)).unwrap_err();
        let says = says.to_string();
        assert!(says.contains("given to a confined server"), "{says}");
    }
    // Only the installs are on record.
    let material = Material::new([entry.directory().join("1")]);
    assert!(Entry::make_ambient(&base.path(), &key("npx name"), (&material, &material)).is_ok());
}
