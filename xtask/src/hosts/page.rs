//! The generated table of hosts in the docs.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

use super::host::{HOSTS, Host, RootsFrom};
use super::session::Report;
use super::stage::SERVERS;

const PAGE: &str = "docs/clients.md";
const BEGIN: &str = "<!-- begin: hosts -->";
const END: &str = "<!-- end: hosts -->";

const HEADING: &str = "\
| host | version | first message | roots it shares | roots come from | `rootward serve` | npm server, wrapped | Python server, wrapped | both behind `rootward hub` |
|---|---|---|---|---|---|---|---|---|";

/// The row of a host.
pub(super) fn row(host: &Host, report: &Report) -> String {
    let from = match host.roots {
        RootsFrom::Host => "the host",
        RootsFrom::CommandLine => "`.` in the command",
    };
    let fails = |server: &str| report.failures.iter().any(|(of, _)| of == server);
    let cells = SERVERS.map(|server| if fails(server) { "**fails**" } else { "answered, refused" });
    let first = [host.name, &report.version, &report.heard.first, &report.heard.roots, from];
    format!("| {} | {} |", first.join(" | "), cells.join(" | "))
}

/// Compares the page with these rows, or updates it. Rows of other hosts stay as they are.
pub(super) fn hold(top: &Path, rows: &[(&Host, String)]) -> Result<()> {
    let page = top.join(PAGE);
    let text = fs::read_to_string(&page).with_context(|| format!("cannot read `{PAGE}`"))?;
    let written = with_rows(&text, rows)?;
    if written == text {
        return Ok(());
    }
    if std::env::var_os("ROOTWARD_UPDATE").is_some() {
        return fs::write(&page, written).with_context(|| format!("cannot write `{PAGE}`"));
    }
    let new = rows.iter().map(|(_, row)| row.as_str()).filter(|row| !text.contains(row));
    let new: Vec<&str> = new.collect();
    bail!("{PAGE} is out of date: run `ROOTWARD_UPDATE=1 cargo xtask hosts`\n\nseen:\n{}", new.join("\n"))
}

/// The page with the rows of these hosts replaced.
fn with_rows(page: &str, rows: &[(&Host, String)]) -> Result<String> {
    let (before, rest) = page.split_once(BEGIN).with_context(|| format!("no marker `{BEGIN}` in `{PAGE}`"))?;
    let (table, after) = rest.split_once(END).with_context(|| format!("no marker `{END}` after it in `{PAGE}`"))?;
    let old = |host: &Host| table.lines().find(|line| line.starts_with(&format!("| {} |", host.name)));
    let new = |host: &Host| rows.iter().find(|(of, _)| of.name == host.name).map(|(_, row)| row.as_str());
    let lines: Vec<&str> = HOSTS.iter().filter_map(|host| new(host).or_else(|| old(host))).collect();
    Ok(format!("{before}{BEGIN}\n\n{HEADING}\n{}\n\n{END}{after}", lines.join("\n")))
}

#[cfg(test)]
mod tests {
    use super::super::heard::Heard;
    use super::*;

    #[test]
    fn a_row_tells_what_failed() {
        let heard = Heard { first: "`initialize`, 2025-11-25".to_owned(), roots: "none".to_owned() };
        let failures = vec![("npm".to_owned(), "a reason".to_owned())];
        let report = Report { version: "1.2".to_owned(), heard, failures };
        let expect = format!(
            "| {} | 1.2 | `initialize`, 2025-11-25 | none | the host | answered, refused | **fails** | answered, refused | answered, refused |",
            HOSTS[0].name
        );
        assert_eq!(row(HOSTS[0], &report), expect);
    }

    #[test]
    fn rows_of_hosts_that_were_not_run_stay() {
        let row = |position: usize, says: &str| format!("| {} | {says} |", HOSTS[position].name);
        let page = format!("# T\n\n{BEGIN}\n\nold\n{}\n{}\n\n{END}\nend\n", row(0, "a"), row(2, "c"));
        let written = with_rows(&page, &[(HOSTS[2], row(2, "new")), (HOSTS[1], row(1, "b"))]).unwrap();
        let lines = [row(0, "a"), row(1, "b"), row(2, "new")].join("\n");
        assert_eq!(written, format!("# T\n\n{BEGIN}\n\n{HEADING}\n{lines}\n\n{END}\nend\n"));
        assert_eq!(with_rows(&written, &[]).unwrap(), written);
        assert!(with_rows("no markers", &[]).is_err());
    }
}
