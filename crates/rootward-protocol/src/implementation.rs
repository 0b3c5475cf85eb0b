//! A peer's name for itself, as one line of text.

use crate::frame::Members;
use crate::text::shown;

/// The maximum length of a name or version, in characters.
const LONGEST: usize = 100;

/// A peer's name and version for display: limited in length, on one line, without control characters. `None` without a
/// name.
///
/// The version is one word, so that the last word with a digit is the version and the rest is the name.
pub fn peer_name(name: &str, version: Option<&str>) -> Option<String> {
    // SECURITY: this is recorded and later printed to terminals (test: a_peer_is_named_on_one_line)
    let plain = |text: &str| shown(text.replace(char::is_control, "").trim(), LONGEST);
    let name = Some(plain(name)).filter(|name| !name.is_empty())?;
    match version.map(|version| plain(&version.replace(char::is_whitespace, ""))).filter(|version| !version.is_empty())
    {
        Some(version) => Some(format!("{name} {version}")),
        None => Some(name),
    }
}

/// The same for the protocol's `Implementation`, such as `clientInfo`.
pub(crate) fn read_peer_name(implementation: &Members<'_>) -> Option<String> {
    peer_name(&implementation.text("name")?, implementation.text("version").as_deref())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_peer_is_named_on_one_line() {
        let check = |name: &str, version: Option<&str>, expect: Option<&str>| {
            assert_eq!(peer_name(name, version).as_deref(), expect, "{name:?} {version:?}");
        };
        check("claude-code", Some("2.1.0"), Some("claude-code 2.1.0"));
        check("Visual Studio Code", None, Some("Visual Studio Code"));
        check("a", Some(" \t"), Some("a"));
        check("a", Some("1.0 beta\n"), Some("a 1.0beta"));
        check(" a\u{1b}[2J\nb\u{9b}\u{7f} ", Some("\u{7}1"), Some("a[2Jb 1"));
        check("a\u{202e}b", None, Some("a\\u{202e}b"));
        check("", Some("1"), None);
        check("\n", Some("1"), None);
        let long = peer_name(&"x".repeat(1 << 20), Some(&"9".repeat(1 << 20)));
        assert_eq!(long.map(|name| name.chars().count()), Some(2 * (LONGEST + 1) + 1));
    }
}
