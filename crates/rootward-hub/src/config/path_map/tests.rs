//! Tables and properties of the path map.

use proptest::prelude::*;

use super::*;

fn map(pairs: &[(&str, &str)]) -> PathMap {
    PathMap::new(pairs.iter().map(|(from, to)| (PathBuf::from(from), (*to).to_owned()))).unwrap()
}

#[track_caller]
fn to_child(map: &PathMap, path: &str, expect: Option<&str>) {
    assert_eq!(map.to_child(Path::new(path)).as_deref(), expect, "{path}");
}

#[track_caller]
fn to_host(map: &PathMap, text: &str, expect: Option<&str>) {
    assert_eq!(map.to_host(text).as_deref(), expect.map(Path::new), "{text}");
}

#[test]
fn containers() {
    let map = map(&[("/home/me/app", "/projects"), ("/home/me/app/data", "/data"), ("/srv", "/")]);
    to_child(&map, "/home/me/app", Some("/projects"));
    to_child(&map, "/home/me/app/", Some("/projects"));
    to_child(&map, "/home/me/app/src/a b.rs", Some("/projects/src/a b.rs"));
    to_child(&map, "/home/me/app/data/x", Some("/data/x"));
    to_child(&map, "/home/me/other", None);
    to_child(&map, "/home/me", None);
    to_child(&map, "relative", None);
    to_child(&map, "/srv/www", Some("/www"));
    to_child(&map, "/srv", Some("/"));
    to_host(&map, "/projects", Some("/home/me/app"));
    to_host(&map, "/projects//src/./a", Some("/home/me/app/src/a"));
    to_host(&map, "/data/x", Some("/home/me/app/data/x"));
    to_host(&map, "/etc/passwd", Some("/srv/etc/passwd"));
    to_host(&map, "work/x", None);
    to_host(&map, "", None);
    to_host(&map, "file:///projects/x", None);
    to_host(&map, "~/x", None);
    to_host(&map, "/projects/a\0b", None);
}

