//! Predicates on string values: looks like a path, has several lines, has another scheme.

use crate::fold::begins;

/// Schemes that need no `//`. `data:` matters most: its content may start with a slash, as in every JPEG.
const BARE_SCHEMES: [&str; 14] = [
    "data:",
    "mailto:",
    "urn:",
    "tel:",
    "sms:",
    "about:",
    "blob:",
    "cid:",
    "magnet:",
    "doi:",
    "geo:",
    "did:",
    "javascript:",
    "tag:",
];

/// Quotes of all kinds, at either end of a value.
pub(super) const QUOTES: [char; 10] =
    ['"', '\'', '`', '<', '>', '\u{201c}', '\u{201d}', '\u{2018}', '\u{2019}', '\u{ab}'];

/// Characters that careless parsers trim from both ends.
pub(super) fn is_trimmed(c: char) -> bool {
    c.is_whitespace() || c.is_control() || matches!(c, '\u{feff}' | '\u{200b}'..='\u{200f}' | '\u{2060}')
}

/// Like [`is_trimmed`], plus quotes.
pub(super) fn is_around(c: char) -> bool {
    is_trimmed(c) || QUOTES.contains(&c)
}

/// Characters that are invisible, or that a decoder inserts for invalid bytes. Some parsers remove them anywhere
/// (Unicode, `Default_Ignorable_Code_Point`).
pub(super) fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffd}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

/// Whether a string looks like a path, as it is or after a careless parser trimmed, unquoted or decoded it (once or
/// twice).
pub(super) fn looks_like_a_path(text: &str) -> bool {
    looks(text, 2)
}

fn looks(text: &str, rounds: u8) -> bool {
    let bare = text.trim_matches(is_around);
    if begins_like_a_path(bare) || is_option_with_path(bare) || climbs(bare) || holds_file_uri(text) {
        return true;
    }
    if rounds == 0 || !bare.contains('%') {
        return false;
    }
    let decoded = super::decode::percent_decoded(bare);
    decoded != bare && looks(&decoded, rounds - 1)
}

/// Starts with `/`, `~`, `./`, `../`, a drive, a share, `file:`, or a variable for the home.
pub(super) fn begins_like_a_path(text: &str) -> bool {
    let bytes = text.as_bytes();
    let Some(first) = bytes.first() else { return false };
    match first {
        b'/' => true,
        // `~1.2` is a version, `~=` an operator.
        b'~' => bytes
            .get(1)
            .is_none_or(|next| matches!(next, b'/' | b'\\' | b'_' | b'+' | b'-') || next.is_ascii_alphabetic()),
        b'.' => matches!(text, "." | "..") || ["./", "../", ".\\", "..\\"].iter().any(|start| text.starts_with(start)),
        b'\\' => text.starts_with("\\\\"),
        b'$' => ["$HOME", "${HOME", "$PWD", "${PWD", "$env:", "${env:"].iter().any(|start| begins(text, start)),
        b'%' => begins(text, "%HOME") || begins(text, "%USERPROFILE%") || begins(text, "%APPDATA%"),
        b'f' | b'F' => begins(text, "file:") && text[5..].starts_with(|next: char| !next.is_whitespace()),
        letter => {
            letter.is_ascii_alphabetic() && bytes.get(1) == Some(&b':') && matches!(bytes.get(2), Some(b'/' | b'\\'))
        }
    }
}

/// `--output=/x`, `-o/x` (CVE-2025-68144: a program treats an argument as an option).
fn is_option_with_path(text: &str) -> bool {
    let Some(option) = text.strip_prefix('-') else { return false };
    let Some(letter) = option.chars().next().filter(|c| *c == '-' || c.is_ascii_alphabetic()) else { return false };
    let value = option.split_once('=').map_or(&option[letter.len_utf8()..], |(_, value)| value);
    begins_like_a_path(value.trim_matches(QUOTES))
}

/// Whether `file://` occurs anywhere, in any case, with either slash.
pub(super) fn holds_file_uri(text: &str) -> bool {
    file_uris(text).any(|uri| uri.as_bytes().get(6).is_some_and(|byte| matches!(byte, b'/' | b'\\')))
}

/// Whether the whole string is a `file:` URI, apart from characters that careless parsers trim. A URI contains no
/// blanks.
pub(super) fn is_file_uri(text: &str) -> bool {
    let bare = text.trim_matches(is_around);
    begins(bare, "file:") && bare[5..].starts_with(['/', '\\']) && !bare.contains(char::is_whitespace)
}

