//! `cargo xtask bench`: the guard's benchmark, and its table in the docs.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::call::Call;

const PAGE: &str = "docs/benchmarks.md";
const BEGIN: &str = "<!-- begin: cargo xtask bench -->";
const END: &str = "<!-- end: cargo xtask bench -->";

/// Where the table goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Output {
    /// To the terminal only.
    Show,
    /// Into the docs as well.
    Write,
}

/// Runs the benchmark; what it writes to stdout is the table, in Markdown.
pub(crate) fn run(top: &Path, output: Output) -> Result<()> {
    let table = Call::cargo("bench -p rootward-core --bench guard").stdout(top)?;
    print!("{table}");
    if output == Output::Write {
        let page = top.join(PAGE);
        let text = fs::read_to_string(&page).with_context(|| format!("cannot read `{PAGE}`"))?;
        fs::write(&page, put_between(&text, &table)?).with_context(|| format!("cannot write `{PAGE}`"))?;
        println!("\nwritten into {PAGE}");
    }
    Ok(())
}

/// Puts `table` between the markers of `page`.
fn put_between(page: &str, table: &str) -> Result<String> {
    if !table.lines().any(|line| line.trim_start().starts_with('|')) {
        bail!("the benchmark printed no table");
    }
    let (before, rest) = page.split_once(BEGIN).with_context(|| format!("no marker `{BEGIN}` in `{PAGE}`"))?;
    let (_, after) = rest.split_once(END).with_context(|| format!("no marker `{END}` after the first in `{PAGE}`"))?;
    Ok(format!("{before}{BEGIN}\n\n{}\n\n{END}{after}", table.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_between_the_markers_changes() {
        let page = format!("# Title\n\n{BEGIN}\nold\n{END}\n\nafter\n");
        let written = put_between(&page, "| a | b |\n").unwrap();
        assert_eq!(written, format!("# Title\n\n{BEGIN}\n\n| a | b |\n\n{END}\n\nafter\n"));
        assert_eq!(put_between(&written, "| a | b |\n").unwrap(), written);
    }

    #[test]
    fn a_page_or_a_table_that_does_not_fit_is_refused() {
        let check = |page: &str, table: &str, words: &str| {
            let error = put_between(page, table).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        };
        check("no markers", "| a |", "no marker");
        check(&format!("{END}{BEGIN}"), "| a |", "after the first");
        check(&format!("{BEGIN}{END}"), "", "no table");
    }
}
