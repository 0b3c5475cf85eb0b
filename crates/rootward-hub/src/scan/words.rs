//! What a key indicates about its value: a path, text, or nothing.
//!
//! Keys come in any case style, singular or plural: `filePath`, `FILE_PATHS`, `output-dir`, `SourceURI`, `rootdir`.
//! Under a key that indicates a path, every string is one. That does no harm to ordinary values, because a plain name
//! is inside the roots.

use crate::fold::holds;

/// What a key indicates about its string value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum KeySays {
    /// It is a path.
    Path,
    /// Probably a path, if it is one line: a `source` may be source code.
    Place,
    /// Text, whatever it looks like.
    Text,
    /// A document in a format that does not start like a path but may contain paths.
    Document,
    /// A pattern or search text, which may well start with a slash.
    Pattern,
    /// Nothing.
    Nothing,
}

impl KeySays {
    /// Of two indications, the one under which more strings are paths.
    pub(super) fn stricter(self, other: KeySays) -> KeySays {
        let rank = |says: KeySays| match says {
            KeySays::Text => 0,
            KeySays::Pattern => 1,
            KeySays::Document => 2,
            KeySays::Nothing => 3,
            KeySays::Place => 4,
            KeySays::Path => 5,
        };
        if rank(other) > rank(self) { other } else { self }
    }
}

/// Match anywhere in a key, even inside a word.
const PATH_PARTS: [&str; 4] = ["path", "file", "director", "folder"];

/// Match as a word, or as the end of one (`rootdir`).
const PATH_WORDS: [&str; 9] = ["dir", "cwd", "pwd", "root", "uri", "destination", "dest", "dst", "workspace"];

/// Match as a word, or as the end of one, but are also used for text.
const PLACE_WORDS: [&str; 8] = ["source", "src", "target", "url", "location", "repo", "repository", "profile"];

/// Match as the last word: content, even if the key names a file (`file_text`, `sourceCode`).
const CONTENT_WORDS: [&str; 16] = [
    "content",
    "text",
    "body",
    "message",
    "code",
    "prompt",
    "description",
    "comment",
    "summary",
    "markdown",
    "instruction",
    "question",
    "answer",
    "thought",
    "snippet",
    "note",
];

/// Match as the last word: a document format, even if the key names a file.
const DOCUMENT_WORDS: [&str; 5] = ["html", "json", "yaml", "xml", "sql"];

/// Match as the last word: other text, if nothing else in the key names a path.
const PATTERN_WORDS: [&str; 22] = [
    "query",
    "pattern",
    "regex",
    "regexp",
    "search",
    "filter",
    "expression",
    "expr",
    "term",
    "keyword",
    "selector",
    "string",
    "str",
    "data",
    "blob",
    "base64",
    "diff",
    "separator",
    "delimiter",
    "statement",
    "css",
    "subject",
];

/// Contain `path`, but mean a path through a document. No server opens those.
const OTHER_PATHS: [&str; 2] = ["xpath", "jsonpath"];

/// What a key indicates.
pub fn key_says(key: &str) -> KeySays {
    // SECURITY: to Go's `encoding/json`, the long s is an s, and the Kelvin sign a k (test: keys)
    if key.contains(['\u{17f}', '\u{212a}']) {
        return plain_key_says(&key.replace('\u{17f}', "s").replace('\u{212a}', "k"));
    }
    plain_key_says(key)
}

fn plain_key_says(key: &str) -> KeySays {
    let last = words(key).last().unwrap_or_default();
    if OTHER_PATHS.iter().any(|word| last.eq_ignore_ascii_case(word)) {
        return KeySays::Pattern;
    }
    // SECURITY: `path_text` is a path first; only keys that name a file or a place may mean its content (test: keys)
    let is_of_path = PATH_PARTS.iter().any(|part| *part != "file" && holds(key, part)) || has_word(key, &PATH_WORDS);
    if is_of_path {
        return KeySays::Path;
    }
    if CONTENT_WORDS.iter().any(|word| is_word(last, word)) {
        return KeySays::Text;
    }
    if DOCUMENT_WORDS.iter().any(|word| is_word(last, word)) {
        return KeySays::Document;
    }
    // `profile` contains the word `file` only by accident.
    let is_profile = |word: &str| is_word(word, "profile");
    let mut files = words(key).filter(|word| holds(word, "file"));
    if holds(key, "file") && (files.any(|word| !is_profile(word)) || !words(key).any(is_profile)) {
        return KeySays::Path;
    }
    if has_word(key, &PLACE_WORDS) {
        return KeySays::Place;
    }
    if PATTERN_WORDS.iter().any(|word| is_word(last, word)) {
        return KeySays::Pattern;
    }
    KeySays::Nothing
}

/// Whether prose, such as a description, mentions paths.
pub(super) fn speaks_of_paths(prose: &str) -> bool {
    const WORDS: [&str; 6] = ["path", "filepath", "filename", "file", "folder", "directory"];
    words(prose).any(|word| WORDS.iter().any(|known| is_word(word, known)) || is_word(word, "pathname"))
        || holds(prose, "directories")
}

/// Whether prose says that a pattern is for file names.
pub(super) fn speaks_of_globs(prose: &str) -> bool {
    words(prose).any(|word| is_word(word, "glob") || is_word(word, "wildcard"))
}

