//! Text transformations that parsers apply, and predicates on the characters of a text.

use unicode_normalization::UnicodeNormalization;

use super::value::QUOTES;

/// The longest path: `PATH_MAX` of Linux (limits.h).
pub(crate) const LONGEST_PATH: usize = 4095;

/// The longest name in a path: `NAME_MAX` of Linux (limits.h).
const LONGEST_NAME: usize = 255;

/// Removes `..`, `.` and repeated slashes textually, as Node's `path.resolve` and similar functions do.
pub(super) fn collapsed(text: &str) -> String {
    let is_absolute = text.starts_with('/');
    let mut names: Vec<&str> = Vec::new();
    for name in text.split('/') {
        match name {
            "" | "." => {}
            ".." if names.last().is_some_and(|last| *last != "..") => drop(names.pop()),
            ".." if is_absolute => {}
            name => names.push(name),
        }
    }
    let mut collapsed = String::with_capacity(text.len());
    for name in names {
        if is_absolute || !collapsed.is_empty() {
            collapsed.push('/');
        }
        collapsed.push_str(name);
    }
    match (collapsed.is_empty(), is_absolute) {
        (true, true) => "/".to_owned(),
        (true, false) => ".".to_owned(),
        _ => collapsed,
    }
}

/// The NFKC form of the text, in which `\u{fe30}` is `..` and `\u{ff0f}` a slash (UAX #15). Empty for ASCII text.
pub(super) fn normalised(text: &str) -> String {
    if text.is_ascii() { String::new() } else { text.nfkc().collect() }
}

/// Replaces characters that become slashes in a legacy code page and that NFKC leaves alone.
pub(super) fn without_look_alikes(text: &str) -> String {
    if text.is_ascii() {
        return String::new();
    }
    let plain = |c: char| match c {
        '\u{2215}' | '\u{2044}' => '/',
        '\u{2216}' => '\\',
        c => c,
    };
    text.chars().map(plain).collect()
}

/// Whether a path is too long for the kernel to open. Its collapsed form is a separate reading.
pub(crate) fn names_nothing(path: &str) -> bool {
    path.len() > LONGEST_PATH || path.split('/').any(|name| name.len() > LONGEST_NAME)
}

/// Whether some parser may end a name at this character.
pub(super) fn ends_a_name(c: char) -> bool {
    let is_of_names = matches!(c, '/' | '\\' | '.' | '_' | '-' | '+' | '~' | '@' | '%' | '$');
    c.is_whitespace() || c.is_control() || QUOTES.contains(&c) || (c.is_ascii_punctuation() && !is_of_names)
}

/// Whether the text starts with a closing bracket that belongs to a name: another bracket or a letter follows.
pub(super) fn begins_name_after(bracket: &str) -> bool {
    let after = bracket.strip_prefix(')').and_then(|rest| rest.chars().next());
    after.is_some_and(|next| next == '(' || next.is_alphanumeric())
}

/// Whether a text has no other reading: only letters, digits and a few harmless characters, no `..`, and short enough
/// to open.
pub(super) fn is_plain(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'.' | b'_' | b'-' | b'+');
    text.len() <= LONGEST_PATH && text.bytes().all(is_plain) && !text.contains("..") && !text.starts_with('-')
}

/// Whether a text is one long run of letters, like base64: no reading can be derived from it, and its collapsed form
/// is still longer than any path.
pub(super) fn is_blob(text: &str) -> bool {
    let run = text.trim_end_matches('=');
    let is_run = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'+' | b'_' | b'-');
    run.len() > LONGEST_PATH
        && !run.starts_with('-')
        && run.bytes().all(is_run)
        && run.bytes().filter(|byte| *byte != b'/').count() > LONGEST_PATH
}
