//! Roots on disk: links, files, missing roots, many roots, and roots that change under the guard.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;

use rootward_core::env::{Directories, Environment};
use rootward_core::{
    Access, Cause, Code, Guard, GuardOptions, Origin, Root, RootKind, RootSet, Validation, WhyRefused,
};

use crate::yard::Yard;

#[test]
fn a_root_named_through_a_link_has_two_spellings() {
    let yard = Yard::new();
    yard.link("link", "root");
    let guard = yard.guard(&["link"]);
    for path in ["link/top.txt", "root/top.txt", "link/a/../top.txt", "root/a/../top.txt"] {
        assert_eq!(guard.check(yard.path(path), Access::READ).unwrap().path(), yard.path("root/top.txt"), "{path}");
    }
}

#[test]
fn a_root_in_a_linked_root_governs_by_either_spelling() {
    let yard = Yard::new();
    yard.link("link", "root");
    let guard = yard.guard(&["link:rw", "root/a:ro"]);
    for path in ["link/a/b/file.txt", "root/a/b/file.txt"] {
        assert!(guard.check(yard.path(path), Access::READ).is_ok(), "{path}");
        let denial = guard.check(yard.path(path), Access::WRITE).unwrap_err();
        assert_eq!((denial.code(), denial.root().unwrap().access), (Code::AccessDenied, Access::READ), "{path}");
    }
    assert!(guard.check(yard.path("link/top.txt"), Access::WRITE).is_ok());
}

#[test]
fn a_missing_root_is_kept_out_and_comes_back() {
    let yard = Yard::new();
    let set = yard.set(Origin::Flag, &["root", "later", "later/../later"]);
    assert_eq!(set.len(), 1);
    assert_eq!(set.refused()[0].reason, WhyRefused::Missing);
    fs::create_dir(yard.path("later")).unwrap();
    let again = set.place_again_ambient(&Validation::new(None));
    assert_eq!(again.len(), 2);
    assert_eq!(again.roots()[1].place, yard.path("later"));
    assert!(again.refused().is_empty());
}

#[test]
fn a_link_that_moved_is_followed_when_placed_again() {
    let yard = Yard::new();
    yard.link("link", "root");
    let set = yard.set(Origin::Client, &["link"]);
    fs::remove_file(yard.path("link")).unwrap();
    yard.link("link", "outside");
    let again = set.place_again_ambient(&Validation::new(None));
    assert_eq!(again.roots()[0].place, yard.path("outside"));
    assert!(!set.difference(&again).is_empty());
}

#[test]
fn a_saved_root_is_not_followed_through_a_link() {
    let yard = Yard::new();
    let set = yard.set(Origin::Store, &["root/a"]);
    assert_eq!(set.len(), 1);
    fs::rename(yard.path("root/a"), yard.path("root/moved")).unwrap();
    yard.link("root/a", "../outside");
    let again = set.place_again_ambient(&Validation::new(None));
    assert_eq!((again.len(), &again.refused()[0].reason), (0, &WhyRefused::Linked));
    // The same if the link is further up in the path.
    yard.link("way", "root");
    assert_eq!(yard.set(Origin::Store, &["way/moved"]).refused()[0].reason, WhyRefused::Linked);
    fs::remove_file(yard.path("root/a")).unwrap();
    fs::rename(yard.path("root/moved"), yard.path("root/a")).unwrap();
    assert_eq!(again.place_again_ambient(&Validation::new(None)).len(), 1);
}

#[test]
fn a_client_root_that_links_to_a_system_place_is_refused() {
    let yard = Yard::new();
    yard.link("innocent", "/etc");
    let by = |origin| yard.set(origin, &["innocent", "root"]);
    assert!(matches!(by(Origin::Client).refused()[0].reason, WhyRefused::NotShareable(_)));
    assert_eq!(by(Origin::Client).len(), 1);
    assert_eq!(by(Origin::Flag).len(), 2);
}

/// The names of the remaining roots, and the first reason why one was left out.
fn left(yard: &Yard, validation: &Validation, roots: &[&str]) -> (Vec<String>, Option<WhyRefused>) {
    let roots = roots.iter().map(|root| Root::from_typed(root.as_ref(), &yard.path(""), None, Origin::Client).unwrap());
    let set = RootSet::place_ambient(roots, validation);
    assert_eq!(set.place_again_ambient(validation).roots().len(), set.len(), "the same set is found again");
    let name = |place: &std::path::Path| place.strip_prefix(yard.path("")).unwrap().display().to_string();
    let refused = set.refused().first().map(|refused| refused.reason.clone());
    (set.roots().iter().map(|root| name(&root.place)).collect(), refused)
}

