//! Attacks from a hostile review of the code. Each test states a promise and fails if it is broken.

use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use rootward_core::{
    Access, Code, Denial, FileKind, Guard, GuardOptions, Origin, RefusedRoot, Replace, Resolver, Root, RootSet,
    Validation, Visit, WalkOptions, WhyRefused,
};
use rustix::fs::{Mode, OFlags};

use crate::yard::Yard;

fn code<T>(result: Result<T, Denial>) -> Option<Code> {
    result.err().map(|denial| denial.code().for_peer())
}

fn fifo(path: &Path) {
    rustix::fs::mkfifoat(rustix::fs::CWD, path, Mode::from_raw_mode(0o600)).unwrap();
}

/// Runs one of these tests in its own process, because it may crash.
fn in_its_own_process(name: &str) -> std::process::Output {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", &format!("hostile::{name}"), "--nocapture", "--include-ignored"])
        .env("HOSTILE_CHILD", "1")
        .output()
        .unwrap()
}

fn is_child() -> bool {
    std::env::var_os("HOSTILE_CHILD").is_some()
}

/// Creates a chain of directories `d/d/d/…`, deeper than any path can express, and calls `each` with every directory's
/// handle.
fn chain(start: &Path, depth: usize, each: impl Fn(&std::os::fd::OwnedFd)) {
    let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC;
    let mut here = rustix::fs::open(start, flags, Mode::empty()).unwrap();
    for _ in 0..depth {
        each(&here);
        rustix::fs::mkdirat(&here, "d", Mode::RWXU).unwrap();
        here = rustix::fs::openat(&here, "d", flags, Mode::empty()).unwrap();
    }
}

fn remove_tree(path: &Path) {
    Command::new("rm").arg("-rf").arg(path).status().unwrap();
}

// ---- moves ----

/// A peer makes two calls at once, without help from another process: one moves the parent of the file that the other
/// writes.
#[test]
fn a_parent_moved_by_a_grant_takes_no_file_into_a_closed_place() {
    let yard = Yard::new();
    fs::create_dir_all(yard.path("root/.git/modules")).unwrap();
    fs::create_dir(yard.path("root/d")).unwrap();
    let guard = yard.guard(&["root"]);
    let place = "root/.git/modules/m/config";
    assert_eq!(code(guard.check(yard.path(place), Access::WRITE)), Some(Code::Restricted));
    let written = guard.check("d/config", Access::WRITE).unwrap().replace_with(|file| {
        // During this long write, the peer makes its other call:
        let source = guard.check_entry("d", Access::DELETE).unwrap();
        let target = guard.check_entry(".git/modules/m", Access::WRITE).unwrap();
        source.rename_to(&target, Replace::No).map_err(io::Error::other)?;
        io::Write::write_all(file, b"[core]\n\tfsmonitor = evil\n")
    });
    assert!(!yard.path(place).exists(), "a closed place was written ({written:?}): {}", yard.text(place));
}

/// The same without a long write: the grant was decided before the move.
#[test]
fn a_grant_older_than_a_move_creates_nothing_in_a_closed_place() {
    let yard = Yard::new();
    fs::create_dir_all(yard.path("root/.git/modules")).unwrap();
    fs::create_dir(yard.path("root/d")).unwrap();
    let guard = yard.guard(&["root"]);
    let file = guard.check("d/config", Access::WRITE).unwrap();
    let source = guard.check_entry("d", Access::DELETE).unwrap();
    source.rename_to(&guard.check_entry(".git/modules/m", Access::WRITE).unwrap(), Replace::No).unwrap();
    let _ = file.create_new(b"evil");
    assert!(!yard.path("root/.git/modules/m/config").exists(), "a closed place was written");
}

