//! Walks visit each entry once, and skip closed places and what git ignores, like the `ignore` crate.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use ignore::WalkBuilder;
use proptest::prelude::*;
use rootward_core::{Access, Guard, Ignore, Visit, WalkOptions};

use crate::yard::Yard;

fn walked(guard: &Guard, start: &str, options: WalkOptions) -> BTreeSet<PathBuf> {
    let seen = Mutex::new(BTreeSet::new());
    let grant = guard.check(start, Access::READ).unwrap();
    let summary = grant
        .walk(options, |entry| {
            assert!(
                seen.lock().unwrap().insert(entry.path().to_owned()),
                "{} was visited twice",
                entry.path().display()
            );
            assert_eq!(entry.path().components().count(), entry.depth());
            Visit::Continue
        })
        .unwrap();
    assert!(summary.errors.is_empty(), "{summary:?}");
    let seen = seen.into_inner().unwrap();
    assert_eq!(summary.visited, seen.len() as u64);
    seen
}

fn names(expected: &[&str]) -> BTreeSet<PathBuf> {
    expected.iter().map(PathBuf::from).collect()
}

#[test]
fn a_walk_sees_everything_once_and_follows_no_link() {
    let yard = Yard::new();
    yard.link("root/out", yard.path("outside"));
    yard.link("root/loop", ".");
    let guard = yard.guard(&["root"]);
    let all = names(&["a", "a/b", "a/b/file.txt", "loop", "out", "top.txt"]);
    for threads in [1, 2, 8] {
        assert_eq!(walked(&guard, ".", WalkOptions { threads, ..WalkOptions::default() }), all);
    }
    assert_eq!(walked(&guard, "a", WalkOptions::default()), names(&["b", "b/file.txt"]));
    let shallow = WalkOptions { most_depth: 1, ..WalkOptions::default() };
    assert_eq!(walked(&guard, ".", shallow), names(&["a", "loop", "out", "top.txt"]));
}

#[test]
fn closed_places_are_neither_listed_nor_walked() {
    let yard = Yard::new();
    yard.file("root/.ssh/id", "key");
    yard.file("root/a/.aws/credentials", "key");
    yard.file("root/a/.git/hooks/x", "x");
    yard.file("root/deep/closed/x", "x");
    let guard = yard.guard(&["root", "root/deep/closed:rw-nodelete"]);
    let seen = walked(&guard, ".", WalkOptions::default());
    assert!(seen.contains(&PathBuf::from("a/.git/hooks/x")), "closed for writing only");
    assert!(!seen.iter().any(|path| path.to_str().unwrap().contains(".ssh")), "{seen:?}");
    assert!(!seen.iter().any(|path| path.to_str().unwrap().contains(".aws")), "{seen:?}");
    let listed = guard.check("a", Access::READ).unwrap().list().unwrap();
    let listed: BTreeSet<_> = listed.iter().map(|entry| entry.name.to_str().unwrap()).collect();
    assert_eq!(listed, BTreeSet::from(["b", ".git"]));
}

#[test]
fn a_walk_can_be_cut_short() {
    let yard = Yard::new();
    for number in 0..100 {
        yard.file(&format!("root/many/{number}/x"), "");
    }
    let guard = yard.guard(&["root"]);
    let grant = guard.check(".", Access::READ).unwrap();
    let skipped = AtomicUsize::new(0);
    grant
        .walk(WalkOptions::default(), |entry| {
            skipped.fetch_add(1, Ordering::Relaxed);
            if entry.name() == "many" { Visit::SkipDirectory } else { Visit::Continue }
        })
        .unwrap();
    assert_eq!(skipped.into_inner(), 5);
    let stopped = AtomicUsize::new(0);
    grant
        .walk(WalkOptions { threads: 1, ..WalkOptions::default() }, |_| {
            if stopped.fetch_add(1, Ordering::Relaxed) == 9 { Visit::Stop } else { Visit::Continue }
        })
        .unwrap();
    assert_eq!(stopped.into_inner(), 10);
}

#[test]
#[should_panic(expected = "a scoped thread panicked")]
fn a_panic_in_a_visit_ends_the_walk() {
    let yard = Yard::new();
    for number in 0..100 {
        yard.file(&format!("root/many/{number}/x"), "");
    }
    let guard = yard.guard(&["root"]);
    let main = std::thread::current().id();
    let turn = AtomicUsize::new(0);
    let options = WalkOptions { threads: 4, ..WalkOptions::default() };
    let _ = guard.check(".", Access::READ).unwrap().walk(options, |_| {
        let first_elsewhere = std::thread::current().id() != main && turn.fetch_add(1, Ordering::Relaxed) == 0;
        assert!(!first_elsewhere, "a visit went wrong");
        std::thread::sleep(std::time::Duration::from_millis(1));
        Visit::Continue
    });
}

