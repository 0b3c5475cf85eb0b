//! Each verb of a grant, and what it does not do.

use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::time::Duration;

use rootward_core::{Access, Code, FileKind, GrantError, Replace};

use crate::yard::Yard;

#[test]
fn a_grant_gives_only_what_was_asked_for() {
    let yard = Yard::new();
    let guard = yard.guard(&["root:rwx"]);
    let other = guard.check_entry("other", Access::WRITE).unwrap();
    let refused = |result: Result<(), GrantError>, verb: &str| {
        assert_eq!(result.unwrap_err().denial().map(rootward_core::Denial::code), Some(Code::AccessDenied), "{verb}");
    };
    let read = guard.check("top.txt", Access::READ).unwrap();
    refused(read.replace(b""), "replace");
    refused(read.append(b""), "append");
    refused(read.remove(), "remove");
    refused(read.open_executable().map(drop), "execute");
    refused(read.open_working_directory().map(drop), "start in");
    refused(read.rename_to(&other, Replace::No), "rename");
    let write = guard.check("top.txt", Access::WRITE).unwrap();
    refused(write.read(10).map(drop), "read");
    refused(write.metadata().map(drop), "metadata");
    refused(write.copy_to(&other, Replace::No).map(drop), "copy from");
    refused(read.copy_to(&read, Replace::Yes).map(drop), "copy to");
    refused(guard.check("new", Access::READ).unwrap().create_new(b""), "create");
    refused(guard.check("new", Access::READ).unwrap().create_directory(), "create directory");
    refused(guard.check("new", Access::READ).unwrap().create_directory_all(), "create directories");
    let write = guard.check("a", Access::WRITE).unwrap();
    refused(write.list().map(drop), "list");
    refused(write.walk(rootward_core::WalkOptions::default(), |_| rootward_core::Visit::Continue).map(drop), "walk");
}

#[test]
fn reading_is_whole_in_part_or_a_stream() {
    let yard = Yard::new();
    yard.file("root/numbers", "0123456789");
    let grant = yard.guard(&["root"]).check("numbers", Access::READ).unwrap();
    assert_eq!(grant.read(10).unwrap(), b"0123456789");
    assert!(matches!(grant.read(9).unwrap_err(), GrantError::TooLarge { size: 10, limit: 9, .. }));
    assert_eq!(grant.read_range(3, 4).unwrap(), b"3456");
    assert_eq!(grant.read_range(8, 100).unwrap(), b"89");
    assert_eq!(grant.read_range(100, usize::MAX).unwrap(), b"");
    let mut start = [0; 3];
    grant.open().unwrap().read_exact(&mut start).unwrap();
    assert_eq!(&start, b"012");
}

#[test]
fn a_file_without_end_is_cut_off() {
    // Its reported size is zero.
    let guard = Yard::new().guard(&["/proc/self"]);
    let grant = guard.check(guard.roots()[0].place.join("maps"), Access::READ).unwrap();
    assert!(matches!(grant.read(16).unwrap_err(), GrantError::TooLarge { limit: 16, .. }));
}

#[test]
fn metadata_tells_kind_size_and_times() {
    let yard = Yard::new();
    yard.link("root/link", "top.txt");
    let guard = yard.guard(&["root"]);
    let file = guard.check("top.txt", Access::READ).unwrap().metadata().unwrap();
    assert_eq!((file.kind, file.size), (FileKind::File, 3));
    let age = file.modified.unwrap().elapsed().unwrap();
    assert!(age < Duration::from_mins(10), "{age:?}");
    assert_eq!(guard.check("a", Access::READ).unwrap().metadata().unwrap().kind, FileKind::Directory);
    assert_eq!(guard.check("link", Access::READ).unwrap().metadata().unwrap().kind, FileKind::File);
    assert_eq!(guard.check_entry("link", Access::READ).unwrap().metadata().unwrap().kind, FileKind::Link);
    let missing = guard.check("missing", Access::READ).unwrap();
    assert_eq!(missing.metadata().unwrap_err().io_kind(), Some(io::ErrorKind::NotFound));
}