/// If a link could be moved unchecked, its target would then appear in the closed place.
#[test]
fn a_link_that_is_moved_brings_nothing_into_a_closed_place() {
    let yard = Yard::new();
    // A cloned repository can contain both.
    yard.file("root/payload/hgrc", "[hooks]\nupdate = evil\n");
    yard.link("root/innocent", "payload");
    let guard = yard.guard(&["root"]);
    let rename = |from: &str, to: &str| {
        let source = guard.check_entry(from, Access::DELETE)?;
        source.rename_to(&guard.check_entry(to, Access::WRITE)?, Replace::No)
    };
    assert_eq!(rename("payload", ".hg").unwrap_err().denial().unwrap().code(), Code::Restricted, "as a directory");
    let moved = rename("innocent", ".hg");
    assert!(moved.is_err() && !yard.path("root/.hg/hgrc").exists(), ".hg/hgrc is {:?}", yard.text("root/.hg/hgrc"));
}

/// The check must cover the tree that is moved, not the one that was pinned when the path was decided.
#[test]
fn a_swapped_directory_is_not_moved() {
    let yard = Yard::new();
    yard.file("root/d/x", "x");
    yard.file("root/repo/.git/hooks/pre-commit", "#!");
    yard.file("root/repo/.ssh/id", "KEY");
    let guard = yard.guard(&["root"]);
    let source = guard.check_entry("d", Access::DELETE).unwrap();
    let target = guard.check_entry("e", Access::WRITE).unwrap();
    fs::rename(yard.path("root/d"), yard.path("root/d2")).unwrap();
    fs::rename(yard.path("root/repo"), yard.path("root/d")).unwrap();
    // Both renames happened before the move was requested.
    let moved = source.rename_to(&target, Replace::No);
    assert!(moved.is_err(), "another directory was moved, with `.git/hooks` and `.ssh` in it");
}

#[test]
fn a_file_that_became_a_directory_is_checked_before_it_moves() {
    let yard = Yard::new();
    yard.file("root/repo/.git/hooks/pre-commit", "#!");
    let guard = yard.guard(&["root"]);
    let source = guard.check_entry("top.txt", Access::DELETE).unwrap();
    let target = guard.check_entry("e", Access::WRITE).unwrap();
    fs::remove_file(yard.path("root/top.txt")).unwrap();
    fs::rename(yard.path("root/repo"), yard.path("root/top.txt")).unwrap();
    assert!(source.rename_to(&target, Replace::No).is_err(), "`.git/hooks` was moved unchecked");
}

// ---- more access than a client may have ----

/// A file `.git` says where git finds hooks and configuration. It must stay closed for writing, even if it is named as
/// a root.
#[test]
fn a_client_cannot_open_a_git_file_by_naming_it() {
    let yard = Yard::new();
    yard.file("root/sub/.git", "gitdir: ../.git/modules/sub\n");
    let whole = yard.guard_by(Resolver::detect(), Origin::Client, &["root"]);
    assert_eq!(code(whole.check("sub/.git", Access::WRITE)), Some(Code::Restricted));
    let alone = yard.guard_by(Resolver::detect(), Origin::Client, &["root/sub/.git"]);
    let grant = alone.check(yard.path("root/sub/.git"), Access::WRITE);
    let grant = grant.map(|grant| grant.replace(b"gitdir: ../payload\n").unwrap());
    assert_eq!(code(grant), Some(Code::Restricted), "now: {}", yard.text("root/sub/.git"));
}

/// Naming both the tree and the file must not work either.
#[test]
fn a_client_cannot_open_a_git_file_by_naming_it_below_a_ceiling() {
    let yard = Yard::new();
    yard.file("root/sub/.git", "gitdir: ../.git/modules/sub\n");
    let client = yard.set(Origin::Client, &["root", "root/sub/.git"]);
    let ceiling = yard.set(Origin::Flag, &["root"]);
    let set = RootSet::combine(rootward_core::Mode::Narrow, &client, &ceiling);
    let guard = Guard::new(set, GuardOptions::default());
    assert_eq!(code(guard.check("sub/.git", Access::WRITE)), Some(Code::Restricted));
}

