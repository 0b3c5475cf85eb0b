//! `cargo xtask bench`: runs the benchmarks and updates their tables in the docs.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

use taskkit::call::Call;

const PAGE: &str = "docs/benchmarks.md";

/// The crate and the name of each benchmark. The markers in the page contain the name.
const BENCHES: [(&str, &str); 8] = [
    ("rootward-core", "guard"),
    ("rootward-server", "session"),
    ("rootward-sandbox", "confinement"),
    ("rootward-hub", "wrap"),
    ("rootward-http", "http"),
    ("rootward-files", "files"),
    ("rootward-client", "detection"),
    ("rootward-client", "provider"),
];

/// Where the tables go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Output {
    /// To the terminal only.
    Show,
    /// Into the docs as well.
    Write,
}

/// The benchmark that runs third-party programs.
const OF_OTHERS: &str = "npx";

/// Runs all benchmarks, or only the one with this name. Each prints its table to stdout, in Markdown.
pub(crate) fn run(top: &Path, output: Output, only: Option<&str>) -> Result<()> {
    let names: Vec<&str> = BENCHES.iter().map(|(_, name)| *name).chain([OF_OTHERS]).collect();
    if let Some(name) = only.filter(|name| !names.contains(name)) {
        bail!("no benchmark is called `{name}`\n\nhint: `{}`", names.join("`, `"));
    }
    let is_wanted = |name: &str| only.is_none_or(|only| only == name);
    for (package, name) in BENCHES.into_iter().filter(|(_, name)| is_wanted(name)) {
        report(top, output, name, &Call::cargo(&format!("bench -p {package} --bench {name}")).stdout(top)?)?;
    }
    if is_wanted(OF_OTHERS) {
        report(top, output, OF_OTHERS, &interop::measure(top)?)?;
    }
    Ok(())
}

fn report(top: &Path, output: Output, name: &str, table: &str) -> Result<()> {
    println!("{table}");
    if output == Output::Write {
        let page = top.join(PAGE);
        let text = fs::read_to_string(&page).with_context(|| format!("cannot read `{PAGE}`"))?;
        fs::write(&page, put_between(&text, name, table)?).with_context(|| format!("cannot write `{PAGE}`"))?;
        println!("written into {PAGE}\n");
    }
    Ok(())
}

/// Puts `table` between the markers of `page` that contain `name`.
fn put_between(page: &str, name: &str, table: &str) -> Result<String> {
    if !table.lines().any(|line| line.trim_start().starts_with('|')) {
        bail!("the benchmark printed no table");
    }
    let (begin, end) = (format!("<!-- begin: {name} -->"), format!("<!-- end: {name} -->"));
    let (before, rest) = page.split_once(&begin).with_context(|| format!("no marker `{begin}` in `{PAGE}`"))?;
    let (_, after) = rest.split_once(&end).with_context(|| format!("no marker `{end}` after the first in `{PAGE}`"))?;
    Ok(format!("{before}{begin}\n\n{}\n\n{end}{after}", table.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_between_the_markers_changes() {
        let page = "# Title\n\n<!-- begin: a -->\nold\n<!-- end: a -->\n\n<!-- begin: b --><!-- end: b -->\n";
        let written = put_between(page, "a", "| a | b |\n").unwrap();
        let expect =
            "# Title\n\n<!-- begin: a -->\n\n| a | b |\n\n<!-- end: a -->\n\n<!-- begin: b --><!-- end: b -->\n";
        assert_eq!(written, expect);
        assert_eq!(put_between(&written, "a", "| a | b |\n").unwrap(), written);
    }

    #[test]
    fn a_page_or_a_table_that_does_not_fit_is_refused() {
        let check = |page: &str, table: &str, words: &str| {
            let error = put_between(page, "a", table).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        };
        check("no markers", "| a |", "no marker");
        check("<!-- end: a --><!-- begin: a -->", "| a |", "after the first");
        check("<!-- begin: a --><!-- end: a -->", "", "no table");
    }
}