fn has_word(key: &str, known: &[&str]) -> bool {
    words(key).any(|word| known.iter().any(|known| ends_as_word(word, known)))
}

/// Whether `word` is `known` in any case, singular or plural.
pub(super) fn is_word(word: &str, known: &str) -> bool {
    word.len() >= known.len() && word.len() - known.len() <= 2 && ends_as_word(word, known) && starts_as(word, known)
}

fn starts_as(word: &str, known: &str) -> bool {
    let stem = known.strip_suffix('y').unwrap_or(known);
    crate::fold::begins(word, stem)
}

/// Whether `word` ends in `known`, singular or plural: `s`, `es`, `ies` for `y`.
fn ends_as_word(word: &str, known: &str) -> bool {
    let ends = |ending: &[u8], before: &str| {
        let Some(end) = word.len().checked_sub(ending.len()) else { return false };
        let Some(start) = end.checked_sub(before.len()) else { return false };
        word.as_bytes()[end..].eq_ignore_ascii_case(ending)
            && word.as_bytes()[start..end].eq_ignore_ascii_case(before.as_bytes())
    };
    let many = known.strip_suffix('y').is_some_and(|stem| ends(b"ies", stem));
    ends(b"", known) || ends(b"s", known) || ends(b"es", known) || many
}

/// Splits a key or prose into words, at case changes and at everything but letters. Numbers are dropped, except as
/// part of a name (`base64`).
pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric())
        .flat_map(Turns)
        .filter(|word| !word.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Splits `camelCase`, `PascalCase`, `HTTPServer` and `path2`.
struct Turns<'t>(&'t str);

impl<'t> Iterator for Turns<'t> {
    type Item = &'t str;

    fn next(&mut self) -> Option<&'t str> {
        if self.0.is_empty() {
            return None;
        }
        let mut end = self.0.len();
        let mut characters = self.0.char_indices().peekable();
        let mut before: Option<char> = None;
        while let Some((at, c)) = characters.next() {
            let next_is_lower = characters.peek().is_some_and(|(_, next)| next.is_lowercase());
            let turns = before.is_some_and(|before| {
                (c.is_uppercase() && (before.is_lowercase() || before.is_numeric()))
                    || (c.is_uppercase() && before.is_uppercase() && next_is_lower && !is_plural(self.0, at))
                    || (c.is_numeric() != before.is_numeric() && !self.0[..at].eq_ignore_ascii_case("base"))
            });
            if turns {
                end = at;
                break;
            }
            before = Some(c);
        }
        let (word, rest) = self.0.split_at(end);
        self.0 = rest;
        Some(word)
    }
}

/// `URIs`: the last capital and the `s` belong to the word.
fn is_plural(text: &str, at: usize) -> bool {
    let mut rest = text[at..].chars().skip(1);
    rest.next() == Some('s') && !rest.next().is_some_and(char::is_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys() {
        let check = |says: KeySays, keys: &str| {
            for key in keys.split_whitespace() {
                assert_eq!(key_says(key), says, "{key}");
            }
        };
        check(
            KeySays::Path,
            "path paths PATH filePath file_path FilePath FILE_PATHS file-path myfilepath filename file files \
             inputFile directory directories folder subfolders dir dirs outputDir OUTPUT_DIR rootdir cwd \
             root roots rootUri root_uris RootURIs URI uri2 resourceUri path1 profile_file fiLe path_text \
             pathString path_content file_pattern pathPattern content_file messagePath search_path text_path \
             workspaceFolder wor\u{212a}space git.repositoryPath file_data path\u{e9} destination",
        );
        check(
            KeySays::Place,
            "source sources src targets dataSource profile aws_profiles target_url repo repositories \
             location \u{17f}ource data\u{17f}ource",
        );
        check(KeySays::Text, "content contents text newText file_text fileContent sourceCode message source_text");
        check(KeySays::Document, "html file_json sourceXML SQL");
        check(
            KeySays::Pattern,
            "query queries pattern excludePatterns regex old_str xpath json_base64 searchTerm data",
        );
        check(KeySays::Nothing, "name id dirty curious rooted base line2 direction");
    }

    #[test]
    fn words_of_every_style() {
        let check = |text: &str, expected: &[&str]| assert_eq!(words(text).collect::<Vec<_>>(), expected);
        check("filePathOfURIs", &["file", "Path", "Of", "URIs"]);
        check("HTTPServer_root-Dir2", &["HTTP", "Server", "root", "Dir"]);
        check("base64", &["base64"]);
        check("ROOT_URIS", &["ROOT", "URIS"]);
        check("", &[]);
        check("\u{e9}t\u{e9}Path", &["\u{e9}t\u{e9}", "Path"]);
    }

    #[test]
    fn prose() {
        for text in
            ["Absolute path to read", "The file to open", "Directories to list", "Folder name", "the `filename`"]
        {
            assert!(speaks_of_paths(text), "{text}");
        }
        for text in ["Profile of the user", "A pathological case", "How many lines", ""] {
            assert!(!speaks_of_paths(text), "{text}");
        }
        assert!(speaks_of_globs("Glob pattern of names") && !speaks_of_globs("global"));
    }
}