// ---- information about places outside ----

/// Otherwise `..` after a directory outside would be allowed if the directory exists, and refused if not.
#[test]
fn a_peer_cannot_ask_which_directories_exist_outside() {
    for resolver in [Resolver::Kernel, Resolver::Walk] {
        let yard = Yard::new();
        fs::create_dir_all(yard.path("outside/there")).unwrap();
        let guard = yard.guard_by(resolver, Origin::Flag, &["root"]);
        let ask = |directory: &str| code(guard.check(yard.path(directory).join("../../root/top.txt"), Access::READ));
        assert_eq!(ask("outside/there"), ask("outside/missing"), "{resolver:?}");
    }
}

#[test]
fn a_peer_cannot_ask_which_directories_exist_in_a_closed_place() {
    let yard = Yard::new();
    fs::create_dir_all(yard.path("root/.ssh/keys")).unwrap();
    let guard = yard.guard(&["root"]);
    let ask = |path: &str| code(guard.check(path, Access::READ));
    assert_eq!(ask(".ssh/keys/../../top.txt"), ask(".ssh/missing/../../top.txt"));
}

// ---- special files ----

#[test]
fn a_fifo_is_not_opened_for_reading() {
    type Reader = fn(&Guard, &str);
    let yard = Yard::new();
    let guard = yard.guard(&["root"]);
    let readers: [(&str, Reader); 2] = [
        ("Grant::open", |guard, name| drop(guard.check(name, Access::READ).unwrap().open().unwrap_err())),
        ("WalkEntry::open", |guard, name| {
            let visit = |entry: &rootward_core::WalkEntry<'_>| {
                if entry.name() == name {
                    entry.open().unwrap_err();
                }
                Visit::Continue
            };
            guard.check(".", Access::READ).unwrap().walk(WalkOptions::default(), visit).unwrap();
        }),
    ];
    let mut opened = Vec::new();
    for (number, (verb, read)) in readers.into_iter().enumerate() {
        let name = format!("pipe{number}");
        fifo(&yard.path("root").join(&name));
        // Opening a FIFO for writing waits until somebody opens it for reading.
        let woken = Arc::new(AtomicBool::new(false));
        let writer = thread::spawn({
            let (woken, path) = (Arc::clone(&woken), yard.path("root").join(&name));
            move || {
                fs::OpenOptions::new().write(true).open(path).unwrap();
                woken.store(true, Ordering::SeqCst);
            }
        });
        thread::sleep(Duration::from_millis(200));
        assert!(!woken.load(Ordering::SeqCst));
        read(&guard, &name);
        thread::sleep(Duration::from_millis(200));
        if woken.load(Ordering::SeqCst) {
            opened.push(verb);
        } else {
            rustix::fs::open(yard.path("root").join(&name), OFlags::RDONLY | OFlags::NONBLOCK, Mode::empty()).unwrap();
        }
        writer.join().unwrap();
    }
    assert!(opened.is_empty(), "opened a FIFO, and woke its writer: {opened:?}");
}

// ---- the process ----

#[test]
fn a_deep_tree_can_be_moved_without_ending_the_process() {
    if is_child() {
        let yard = Yard::new();
        fs::create_dir(yard.path("root/deep")).unwrap();
        let depth = std::env::var("HOSTILE_DEPTH").map_or(8_000, |depth| depth.parse().unwrap());
        chain(&yard.path("root/deep"), depth, |_| ());
        let guard = yard.guard(&["root"]);
        let source = guard.check_entry("deep", Access::DELETE).unwrap();
        let target = guard.check_entry("moved", Access::WRITE).unwrap();
        // A thread with the stack size of a server's threads.
        let moved = thread::scope(|scope| scope.spawn(|| source.rename_to(&target, Replace::No)).join().unwrap());
        remove_tree(&yard.path("root/deep"));
        remove_tree(&yard.path("root/moved"));
        // Refused: the tree is deeper than any path, so it could not be searched.
        assert!(moved.is_err());
        return;
    }
    let output = in_its_own_process("a_deep_tree_can_be_moved_without_ending_the_process");
    assert!(output.status.success(), "{}: {}", output.status, String::from_utf8_lossy(&output.stderr));
}

