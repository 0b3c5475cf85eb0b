//! A comment that marks a line as important for security names the test that fails without the line.
//!
//! The notation: the marker, the reason, then `(test: name_of_the_test)`. Commas separate several tests. The comment may
//! continue on the next comment lines. Each name must be a test in this repository.

use std::collections::BTreeSet;

use super::{File, Finding, Repository};

/// The beginning of such a comment.
const MARKER: &str = "SECURITY:";

/// Every marked comment names a test, and the test exists.
pub(super) fn names_its_test(repository: &Repository) -> Vec<Finding> {
    let tests: BTreeSet<&str> = repository.rust_files().flat_map(tests_in).collect();
    repository.rust_files().flat_map(|file| findings_in(file, &tests)).collect()
}

fn findings_in(file: &File, tests: &BTreeSet<&str>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut lines = file.lines().map(|(number, line)| (number, comment_in(line))).peekable();
    while let Some((number, comment)) = lines.next() {
        let Some(reason) = comment.and_then(|comment| comment.text.strip_prefix(MARKER)) else { continue };
        let mut whole = reason.trim().to_owned();
        let goes_on = |comment: &Option<Comment<'_>>| {
            comment.as_ref().is_some_and(|next| next.place == Place::Alone && !next.text.starts_with(MARKER))
        };
        while let Some((_, Some(next))) = lines.next_if(|(_, comment)| goes_on(comment)) {
            whole.push(' ');
            whole.push_str(next.text);
        }
        findings.extend(judge(&whole, tests).map(|says| file.finding(number, says)));
    }
    findings
}

/// What is wrong with a marked comment, if anything.
fn judge(comment: &str, tests: &BTreeSet<&str>) -> Option<String> {
    let parts = comment.split_once("(test: ").and_then(|(reason, rest)| Some((reason.trim(), rest.split_once(')')?.0)));
    let Some((reason, names)) = parts else {
        return Some(format!(
            "a `{MARKER}` comment must name the test that fails without the line: `(test: its_name)`"
        ));
    };
    if reason.is_empty() {
        return Some(format!("a `{MARKER}` comment must say why before it names its test"));
    }
    let missing = names.split(',').map(|name| name.trim().trim_matches('`')).find(|name| {
        let own = name.rsplit("::").next().unwrap_or(name);
        !tests.contains(own)
    })?;
    Some(format!("there is no test called `{missing}`"))
}

/// A comment that begins on a line.
struct Comment<'a> {
    /// Without the slashes and the surrounding white space.
    text: &'a str,
    place: Place,
}

/// Whether there is code before a comment.
#[derive(PartialEq, Eq)]
enum Place {
    Alone,
    AfterCode,
}

/// The comment of a line: the text after the first `//` outside a string.
fn comment_in(line: &str) -> Option<Comment<'_>> {
    let bytes = line.as_bytes();
    let (mut position, mut in_string) = (0, false);
    while position < bytes.len() {
        match bytes[position] {
            b'\\' if in_string => position += 1,
            // The character literal `'"'` does not open a string.
            b'"' if !in_string && bytes[..position].ends_with(b"'") && bytes[position + 1..].starts_with(b"'") => {}
            b'"' => in_string = !in_string,
            b'/' if !in_string && bytes[position..].starts_with(b"//") => {
                let place = if line[..position].trim().is_empty() { Place::Alone } else { Place::AfterCode };
                let text = line[position..].trim_start_matches('/').trim_start_matches('!').trim();
                return Some(Comment { text, place });
            }
            _ => {}
        }
        position += 1;
    }
    None
}

/// The names of the functions with a test attribute.
pub(super) fn tests_in(file: &File) -> Vec<&str> {
    let (mut names, mut marked) = (Vec::new(), false);
    for (_, line) in file.lines() {
        let line = line.trim();
        if line.starts_with("#[test]") || (line.starts_with("#[") && line.contains("::test")) {
            marked = true;
        }
        if !marked || line.starts_with("//") {
            continue;
        }
        if let Some((_, rest)) = line.split_once("fn ") {
            let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            names.push(&rest[..end]);
            marked = false;
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::super::check_lines;
    use super::*;

    /// Checks a file with the tests `falls` and `falls_too`, a function that is not a test, and `code` from line 10 on.
    fn check(code: &str, lines: &[usize]) {
        let code = code.replace("MARK", MARKER);
        let head = "//!\n#[test]\nfn falls() {}\n#[tokio::test(flavor = \"x\")]\n// a fn in words\nasync fn falls_too() {}\nfn helper() {}\n\n\n";
        check_lines(names_its_test, "a.rs", &format!("{head}{code}"), lines);
    }

    #[test]
    fn a_comment_that_names_its_test_is_fine() {
        check("// MARK no link is followed (test: falls)", &[]);
        check("let x = 1; // MARK no link is followed (test: falls)", &[]);
        check("// MARK no link\n// is followed (test:\n// falls)\nlet x;", &[]);
        check("/// MARK twice (test: falls, falls_too)", &[]);
        check("// MARK by path (test: tests::falls)", &[]);
        check("// nothing of the kind\nlet x = \"// MARK in a string\";", &[]);
    }

    #[test]
    fn a_comment_without_a_real_test_is_found() {
        check("// MARK no link is followed", &[10]);
        check("let x = 1; // MARK no link is followed", &[10]);
        check("let x = \"http://a\"; // MARK no link is followed", &[10]);
        check("let x = '\"'; // MARK no link is followed", &[10]);
        check("\n    // MARK no link\n    // is followed\n    let x;\n    // (test: falls)", &[11]);
        check("// MARK (test: falls)", &[10]);
        check("// MARK why (test: no_such)", &[10]);
        check("// MARK why (test: helper)", &[10]);
        check("// MARK why (test: falls, no_such)", &[10]);
        check("// MARK why (test: fall)", &[10]);
        check("// MARK one\n// MARK two (test: falls)", &[10]);
    }
}
