//! The rules of Windows for paths, as pure functions.
//!
//! Windows gives special meaning to names that are plain elsewhere: devices in every directory, streams after a colon,
//! trailing dots and spaces that are dropped. All of these make one name refer to another object, so all of them are
//! refused. <https://learn.microsoft.com/windows/win32/fileio/naming-a-file>

use crate::text::TextError;

/// The kind of a valid path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// With a drive, or a host and share.
    Absolute,
    /// Must be joined to a base.
    Relative,
}

/// Either separator.
pub(crate) fn is_separator(byte: u8) -> bool {
    matches!(byte, b'\\' | b'/')
}

/// `X:\` or `X:/` at the start.
pub(crate) fn has_drive(text: &[u8]) -> bool {
    matches!(text, [letter, b':', separator, ..] if letter.is_ascii_alphabetic() && is_separator(*separator))
}

/// Whether Windows treats two names as equal: it ignores case.
pub(crate) fn same_name(one: &str, other: &str) -> bool {
    // Windows folds character by character (the `$UpCase` table of NTFS).
    let folded = |letter: char| {
        let mut upper = letter.to_uppercase();
        match (upper.next(), upper.next()) {
            // SECURITY: Unicode would map `ı` to `I` and `ſ` to `S`; to Windows they are different letters.
            // (test: case_does_not_count)
            (Some(one), None) if letter.is_ascii() == one.is_ascii() => one,
            _ => letter,
        }
    };
    one.chars().map(folded).eq(other.chars().map(folded))
}

/// Parses a path that is not a URI and has no `~`.
pub(crate) fn read(text: &[u8]) -> Result<Kind, TextError> {
    let (kind, below) = match text {
        [] => return Err(TextError::Empty),
        // `//server/share` is a share to some programs and a POSIX path to others.
        [b'/', ..] => return Err(TextError::Foreign),
        // SECURITY: `\\?\` and `\\.\` bypass every other rule (test: devices)
        [b'\\', b'\\', b'?' | b'.', separator, ..] if is_separator(*separator) => return Err(TextError::Device),
        [b'\\', b'\\', b'?' | b'.'] => return Err(TextError::Device),
        [b'\\', b'\\', share @ ..] => (Kind::Absolute, below_host(share)?),
        [b'\\', ..] => return Err(TextError::NoDrive),
        _ if has_drive(text) => (Kind::Absolute, &text[3..]),
        [letter, b':', ..] if letter.is_ascii_alphabetic() => return Err(TextError::NoDrive),
        _ => (Kind::Relative, text),
    };
    below.split(|byte| is_separator(*byte)).try_for_each(check_name)?;
    Ok(kind)
}

/// `share\…` of `host\share\…`.
fn below_host(text: &[u8]) -> Result<&[u8], TextError> {
    let mut parts = text.splitn(3, |byte| is_separator(*byte));
    let (host, share) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let is_empty = |name: &[u8]| matches!(name, b"" | b"." | b"..");
    if is_empty(host) || is_empty(share) {
        return Err(TextError::NoDrive);
    }
    check_name(host)?;
    // Named pipes and mail slots of a host look like shares (MS-SMB2, 2.2.9).
    if [b"pipe".as_slice(), b"mailslot", b"ipc$"].iter().any(|device| share.eq_ignore_ascii_case(device)) {
        return Err(TextError::Device);
    }
    Ok(&text[host.len() + 1..])
}

/// Checks that a component is a plain name, empty (a double separator), `.` or `..`.
fn check_name(name: &[u8]) -> Result<(), TextError> {
    if matches!(name, b"" | b"." | b"..") {
        return Ok(());
    }
    // SECURITY: `a:b` is a stream of `a`, `a::$DATA` is `a` itself (test: streams)
    if name.contains(&b':') {
        return Err(TextError::Stream);
    }
    if name.iter().any(|byte| *byte < b' ' || matches!(byte, b'<' | b'>' | b'"' | b'|' | b'?' | b'*')) {
        return Err(TextError::Character);
    }
    // SECURITY: `NUL.txt` is `NUL` in every directory (test: devices)
    if is_device(name) {
        return Err(TextError::Device);
    }
    // SECURITY: Windows drops these: `.ssh.` is `.ssh`, `.. ` is `..` (test: trailing)
    if matches!(name, [.., b'.' | b' ']) {
        return Err(TextError::TrailingDot);
    }
    Ok(())
}