#[test]
fn windows_beside_wsl() {
    let map = map(&[("/mnt/c", r"C:\"), ("/home/me", r"\\wsl.localhost\Ubuntu\home\me")]);
    to_child(&map, "/mnt/c/Users/me/app", Some(r"C:\Users\me\app"));
    to_child(&map, "/mnt/c", Some(r"C:\"));
    to_child(&map, "/home/me/src", Some(r"\\wsl.localhost\Ubuntu\home\me\src"));
    to_host(&map, r"C:\Users\me", Some("/mnt/c/Users/me"));
    to_host(&map, r"c:/Users\me", Some("/mnt/c/Users/me"));
    to_host(&map, r"\\WSL.localhost\ubuntu\home\me\src\", Some("/home/me/src"));
    to_host(&map, r"\\wsl.localhost\Ubuntu\home\you", None);
    to_host(&map, r"D:\x", None);
    to_host(&map, r"C:x", None);
    to_host(&map, r"\Users", None);
    to_host(&map, r"\\?\C:\Users", None);
    to_host(&map, "//wsl.localhost/Ubuntu/home/me", None);
    to_host(&map, "/mnt/c/Users", None);
}

#[test]
fn only_whole_components_match() {
    let map = map(&[("/projects", "/w"), ("/mnt/c/projects", r"C:\work")]);
    to_child(&map, "/projects-evil", None);
    to_child(&map, "/projects-evil/x", None);
    to_child(&map, "/mnt/c/work2/x", None);
    to_host(&map, "/w-evil/x", None);
    to_host(&map, "/ww", None);
    to_host(&map, r"C:\work2\x", None);
}

#[test]
fn dots_never_map() {
    let map = map(&[("/projects", "/w"), ("/mnt/c/projects", r"C:\work")]);
    for path in ["/projects/..", "/projects/../etc", "/projects/a/../b", "/mnt/c/projects/../x"] {
        to_child(&map, path, None);
    }
    for text in ["/w/..", "/w/../etc", "/w/a/../b", r"C:\work\..\x", r"C:\work/../x", r"C:\work\.. \x", r"C:\work\..."]
    {
        to_host(&map, text, None);
    }
    to_child(&map, "/projects/..a/b..", Some("/w/..a/b.."));
}

#[test]
fn names_that_windows_reads_otherwise_do_not_map() {
    let map = map(&[("/mnt/c", r"C:\")]);
    for name in [r"a\b", r"..\x", "a:b", "nul", "COM1.txt", "a.", "a ", "a?", "a*", "a|b", "a\"", "a\nb"] {
        to_child(&map, &format!("/mnt/c/{name}"), None);
    }
    to_host(&map, r"C:\a:stream", None);
    to_host(&map, r"C:\nul", None);
}

#[test]
fn a_place_that_another_pair_covers_does_not_map() {
    // In the child, `/x/sub` is `/b`. The child cannot see `/a/sub` at all.
    let map = map(&[("/a", "/x"), ("/b", "/x/sub")]);
    to_child(&map, "/a/other", Some("/x/other"));
    to_child(&map, "/a/sub", None);
    to_child(&map, "/a/sub/file", None);
    to_host(&map, "/x/sub/file", Some("/b/file"));
}

#[test]
fn what_is_not_a_map() {
    let check = |pairs: &[(&str, &str)], expect: &str| {
        let pairs = pairs.iter().map(|(from, to)| (PathBuf::from(from), (*to).to_owned()));
        assert_eq!(PathMap::new(pairs).unwrap_err().to_string(), expect);
    };
    check(&[("a", "/b")], "`a` is not an absolute path without `.` and `..`");
    check(&[("/a/../b", "/b")], "`/a/../b` is not an absolute path without `.` and `..`");
    check(&[("/a/./b", "/b")], "`/a/./b` is not an absolute path without `.` and `..`");
    let expected = "is not an absolute path without `.` and `..`, neither like `/a/b` nor like `C:\\a`";
    for to in ["", "b", "/b/..", r"C:b", r"C:\a\.", r"\b", r"C:\nul", "file:///b", "~/b", "ssh://host/b"] {
        check(&[("/a", to)], &format!("`{to}` {expected}"));
    }
    check(&[("/a", "/b"), ("/a/", "/c")], "`/a/` is mapped twice");
    check(&[("/a", r"C:\b"), ("/c", "c:/B/")], "two directories are mapped to `c:/B/`");
    check(&[("/a", "/b"), ("/c", "//b")], "two directories are mapped to `//b`");
}

#[test]
fn an_empty_map_maps_nothing() {
    to_child(&PathMap::default(), "/a", None);
    to_host(&PathMap::default(), "/a", None);
}

#[test]
fn what_a_call_means() {
    let check = |map: &PathMap, text: &str, expect: Option<&str>| {
        assert_eq!(map.meant(text).as_deref(), expect.map(Path::new), "{text}");
    };
    let container = map(&[("/home/me/app", "/projects")]);
    check(&container, "/projects/a b", Some("/home/me/app/a b"));
    check(&container, "file:///projects/a%20b", Some("/home/me/app/a b"));
    check(&container, "FILE:///projects/a", Some("/home/me/app/a"));
    for text in ["file:///etc/passwd", "file:///projects/%2e%2e/x", "file://host/projects/a", r"C:\projects", "a", ""] {
        check(&container, text, None);
    }
    let windows = map(&[("/mnt/c", r"C:\"), ("/home/me", r"\\wsl.localhost\Ubuntu\home\me")]);
    check(&windows, r"c:\a\b", Some("/mnt/c/a/b"));
    check(&windows, "file:///C:/a/b", Some("/mnt/c/a/b"));
    check(&windows, "/C:/a/b", Some("/mnt/c/a/b"));
    check(&windows, "//wsl.localhost/Ubuntu/home/me/x", Some("/home/me/x"));
    for text in ["/mnt/c/a", "C:a", r"\a", "//wsl.localhost/Ubuntu/home", "file:///D:/a", "/D:/a"] {
        check(&windows, text, None);
    }
    assert_eq!(windows.as_read(r"C:\a/b"), "C:/a/b");
    assert_eq!(container.as_read(r"/projects/a\b"), r"/projects/a\b");
    let relative = ["a", "a/b", "./a", "../a", "a:b/c".get(1..).unwrap_or_default(), ""];
    assert!(relative.iter().all(|text| is_relative(text)), "{relative:?}");
    let others = ["/a", r"\a", "~", "~/a", "C:a", r"c:\a", "file:///a", "File:a"];
    assert!(!others.iter().any(|text| is_relative(text)), "{others:?}");
    assert_eq!(windows.to_string(), r"`/mnt/c` is `C:\`, `/home/me` is `\\wsl.localhost\Ubuntu\home\me`");
}

/// Few short names, so that prefixes of names and paths overlap often.
fn directory() -> impl Strategy<Value = String> {
    prop::collection::vec("[ab]{1,2}", 0..4).prop_map(|names| format!("/{}", names.join("/")))
}

fn windows_directory() -> impl Strategy<Value = String> {
    prop::collection::vec("[ab]{1,2}", 0..4).prop_map(|names| format!("C:\\{}", names.join("\\")))
}

fn any_map() -> impl Strategy<Value = PathMap> {
    let pair = (directory(), prop_oneof![directory(), windows_directory()]);
    let pairs = prop::collection::vec(pair, 1..5);
    pairs.prop_filter_map("pairs that are no map", |pairs| {
        PathMap::new(pairs.into_iter().map(|(from, to)| (PathBuf::from(from), to))).ok()
    })
}

proptest! {
    #[test]
    fn mapped_paths_map_back(map in any_map(), path in directory()) {
        if let Some(text) = map.to_child(Path::new(&path)) {
            prop_assert_eq!(map.to_host(&text), Some(PathBuf::from(&path)), "{} in {:?}", text, map);
        }
    }

    #[test]
    fn what_maps_is_in_the_deepest_directory(map in any_map(), path in directory()) {
        let holding = map.pairs.iter().filter(|pair| Path::new(&path).starts_with(&pair.from));
        let deepest = holding.max_by_key(|pair| Path::new(&pair.from).components().count());
        match (map.to_child(Path::new(&path)), deepest) {
            (Some(text), Some(pair)) => prop_assert!(text_contains(&pair.to, &text, pair.style), "{} {:?}", text, pair),
            (Some(text), None) => prop_assert!(false, "{} came from nowhere", text),
            (None, _) => {}
        }
    }

    #[test]
    fn one_pair_maps_exactly_what_it_holds(from in directory(), to in directory(), path in directory()) {
        let map = map(&[(&from, &to)]);
        prop_assert_eq!(map.to_child(Path::new(&path)).is_some(), Path::new(&path).starts_with(&from));
        prop_assert_eq!(map.to_host(&path).is_some(), Path::new(&path).starts_with(&to));
    }

    #[test]
    fn nothing_with_dots_maps(map in any_map(), before in directory(), after in directory()) {
        let path = format!("{before}/..{after}");
        prop_assert_eq!(map.to_child(Path::new(&path)), None);
        prop_assert_eq!(map.to_host(&path), None);
    }

    #[test]
    fn nothing_panics(map in any_map(), text in r"[/\\ab.:~C\x00é ]{0,24}") {
        let _ = map.to_host(&text);
        let _ = map.to_child(Path::new(&text));
    }
}
