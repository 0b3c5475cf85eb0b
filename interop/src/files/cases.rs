//! The cases, in one file for each kind of tool.

mod arguments;
mod editing;
mod listing;
mod paths;
mod reading;
mod searching;
mod writing;

use super::case::Case;

/// All cases.
pub(super) fn all() -> Vec<&'static Case> {
    let tables = [
        reading::CASES,
        listing::CASES,
        searching::CASES,
        writing::CASES,
        editing::CASES,
        paths::CASES,
        arguments::CASES,
    ];
    tables.into_iter().flatten().collect()
}