#[test]
fn replacing_keeps_the_mode_and_leaves_nothing_behind() {
    let yard = Yard::new();
    fs::set_permissions(yard.path("root/top.txt"), fs::Permissions::from_mode(0o640)).unwrap();
    let guard = yard.guard(&["root"]);
    let before = fs::metadata(yard.path("root/top.txt")).unwrap().ino();
    let grant = guard.check("top.txt", Access::WRITE).unwrap();
    grant.replace(b"new").unwrap();
    let after = fs::metadata(yard.path("root/top.txt")).unwrap();
    assert_ne!(after.ino(), before, "a new file took the name");
    assert_eq!(after.mode() & 0o7777, 0o640);
    // Again through the same grant: it names the place, not the old file.
    grant.replace(b"newer").unwrap();
    assert_eq!(yard.text("root/top.txt"), "newer");
    // A failure in the middle leaves the old contents and no other file.
    let failed = grant.replace_with(|file| {
        file.write_all(b"half")?;
        Err(io::Error::other("the source dried up"))
    });
    assert!(failed.unwrap_err().to_string().contains("the source dried up"));
    assert_eq!(yard.text("root/top.txt"), "newer");
    assert_eq!(fs::read_dir(yard.path("root")).unwrap().count(), 2);
}

#[test]
fn replacing_follows_a_link_inside_and_keeps_it() {
    let yard = Yard::new();
    yard.link("root/link", "top.txt");
    yard.link("root/dangling", "a/later.txt");
    let guard = yard.guard(&["root"]);
    guard.check("link", Access::WRITE).unwrap().replace(b"through").unwrap();
    assert_eq!(yard.text("root/top.txt"), "through");
    guard.check("dangling", Access::WRITE).unwrap().replace(b"made").unwrap();
    assert_eq!(yard.text("root/a/later.txt"), "made");
    assert!(fs::symlink_metadata(yard.path("root/link")).unwrap().is_symlink());
}

#[test]
fn a_link_put_there_after_the_decision_is_not_followed() {
    let yard = Yard::new();
    let guard = yard.guard(&["root"]);
    let read = guard.check("top.txt", Access::READ).unwrap();
    let append = guard.check("top.txt", Access::WRITE).unwrap();
    let create = guard.check("new.txt", Access::WRITE).unwrap();
    let replace = guard.check("other.txt", Access::WRITE).unwrap();
    fs::remove_file(yard.path("root/top.txt")).unwrap();
    for name in ["root/top.txt", "root/new.txt", "root/other.txt"] {
        yard.link(name, yard.path("outside/secret.txt"));
    }
    assert_eq!(read.read(100).unwrap_err().denial().unwrap().code(), Code::OutsideRoots);
    assert!(append.append(b"x").is_err());
    assert_eq!(create.create_new(b"x").unwrap_err().io_kind(), Some(io::ErrorKind::AlreadyExists));
    replace.replace(b"mine").unwrap();
    assert_eq!(yard.text("root/other.txt"), "mine");
    assert!(!fs::symlink_metadata(yard.path("root/other.txt")).unwrap().is_symlink(), "the file replaced the link");
    assert_eq!(yard.text("outside/secret.txt"), "SECRET");
}

#[test]
fn appending_adds_or_creates() {
    let yard = Yard::new();
    let guard = yard.guard(&["root"]);
    guard.check("top.txt", Access::WRITE).unwrap().append(b"+").unwrap();
    guard.check("fresh", Access::WRITE).unwrap().append(b"+").unwrap();
    assert_eq!((yard.text("root/top.txt"), yard.text("root/fresh")), ("top+".into(), "+".into()));
}

