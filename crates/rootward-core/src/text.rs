//! Parses the text of a path: the first step of every decision.
//!
//! This only determines the form of the text: a URI, absolute, starting with `~`, relative, or invalid. Nothing is
//! trimmed, unquoted or normalized, so that the path that is checked is the path that is opened. Plain text is not
//! copied.

use std::borrow::Cow;

use thiserror::Error;

use crate::style::PathStyle;
use crate::uri::{LONGEST_PATH, RootUri, UriError};
use crate::windows;

/// Why a text is not a path.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Error)]
pub enum TextError {
    /// The text is empty.
    #[error("empty")]
    Empty,
    /// It contains a NUL byte, where the kernel would stop reading.
    #[error("a NUL byte")]
    Nul,
    /// It is longer than any path.
    #[error("longer than {LONGEST_PATH} bytes")]
    TooLong,
    /// It starts with `~other`.
    #[error("`~` with a user name is not supported")]
    OtherHome,
    /// It starts with `~`, but no home is known.
    #[error("`~`, but no home directory is known")]
    NoHome,
    /// An invalid `file:` URI.
    #[error(transparent)]
    Uri(UriError),
    /// A path of another operating system.
    #[error("a path of another system")]
    Foreign,
    /// A URI with this scheme, which is not `file`.
    #[error("scheme `{0}`, only `file` is supported")]
    Scheme(String),
    /// Windows: relative to a drive or to the current one (`C:x`, `\x`), or a host without a share.
    #[error("no drive and no share, or relative to one")]
    NoDrive,
    /// Windows: a device (`\\.\`, `\\?\`, `NUL`, `com1.txt`, a pipe).
    #[error("a device")]
    Device,
    /// Windows: a stream of a file (`name:stream`).
    #[error("an alternate data stream")]
    Stream,
    /// Windows: a name that ends in a dot or a space, which the system drops.
    #[error("a name that ends in a dot or a space")]
    TrailingDot,
    /// Windows: a character that is not allowed in names.
    #[error("a character that is not allowed in file names")]
    Character,
}

impl From<UriError> for TextError {
    fn from(error: UriError) -> TextError {
        match error {
            UriError::Foreign => TextError::Foreign,
            other => TextError::Uri(other),
        }
    }
}