/// A file may claim to be large, and a peer may ask for any length; neither may crash the process.
#[test]
fn a_huge_sparse_file_read_in_part_does_not_end_the_process() {
    if is_child() {
        // tmpfs allows files as long as the type permits.
        let directory = tempfile::tempdir_in("/dev/shm").unwrap();
        let file = fs::File::create(directory.path().join("huge")).unwrap();
        file.set_len(i64::MAX as u64).unwrap();
        let root = Root::from_path(directory.path(), Origin::Flag).unwrap();
        let guard = Guard::new(RootSet::place_ambient([root], &Validation::new(None)), GuardOptions::default());
        let grant = guard.check("huge", Access::READ).unwrap();
        assert!(grant.read_range(0, usize::MAX).is_err());
        assert!(grant.read(u64::MAX).is_err());
        return;
    }
    let output = in_its_own_process("a_huge_sparse_file_read_in_part_does_not_end_the_process");
    assert!(output.status.success(), "{}: {}", output.status, String::from_utf8_lossy(&output.stderr));
}

/// Without a limit, a deep tree with two directories at each level would keep a handle open for each level.
#[test]
fn a_deep_and_forked_tree_is_walked_with_few_handles() {
    let yard = Yard::new();
    fs::create_dir(yard.path("root/deep")).unwrap();
    chain(&yard.path("root/deep"), 1_500, |here| {
        for name in ["a", "b", "c", "e", "f", "g"] {
            rustix::fs::mkdirat(here, name, Mode::RWXU).unwrap();
        }
    });
    let guard = yard.guard(&["root"]);
    let most = Mutex::new(0);
    let grant = guard.check(".", Access::READ).unwrap();
    grant
        .walk(WalkOptions { threads: 1, ..WalkOptions::default() }, |entry| {
            if entry.name() == "d" && entry.depth() % 100 == 0 {
                let open = fs::read_dir("/proc/self/fd").unwrap().count();
                let mut most = most.lock().unwrap();
                *most = open.max(*most);
            }
            Visit::Continue
        })
        .unwrap();
    remove_tree(&yard.path("root/deep"));
    let most = *most.lock().unwrap();
    assert!(most < 500, "{most} files open at once: more than the usual limit of 1024 allows a deeper tree");
}

// ---- roots ----

/// A root is named through a link in another root: the peer swaps the link, and the roots are looked up again.
#[test]
fn a_peer_cannot_move_a_root_by_moving_the_link_that_names_it() {
    let yard = Yard::new();
    yard.link("root/current", "a");
    yard.link("root/innocent", yard.path("outside"));
    let set = yard.set(Origin::Flag, &["root", "root/current"]);
    let guard = Guard::new(set.clone(), GuardOptions::default());
    let source = guard.check_entry("innocent", Access::DELETE).unwrap();
    // Also by another spelling: `a/../current`.
    let moved = ["current", "a/../current"].iter().any(|name| {
        guard.check_entry(name, Access::WRITE).is_ok_and(|target| source.rename_to(&target, Replace::Yes).is_ok())
    });
    let again = Guard::new(set.place_again_ambient(&Validation::new(None)), GuardOptions::default());
    let read = again.check(yard.path("outside/secret.txt"), Access::READ).ok().map(|grant| grant.read(100).unwrap());
    assert_eq!(read, None, "the peer (moved: {moved}) reads outside");
}

