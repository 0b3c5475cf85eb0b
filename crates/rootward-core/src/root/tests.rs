//! Tests of how roots are named: by path, by a client, by a person.

use std::ffi::OsStr;

use proptest::prelude::*;

use super::*;
use crate::uri::UriError;

const HOME: &str = "/home/me";

/// The path as a string: comparing paths would ignore the separators that matter here.
fn path_of(root: Result<Root, RootError>) -> Result<String, String> {
    root.map(|root| root.path.display().to_string()).map_err(|error| error.reason())
}

#[test]
fn from_a_path() {
    let check = |path: &str, expect: Result<&str, &str>| {
        let expect = expect.map(str::to_owned).map_err(str::to_owned);
        assert_eq!(path_of(Root::from_path(path, Origin::Flag)), expect, "{path}");
    };
    check("/srv/app", Ok("/srv/app"));
    check("/srv//app//", Ok("/srv/app"));
    check("//", Ok("/"));
    check("/srv/app ", Ok("/srv/app "));
    check("/srv/dir:ro", Ok("/srv/dir:ro"));
    check("/~", Ok("/~"));
    check("", Err("empty"));
    check("srv", Err("not an absolute path"));
    check("~", Err("not an absolute path"));
    check("/srv/../etc", Err("a dot segment"));
    check("/srv/.", Err("a dot segment"));
    check("/srv/a\0b", Err("a NUL byte"));
    check(&"/a".repeat(2049), Err("longer than 4095 bytes"));
}

#[test]
fn from_a_client() {
    let check = |text: &str, expect: Result<(&str, Spelling), &str>| {
        let root = Root::from_client(text, Some(Path::new(HOME)));
        let found = root.map(|root| {
            assert_eq!((root.origin, root.access), (Origin::Client, Access::ALL));
            (root.path.display().to_string(), root.spelling)
        });
        let expect = expect.map(|(path, spelling)| (path.to_owned(), spelling)).map_err(str::to_owned);
        assert_eq!(found.map_err(|error| error.reason()), expect, "{text}");
    };
    check("file:///srv/app/", Ok(("/srv/app", Spelling::Uri)));
    check("file:///srv//a%20b", Ok(("/srv/a b", Spelling::Uri)));
    check("FILE://localhost/srv", Ok(("/srv", Spelling::Uri)));
    check("/srv//app/", Ok(("/srv/app", Spelling::Path)));
    check("~", Ok(("/home/me", Spelling::Path)));
    check("~/app/", Ok(("/home/me/app", Spelling::Path)));
    check("file:///srv/app:ro", Ok(("/srv/app:ro", Spelling::Uri)));
    check("/srv/app:rwx", Ok(("/srv/app:rwx", Spelling::Path)));
    check("app", Err("not an absolute path"));
    check("./app", Err("not an absolute path"));
    check(" /srv", Err("not an absolute path"));
    check("/srv/../etc", Err("a dot segment"));
    check("/srv/./app", Err("a dot segment"));
    check("~/..", Err("a dot segment"));
    check("file:///srv/%2e%2e/etc", Err("a dot segment"));
    check("~other", Err("`~` with a user name is not supported"));
    check("", Err("empty"));
    check("vscode-remote://wsl/home/me", Err("scheme `vscode-remote`, only `file` is supported"));
    check(r"C:\dev", Err("a path of another system"));
    check("file:///c%3A/dev", Err("a path of another system"));
    check("file://host/srv", Err("names another host"));
    let homeless = Root::from_client("~/app", None);
    assert!(matches!(homeless, Err(RootError::Text { reason: TextError::NoHome, .. })));
}