#[test]
fn appending_adds_to_a_file_created_meanwhile() {
    let yard = Yard::new();
    let guard = yard.guard(&["root"]);
    let [first, second, third] = ["new", "new", "linked"].map(|path| guard.check(path, Access::WRITE).unwrap());
    first.append(b"1").unwrap();
    second.append(b"2").unwrap();
    assert_eq!(yard.text("root/new"), "12");
    yard.link("root/linked", yard.path("outside/secret.txt"));
    assert_eq!(third.append(b"3").unwrap_err().denial().unwrap().code(), Code::OutsideRoots);
    assert_eq!(yard.text("outside/secret.txt"), "SECRET");
}

#[test]
fn replacing_a_version_keeps_a_concurrent_write() {
    let yard = Yard::new();
    for (root, name) in [("root", "top.txt"), ("root/top.txt", "")] {
        let guard = yard.guard(&[root]);
        let grant = guard.check(yard.path("root/top.txt"), Access::READ_WRITE).unwrap();
        let seen = grant.open().unwrap().version();
        grant.replace_version(seen, b"mine").unwrap();
        assert_eq!(yard.text("root/top.txt"), "mine", "{name}");
        let seen = grant.open().unwrap().version();
        yard.file("root/top.txt", "somebody else's");
        let changed = grant.replace_version(seen, b"mine again");
        assert!(matches!(changed, Err(GrantError::Changed { .. })), "{changed:?}");
        assert_eq!(yard.text("root/top.txt"), "somebody else's", "{name}");
        fs::remove_file(yard.path("root/top.txt")).unwrap();
        assert!(grant.replace_version(seen, b"mine again").is_err());
        assert!(!yard.path("root/top.txt").exists(), "{name}: a removed file stays removed");
        let leftovers = fs::read_dir(yard.path("root")).unwrap().flatten();
        let leftovers = leftovers.filter(|entry| entry.file_name().as_encoded_bytes().starts_with(b".rootward-"));
        assert_eq!(leftovers.count(), 0, "{name}");
        yard.file("root/top.txt", "top");
    }
}

#[test]
fn a_shared_file_that_is_written_in_place_shrinks_and_grows() {
    let yard = Yard::new();
    let guard = yard.guard(&["root/top.txt"]);
    let grant = guard.check(yard.path("root/top.txt"), Access::WRITE).unwrap();
    for contents in ["longer than before", "short", ""] {
        grant.replace(contents.as_bytes()).unwrap();
        assert_eq!(yard.text("root/top.txt"), contents);
    }
}

#[test]
fn a_working_directory_is_the_directory_that_was_decided() {
    let yard = Yard::new();
    let guard = yard.guard(&["root:rwx"]);
    let start = |path: &str| guard.check(path, Access::EXECUTE).unwrap().open_working_directory();
    let opened = start("a").unwrap();
    assert_eq!(rustix::fs::fstat(&opened).unwrap().st_ino, fs::metadata(yard.path("root/a")).unwrap().ino());
    assert_eq!(start("top.txt").unwrap_err().io_kind(), Some(io::ErrorKind::NotADirectory));
    assert_eq!(start("missing").unwrap_err().io_kind(), Some(io::ErrorKind::NotFound));
    let moved = guard.check("a", Access::EXECUTE).unwrap();
    fs::rename(yard.path("root/a"), yard.path("root/was-a")).unwrap();
    yard.link("root/a", yard.path("outside"));
    assert!(moved.open_working_directory().is_err(), "a link replaced the directory");
}

#[test]
fn a_copy_that_is_stopped_leaves_nothing() {
    let yard = Yard::new();
    let guard = yard.guard(&["root"]);
    let source = guard.check("top.txt", Access::READ).unwrap();
    let target = guard.check("copy.txt", Access::WRITE).unwrap();
    let stopped = source.copy_to_while(&target, Replace::No, |_| Err(io::ErrorKind::Interrupted.into()));
    assert_eq!(stopped.unwrap_err().io_kind(), Some(io::ErrorKind::Interrupted));
    let names: Vec<_> = fs::read_dir(yard.path("root")).unwrap().flatten().map(|entry| entry.file_name()).collect();
    assert!(!names.iter().any(|name| name.to_string_lossy().contains("copy")), "{names:?}");
    assert!(!names.iter().any(|name| name.to_string_lossy().contains(".tmp")), "{names:?}");
}