/// The same for a root that is missing and comes back when it appears.
#[test]
fn a_peer_cannot_make_a_missing_root_appear_elsewhere() {
    let yard = Yard::new();
    yard.link("root/innocent", yard.path("outside"));
    let set = yard.set(Origin::Flag, &["root", "root/build"]);
    let guard = Guard::new(set.clone(), GuardOptions::default());
    let source = guard.check_entry("innocent", Access::DELETE).unwrap();
    let target = guard.check_entry("build", Access::WRITE);
    let _ = target.map(|target| source.rename_to(&target, Replace::No));
    let again = Guard::new(set.place_again_ambient(&Validation::new(None)), GuardOptions::default());
    let read = again.check(yard.path("outside/secret.txt"), Access::READ).ok().map(|grant| grant.read(100).unwrap());
    assert_eq!(read, None, "the peer reads outside");
}

/// A file root shares a file. A directory that replaces it is not shared.
#[test]
fn a_directory_in_the_place_of_a_file_root_is_not_shared() {
    let yard = Yard::new();
    let guard = yard.guard(&["root/top.txt"]);
    fs::remove_file(yard.path("root/top.txt")).unwrap();
    fs::rename(yard.path("outside"), yard.path("root/top.txt")).unwrap();
    let grant = guard.check(yard.path("root/top.txt"), Access::READ);
    let seen = Mutex::new(Vec::new());
    if let Ok(grant) = grant {
        let _ = grant.walk(WalkOptions::default(), |entry| {
            let contents = entry.open().and_then(|file| file.read_whole(100)).unwrap();
            seen.lock().unwrap().push(String::from_utf8(contents).unwrap());
            Visit::Continue
        });
        let listed = grant.list().map(|entries| entries.len()).ok();
        let seen = seen.into_inner().unwrap();
        assert!(listed.is_none() && seen.is_empty(), "listed {listed:?} entries, read {seen:?}");
    }
}

#[test]
fn no_directory_is_made_in_the_place_of_a_file_root() {
    let yard = Yard::new();
    let guard = yard.guard(&["root/top.txt"]);
    fs::remove_file(yard.path("root/top.txt")).unwrap();
    let grant = guard.check_entry(yard.path("root/top.txt"), Access::WRITE).unwrap();
    assert!(grant.create_directory().is_err() || !yard.path("root/top.txt").is_dir(), "a directory was made");
}

#[test]
fn a_failed_replacement_keeps_the_old_file_root() {
    let yard = Yard::new();
    let guard = yard.guard(&["root/top.txt"]);
    let grant = guard.check(yard.path("root/top.txt"), Access::WRITE).unwrap();
    grant.replace_with(|_| Err(io::Error::other("the source dried up"))).unwrap_err();
    assert_eq!(yard.text("root/top.txt"), "top", "`If it fails, the old file stays`");
}

#[test]
fn a_file_root_copied_onto_itself_stays() {
    let yard = Yard::new();
    let guard = yard.guard(&["root/top.txt"]);
    let path = yard.path("root/top.txt");
    let source = guard.check(&path, Access::READ).unwrap();
    let _ = source.copy_to(&guard.check(&path, Access::WRITE).unwrap(), Replace::Yes);
    assert_eq!(yard.text("root/top.txt"), "top");
}

/// Device and inode numbers are reused, on ext4 nearly always by the next directory.
#[test]
fn a_root_removed_and_created_again_is_another_root() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().canonicalize().unwrap().join("r");
    fs::create_dir(&path).unwrap();
    let root = Root::from_path(&path, Origin::Flag).unwrap();
    let guard = Guard::new(RootSet::place_ambient([root], &Validation::new(None)), GuardOptions::default());
    fs::remove_dir(&path).unwrap();
    fs::create_dir(&path).unwrap();
    fs::write(path.join("x"), "impostor").unwrap();
    assert!(guard.check("x", Access::READ).is_err(), "a replaced root was accepted as the old one");
}

