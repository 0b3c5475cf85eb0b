//! Tests of the URI parser: tables for each style, laws, and the `url` crate as an oracle.

use proptest::prelude::*;
use url::Url;

use super::*;
use PathStyle::{Posix, Windows};

#[test]
fn accepted() {
    let check = |text: &str, style: PathStyle, path: &str| {
        let uri = RootUri::parse(text, style);
        assert_eq!(uri.as_ref().map(RootUri::path), Ok(path), "{text}");
        assert_eq!(uri.map(|uri| uri.to_string()), Ok(text.to_owned()));
    };
    check("file:///", Posix, "/");
    check("file:/srv/app", Posix, "/srv/app");
    check("file:///srv/app", Posix, "/srv/app");
    check("file:///srv//app/", Posix, "/srv//app/");
    check("file:////srv", Posix, "//srv");
    check("file://localhost/srv", Posix, "/srv");
    check("FiLe://LocalHost/srv", Posix, "/srv");
    check("file:///a%20b%25c%3Fd%23e", Posix, "/a b%c?d#e");
    check("file:///a b/\u{e9}t\u{e9}", Posix, "/a b/\u{e9}t\u{e9}");
    check("file:///%C3%A9t%c3%a9", Posix, "/\u{e9}t\u{e9}");
    check("file:///a%5C..%5cb", Posix, r"/a\..\b");
    check("file:///a%09b%0A", Posix, "/a\tb\n");
    check("file:///a%20", Posix, "/a ");
    check("file:///..a/b../.../%2e%2e%2e", Posix, "/..a/b../.../...");
    check("file:///%252e%252e/%252F", Posix, "/%2e%2e/%2F");
    check("file:///\u{ff0e}\u{ff0e}/\u{2215}", Posix, "/\u{ff0e}\u{ff0e}/\u{2215}");
    check("file:///~/a|b/c:d", Posix, "/~/a|b/c:d");
    check("file:///c:d/x", Posix, "/c:d/x");
    check("file:///a/c:/x", Posix, "/a/c:/x");
    check("file://localhost/c%3A/x", Posix, "/c:/x");

    check("file:///c:/dev/x", Windows, r"c:\dev\x");
    check("file:///c%3A/dev/x", Windows, r"c:\dev\x");
    check("file:///C%3a/", Windows, r"C:\");
    check("file:/c:/dev", Windows, r"c:\dev");
    check(r"file://d:\dev\x", Windows, r"d:\dev\x");
    check("file://d:/dev//x/", Windows, r"d:\dev\\x\");
    check(r"file:///d:\dev/x", Windows, r"d:\dev\x");
    check("file://localhost/c:/x", Windows, r"c:\x");
    check("file://server/share/a%20b", Windows, r"\\server\share\a b");
    check("file://wsl$/Ubuntu/home", Windows, r"\\wsl$\Ubuntu\home");
    check("file://Server-1.example.com/share/", Windows, r"\\Server-1.example.com\share\");
    check("file:///C:/a%3Fb:c", Windows, r"C:\a?b:c");
}

#[track_caller]
fn check_refused(text: &str, style: PathStyle, why: UriError) {
    assert_eq!(RootUri::parse(text, style).map(|uri| uri.path), Err(why), "{text}");
}

#[test]
fn refused() {
    let check = check_refused;
    let everywhere = |text: &str, why: UriError| {
        check(text, Posix, why);
        check(text, Windows, why);
    };
    everywhere("", UriError::Empty);
    everywhere("http://localhost/etc/passwd", UriError::Scheme);
    everywhere("files:///x", UriError::Scheme);
    everywhere("f\u{131}le:///x", UriError::Scheme);
    everywhere("vscode-remote://wsl+ubuntu/home/me", UriError::Scheme);
    everywhere("/srv/app", UriError::Scheme);
    everywhere(r"C:\srv", UriError::Scheme);
    everywhere("file", UriError::Scheme);
    everywhere("file:", UriError::Relative);
    everywhere("file:x", UriError::Relative);
    everywhere("file:c:/x", UriError::Relative);
    everywhere("file:///c/x?y", UriError::Query);
    everywhere("file:?", UriError::Query);
    everywhere("file:///home/me/c#-proj", UriError::Fragment);
    everywhere("file:///a\tb", UriError::Control);
    everywhere("file:///a\n", UriError::Control);
    everywhere("file:///a\u{7f}b", UriError::Control);
    everywhere("file:///a\0b", UriError::Nul);
    everywhere(" file:///a", UriError::WhiteSpace);
    everywhere("file:///a ", UriError::WhiteSpace);
    everywhere("file:///a\u{3000}", UriError::WhiteSpace);
    everywhere(&format!("file:///c:/{}", "%61".repeat(5000)), UriError::TooLong);
}

#[test]
fn posix_refused() {
    let check = check_refused;
    check("file://", Posix, UriError::Relative);
    check("file://localhost", Posix, UriError::Relative);
    for host in [
        "server",
        "localhost.",
        "localhost:80",
        "me@localhost",
        "127.0.0.1",
        "[::1]",
        "%6cocalhost",
        "\u{212a}ocalhost",
        "local%68ost",
        "C%7C",
        "xn--",
        "d:",
        " ",
        "loc\u{ad}alhost",
    ] {
        check(&format!("file://{host}/etc"), Posix, UriError::Host);
    }
    check("file:///srv/..%2Fetc", Posix, UriError::EncodedSlash);
    check("file:///%2fetc", Posix, UriError::EncodedSlash);
    check("file:///a%00.txt", Posix, UriError::Nul);
    check("file:///%", Posix, UriError::Escape);
    check("file:///%2", Posix, UriError::Escape);
    check("file:///a%zz", Posix, UriError::Escape);
    check("file:///%+1", Posix, UriError::Escape);
    check("file:///%2\u{e9}", Posix, UriError::Escape);
    check("file:///%ff%fe", Posix, UriError::NotUtf8);
    check("file:///%C0%AE%C0%AE/etc", Posix, UriError::NotUtf8);
    check("file:///%c3/%a9", Posix, UriError::NotUtf8);
    check("file:///%ed%a0%80", Posix, UriError::NotUtf8);
    for dots in ["..", ".", "%2e%2E", ".%2e", "%2e"] {
        check(&format!("file:///srv/{dots}/etc"), Posix, UriError::DotSegment);
        check(&format!("file:///{dots}"), Posix, UriError::DotSegment);
    }
    check(r"file:///srv\..\etc", Posix, UriError::RawBackslash);
    check(r"file:\\localhost\srv", Posix, UriError::RawBackslash);
    for drive in ["c:", "c:/x", "C%3A/x", "%63%3a/x", "c|/x", "Y|"] {
        check(&format!("file:///{drive}"), Posix, UriError::Foreign);
    }
    check("file://localhost/c:/x", Posix, UriError::Foreign);
    check("file://localhost/%63:/x", Posix, UriError::Foreign);
    check(&format!("file:///{}", "a/".repeat(2048)), Posix, UriError::TooLong);
}

#[test]
fn windows_refused() {
    let check = check_refused;
    for text in [
        "file:///",
        "file://",
        "file:/x",
        "file:///x/y",
        "file:////host/share/x",
        "file://///host/x",
        "file:///c:",
        "file:///c%3A",
        "file:///c|/x",
        "file://server",
        "file://server/",
        "file://server//x",
        "file://d:",
        "file://localhost/x",
        "file://localhost",
        "file:///1:/x",
        r"file://\\server\share",
    ] {
        check(text, Windows, UriError::NoDrive);
    }
    for host in ["server:80", "me@server", "[::1]", ".", "..", "%73erver", "d:x", "d|", "-x", "\u{e9}"] {
        check(&format!("file://{host}/share/x"), Windows, UriError::Host);
    }
    for dots in ["..", ".", "%2e%2E", ".%2e", "%2e"] {
        check(&format!("file:///c:/{dots}"), Windows, UriError::DotSegment);
        check(&format!("file://server/{dots}/x"), Windows, UriError::DotSegment);
    }
    check(r"file:\\server\share", Windows, UriError::Relative);
    for share in ["c:", "c:/x", "C%3A/x", "c|/x"] {
        check(&format!("file://server/{share}"), Windows, UriError::Host);
    }
    check("file:///c:/a%2fb", Windows, UriError::EncodedSlash);
    check("file:///c:/a%5Cb", Windows, UriError::EncodedBackslash);
    check("file:///c:%5Cb", Windows, UriError::EncodedBackslash);
}

#[test]
fn the_longest_path_is_just_accepted() {
    let longest = format!("/{}", "\u{1}".repeat(LONGEST_PATH - 1));
    assert_eq!(RootUri::from_path(Path::new(&longest), Posix).map(|uri| uri.path), Ok(longest.clone()));
    let longer = longest + "x";
    assert_eq!(RootUri::from_path(Path::new(&longer), Posix), Err(UriError::TooLong));
}

#[test]
fn written() {
    let check = |path: &str, style: PathStyle, text: Result<&str, UriError>| {
        assert_eq!(RootUri::from_path(Path::new(path), style).map(|uri| uri.text), text.map(str::to_owned), "{path}");
    };
    check("/", Posix, Ok("file:///"));
    check("/srv/a b/", Posix, Ok("file:///srv/a%20b/"));
    check("//srv", Posix, Ok("file:////srv"));
    check("/100%/c#?", Posix, Ok("file:///100%25/c%23%3F"));
    check("/c:/x", Posix, Ok("file://localhost/c%3A/x"));
    check("/c:", Posix, Ok("file://localhost/c%3A"));
    check("/c|/x", Posix, Ok("file:///c%7C/x"));
    check("/\u{e9}", Posix, Ok("file:///%C3%A9"));
    check("srv", Posix, Err(UriError::Relative));
    check("", Posix, Err(UriError::Relative));
    check("/a\0b", Posix, Err(UriError::Nul));
    check("/a/../b", Posix, Err(UriError::DotSegment));
    check(r"C:\dev\a b", Windows, Ok("file:///C:/dev/a%20b"));
    check(r"\\server\share\x", Windows, Ok("file://server/share/x"));
    check(r"\\?\C:\x", Windows, Err(UriError::Host));
    check(r"\\.\pipe\x", Windows, Err(UriError::Host));
    check(r"\\server", Windows, Err(UriError::NoDrive));
    check(r"\\localhost\share", Windows, Err(UriError::NoDrive));
    for relative in [r"\x", "C:", "C:x", "x", "/x", ""] {
        check(relative, Windows, Err(UriError::Relative));
    }
}

#[cfg(unix)]
#[test]
fn a_name_that_is_not_utf8_has_no_uri() {
    use std::os::unix::ffi::OsStrExt;
    let path = Path::new(std::ffi::OsStr::from_bytes(b"/srv/\xff"));
    assert_eq!(RootUri::from_path(path, Posix), Err(UriError::NotUtf8));
}

#[test]
fn serialized_as_its_text() -> Result<(), Box<dyn std::error::Error>> {
    let uri = RootUri::parse("file:///a%20b", Posix)?;
    assert_eq!(serde_json::to_string(&uri)?, r#""file:///a%20b""#);
    Ok(())
}

/// Names without separators and NUL, neither `.` nor `..`; often with `:` and `|`, to test drives.
fn name(separators: &'static [char]) -> impl Strategy<Value = String> {
    prop_oneof![any::<String>(), "[a-c:|%.~\\\\ ]{0,3}"]
        .prop_map(|name| name.replace('\0', ""))
        .prop_map(move |name| name.replace(separators, ""))
        .prop_filter("a dot segment", |name| name != "." && name != "..")
}

/// Pieces of URIs, good and bad.
fn piece() -> impl Strategy<Value = String> {
    let fixed = [
        "/",
        "//",
        "a",
        "B",
        "c:",
        "d|",
        ".",
        "..",
        "%2e",
        "%2F",
        "%5c",
        "%41",
        "%C3%A9",
        "%c3",
        "%20",
        " ",
        "\\",
        "\u{e9}",
        "%25",
        "%3A",
        "%7C",
        "~",
        "%",
        "|",
        ":",
        "%00",
        "*",
        "'",
        "localhost",
        "\t",
        "?",
        "#",
    ];
    prop_oneof![proptest::sample::select(fixed.to_vec()).prop_map(str::to_owned), "[ -~]{0,2}"]
}

proptest! {
    #[test]
    fn posix_paths_survive(names in proptest::collection::vec(name(&['/']), 0..6)) {
        let path = format!("/{}", names.join("/"));
        let uri = RootUri::from_path(Path::new(&path), Posix);
        prop_assert_eq!(uri.as_ref().map(RootUri::path), Ok(&*path));
        prop_assert!(uri.is_ok_and(|uri| uri.as_str().is_ascii()));
    }

    #[test]
    fn windows_paths_survive(
        top in prop_oneof!["[A-Za-z]:", r"\\\\[a-z0-9][a-z0-9.$-]{0,8}\\share"],
        names in proptest::collection::vec(name(&['/', '\\']), 0..6),
    ) {
        let path = format!(r"{top}\{}", names.join(r"\"));
        prop_assume!(!path.starts_with(r"\\localhost\"));
        let uri = RootUri::from_path(Path::new(&path), Windows);
        prop_assert_eq!(uri.as_ref().map(RootUri::path), Ok(&*path));
    }

    /// If both accept a text, they must agree on the path, except for two things that `url` does with slashes: it drops
    /// empty segments at the start (as browsers once did), and adds a `/` to a path that ends like a drive (a side
    /// effect of its rule for `file:///c:`).
    #[test]
    fn agrees_with_the_url_crate_on_posix(
        start in prop_oneof![Just("file:///"), Just("file://localhost/"), Just("file:/"), Just("FILE:///"), Just("file:")],
        pieces in proptest::collection::vec(piece(), 0..8),
    ) {
        let text = format!("{start}{}", pieces.concat());
        if let (Ok(uri), Ok(url)) = (RootUri::parse(&text, Posix), Url::parse(&text))
            && let Ok(path) = url.to_file_path()
        {
            let path = path.to_str().unwrap_or_default();
            let ends_like_a_drive = matches!(uri.path().as_bytes(), [.., letter, b':' | b'|'] if letter.is_ascii_alphabetic());
            let path = if ends_like_a_drive { path.trim_end_matches('/') } else { path };
            prop_assert_eq!(uri.path().trim_start_matches('/'), path.trim_start_matches('/'));
        }
    }

    /// `url` decodes Windows paths only on Windows, but its parsed host and path are available everywhere. It rewrites
    /// numbers as addresses (`0` becomes `0.0.0.0`), which is not compared.
    #[test]
    fn agrees_with_the_url_crate_on_windows(
        start in prop_oneof![Just("file:///c:/"), Just("file:///c%3A/"), Just("file://d:\\"), Just("file://host/share/"),
            Just("file://d:/"), Just("file:/c:/"), Just("file://localhost/c:/"), Just("file:///"), Just("file://")],
        pieces in proptest::collection::vec(piece(), 0..8),
    ) {
        let text = format!("{start}{}", pieces.concat());
        if let (Ok(uri), Ok(url)) = (RootUri::parse(&text, Windows), Url::parse(&text))
            && !matches!(url.host(), Some(url::Host::Ipv4(_)))
        {
            let path = percent_decode_str(url.path()).decode_utf8_lossy().replace('/', r"\");
            let path = match url.host_str() {
                Some(host) => format!(r"\\{host}{path}"),
                None => path[1..].to_owned(),
            };
            prop_assert_eq!(uri.path().to_lowercase(), path.to_lowercase());
        }
    }

    #[test]
    fn any_text_is_parsed_without_a_panic(text in "(file:/{0,4})?\\PC{0,40}") {
        for style in [Posix, Windows] {
            if let Ok(uri) = RootUri::parse(&text, style) {
                prop_assert!(!uri.path().contains('\0'));
                prop_assert!(uri.path().split(['/', '\\']).all(|segment| style == Posix || segment != ".."));
                prop_assert!(uri.path().split('/').all(|segment| segment != ".."));
                let again = RootUri::from_path(Path::new(uri.path()), style);
                prop_assert_eq!(again.as_ref().map(RootUri::path), Ok(uri.path()));
            }
        }
    }
}