/// A file of a terabyte with a few bytes in it is copied quickly, and takes no more space than those bytes.
#[test]
fn holes_are_copied_as_holes() {
    use std::os::unix::fs::{FileExt, MetadataExt};
    let yard = Yard::new();
    let (size, place) = (1 << 40, 1 << 39);
    let file = fs::File::create(yard.path("root/holes")).unwrap();
    file.set_len(size).unwrap();
    file.write_all_at(b"begin", 0).unwrap();
    file.write_all_at(b"middle", place).unwrap();
    let guard = yard.guard(&["root"]);
    let source = guard.check("holes", Access::READ).unwrap();
    let target = guard.check("copy", Access::WRITE).unwrap();
    let mut written = 0;
    let copied = source.copy_to_while(&target, Replace::No, |bytes| {
        written += bytes;
        if written < 1 << 24 { Ok(()) } else { Err(io::ErrorKind::StorageFull.into()) }
    });
    assert_eq!(copied.unwrap(), size);
    let copy = fs::File::open(yard.path("root/copy")).unwrap();
    let mut bytes = [0; 11];
    copy.read_exact_at(&mut bytes[..5], 0).unwrap();
    copy.read_exact_at(&mut bytes[5..], place).unwrap();
    assert_eq!(&bytes, b"beginmiddle");
    let found = copy.metadata().unwrap();
    assert!(found.len() == size && found.blocks() < 1 << 12, "{} blocks", found.blocks());
}

#[test]
fn directories_are_made_one_or_many_at_a_time() {
    let yard = Yard::new();
    yard.link("root/in", "a");
    let guard = yard.guard(&["root"]);
    guard.check_entry("one/", Access::WRITE).unwrap().create_directory().unwrap();
    let deep = guard.check("x/y/z", Access::WRITE).unwrap();
    assert_eq!(deep.create_directory().unwrap_err().io_kind(), Some(io::ErrorKind::NotFound));
    deep.create_directory_all().unwrap();
    deep.create_directory_all().unwrap();
    guard.check("in/p/q", Access::WRITE).unwrap().create_directory_all().unwrap();
    assert!(yard.path("root/x/y/z").is_dir() && yard.path("root/a/p/q").is_dir());
    let below_a_file = guard.check("top.txt/x", Access::WRITE).unwrap();
    assert_eq!(below_a_file.create_directory_all().unwrap_err().io_kind(), Some(io::ErrorKind::NotADirectory));
    let closed = guard.check(".git/hooks/x", Access::WRITE);
    assert_eq!(closed.unwrap_err().code(), Code::Restricted);
}

#[test]
fn removing_takes_files_links_and_empty_directories() {
    let yard = Yard::new();
    yard.link("root/link", "a");
    fs::create_dir(yard.path("root/empty")).unwrap();
    let guard = yard.guard(&["root"]);
    let remove = |path: &str| guard.check_entry(path, Access::DELETE).unwrap().remove();
    remove("top.txt").unwrap();
    remove("link").unwrap();
    remove("empty/").unwrap();
    assert!(yard.path("root/a/b/file.txt").exists(), "the link was removed, not its target");
    assert_eq!(remove("a").unwrap_err().io_kind(), Some(io::ErrorKind::DirectoryNotEmpty));
    assert_eq!(remove("missing").unwrap_err().io_kind(), Some(io::ErrorKind::NotFound));
}

