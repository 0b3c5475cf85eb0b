//! A root as a `file:` URI, parsed strictly (RFC 8089, RFC 3986).
//!
//! URL libraries follow browsers and repair their input, and a repaired root may be wider (`file:///home/me/c#-proj`
//! cut at the `#` shares `/home/me/c`). This parser repairs nothing: a text either names exactly one path, or it is
//! refused with a reason.

use std::borrow::Cow;
use std::fmt;
use std::path::Path;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use serde::{Serialize, Serializer};
use thiserror::Error;

use crate::style::PathStyle;

/// The longest path in bytes: `PATH_MAX` of Linux (limits.h).
pub(crate) const LONGEST_PATH: usize = 4095;

/// The longest URI: every byte of the longest path escaped, plus the scheme and a host (RFC 1035, 2.3.4).
const LONGEST_TEXT: usize = 3 * LONGEST_PATH + "file://".len() + LONGEST_HOST;
const LONGEST_HOST: usize = 255;

/// The characters that are escaped when writing a URI: everything except `pchar` (RFC 3986, 3.3) and the separator.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b'!')
    .remove(b'$')
    .remove(b'&')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')')
    .remove(b'*')
    .remove(b'+')
    .remove(b',')
    .remove(b';')
    .remove(b'=')
    .remove(b':')
    .remove(b'@')
    .remove(b'/');

/// Why a text is not a usable `file:` URI, or a path cannot be written as one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Error)]
pub enum UriError {
    /// The text is empty.
    #[error("empty")]
    Empty,
    /// It is longer than any path.
    #[error("longer than {LONGEST_PATH} bytes")]
    TooLong,
    /// Not a `file:` URI.
    #[error("not a `file:` URI")]
    Scheme,
    /// A host other than this one, or (Windows) an invalid host name; also a port or a user name.
    #[error("names another host")]
    Host,
    /// A query.
    #[error("a query: a `?` in a name is written `%3F`")]
    Query,
    /// A fragment.
    #[error("a fragment: a `#` in a name is written `%23`")]
    Fragment,
    /// An encoded `/`.
    #[error("encoded `/` in a path segment")]
    EncodedSlash,
    /// An encoded `\`, which is a separator on Windows.
    #[error("encoded `\\` in a path segment")]
    EncodedBackslash,
    /// An unencoded `\`, which only some programs treat as a separator.
    #[error("raw `\\`: in a name it is written `%5C`")]
    RawBackslash,
    /// A NUL, encoded or not.
    #[error("a NUL byte")]
    Nul,
    /// An unencoded control character.
    #[error("a raw control character")]
    Control,
    /// Whitespace at either end.
    #[error("whitespace at the start or the end")]
    WhiteSpace,
    /// A `%` without two hexadecimal digits.
    #[error("a `%` without two hexadecimal digits")]
    Escape,
    /// Bytes that are not UTF-8.
    #[error("not UTF-8")]
    NotUtf8,
    /// `.` or `..` as a segment, encoded or not.
    #[error("a dot segment")]
    DotSegment,
    /// It does not name an absolute path.
    #[error("not an absolute path")]
    Relative,
    /// Windows: neither a drive with a root nor a host with a share.
    #[error("no drive and no share")]
    NoDrive,
    /// POSIX: a drive.
    #[error("a path of another system")]
    Foreign,
}

/// A `file:` URI and its path.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct RootUri {
    text: String,
    path: String,
}

impl RootUri {
    /// Parses a URI. The form of the path depends on the style: `/a/b`, `C:\a\b`, `\\server\share\a`.
    ///
    /// Double and trailing separators are kept.
    pub fn parse(text: &str, style: PathStyle) -> Result<RootUri, UriError> {
        let rest = after_scheme(text)?;
        let path = match style {
            PathStyle::Posix => posix_path(rest)?,
            PathStyle::Windows => windows_path(rest)?,
        };
        if path.len() > LONGEST_PATH {
            return Err(UriError::TooLong);
        }
        Ok(RootUri { text: text.to_owned(), path })
    }