/// `CON`, `com1`, `nul.txt`, `aux .c`.
fn is_device(name: &[u8]) -> bool {
    let base = name.split(|byte| *byte == b'.').next().unwrap_or_default().trim_ascii_end();
    let is = |device: &[u8]| base.eq_ignore_ascii_case(device);
    if [b"con".as_slice(), b"prn", b"aux", b"nul", b"conin$", b"conout$", b"clock$"].into_iter().any(is) {
        return true;
    }
    match base.split_at_checked(3) {
        Some((port, number)) if [b"com", b"lpt"].iter().any(|known| port.eq_ignore_ascii_case(*known)) => {
            matches!(number, [b'0'..=b'9'])
                || ["\u{b9}", "\u{b2}", "\u{b3}"].iter().any(|digit| number == digit.as_bytes())
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(texts: &[&str], expect: Result<Kind, &TextError>) {
        for text in texts {
            assert_eq!(read(text.as_bytes()).as_ref().map(|kind| *kind), expect, "{text}");
        }
    }

    #[test]
    fn case_does_not_count() {
        let check = |one: &str, other: &str, same: bool| assert_eq!(same_name(one, other), same, "{one} {other}");
        check("Dev", "dEV", true);
        check("\u{e9}t\u{e9}", "\u{c9}T\u{c9}", true);
        check("fi", "f\u{131}", false);
        check("s", "\u{17f}", false);
        check("k", "\u{212a}", false);
        check("ss", "\u{df}", false);
        check("a", "ab", false);
    }

    #[test]
    fn plain() {
        check(
            &[r"C:\", "c:/x", r"C:\a\\b\", r"\\server\share", r"\\server\share\x", r"\\s/share/x"],
            Ok(Kind::Absolute),
        );
        check(
            &["a", r"a\b", "..", ".", ".a", "a.b", "console", "com", "com10", "nul1", "a b", "lpt\u{b4}"],
            Ok(Kind::Relative),
        );
    }

    #[test]
    fn devices() {
        check(&[r"\\?\C:\x", r"\\.\COM1", r"\\?\UNC\server\share", r"\\./x", r"\\?"], Err(&TextError::Device));
        check(
            &[
                "nul",
                "CON",
                r"a\Aux",
                "nul.txt",
                "con.a.b",
                "com1",
                "LPT9.x",
                "com0",
                "COM\u{b2}",
                "conin$",
                "CONOUT$",
                "clock$",
            ],
            Err(&TextError::Device),
        );
        check(&["nul ", "aux .c", "nul.", r"C:\a\prn\b", r"\\server\share\nul"], Err(&TextError::Device));
        check(&[r"\\server\pipe\x", r"\\server\IPC$", r"\\server\mailslot\x"], Err(&TextError::Device));
    }

    #[test]
    fn streams() {
        check(
            &["ab:c", "ab::$DATA", r"C:\a:b", r"C:\x\a:b\c", r"\\server\share\a:b", "ab:", r"\\s:1\x"],
            Err(&TextError::Stream),
        );
    }

    #[test]
    fn trailing() {
        check(
            &["a.", "a ", ".. ", "...", r"C:\.ssh.\x", r"C:\x\.. \y", r"\\server\share.\x"],
            Err(&TextError::TrailingDot),
        );
    }

    #[test]
    fn characters() {
        check(&["a*", "a?", "a\u{1}b", "a|b", "<a>", "\"a\""], Err(&TextError::Character));
    }

    #[test]
    fn without_a_drive() {
        check(
            &[
                r"\x",
                r"\??\C:\x",
                "C:",
                "C:x",
                r"\\",
                r"\\server",
                r"\\server\",
                r"\\server\\x",
                r"\\server\..\x",
                r"\\..\c$",
            ],
            Err(&TextError::NoDrive),
        );
        check(&["/x", "//server/share", "/"], Err(&TextError::Foreign));
    }
}