/// The rest of the text from each `file:/` on. A letter before it makes it another word, such as `profile:/`.
pub(super) fn file_uris(text: &str) -> impl Iterator<Item = &str> {
    let bytes = text.as_bytes();
    memchr::memchr_iter(b':', bytes).filter_map(move |colon| {
        let start = colon.checked_sub(4)?;
        let is_whole = start == 0 || !bytes[start - 1].is_ascii_alphanumeric();
        let is_uri =
            bytes[start..colon].eq_ignore_ascii_case(b"file") && matches!(bytes.get(colon + 1), Some(b'/' | b'\\'));
        (is_whole && is_uri).then(|| &text[start..])
    })
}

/// Whether `..` leads above the start of the path, counted textually.
pub(crate) fn climbs(text: &str) -> bool {
    if !text.contains("..") {
        return false;
    }
    let mut depth = 0_usize;
    for part in text.split(['/', '\\']) {
        match part {
            "" | "." => {}
            ".." => match depth.checked_sub(1) {
                Some(less) => depth = less,
                None => return true,
            },
            _ => depth += 1,
        }
    }
    false
}

/// Whether a string has several lines, not counting blank ones at its ends.
pub(super) fn has_several_lines(text: &str) -> bool {
    memchr::memchr2(b'\n', b'\r', text.trim_matches(is_trimmed).as_bytes()).is_some()
}

/// Whether a string has a scheme other than `file`: `scheme://…`, or one of those that need no slashes.
pub(crate) fn has_another_scheme(text: &str) -> bool {
    if BARE_SCHEMES.iter().any(|scheme| begins(text, scheme)) {
        return true;
    }
    let Some((scheme, _)) = text.split_once("://") else { return false };
    // A single letter is a drive.
    scheme.len() >= 2
        && !scheme.eq_ignore_ascii_case("file")
        && scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks() {
        for text in [
            "/",
            "/etc",
            "~",
            "~/x",
            "~root",
            "~root/x",
            "./x",
            "../x",
            ".",
            "..",
            "..\\x",
            "C:\\x",
            "c:/x",
            "\\\\host\\share",
            "file:///x",
            "FILE:/x",
            "see file:///etc/passwd",
            "x file://",
            " /etc",
            "\t/etc\n",
            "\"/etc\"",
            "'~/x'",
            "`../x`",
            "%2fetc",
            "%2e%2e/x",
            "%252e%252e%252fx",
            "$HOME/x",
            "${HOME}/x",
            "%USERPROFILE%\\x",
            "a/../../x",
            "\u{feff}/x",
            "file%3A%2F%2F/x",
            "~-/x",
            "--output=/x",
            "-o../x",
            "--a=\"~/x\"",
            "file:x",
        ] {
            assert!(looks_like_a_path(text), "{text:?}");
        }
        for text in [
            "",
            "a",
            "a/b",
            "2024/01/02",
            "1/2",
            "text/plain",
            "https://example.org/a",
            "a.b",
            ".hidden",
            "~1.2.3",
            "~=",
            "*/5 * * * *",
            "100%",
            "50% / 2",
            "$5",
            "$.a.b",
            "a..b",
            "...",
            "a/../b",
            "C:",
            "c:x",
            "x: /y",
            "SELECT 1 / 2",
            "owner/repo",
            "\\d+",
            "-/x",
            "profile://x",
            "\u{e9}/\u{e9}",
            "- /x",
            "-1/2",
            "--",
            "-",
            "--a=b/c",
            "file: x",
            "--flag",
        ] {
            assert!(!looks_like_a_path(text), "{text:?}");
        }
    }

    #[test]
    fn lines_and_schemes() {
        assert!(has_several_lines("a\nb") && has_several_lines("/a\r/b") && !has_several_lines("\n/etc/passwd\n"));
        for text in ["http://x", "vscode-remote://a/b", "DATA:image/jpeg;base64,/9j/", "mailto:a@b", "a1+.-://"] {
            assert!(has_another_scheme(text), "{text}");
        }
        for text in [
            "file:///x",
            "FILE://x",
            "c://x",
            "a b://c",
            "notes: x",
            "://x",
            "1a://x",
            "/http://x",
            "jar:file:///x",
            "x",
        ] {
            assert!(!has_another_scheme(text), "{text}");
        }
    }
}