    /// Writes an absolute path as a URI. Parsing the result gives the same path.
    ///
    /// Refuses paths that are relative, not UTF-8, or contain a NUL or dot segments.
    pub fn from_path(path: &Path, style: PathStyle) -> Result<RootUri, UriError> {
        let path = path.to_str().ok_or(UriError::NotUtf8)?;
        let escaped = |path| utf8_percent_encode(path, ESCAPED);
        let text = match style {
            PathStyle::Posix => {
                let below = path.strip_prefix('/').ok_or(UriError::Relative)?;
                match below.split_once('/').map_or(below, |(first, _)| first) {
                    // A directory that is really called `c:`; see `posix_path`.
                    drive if is_drive(drive) => {
                        format!("file://localhost/{}%3A{}", &drive[..1], escaped(&below[2..]))
                    }
                    _ => format!("file://{}", escaped(path)),
                }
            }
            PathStyle::Windows => {
                let path = path.replace('\\', "/");
                match path.strip_prefix("//") {
                    Some(share) => {
                        let (host, below) = share.split_once('/').ok_or(UriError::NoDrive)?;
                        if !is_host(host) {
                            return Err(UriError::Host);
                        }
                        format!("file://{host}/{}", escaped(below))
                    }
                    None if starts_with_drive(&path) => format!("file:///{}", escaped(&path)),
                    None => return Err(UriError::Relative),
                }
            }
        };
        // Parse the result, so that nothing is written that could not be parsed.
        RootUri::parse(&text, style)
    }

    /// The URI as written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The decoded path.
    pub fn path(&self) -> &str {
        &self.path
    }
}

/// The part after `file:`, checked for everything that is not allowed anywhere.
fn after_scheme(text: &str) -> Result<&str, UriError> {
    if text.is_empty() {
        return Err(UriError::Empty);
    }
    if text.len() > LONGEST_TEXT {
        return Err(UriError::TooLong);
    }
    if text.contains('\0') {
        return Err(UriError::Nul);
    }
    // SECURITY: browsers drop tabs and newlines and trim, so that two texts would name one path (test: refused)
    if text.contains(char::is_control) {
        return Err(UriError::Control);
    }
    if text.trim().len() != text.len() {
        return Err(UriError::WhiteSpace);
    }
    let rest = match text.split_at_checked("file:".len()) {
        Some((scheme, rest)) if scheme.eq_ignore_ascii_case("file:") => rest,
        _ => return Err(UriError::Scheme),
    };
    // SECURITY: cutting at a `?` or `#` would make the path wider (test: refused)
    match rest.bytes().find(|byte| matches!(byte, b'?' | b'#')) {
        Some(b'?') => Err(UriError::Query),
        Some(_) => Err(UriError::Fragment),
        None => Ok(rest),
    }
}

/// Splits `//authority/path`, or `/path` without an authority (RFC 8089, 2). The path starts with a separator.
fn split_authority<'t>(rest: &'t str, separators: &[char]) -> Result<(Option<&'t str>, &'t str), UriError> {
    let Some(after) = rest.strip_prefix("//") else {
        return if rest.starts_with('/') { Ok((None, rest)) } else { Err(UriError::Relative) };
    };
    let start = after.find(separators).unwrap_or(after.len());
    Ok((Some(&after[..start]), &after[start..]))
}

fn posix_path(rest: &str) -> Result<String, UriError> {
    if rest.contains('\\') {
        return Err(UriError::RawBackslash);
    }
    let (authority, path) = split_authority(rest, &['/'])?;
    // SECURITY: not decoded, and only ASCII case is folded, or another host could pass for this one
    // (test: posix_refused)
    let named_local = match authority {
        None | Some("") => false,
        Some(host) if host.eq_ignore_ascii_case("localhost") => true,
        Some(_) => return Err(UriError::Host),
    };
    let below = path.strip_prefix('/').ok_or(UriError::Relative)?;
    let first = below.split_once('/').map_or(below, |(first, _)| first);
    // A drive of another system, not a directory `c:` of this one. The URI of such a directory names this host and
    // encodes the colon: `file://localhost/c%3A/x`.
    let is_name = named_local && !first.contains(':');
    if is_old_drive(first) || (!is_name && is_drive(&decode(first, PathStyle::Posix)?)) {
        return Err(UriError::Foreign);
    }
    let mut decoded = String::with_capacity(path.len());
    for segment in below.split('/') {
        decoded.push('/');
        decoded.push_str(&decode(segment, PathStyle::Posix)?);
    }
    Ok(decoded)
}