#[test]
fn renaming_moves_between_roots_and_asks_before_replacing() {
    let yard = Yard::new();
    yard.file("second/there.txt", "there");
    let guard = yard.guard(&["root", "second:rw-nodelete"]);
    let source = || guard.check_entry("top.txt", Access::DELETE).unwrap();
    let target = |name: &str| guard.check_entry(yard.path("second").join(name), Access::WRITE).unwrap();
    let refused = source().rename_to(&target("there.txt"), Replace::No).unwrap_err();
    assert_eq!(refused.io_kind(), Some(io::ErrorKind::AlreadyExists));
    assert_eq!(yard.text("second/there.txt"), "there");
    source().rename_to(&target("here.txt"), Replace::No).unwrap();
    assert_eq!(yard.text("second/here.txt"), "top");
    let back = guard.check_entry(yard.path("second/here.txt"), Access::DELETE);
    assert_eq!(back.unwrap_err().code(), Code::AccessDenied, "`rw-nodelete` gives no delete");
}

#[test]
fn a_move_carries_no_closed_place_and_no_root_along() {
    let yard = Yard::new();
    yard.file("root/repo/.git/hooks/pre-commit", "#!");
    yard.file("root/repo/.git/HEAD", "ref");
    yard.file("root/loot/hooks/pre-commit", "evil");
    yard.file("root/nest/inner/x", "x");
    yard.file("root/bare/x", "x");
    let guard = yard.guard(&["root", "root/nest/inner:ro"]);
    let rename = |from: &str, to: &str| {
        let source = guard.check_entry(from, Access::DELETE)?;
        let target = guard.check_entry(to, Access::WRITE)?;
        source.rename_to(&target, Replace::No)
    };
    for (from, to) in [("repo", "elsewhere"), ("loot", "bare/.git"), ("nest", "other"), ("repo/.git", "git")] {
        let refused = rename(from, to).unwrap_err();
        assert_eq!(
            refused.denial().map(rootward_core::Denial::code),
            Some(Code::Restricted),
            "{from} to {to}: {refused}"
        );
        assert!(yard.path("root").join(from).exists());
    }
    rename("bare", "moved").unwrap();
}

#[test]
fn copying_is_all_or_nothing_and_takes_the_mode_along() {
    let yard = Yard::new();
    fs::set_permissions(yard.path("root/top.txt"), fs::Permissions::from_mode(0o750)).unwrap();
    let guard = yard.guard(&["root"]);
    let source = guard.check("top.txt", Access::READ).unwrap();
    let target = guard.check("copy.txt", Access::WRITE).unwrap();
    assert_eq!(source.copy_to(&target, Replace::No).unwrap(), 3);
    assert_eq!(yard.text("root/copy.txt"), "top");
    assert_eq!(fs::metadata(yard.path("root/copy.txt")).unwrap().mode() & 0o700, 0o700);
    let again = guard.check("copy.txt", Access::WRITE).unwrap();
    assert_eq!(source.copy_to(&again, Replace::No).unwrap_err().io_kind(), Some(io::ErrorKind::AlreadyExists));
    let directory = guard.check("a", Access::READ).unwrap();
    assert_eq!(directory.copy_to(&again, Replace::Yes).unwrap_err().io_kind(), Some(io::ErrorKind::IsADirectory));
}

#[test]
fn only_programs_are_opened_to_be_run() {
    let yard = Yard::new();
    yard.file("root/run", "#!/bin/sh\n");
    let guard = yard.guard(&["root:rwx"]);
    let open = || guard.check("run", Access::EXECUTE).unwrap().open_executable();
    assert_eq!(open().unwrap_err().io_kind(), Some(io::ErrorKind::PermissionDenied));
    fs::set_permissions(yard.path("root/run"), fs::Permissions::from_mode(0o755)).unwrap();
    assert!(open().is_ok());
    let without = yard.guard(&["root"]).check("run", Access::EXECUTE);
    assert_eq!(without.unwrap_err().code(), Code::AccessDenied);
}
