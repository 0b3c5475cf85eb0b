//! Random input from small alphabets, for every path parser and every verb.

use std::fs;
use std::os::fd::{AsFd, AsRawFd};
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use rootward_core::{
    Access, Code, Denial, GrantError, Guard, Origin, PathStyle, PathText, Replace, Resolver, RootUri, Visit,
    WalkOptions,
};
use rootward_testkit::fuzz;
use rootward_testkit::snapshot::Snapshot;
use rustix::fs::{CWD, Mode, OFlags};

use crate::yard::Yard;

/// Texts made of pieces that path and URI parsers often get wrong.
fn text() -> impl Strategy<Value = String> {
    let pieces = vec![
        "file:",
        "FILE:",
        "/",
        "//",
        "///",
        "localhost",
        "host",
        "..",
        ".",
        "...",
        "~",
        "~x",
        "%2f",
        "%2F",
        "%5c",
        "%2e",
        "%2E%2e",
        "%00",
        "%",
        "%zz",
        "%ff",
        "%c3%a9",
        "é",
        "\u{202e}",
        "#",
        "?",
        "\\",
        "\\\\",
        "c:",
        "C%3A",
        "|",
        ":",
        "@",
        " ",
        "\t",
        "\n",
        "\0",
        "a",
        "b",
        "x",
        "root",
        "out",
        "in",
        "http://",
        "-",
        "*",
        "NUL",
        "COM1",
        "a.",
    ];
    let piece = prop_oneof![8 => prop::sample::select(pieces).prop_map(str::to_owned), 1 => any::<char>().prop_map(String::from)];
    prop::collection::vec(piece, 0..10).prop_map(|pieces| pieces.concat())
}

#[test]
fn fuzz_uris() {
    fuzz::run(&text(), |text| {
        for style in [PathStyle::Posix, PathStyle::Windows] {
            for text in [text.clone(), format!("file:///{text}"), format!("file://{text}")] {
                let Ok(uri) = RootUri::parse(&text, style) else { continue };
                let path = uri.path();
                prop_assert!(!path.contains('\0'), "{text:?}");
                let dots = |part: &str| part == "." || part == "..";
                match style {
                    PathStyle::Posix => prop_assert!(path.starts_with('/') && !path.split('/').any(dots), "{text:?}"),
                    PathStyle::Windows => prop_assert!(!path.split(['/', '\\']).any(dots), "{text:?}"),
                }
                let back = RootUri::from_path(Path::new(path), style);
                if let Ok(back) = back {
                    let again = RootUri::parse(back.as_str(), style).unwrap();
                    prop_assert_eq!(again.path(), path, "{:?} became {}", text, back);
                } else {
                    prop_assert_eq!(style, PathStyle::Windows, "{:?} gave {:?}, which has no URI", text, path);
                }
            }
        }
        Ok(())
    });
}

#[test]
fn fuzz_path_texts() {
    let yard = Yard::new();
    yard.link("root/out", yard.path("outside"));
    yard.link("root/in", "a");
    let guards = [Resolver::Kernel, Resolver::Walk].map(|resolver| yard.guard_by(resolver, Origin::Flag, &["root"]));
    fuzz::run(&text(), |text| {
        for style in [PathStyle::Posix, PathStyle::Windows] {
            if let Ok(PathText::Absolute(path)) = PathText::read(text.as_bytes(), style, Some(b"/home/me")) {
                prop_assert!(!path.contains(&0));
                prop_assert!(style == PathStyle::Windows || path.starts_with(b"/"));
            }
        }
        for text in [text.clone(), format!("{}/{text}", yard.path("root").display()), format!("in/{text}")] {
            let [kernel, walk] = guards.each_ref().map(|guard| guard.check(&text, Access::READ));
            let place = |result: Result<rootward_core::Grant, Denial>| {
                result.map(|grant| (grant.path(), grant.exists())).map_err(|denial| denial.code())
            };
            let (kernel, walk) = (place(kernel), place(walk));
            prop_assert_eq!(&kernel, &walk, "the resolvers disagree on {:?}", text);
            if let Ok((place, _)) = kernel {
                prop_assert!(place.starts_with(yard.path("root")), "{text:?} led to {place:?}");
            }
        }
        Ok(())
    });
}

/// A path over a tiny alphabet, so that operations affect each other's results.
fn path() -> impl Strategy<Value = String> {
    let name = prop::sample::select(vec!["a", "b", "c", "..", ".", "a", "b", ".git", "hooks"]);
    (prop::collection::vec(name, 1..5), any::<bool>())
        .prop_map(|(names, slash)| format!("{}{}", names.join("/"), if slash { "/" } else { "" }))
}

#[derive(Clone, Debug)]
enum Operation {
    /// The user creates a link somewhere; its target may lie anywhere.
    Link {
        at: String,
        to: String,
        absolute: Option<bool>,
    },
    Replace(String),
    Append(String),
    Create(String),
    MakeDirectory(String),
    MakeDirectories(String),
    Remove(String),
    Rename(String, String),
    Copy(String, String),
    Look(String),
    Walk(String),
}