#[test]
fn a_move_gives_no_access_that_the_source_did_not_have() {
    let yard = Yard::new();
    yard.file("drop/in.txt", "PRIVATE");
    let drop_box =
        Root::from_path(yard.path("drop"), Origin::Flag).unwrap().with_access(Access::WRITE | Access::DELETE);
    let open = Root::from_path(yard.path("root"), Origin::Flag).unwrap();
    let guard = Guard::new(RootSet::place_ambient([open, drop_box], &Validation::new(None)), GuardOptions::default());
    assert_eq!(code(guard.check(yard.path("drop/in.txt"), Access::READ)), Some(Code::AccessDenied));
    let source = guard.check_entry(yard.path("drop/in.txt"), Access::DELETE).unwrap();
    let _ = source.rename_to(&guard.check_entry("taken", Access::WRITE).unwrap(), Replace::No);
    let read = guard.check("taken", Access::READ).unwrap().read(100).ok();
    assert_eq!(read, None, "the peer reads a file that is not shared for reading");
}

// ---- attacks that failed ----

#[test]
fn a_closed_place_is_closed_behind_any_name() {
    let yard = Yard::new();
    for above in ["a\nb", "a\\b", "[x]", "a*", "\u{202e}"] {
        yard.file(&format!("root/{above}/.ssh/id"), "KEY");
        let guard = yard.guard(&["root"]);
        let denied = guard.check(format!("{above}/.ssh/id"), Access::READ);
        assert_eq!(code(denied), Some(Code::Restricted), "{above:?}");
    }
}

#[test]
fn forty_links_of_four_kilobytes_are_followed_in_bounded_time() {
    let yard = Yard::new();
    let climb = "a/../".repeat(810);
    yard.link("root/l0", format!("{climb}missing/x"));
    for number in 1..39 {
        yard.link(&format!("root/l{number}"), format!("{climb}l{}", number - 1));
    }
    for resolver in [Resolver::Kernel, Resolver::Walk] {
        let guard = yard.guard_by(resolver, Origin::Flag, &["root"]);
        let start = Instant::now();
        let answer = guard.check("l38", Access::READ);
        let taken = start.elapsed();
        assert!(taken < Duration::from_secs(3), "{resolver:?} {taken:?} {answer:?}");
    }
}

// ---- permissions and owners ----

/// If the owner cannot be kept, the group is lost too, and its permissions would go to another group.
#[test]
fn replacing_opens_the_file_to_no_other_group() {
    let yard = Yard::new();
    let path = yard.path("root/top.txt");
    if !rustix::process::geteuid().is_root() {
        // Only the superuser can create another user's file. A user's own file keeps its group.
        fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o640)).unwrap();
        let old = fs::metadata(&path).unwrap();
        yard.guard(&["root"]).check("top.txt", Access::WRITE).unwrap().replace(b"new").unwrap();
        let new = fs::metadata(&path).unwrap();
        assert_eq!((new.gid(), new.mode() & 0o777), (old.gid(), 0o640));
        return;
    }
    // Another user's file, readable by group 5, in a directory that the user may write to.
    std::os::unix::fs::chown(&path, Some(3), Some(5)).unwrap();
    fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o640)).unwrap();
    for directory in ["", "root"] {
        std::os::unix::fs::chown(yard.path(directory), Some(1000), Some(1000)).unwrap();
    }
    let guard = yard.guard(&["root"]);
    thread::scope(|scope| {
        scope
            .spawn(|| {
                let (group, user) = (rustix::fs::Gid::from_raw(1000), rustix::fs::Uid::from_raw(1000));
                // The user is also in group 5, so this group could be kept.
                rustix::thread::set_thread_groups(&[rustix::fs::Gid::from_raw(5)]).unwrap();
                rustix::thread::set_thread_res_gid(group, group, group).unwrap();
                rustix::thread::set_thread_res_uid(user, user, user).unwrap();
                guard.check("top.txt", Access::WRITE).unwrap().replace(b"new").unwrap();
            })
            .join()
            .unwrap();
    });
    let new = fs::metadata(&path).unwrap();
    assert!(new.gid() == 5 || new.mode() & 0o070 == 0, "mode {:o} for group {}", new.mode() & 0o777, new.gid());
}