#[test]
fn a_nested_root_that_became_a_link_is_left_out() {
    let yard = Yard::new();
    let no_home = Validation::new(None);
    let named = yard.set(Origin::Client, &["root", "root/a"]);
    assert_eq!(named.len(), 2);
    fs::rename(yard.path("root/a"), yard.path("root/moved")).unwrap();
    yard.link("root/a", "../outside");
    for roots in [["root", "root/a"], ["root/a", "root"]] {
        let (kept, refused) = left(&yard, &no_home, &roots);
        assert_eq!(kept, ["root"]);
        assert_eq!(refused, Some(WhyRefused::PlantedLink(yard.path("root/a"))));
    }
    let message = WhyRefused::PlantedLink("/p/app".into()).to_string();
    assert_eq!(
        message,
        "`/p/app` is a link that a confined server could have made; name its target, or run `rootward roots add`"
    );
    // Only the user can create a link in a read-only root or outside the roots, so both are trusted.
    assert_eq!(left(&yard, &no_home, &["root:ro", "root/a"]).0, ["root", "outside"]);
    yard.link("beside", "outside");
    assert_eq!(left(&yard, &no_home, &["root", "beside"]).0, ["root", "outside"]);
    // If the target is shared without the link, the link adds nothing, unless it asks for more access.
    assert_eq!(left(&yard, &no_home, &["root", "root/a", "outside"]).0, ["root", "outside"]);
    assert_eq!(left(&yard, &no_home, &["root", "outside:ro", "root/a"]).0, ["root", "outside"]);
    let narrow = yard.set(Origin::Client, &["root", "outside:ro", "root/a"]);
    assert_eq!(narrow.roots()[1].root.access, Access::READ, "the link asks for more than the target has");
    // One link may lead through another.
    yard.link("root/b", "a");
    assert_eq!(left(&yard, &no_home, &["root", "root/b"]).0, ["root"]);
    yard.link("way", "root/a");
    assert_eq!(left(&yard, &no_home, &["root", "way"]).0, ["root"]);
    // One suspicious link does not make another one trusted.
    yard.link("root/c", "../outside");
    assert_eq!(left(&yard, &no_home, &["root", "root/a", "root/c"]).0, ["root"]);
}

#[test]
fn a_link_in_a_place_that_was_ever_given_for_writing_is_left_out() {
    let yard = Yard::new();
    let environment = Environment::from([("HOME", yard.path("home")), ("XDG_STATE_HOME", yard.path("state"))]);
    let directories = Directories::new(&environment);
    let record = directories.writable_record().unwrap();
    let remembering = Validation::of(&directories);
    yard.link("root/app", "../outside");
    assert_eq!(left(&yard, &remembering, &["root/app"]).0, ["outside"], "`root` was never writable");
    record.add_ambient([yard.path("root")]).unwrap();
    let (kept, refused) = left(&yard, &remembering, &["root/app"]);
    assert_eq!((kept.len(), refused), (0, Some(WhyRefused::PlantedLink(yard.path("root/app")))));
    let by_flag = yard.set(Origin::Flag, &["root/app"]).place_again_ambient(&remembering);
    assert_eq!(by_flag.len(), 0);
    // `~/code -> /data/code` still works after `/data/code` was given for writing.
    yard.link("code", "root");
    assert_eq!(left(&yard, &remembering, &["code/a"]).0, ["root/a"]);
    // Without the record, no link is trusted.
    fs::write(record.path(), "damaged").unwrap();
    assert_eq!(left(&yard, &remembering, &["code"]).0, [""; 0]);
    assert_eq!(left(&yard, &remembering, &["root"]).0, ["root"]);
}

#[test]
fn a_root_that_was_replaced_is_not_opened() {
    let yard = Yard::new();
    let guard = yard.guard(&["root"]);
    fs::rename(yard.path("root"), yard.path("old")).unwrap();
    yard.file("root/top.txt", "impostor");
    let denial = guard.check("top.txt", Access::READ).unwrap_err();
    assert_eq!((denial.code(), denial.cause()), (Code::OutsideRoots, &Cause::RootChanged));
}

