//! Checks that every documented difference has a case that demonstrates it.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};

use super::case::{Call, Case};

const PAGE: &str = "docs/files.md";
const HEADING: &str = "\n## Differences from the reference server\n";

/// Rows that no case can demonstrate.
const NOT_SHOWN: [&str; 7] = [
    // The reference would hang.
    "Devices, FIFOs and sockets are not opened.",
    // Each limit has its own row, or a test of its own.
    "Results have limits, and say how to continue when one is reached.",
    "`directory_tree` shows at most 250,000 entries, `search_files` 10,000, the lists 50,000. The last two add a `note` if there are more.",
    // The superuser, who may run this, can list every directory.
    "`directory_tree` shows an unreadable directory as empty. In the reference the call fails.",
    // An answer does not show what happens in between, or what is not written.
    "Several files are read one after the other.",
    "nothing is written if nothing changes, or if another program changed the file meanwhile",
    "the destination is never replaced, even if it appears meanwhile",
];

/// Compares the rows of the page with those that the cases demonstrate. Returns the number of rows.
pub(super) fn check(top: &Path, cases: &[&Case]) -> Result<usize> {
    let page = fs::read_to_string(top.join(PAGE)).with_context(|| format!("cannot read `{PAGE}`"))?;
    let shown = cases.iter().flat_map(|case| case.calls).filter_map(Call::row);
    compare(&page, &shown.collect(), &NOT_SHOWN)
}

fn compare(page: &str, shown: &BTreeSet<&str>, not_shown: &[&str]) -> Result<usize> {
    let rows = rows(page)?;
    for row in shown.iter().chain(not_shown) {
        ensure!(rows.contains(row), "`{PAGE}` does not list a difference: {row}");
    }
    for row in &rows {
        let count = usize::from(shown.contains(row)) + not_shown.iter().filter(|other| *other == row).count();
        ensure!(count == 1, "expected one case or reason for a row of `{PAGE}`, found {count}: {row}");
    }
    Ok(rows.len())
}

/// The text of each row: its first cell, or the second if the first one names tools.
fn rows(page: &str) -> Result<BTreeSet<&str>> {
    let (_, after) = page.split_once(HEADING).with_context(|| format!("`{PAGE}` has no `{}`", HEADING.trim()))?;
    let section = after.split("\n## ").next().unwrap_or_default();
    let mut rows = BTreeSet::new();
    let mut column = 1;
    for line in section.lines().filter(|line| line.starts_with('|')) {
        let cells: Vec<&str> = line.split(" | ").map(|cell| cell.trim_matches(['|', ' '])).collect();
        match cells.first() {
            Some(&"what") => column = 0,
            Some(&"tool") => column = 1,
            Some(cell) if cell.starts_with("---") => {}
            _ => drop(rows.insert(cells.get(column).copied().unwrap_or_default())),
        }
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "# x\n\n| what |\n|---|\n| before |\n\n## Differences from the reference server\n\n| what | why |\n|---|---|\n| one. | a |\n\
        | two\\|three | |\n\n| tool | here | there | why |\n|---|---|---|---|\n| `t` | four | | |\n\n## More\n\n| what |\n|---|\n| after |\n";

    #[test]
    fn every_row_has_a_case_or_a_reason_and_every_case_a_row() {
        let check = |shown: &[&str], not_shown: &[&str], passes: bool| {
            let outcome = compare(PAGE, &shown.iter().copied().collect(), not_shown);
            assert_eq!(outcome.is_ok(), passes, "{outcome:?}");
        };
        check(&["one.", "two\\|three"], &["four"], true);
        check(&["one.", "two\\|three", "four"], &[], true);
        check(&["one.", "four"], &[], false);
        check(&["one.", "two\\|three", "four", "after"], &[], false);
        check(&["one.", "two\\|three", "four"], &["one."], false);
        check(&["one.", "two\\|three", "four"], &["before"], false);
        assert!(rows("# nothing").is_err());
    }
}