#[test]
fn entries_met_on_a_walk_are_described_without_following_links() {
    let yard = Yard::new();
    yard.link("root/link", yard.path("outside/secret.txt"));
    let guard = yard.guard(&["root"]);
    let seen = Mutex::new(Vec::new());
    let grant = guard.check(".", Access::READ).unwrap();
    let shallow = WalkOptions { most_depth: 1, ..WalkOptions::default() };
    grant
        .walk(shallow, |entry| {
            let metadata = entry.metadata().unwrap();
            assert_eq!(metadata.kind, entry.kind());
            seen.lock().unwrap().push((entry.name().to_owned(), metadata.size));
            Visit::Continue
        })
        .unwrap();
    let seen = seen.into_inner().unwrap();
    assert!(seen.contains(&("top.txt".into(), 3)), "{seen:?}");
    let target = yard.path("outside/secret.txt").as_os_str().len() as u64;
    assert!(seen.contains(&("link".into(), target)), "{seen:?}");
}

#[test]
fn files_met_on_a_walk_are_opened_from_their_directory() {
    let yard = Yard::new();
    yard.link("root/link", yard.path("outside/secret.txt"));
    let guard = yard.guard(&["root"]);
    let read = Mutex::new(Vec::new());
    let visit = |entry: &rootward_core::WalkEntry<'_>| {
        if let Ok(file) = entry.open() {
            read.lock().unwrap().push(String::from_utf8(file.read_whole(100).unwrap()).unwrap());
        }
        Visit::Continue
    };
    guard.check(".", Access::READ).unwrap().walk(WalkOptions::default(), visit).unwrap();
    let mut read = read.into_inner().unwrap();
    read.sort();
    assert_eq!(read, ["inside", "top"]);
}

#[test]
fn ignore_files_above_the_start_count_within_the_root() {
    let yard = Yard::new();
    yard.file("root/.gitignore", "*.log\n/a/b/only-here\n");
    yard.file("root/a/.ignore", "!keep.log\n");
    for name in ["x.log", "keep.log", "only-here", "x.txt"] {
        yard.file(&format!("root/a/b/{name}"), "");
    }
    let guard = yard.guard(&["root"]);
    assert_eq!(walked(&guard, "a/b", WalkOptions::default()), names(&["file.txt", "keep.log", "x.txt"]));
    let everything = WalkOptions { ignore: Ignore::Nothing, ..WalkOptions::default() };
    assert_eq!(walked(&guard, "a/b", everything).len(), 5);
}

fn pattern() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec!["a", "b", "c", "*", "a*", "**", "[ab]"]);
    let words = prop::collection::vec(word, 1..4);
    (any::<(bool, bool, bool)>(), words).prop_map(|((negated, anchored, directory), words)| {
        let mark = |set, mark| if set { mark } else { "" };
        format!("{}{}{}{}", mark(negated, "!"), mark(anchored, "/"), words.join("/"), mark(directory, "/"))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// The walk skips the same entries as `ignore`'s own walk.
    #[test]
    fn ignoring_agrees_with_ignore(
        files in prop::collection::vec(prop::collection::vec(prop::sample::select(vec!["a", "b", "c", "ab"]), 1..4), 1..12),
        rules in prop::collection::vec((prop::sample::select(vec!["", "a/", "b/", "a/b/"]), prop::collection::vec(pattern(), 1..3)), 0..4),
    ) {
        let yard = Yard::new();
        for file in &files {
            let path = yard.path("tree").join(file.join("/"));
            let _ = fs::create_dir_all(path.parent().unwrap());
            let _ = fs::write(path, "");
        }
        fs::create_dir_all(yard.path("tree")).unwrap();
        for (directory, patterns) in &rules {
            let _ = fs::write(yard.path("tree").join(directory).join(".gitignore"), patterns.join("\n"));
        }
        let expected: BTreeSet<PathBuf> = WalkBuilder::new(yard.path("tree"))
            .hidden(false)
            .parents(false)
            .git_global(false)
            .require_git(false)
            .build()
            .map(|entry| entry.unwrap().path().strip_prefix(yard.path("tree")).unwrap().to_owned())
            .filter(|path| path.components().next().is_some())
            .collect();
        let guard = yard.guard(&["tree"]);
        prop_assert_eq!(walked(&guard, ".", WalkOptions::default()), expected);
    }
}