#[test]
#[cfg(not(rootward_oracle))]
fn a_root_that_was_moved_after_first_use_stays_the_root() {
    let yard = Yard::new();
    let guard = yard.guard(&["root"]);
    assert!(guard.check("top.txt", Access::READ).is_ok());
    fs::rename(yard.path("root"), yard.path("old")).unwrap();
    yard.file("root/top.txt", "impostor");
    assert_eq!(guard.check("top.txt", Access::READ).unwrap().read(100).unwrap(), b"top");
}

#[test]
fn a_file_can_be_a_root() {
    let yard = Yard::new();
    let guard = yard.guard(&["root/top.txt"]);
    assert_eq!(guard.roots()[0].kind, RootKind::File);
    assert_eq!(guard.open(yard.path("root/top.txt")).unwrap().read_whole(100).unwrap(), b"top");
    for sibling in ["root/a/b/file.txt", "root", "root/top.txt.bak", "root/top.txt/../a/b/file.txt"] {
        assert!(guard.check(yard.path(sibling), Access::READ).is_err(), "{sibling}");
    }
    assert_eq!(guard.check("top.txt", Access::READ).unwrap_err().code(), Code::OutsideRoots);
    // An editor replaces the file: the name is shared.
    fs::rename(yard.path("root/a/b/file.txt"), yard.path("root/top.txt")).unwrap();
    assert_eq!(guard.open(yard.path("root/top.txt")).unwrap().read_whole(100).unwrap(), b"inside");
    guard.check(yard.path("root/top.txt"), Access::WRITE).unwrap().replace(b"new").unwrap();
    assert_eq!(yard.text("root/top.txt"), "new");
    let names: Vec<_> = fs::read_dir(yard.path("root")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names.len(), 2, "nothing was created next to the shared file: {names:?}");
    // A link in its place is refused.
    fs::remove_file(yard.path("root/top.txt")).unwrap();
    yard.link("root/top.txt", yard.path("outside/secret.txt"));
    assert!(guard.open(yard.path("root/top.txt")).is_err());
}

#[test]
fn a_root_need_not_be_utf8_and_is_then_never_announced() {
    let yard = Yard::new();
    let path = yard.path("").join(OsStr::from_bytes(b"caf\xe9"));
    fs::create_dir(&path).unwrap();
    fs::write(path.join("x"), "x").unwrap();
    let root = Root::from_path(&path, Origin::Flag).unwrap();
    assert_eq!(root.uri(), None);
    let guard = Guard::new(RootSet::place_ambient([root], &Validation::new(None)), GuardOptions::default());
    assert!(guard.check(path.join("x"), Access::READ).is_ok());
}

#[test]
fn a_special_file_is_not_accepted_as_a_root() {
    let yard = Yard::new();
    rustix::fs::mkfifoat(rustix::fs::CWD, yard.path("pipe"), rustix::fs::Mode::RUSR).unwrap();
    assert_eq!(yard.set(Origin::Flag, &["pipe"]).refused()[0].reason, WhyRefused::Special);
}

#[test]
fn ten_thousand_roots_are_not_ten_thousand_open_files() {
    let yard = Yard::new();
    let directories: Vec<_> = (0..10_000).map(|number| yard.path(&format!("many/{number}"))).collect();
    fs::create_dir(yard.path("many")).unwrap();
    let roots = directories.iter().map(|path| {
        fs::create_dir(path).unwrap();
        fs::write(path.join("x"), "x").unwrap();
        Root::from_path(path, Origin::Client).unwrap()
    });
    let set = RootSet::place_ambient(roots, &Validation::new(None));
    assert_eq!(set.len(), 10_000);
    let guard = Guard::new(set, GuardOptions { most_handles: 16, ..GuardOptions::default() });
    for path in &directories {
        assert!(guard.check(path.join("x"), Access::READ).is_ok());
    }
    let open = fs::read_dir("/proc/self/fd").unwrap().filter(|entry| {
        let target = fs::read_link(entry.as_ref().unwrap().path()).unwrap_or_default();
        target.starts_with(yard.path("many"))
    });
    assert_eq!(open.count(), 16);
}
