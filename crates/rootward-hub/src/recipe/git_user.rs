//! The user's name and email address from git's configuration, for a server that makes commits but cannot see the
//! user's home.
//!
//! Only these two values are read, because the rest of the configuration may contain tokens. Rootward parses the file
//! itself: `git` would have to run unconfined, and a confined command may have written the `git` that `PATH` finds.

use std::path::Path;

use super::book::text_ambient;

/// The placeholders in recipes, each with its key in git's section `user`.
const PLACEHOLDERS: [(&str, &str); 2] = [("${git:user.name}", "name"), ("${git:user.email}", "email")];

/// The git key that a recipe value refers to.
pub(super) fn key(value: &str) -> Option<&'static str> {
    PLACEHOLDERS.iter().find(|(placeholder, _)| *placeholder == value).map(|(_, key)| *key)
}

/// The value of a key in the section `user` of git's configuration in this home. Included files are not read.
pub(super) fn find_ambient(home: &Path, key: &str) -> Option<String> {
    // In git's order of precedence.
    [".gitconfig", ".config/git/config"].iter().find_map(|file| last(&text_ambient(&home.join(file)).ok()?, key))
}

/// The last value of a key in the section `user`.
fn last(text: &str, key: &str) -> Option<String> {
    let (mut in_user, mut found) = (false, None);
    for line in text.lines().map(str::trim) {
        if let Some(header) = line.strip_prefix('[') {
            in_user = header.split(']').next().is_some_and(|name| name.trim().eq_ignore_ascii_case("user"));
            continue;
        }
        let Some((name, written)) = line.split_once('=').filter(|_| in_user) else { continue };
        if name.trim().eq_ignore_ascii_case(key) {
            found = Some(value(written)).filter(|value| !value.is_empty());
        }
    }
    found
}

/// A value without quotes, escapes and trailing comment.
fn value(written: &str) -> String {
    let (mut value, mut quoted) = (String::new(), false);
    let mut letters = written.trim_start().chars();
    while let Some(letter) = letters.next() {
        match letter {
            '"' => quoted = !quoted,
            '\\' => value.extend(letters.next()),
            '#' | ';' if !quoted => break,
            _ => value.push(letter),
        }
    }
    value.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_git_reads_them() {
        let check = |text: &str, expect: Option<&str>| assert_eq!(last(text, "name").as_deref(), expect, "{text}");
        check("[user]\n\tname = Ada Lovelace\n\temail = a@b\n", Some("Ada Lovelace"));
        check("[USER]\nName=Ada", Some("Ada"));
        check("[user] # me\nname = \"Ada; \\\"A\\\"\" ; a comment\n", Some("Ada; \"A\""));
        check("[user]\nname = One\n[core]\nname = X\n[user]\nname = Two\n", Some("Two"));
        check("[user \"work\"]\nname = Ada\n", None);
        check("[http]\nname = Ada\n", None);
        check("[user]\nname =\n", None);
        check("[user]\nname\n", None);
        check("", None);
    }

    #[test]
    fn two_values_and_no_others() {
        assert_eq!(key("${git:user.name}"), Some("name"));
        assert_eq!(key("${git:user.email}"), Some("email"));
        assert_eq!(key("${git:http.extraheader}"), None);
        assert_eq!(key("x${git:user.name}"), None);
    }
}