/// A parsed path.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum PathText<'t> {
    /// Absolute, in the native style.
    Absolute(Cow<'t, [u8]>),
    /// Must be joined to a base.
    Relative(&'t [u8]),
}

impl<'t> PathText<'t> {
    /// Parses a path. `home` is the directory that `~` means; without it, `~` is refused.
    pub fn read(text: &'t [u8], style: PathStyle, home: Option<&[u8]>) -> Result<PathText<'t>, TextError> {
        let first = *text.first().ok_or(TextError::Empty)?;
        // Escapes make a URI longer than its path, so it has its own limit.
        if is_file_uri(text) {
            return read_uri(text, style);
        }
        if text.len() > LONGEST_PATH {
            return Err(TextError::TooLong);
        }
        if text.contains(&0) {
            return Err(TextError::Nul);
        }
        match (first, style) {
            (b'/', PathStyle::Posix) => return Ok(PathText::Absolute(Cow::Borrowed(text))),
            (b'~', _) => return expand_home(&text[1..], style, home),
            _ => {}
        }
        if let Some(scheme) = other_scheme(text) {
            return Err(TextError::Scheme(scheme));
        }
        match style {
            PathStyle::Posix if windows::has_drive(text) || text.starts_with(br"\\") => Err(TextError::Foreign),
            PathStyle::Posix => Ok(PathText::Relative(text)),
            PathStyle::Windows => Ok(match windows::read(text)? {
                windows::Kind::Absolute => PathText::Absolute(Cow::Borrowed(text)),
                windows::Kind::Relative => PathText::Relative(text),
            }),
        }
    }
}

/// Whether it starts with `file:`, ignoring case.
pub(crate) fn is_file_uri(text: &[u8]) -> bool {
    text.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case(b"file:"))
}

fn read_uri<'t>(text: &[u8], style: PathStyle) -> Result<PathText<'t>, TextError> {
    let text = std::str::from_utf8(text).map_err(|_| TextError::Uri(UriError::NotUtf8))?;
    let uri = RootUri::parse(text, style)?;
    if style == PathStyle::Windows {
        // SECURITY: a URI must not reach a device or stream that a path cannot (test: windows_refused)
        windows::read(uri.path().as_bytes())?;
    }
    Ok(PathText::Absolute(Cow::Owned(uri.path().as_bytes().to_vec())))
}

/// `rest` is the part after the `~`.
fn expand_home<'t>(rest: &[u8], style: PathStyle, home: Option<&[u8]>) -> Result<PathText<'t>, TextError> {
    let is_separator = |byte: &u8| *byte == b'/' || (style == PathStyle::Windows && *byte == b'\\');
    if !rest.first().is_none_or(is_separator) {
        return Err(TextError::OtherHome);
    }
    let home = home.ok_or(TextError::NoHome)?;
    // SECURITY: joined to a home that is not absolute, `~/x` would be relative to an unknown directory (test: homes)
    let absolute = match style {
        PathStyle::Posix => home.starts_with(b"/") && !home.contains(&0),
        PathStyle::Windows => windows::read(home) == Ok(windows::Kind::Absolute),
    };
    if !absolute {
        return Err(TextError::NoHome);
    }
    let end = home.iter().rposition(|byte| !is_separator(byte)).map_or(0, |last| last + 1);
    let mut path = Vec::with_capacity(home.len() + rest.len());
    path.extend_from_slice(if rest.is_empty() { home } else { &home[..end] });
    path.extend_from_slice(rest);
    if path.len() > LONGEST_PATH {
        return Err(TextError::TooLong);
    }
    if style == PathStyle::Windows {
        windows::read(&path)?;
    }
    Ok(PathText::Absolute(Cow::Owned(path)))
}

/// The scheme of `scheme://…` (RFC 3986, 3.1). A single letter is a drive, not a scheme.
fn other_scheme(text: &[u8]) -> Option<String> {
    let is_scheme = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
    let end = text.iter().position(|byte| !is_scheme(byte))?;
    let scheme = &text[..end];
    let named = end >= 2 && scheme[0].is_ascii_alphabetic() && text[end..].starts_with(b"://");
    named.then(|| String::from_utf8_lossy(scheme).into_owned())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use PathStyle::{Posix, Windows};

    const HOME: &[u8] = b"/home/me";
    const WINDOWS_HOME: &[u8] = br"C:\Users\me";

    fn home(style: PathStyle) -> &'static [u8] {
        if style == Posix { HOME } else { WINDOWS_HOME }
    }

    #[track_caller]
    fn refused(text: &[u8], style: PathStyle, why: TextError) {
        assert_eq!(PathText::read(text, style, Some(home(style))), Err(why), "{}", text.escape_ascii());
    }

    #[track_caller]
    fn relative(text: &[u8], style: PathStyle) {
        assert_eq!(PathText::read(text, style, None), Ok(PathText::Relative(text)), "{}", text.escape_ascii());
    }

    #[track_caller]
    fn absolute(text: &[u8], style: PathStyle, path: &[u8]) {
        let read = PathText::read(text, style, Some(home(style)));
        assert_eq!(read, Ok(PathText::Absolute(Cow::Borrowed(path))), "{}", text.escape_ascii());
    }

    #[test]
    fn posix_relative() {
        let texts: [&[u8]; 24] = [
            b"a",
            b"a/b/",
            b".",
            b"..",
            b"../x",
            b" /a",
            b"a ",
            b"\"/a\"",
            b"./~/x",
            b"a/~",
            b" ~",
            b"a\\b",
            b"\\a",
            b"..\\..\\x",
            b"\xff\xfe",
            b"%2e%2e/x",
            b"c:",
            b"c:x",
            b"files:x",
            b"mailto:me",
            b"x:y://z",
            b"1a://x",
            b"://x",
            b"a b://c",
        ];
        for text in texts {
            relative(text, Posix);
        }
    }

    #[test]
    fn posix_absolute() {
        for text in [b"/".as_slice(), b"/a//b/../c/", b"//a", b"/c:/x", b"/\xff", b"/~", b"/a\nb", b"/http://x"] {
            absolute(text, Posix, text);
            assert!(matches!(PathText::read(text, Posix, None), Ok(PathText::Absolute(Cow::Borrowed(_)))));
        }
        absolute(b"file:///a%20b", Posix, b"/a b");
        absolute(b"FILE:/a", Posix, b"/a");
        absolute(b"file://localhost/a/", Posix, b"/a/");
    }

    #[test]
    fn homes() {
        absolute(b"~", Posix, b"/home/me");
        absolute(b"~/", Posix, b"/home/me/");
        absolute(b"~/a/~", Posix, b"/home/me/a/~");
        absolute(br"~\a", Windows, br"C:\Users\me\a");
        absolute(b"~/a", Windows, br"C:\Users\me/a");
        for other in [b"~root".as_slice(), b"~root/x", b"~~", b"~ ", b"~\\x"] {
            refused(other, Posix, TextError::OtherHome);
        }
        refused(br"~\nul", Windows, TextError::Device);
        let check = |home: Option<&[u8]>, text: &[u8], path: Result<&[u8], TextError>| {
            let path = path.map(|path| PathText::Absolute(Cow::Borrowed(path)));
            assert_eq!(PathText::read(text, Posix, home), path);
        };
        check(None, b"~", Err(TextError::NoHome));
        check(None, b"~/x", Err(TextError::NoHome));
        check(Some(b""), b"~/x", Err(TextError::NoHome));
        check(Some(b"home"), b"~/x", Err(TextError::NoHome));
        check(Some(b"/a\0"), b"~/x", Err(TextError::NoHome));
        check(Some(b"/"), b"~/x", Ok(b"/x"));
        check(Some(b"/"), b"~", Ok(b"/"));
        check(Some(b"/h//"), b"~/x", Ok(b"/h/x"));
        let long = [b"~/".as_slice(), &[b'x'; 4000]].concat();
        check(Some(&[b'/'; LONGEST_PATH]), &long, Ok(&long[1..]));
        check(Some(&[b'/', b'h'].repeat(50)), &long, Err(TextError::TooLong));
    }

    #[test]
    fn posix_refused() {
        refused(b"", Posix, TextError::Empty);
        refused(b"\0", Posix, TextError::Nul);
        refused(b"/a\0b", Posix, TextError::Nul);
        refused(b"~/\0", Posix, TextError::Nul);
        refused(&[b'a'; LONGEST_PATH + 1], Posix, TextError::TooLong);
        relative(&[b'a'; LONGEST_PATH], Posix);
        for foreign in
            [br"C:\x".as_slice(), b"c:/x", br"\\host\share", br"\\?\C:\x", br"\\", b"file:///C:/x", b"file:///c%3A/x"]
        {
            refused(foreign, Posix, TextError::Foreign);
        }
        refused(b"http://x", Posix, TextError::Scheme("http".to_owned()));
        refused(b"vscode-remote://x/y", Posix, TextError::Scheme("vscode-remote".to_owned()));
        refused(b"a1+.-://", Posix, TextError::Scheme("a1+.-".to_owned()));
        refused(b"file:", Posix, TextError::Uri(UriError::Relative));
        refused(b"fIle:x", Posix, TextError::Uri(UriError::Relative));
        refused(b"file:///a/..%2Fb", Posix, TextError::Uri(UriError::EncodedSlash));
        refused(b"file:///a/../b", Posix, TextError::Uri(UriError::DotSegment));
        refused(b"file:///\xff", Posix, TextError::Uri(UriError::NotUtf8));
        refused(b"file:///a\0", Posix, TextError::Uri(UriError::Nul));
        refused(&b"file:///".repeat(2_500), Posix, TextError::Uri(UriError::TooLong));
    }

    #[test]
    fn windows_read() {
        for text in [br"C:\a\b".as_slice(), b"c:/a/b", br"\\server\share\x", br"C:\", br"C:\a\..\b", b"C:\\\xff"] {
            absolute(text, Windows, text);
        }
        for text in
            [br"a\b".as_slice(), b"a/b", b"..", br"..\x", ".\\\u{e9}".as_bytes(), b"~1".get(1..).unwrap_or_default()]
        {
            relative(text, Windows);
        }
        absolute(b"file:///c%3A/a%20b", Windows, br"c:\a b");
        absolute(br"file://d:\dev\x", Windows, br"d:\dev\x");
        absolute(b"file://server/share/x", Windows, br"\\server\share\x");
    }

    #[test]
    fn windows_refused() {
        for foreign in [b"/".as_slice(), b"/etc", b"//server/share", br"/\server\share"] {
            refused(foreign, Windows, TextError::Foreign);
        }
        for text in
            [br"\x".as_slice(), br"\??\C:\x", br"\/server/share", b"C:", b"C:x", br"\\server", br"\\server\", br"\\\x"]
        {
            refused(text, Windows, TextError::NoDrive);
        }
        refused(b"http://x", Windows, TextError::Scheme("http".to_owned()));
        refused(b"file:///c:/nul", Windows, TextError::Device);
        refused(b"file:///c:/a:b", Windows, TextError::Stream);
        refused(b"file:///c:/a%20/b", Windows, TextError::TrailingDot);
        refused(b"file:///x", Windows, TextError::Uri(UriError::NoDrive));
        refused(b"a\0", Windows, TextError::Nul);
    }

    proptest! {
        #[test]
        fn what_is_read_is_whole(text in proptest::collection::vec(any::<u8>(), 0..40)) {
            for style in [Posix, Windows] {
                match PathText::read(&text, style, None) {
                    Ok(PathText::Absolute(path)) if !is_file_uri(&text) => prop_assert_eq!(&*path, &*text),
                    Ok(PathText::Relative(path)) => prop_assert_eq!(path, &*text),
                    _ => {}
                }
            }
        }
    }
}
