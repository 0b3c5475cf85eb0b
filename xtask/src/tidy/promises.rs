//! Every row of `docs/promises.md` gives the status of its promise, and the tests that it names exist.
//!
//! The last cell of a row begins with `kept:` and names the tests that show it, with `differs:` and says why (tests may follow after
//! `shown by`), or with `not built yet`.

use std::collections::BTreeSet;

use super::security::tests_in;
use super::{File, Finding, Repository};

/// The page with the promises.
const PAGE: &str = "docs/promises.md";

/// How the last cell of a row begins.
const KEPT: &str = "kept:";
const DIFFERS: &str = "differs:";
const OPEN: &str = "not built yet";

/// Every promise is kept, explained or open, and its tests exist.
pub(super) fn are_kept_or_explained(repository: &Repository) -> Vec<Finding> {
    let tests: BTreeSet<&str> = repository.rust_files().flat_map(tests_in).collect();
    let pages = repository.files.iter().filter(|file| file.path == PAGE);
    pages.flat_map(|page| findings_in(page, &tests)).collect()
}

fn findings_in(page: &File, tests: &BTreeSet<&str>) -> Vec<Finding> {
    let rows = page.lines().filter_map(|(number, line)| Some((number, row(line)?)));
    rows.filter_map(|(number, fate)| Some(page.finding(number, judge(fate, tests)?))).collect()
}

/// The last cell of a row. A row has a number in its first cell; a header does not.
fn row(line: &str) -> Option<&str> {
    let cells: Vec<&str> = line.strip_prefix('|')?.strip_suffix('|')?.split('|').map(str::trim).collect();
    let is_row = cells.first()?.starts_with(|c: char| c.is_ascii_digit());
    is_row.then(|| cells.last().copied()).flatten()
}

/// What is wrong with a row, if anything.
fn judge(fate: &str, tests: &BTreeSet<&str>) -> Option<String> {
    let (rest, must_name) = match fate {
        _ if fate.starts_with(KEPT) => (fate, true),
        _ if fate.starts_with(DIFFERS) => (fate.split_once("shown by").map_or("", |(_, rest)| rest), false),
        _ if fate.starts_with(OPEN) => return None,
        _ => return Some(format!("a promise is `{KEPT}` with its tests, `{DIFFERS}` with its reason, or `{OPEN}`")),
    };
    let mut names = rest.split('`').skip(1).step_by(2).peekable();
    if must_name && names.peek().is_none() {
        return Some(format!("a promise that is `{KEPT}` names the test that shows it"));
    }
    let missing = names.find(|name| !tests.contains(name.rsplit("::").next().unwrap_or(name)))?;
    Some(format!("there is no test called `{missing}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, expect: Option<&str>) {
        let tests = BTreeSet::from(["is_there"]);
        assert_eq!(row(line).and_then(|fate| judge(fate, &tests)).as_deref(), expect, "{line}");
    }

    #[test]
    fn a_promise_names_tests_that_exist() {
        check("| # | promise | here |", None);
        check("|---|---|---|", None);
        check("| 1.1 | x | kept: `is_there` |", None);
        check("| 1.2 | x | kept: `is_there`, `is_gone` |", Some("there is no test called `is_gone`"));
        check("| 1.3 | x | kept: yes |", Some("a promise that is `kept:` names the test that shows it"));
        check("| 1.4 | x | differs: because of `this` |", None);
        check("| 1.5 | x | differs: because; shown by `is_gone` |", Some("there is no test called `is_gone`"));
        check("| 1.6 | x | not built yet |", None);
        check(
            "| 1.7 | x | perhaps |",
            Some("a promise is `kept:` with its tests, `differs:` with its reason, or `not built yet`"),
        );
    }
}