// ---- details ----

#[test]
fn a_link_named_with_a_slash_is_the_same_by_every_route() {
    let yard = Yard::new();
    fs::create_dir(yard.path("root/empty")).unwrap();
    yard.link("root/link", "empty");
    let guard = yard.guard(&["root"]);
    let path = |text: &str| guard.check_entry(text, Access::DELETE).map(|grant| (grant.path(), grant.exists()));
    assert_eq!(path("link/").unwrap(), path("a/../link/").unwrap());
}

#[test]
fn both_resolvers_decide_places_longer_than_a_path_alike() {
    let yard = Yard::new();
    // Two links of half the length each; the resolved path is longer than the limit.
    let half = vec!["d"; 1_500].join("/");
    chain(&yard.path("root"), 3_000, |_| ());
    yard.link("root/first", &half);
    let ask = |resolver| {
        let guard = yard.guard_by(resolver, Origin::Flag, &["root"]);
        code(guard.check(format!("first/{half}"), Access::READ))
    };
    let (kernel, walk) = (ask(Resolver::Kernel), ask(Resolver::Walk));
    remove_tree(&yard.path("root/d"));
    assert_eq!(kernel, walk);
}

#[test]
fn a_file_root_contains_nothing_below_it() {
    let yard = Yard::new();
    let guard = yard.guard(&["root/top.txt"]);
    assert!(guard.check(yard.path("root/top.txt"), Access::READ).is_ok());
    let below = guard.check(yard.path("root/top.txt/below"), Access::WRITE).unwrap();
    assert!(!below.exists() && below.create_directory_all().is_err());
}

#[test]
fn a_refused_root_is_shown_on_one_line() {
    let text = "/a\n\u{1b}[2Jb\u{202e}".to_owned();
    let shown = RefusedRoot { text, root: None, reason: WhyRefused::Missing }.to_string();
    assert!(!shown.contains(['\n', '\u{1b}', '\u{202e}']), "{shown:?}");
}

#[test]
fn the_steps_of_any_path_can_be_written_as_json() {
    let yard = Yard::new();
    let guard = yard.guard(&["root"]);
    let (steps, _) = guard.explain(std::ffi::OsStr::from_bytes(b"caf\xe9"), Access::READ);
    assert!(serde_json::to_string(&steps).is_ok(), "{:?}", serde_json::to_string(&steps));
}

#[test]
fn a_part_of_a_file_without_a_size_can_be_read() {
    let guard = Yard::new().guard(&["/proc/self"]);
    let grant = guard.check(guard.roots()[0].place.join("maps"), Access::READ).unwrap();
    assert_eq!(grant.read_range(0, 16).unwrap().len(), 16);
}

#[test]
fn a_refusal_by_a_grant_names_the_path_as_asked() {
    let yard = Yard::new();
    yard.link("link", "root");
    let guard = yard.guard(&["link"]);
    let asked = yard.path("link/top.txt");
    let refused = guard.check(&asked, Access::READ).unwrap().replace(b"").unwrap_err();
    assert_eq!(refused.denial().unwrap().path(), asked.as_os_str());
}

#[test]
fn a_file_is_moved_to_another_file_system_with_delete_alone() {
    let yard = Yard::new();
    let other = tempfile::tempdir_in("/dev/shm").unwrap();
    let roots = [yard.path("root"), other.path().to_owned()].map(|path| Root::from_path(path, Origin::Flag).unwrap());
    let guard = Guard::new(RootSet::place_ambient(roots, &Validation::new(None)), GuardOptions::default());
    let source = guard.check_entry("top.txt", Access::DELETE).unwrap();
    let target = guard.check_entry(other.path().join("there"), Access::WRITE).unwrap();
    source.rename_to(&target, Replace::No).unwrap();
    assert_eq!(guard.check(other.path().join("there"), Access::READ).unwrap().metadata().unwrap().kind, FileKind::File);
}