#[test]
fn from_a_person() {
    let check = |text: &str, expect: Result<(&str, Access), &str>| {
        let root = Root::from_typed(OsStr::new(text), Path::new("/base"), Some(Path::new(HOME)), Origin::Flag);
        let found = root.map(|root| (root.path.display().to_string(), root.access)).map_err(|error| error.reason());
        let expect = expect.map(|(path, access)| (path.to_owned(), access)).map_err(str::to_owned);
        assert_eq!(found, expect, "{text}");
    };
    let nodelete = Access::READ | Access::WRITE;
    check("/srv/app", Ok(("/srv/app", Access::READ_WRITE)));
    check("/srv/app/:ro", Ok(("/srv/app", Access::READ)));
    check("app:rwx", Ok(("/base/app", Access::ALL)));
    check(".", Ok(("/base", Access::READ_WRITE)));
    check("./app:rw-nodelete", Ok(("/base/app", nodelete)));
    check("..", Ok(("/base/..", Access::READ_WRITE)));
    check("../x:ro", Ok(("/base/../x", Access::READ)));
    check("a/../b", Ok(("/base/a/../b", Access::READ_WRITE)));
    check("~:ro", Ok(("/home/me", Access::READ)));
    check("~/app", Ok(("/home/me/app", Access::READ_WRITE)));
    check("file:///srv/a%20b:ro", Ok(("/srv/a b", Access::READ)));
    check("dir:ro:rw", Ok(("/base/dir:ro", Access::READ_WRITE)));
    check("dir:RO", Ok(("/base/dir:RO", Access::READ_WRITE)));
    check("dir:ro/", Ok(("/base/dir:ro", Access::READ_WRITE)));
    check("dir:", Ok(("/base/dir:", Access::READ_WRITE)));
    check("./:ro:ro", Ok(("/base/:ro", Access::READ)));
    let add = "`:add` is not an access suffix: use `:rw-nodelete`, or `";
    check("app:add", Err(&format!("{add}app:add:rw` for a directory with this name")));
    check("~/*:add", Err(&format!("{add}~/*:add:rw` for a directory with this name")));
    check("app:add:rw", Ok(("/base/app:add", Access::READ_WRITE)));
    check("app:add/", Ok(("/base/app:add", Access::READ_WRITE)));
    check("", Err("empty"));
    check(":ro", Err("empty"));
    check("~other:ro", Err("`~` with a user name is not supported"));
    check("file:///srv/../etc", Err("a dot segment"));
    check(r"C:\dev", Err("a path of another system"));
    check("a\0", Err("a NUL byte"));
    check(&"a".repeat(4092), Err("longer than 4095 bytes"));
    let baseless = Root::from_typed(OsStr::new("x"), Path::new("base"), None, Origin::Flag);
    assert_eq!(baseless, Err(RootError::Relative { text: "x".to_owned() }));
}

#[test]
fn a_name_that_is_not_utf8_can_be_a_root() -> Result<(), RootError> {
    let text = OsStr::from_bytes(b"\xff:ro");
    let root = Root::from_typed(text, Path::new("/base"), None, Origin::Flag)?;
    assert_eq!((root.path.as_os_str().as_bytes(), root.access), (b"/base/\xff".as_slice(), Access::READ));
    assert_eq!(root.uri(), None);
    assert_eq!(Root::from_path(root.path.clone(), Origin::Config)?.path, root.path);
    Ok(())
}

#[test]
fn messages() {
    let check = |error: RootError, message: &str| assert_eq!(error.to_string(), message);
    let refused = |text: &str, reason: TextError| RootError::Text { text: text.to_owned(), reason };
    check(
        refused("file:///srv/..%2Fetc", TextError::Uri(UriError::EncodedSlash)),
        "not a usable root: `file:///srv/..%2Fetc` (encoded `/` in a path segment)",
    );
    check(RootError::Relative { text: r#"a\"'b"#.to_owned() }, r#"not a usable root: `a\"'b` (not an absolute path)"#);
    // A peer's text must not mislead a terminal or a reader.
    check(refused("/\u{1b}[2J\n\u{202e}", TextError::Nul), r"not a usable root: `/\u{1b}[2J\n\u{202e}` (a NUL byte)");
}

#[test]
fn names_and_access() -> Result<(), RootError> {
    let root = Root::from_path("/srv/app", Origin::Store)?.with_name("app").with_access(Access::READ);
    assert_eq!((root.name.as_deref(), root.access), (Some("app"), Access::READ));
    assert_eq!(root.uri().map(|uri| uri.to_string()).as_deref(), Some("file:///srv/app"));
    Ok(())
}

proptest! {
    #[test]
    fn announced_and_read_again(text in "/\\PC{0,30}") {
        if let Ok(root) = Root::from_path(text, Origin::Flag) {
            let again = root.uri().map(|uri| Root::from_client(uri.as_str(), None));
            prop_assert_eq!(again.map(|root| root.map(|root| root.path)), Some(Ok(root.path)));
        }
    }

    #[test]
    fn a_suffix_can_always_be_added(text in "\\PC{1,30}") {
        let typed = |text: &str| Root::from_typed(OsStr::new(text), Path::new("/base"), Some(Path::new(HOME)), Origin::Flag);
        let (plain, _) = split_suffix(text.as_bytes());
        prop_assume!(plain.len() == text.len() && !text.ends_with(":add"));
        let expect = typed(&text).map(|root| root.path);
        let found = typed(&format!("{text}:ro")).map(|root| root.path);
        prop_assert_eq!(found.is_ok(), expect.is_ok());
        if expect.is_ok() {
            prop_assert_eq!(found, expect);
        }
    }
}
