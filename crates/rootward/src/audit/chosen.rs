//! Which entries of the log to print, and how.

use clap::Args;

use super::Place;
use super::entry::Entry;
use super::since::Since;

/// The flags of `show` and `tail`. An entry must match all of them.
#[derive(Args, Debug, Default)]
pub(super) struct Chosen {
    /// Only denials
    #[arg(long)]
    denied: bool,
    /// Only entries of this server: its whole name, or the part after the last `/`; case does not matter. `serve` is
    /// `rootward serve`
    #[arg(long, value_name = "TEXT")]
    server: Option<String>,
    /// Only entries of this client, matched the same way; the version may be left out
    #[arg(long, value_name = "TEXT")]
    client: Option<String>,
    /// Only entries since this time: `2026-01-02T03:04:05Z`, `2026-01-02` (UTC), or a period that ends now, such as
    /// `15m`, `2h`, `3d`
    #[arg(long, value_name = "WHEN", value_parser = Since::parse)]
    since: Option<Since>,
    /// Print the recorded lines, one JSON object each; a character that would move the cursor is written as the
    /// equivalent `\uNNNN`
    #[arg(long)]
    json: bool,
}

impl Chosen {
    pub(super) fn has(&self, entry: &Entry) -> bool {
        let is_called = |name: Option<&str>, text: &Option<String>| match text {
            Some(text) => name.is_some_and(|name| is_called(name, text)),
            None => true,
        };
        (!self.denied || entry.is_denied())
            && self.since.is_none_or(|since| since.milliseconds() <= entry.time())
            && is_called(entry.server(), &self.server)
            && is_called(entry.client(), &self.client)
    }

    pub(super) fn line(&self, entry: &Entry) -> String {
        if self.json { entry.as_json() } else { entry.to_string() }
    }

    /// What to print if there is no entry.
    pub(super) fn none(&self, place: &Place) -> String {
        let what = if self.denied { "refusal" } else { "decision" };
        let is_narrow = self.server.is_some() || self.client.is_some() || self.since.is_some();
        let fits = if is_narrow { " that fits" } else { "" };
        format!("no {what}{fits} is on record in `{}`", place.shown())
    }
}

/// Whether a text is this name, with or without its version, or the last part of it, or the verb of `rootward serve`.
fn is_called(name: &str, text: &str) -> bool {
    let text = text.to_lowercase();
    [name, without_version(name)]
        .iter()
        .flat_map(|name| [name, last_part(name), name.strip_prefix("rootward ").unwrap_or(name)])
        .any(|known| known.to_lowercase() == text)
}

/// The name of a client without its version, which is the last word if it contains a digit.
pub(super) fn without_version(name: &str) -> &str {
    let versioned =
        name.rsplit_once(' ').filter(|(_, version)| version.contains(|letter: char| letter.is_ascii_digit()));
    versioned.map_or(name, |(name, _)| name)
}

/// The part of a name after the last `/`, such as a package's name without its scope.
pub(super) fn last_part(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fit_whole_or_by_their_last_part() {
        let check = |name: &str, fits: &[&str], not: &[&str]| {
            for text in fits {
                assert!(is_called(name, text), "{name}: {text}");
            }
            for text in not {
                assert!(!is_called(name, text), "{name}: {text}");
            }
        };
        let package = "@modelcontextprotocol/server-filesystem";
        check(
            package,
            &[package, "server-filesystem", "Server-FileSystem"],
            &["filesystem", "@modelcontextprotocol", ""],
        );
        check("claude-code 2.1.0", &["claude-code 2.1.0", "Claude-Code"], &["claude", "2.1.0", "code"]);
        check("Visual Studio Code 1.99", &["visual studio code"], &["visual studio", "code"]);
        check("Visual Studio Code", &["visual studio code"], &["visual studio"]);
        check("@me/editor 1.0", &["editor", "editor 1.0", "@me/editor"], &["me"]);
        check("rootward serve", &["rootward serve", "serve"], &["rootward", ""]);
    }
}