fn operation() -> impl Strategy<Value = Operation> {
    use Operation::*;
    prop_oneof![
        3 => (path(), path(), any::<Option<bool>>()).prop_map(|(at, to, absolute)| Link { at, to, absolute }),
        2 => path().prop_map(Replace),
        1 => path().prop_map(Append),
        2 => path().prop_map(Create),
        3 => path().prop_map(MakeDirectory),
        1 => path().prop_map(MakeDirectories),
        2 => path().prop_map(Remove),
        3 => (path(), path()).prop_map(|(from, to)| Rename(from, to)),
        1 => (path(), path()).prop_map(|(from, to)| Copy(from, to)),
        4 => path().prop_map(Look),
        1 => path().prop_map(Walk),
    ]
}

/// Runs sequences of operations through the guard, with links in all directions: nothing outside changes, no closed
/// place is written, and the guard allows exactly what the kernel finds inside.
#[test]
fn fuzz_operations() {
    fuzz::run(&prop::collection::vec(operation(), 1..25), |operations| {
        for resolver in [Resolver::Kernel, Resolver::Walk] {
            let yard = Yard::new();
            yard.file("root/.git/hooks/keep", "keep");
            yard.file("outside/a/b", "SECRET");
            let guard = yard.guard_by(resolver, Origin::Flag, &["root", "root/a/c:ro"]);
            let outside = Snapshot::take(&yard.path("outside")).unwrap();
            for operation in &operations {
                run(&yard, &guard, operation)?;
                let now = Snapshot::take(&yard.path("outside")).unwrap();
                prop_assert!(outside.differences(&now).is_empty(), "{operation:?} changed something outside");
                let hook = fs::read_to_string(yard.path("root/.git/hooks/keep")).ok();
                prop_assert_eq!(hook.as_deref(), Some("keep"), "{:?} changed a closed place", operation);
            }
        }
        Ok(())
    });
}

fn run(yard: &Yard, guard: &Guard, operation: &Operation) -> Result<(), TestCaseError> {
    let check = |path: &str, access| guard.check(path, access).map_err(GrantError::from);
    let entry = |path: &str, access| guard.check_entry(path, access).map_err(GrantError::from);
    // An operation may fail; only its effects matter.
    let _ = match operation {
        Operation::Link { at, to, absolute } => {
            lay_link(yard, at, to, *absolute);
            return Ok(());
        }
        Operation::Look(path) => return look(yard, guard, path),
        Operation::Replace(path) => check(path, Access::WRITE).and_then(|grant| grant.replace(b"replaced")),
        Operation::Append(path) => check(path, Access::WRITE).and_then(|grant| grant.append(b"appended")),
        Operation::Create(path) => entry(path, Access::WRITE).and_then(|grant| grant.create_new(b"created")),
        Operation::MakeDirectory(path) => entry(path, Access::WRITE).and_then(|grant| grant.create_directory()),
        Operation::MakeDirectories(path) => check(path, Access::WRITE).and_then(|grant| grant.create_directory_all()),
        Operation::Remove(path) => entry(path, Access::DELETE).and_then(|grant| grant.remove()),
        Operation::Rename(from, to) => {
            entry(from, Access::DELETE).and_then(|source| source.rename_to(&entry(to, Access::WRITE)?, Replace::Yes))
        }
        Operation::Copy(from, to) => check(from, Access::READ)
            .and_then(|source| source.copy_to(&check(to, Access::WRITE)?, Replace::Yes).map(drop)),
        Operation::Walk(path) => check(path, Access::READ).and_then(|grant| {
            grant.walk(WalkOptions { threads: 1, ..WalkOptions::default() }, |_| Visit::Continue).map(drop)
        }),
    };
    Ok(())
}

/// Creates a link like a user or a repository would: with any target, but never outside.
fn lay_link(yard: &Yard, at: &str, to: &str, absolute: Option<bool>) {
    let at = yard.path("root").join(at.trim_end_matches('/'));
    let Some(parent) = at.parent().and_then(|parent| parent.canonicalize().ok()) else { return };
    let inside = parent.starts_with(yard.path("root"));
    let closed = parent.starts_with(yard.path("root/.git"));
    if inside && !closed && at.file_name().is_some_and(|name| name != ".git") {
        let target = match absolute {
            None => PathBuf::from(to),
            Some(true) => yard.path("outside").join(to),
            Some(false) => yard.path("root").join(to),
        };
        let _ = std::os::unix::fs::symlink(target, at);
    }
}

/// Compares the guard with the kernel's view of where a path leads.
fn look(yard: &Yard, guard: &Guard, path: &str) -> Result<(), TestCaseError> {
    let asked = yard.path("root").join(path);
    let kernel = rustix::fs::openat(CWD, &asked, OFlags::PATH | OFlags::CLOEXEC, Mode::empty());
    let place = kernel.map(|handle| fs::read_link(format!("/proc/self/fd/{}", handle.as_fd().as_raw_fd())).unwrap());
    let decision = guard.check(path, Access::READ);
    match (place, decision) {
        (Ok(place), Ok(grant)) => {
            prop_assert!(grant.exists());
            prop_assert_eq!(grant.path(), place);
        }
        (Ok(place), Err(denial)) => {
            prop_assert!(!place.starts_with(yard.path("root")), "{path} lies inside, but got {denial:?}");
            prop_assert_eq!(denial.code().for_peer(), Code::OutsideRoots);
        }
        (Err(_), Ok(grant)) => {
            prop_assert!(!grant.exists(), "{path} does not exist, but got {grant:?}");
            prop_assert!(grant.path().starts_with(yard.path("root")));
        }
        (Err(_), Err(_)) => {}
    }
    Ok(())
}