fn windows_path(rest: &str) -> Result<String, UriError> {
    let separators = ['/', '\\'];
    let (authority, path) = split_authority(rest, &separators)?;
    let mut decoded = String::with_capacity(rest.len());
    let below = match authority {
        // `file://d:\x`, as Claude Code sends it.
        Some(drive) if is_drive(drive) => {
            decoded.push_str(drive);
            path
        }
        Some(host) if !host.is_empty() && !host.eq_ignore_ascii_case("localhost") => {
            if !is_host(host) {
                return Err(UriError::Host);
            }
            // SECURITY: without a share there is no directory that limits access (test: windows_refused)
            if path.len() < 2 || path[1..].starts_with(separators) {
                return Err(UriError::NoDrive);
            }
            // `file://server/c:/x` is a drive of that host (RFC 8089, E.2), and older browsers read it as a drive of
            // this one. It is not a share.
            let share = path[1..].split(separators).next().unwrap_or_default();
            if is_old_drive(share) || is_drive(&decode(share, PathStyle::Windows)?) {
                return Err(UriError::Host);
            }
            decoded.push_str(r"\\");
            decoded.push_str(host);
            path
        }
        _ => {
            let below = path.get(1..).ok_or(UriError::NoDrive)?;
            let (drive, below) = below.split_at(below.find(separators).unwrap_or(below.len()));
            let drive = decode(drive, PathStyle::Windows)?;
            if !is_drive(&drive) {
                return Err(UriError::NoDrive);
            }
            decoded.push_str(&drive);
            below
        }
    };
    // SECURITY: `C:` without a separator is the current directory of that drive, not its top (test: windows_refused)
    let below = below.strip_prefix(separators).ok_or(UriError::NoDrive)?;
    for segment in below.split(separators) {
        decoded.push('\\');
        decoded.push_str(&decode(segment, PathStyle::Windows)?);
    }
    Ok(decoded)
}

/// Decodes one segment.
fn decode(segment: &str, style: PathStyle) -> Result<Cow<'_, str>, UriError> {
    // SECURITY: split first, then decode and check, never the other way round (CVE-2026-6321) (test: posix_refused)
    let mut rest = segment.as_bytes();
    while let Some(start) = rest.iter().position(|byte| *byte == b'%') {
        match (rest.get(start + 1), rest.get(start + 2)) {
            (Some(b'0'), Some(b'0')) => return Err(UriError::Nul),
            (Some(b'2'), Some(b'f' | b'F')) => return Err(UriError::EncodedSlash),
            (Some(b'5'), Some(b'c' | b'C')) if style == PathStyle::Windows => return Err(UriError::EncodedBackslash),
            (Some(high), Some(low)) if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {}
            _ => return Err(UriError::Escape),
        }
        rest = &rest[start + 3..];
    }
    let decoded = percent_decode_str(segment).decode_utf8().map_err(|_| UriError::NotUtf8)?;
    if matches!(&*decoded, "." | "..") { Err(UriError::DotSegment) } else { Ok(decoded) }
}

/// `c:`
fn is_drive(segment: &str) -> bool {
    matches!(segment.as_bytes(), [letter, b':'] if letter.is_ascii_alphabetic())
}

/// `c|`, which browsers read as `c:` (RFC 8089, E.2.2).
fn is_old_drive(segment: &str) -> bool {
    matches!(segment.as_bytes(), [letter, b'|'] if letter.is_ascii_alphabetic())
}

/// `c:/`
fn starts_with_drive(path: &str) -> bool {
    path.get(..2).is_some_and(is_drive) && path[2..].starts_with('/')
}

/// A plain host name: no escapes, port, user, or address in brackets, and not `\\?\` or `\\.\`.
fn is_host(host: &str) -> bool {
    host.len() <= LONGEST_HOST
        && host.starts_with(|first: char| first.is_ascii_alphanumeric() || first == '_')
        && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'$'))
}

impl fmt::Display for RootUri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Serialize for RootUri {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

#[cfg(test)]
mod tests;
