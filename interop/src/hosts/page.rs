//! The generated tables of hosts in the docs.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

use super::heard::{Heard, HeardOverHttp};
use super::host::{HOSTS, Host, RootsFrom};
use super::session::Report;
use super::stage::{LOCAL, REMOTE};

const PAGE: &str = "docs/clients.md";

/// A table, between two markers with its name.
#[derive(Debug)]
struct Table {
    name: &'static str,
    heading: &'static str,
    row: fn(&Host, &Report) -> String,
}

const TABLES: [Table; 2] = [
    Table {
        name: "hosts",
        heading: "\
| host | version | first message | roots it shares | roots come from | `rootward serve` | npm server, wrapped | Python server, wrapped | both behind `rootward hub` |
|---|---|---|---|---|---|---|---|---|",
        row,
    },
    Table {
        name: "hosts over http",
        heading: "\
| host | first message | Rootward asks for roots | roots it shares | before a legacy server | `rootward serve --http` | both behind `rootward hub --http` |
|---|---|---|---|---|---|---|",
        row: row_over_http,
    },
];

impl Table {
    fn markers(&self) -> [String; 2] {
        ["begin", "end"].map(|word| format!("<!-- {word}: {} -->", self.name))
    }

    /// The page with the rows of these hosts replaced.
    fn update(&self, page: &str, rows: &[(&Host, &str)]) -> Result<String> {
        let [begin, end] = self.markers();
        let (before, rest) = page.split_once(&begin).with_context(|| format!("no marker `{begin}` in `{PAGE}`"))?;
        let (table, after) =
            rest.split_once(&end).with_context(|| format!("no marker `{end}` after it in `{PAGE}`"))?;
        let old = |host: &Host| table.lines().find(|line| line.starts_with(&format!("| {} |", host.name)));
        let new = |host: &Host| rows.iter().find(|(of, _)| of.name == host.name).map(|(_, row)| *row);
        let lines: Vec<&str> = HOSTS.iter().filter_map(|host| new(host).or_else(|| old(host))).collect();
        Ok(format!("{before}{begin}\n\n{}\n{}\n\n{end}{after}", self.heading, lines.join("\n")))
    }
}

/// The rows of a host, one for each table.
pub(super) type Rows = [String; TABLES.len()];

pub(super) fn rows(host: &Host, report: &Report) -> Rows {
    TABLES.map(|table| (table.row)(host, report))
}

fn row(host: &Host, report: &Report) -> String {
    let from = match host.roots {
        RootsFrom::Host => "the host",
        RootsFrom::CommandLine => "`.` in the command",
    };
    let first = [host.name, &report.version, &report.heard.first, &report.heard.roots, from];
    format!("| {} | {} |", first.join(" | "), cells(LOCAL, report).join(" | "))
}

fn row_over_http(host: &Host, report: &Report) -> String {
    let cells_of = |HeardOverHttp { heard: Heard { first, roots }, asked }: &HeardOverHttp| {
        [first, asked, roots].map(String::to_owned)
    };
    let mut heard = report.over_http.iter().map(cells_of);
    let first = heard.next().unwrap_or_default().join(" | ");
    let legacy = heard.next().map_or_else(|| "the same".to_owned(), |cells| cells.join("; "));
    format!("| {} | {first} | {legacy} | {} |", host.name, cells(REMOTE, report).join(" | "))
}

/// Cells that say whether the checks of these servers passed.
fn cells<const N: usize>(servers: [&str; N], report: &Report) -> [&'static str; N] {
    let fails = |server: &str| report.failures.iter().any(|(of, _)| of == server);
    servers.map(|server| if fails(server) { "**fails**" } else { "answered, refused" })
}

/// Compares the page with these rows, or updates it if `ROOTWARD_UPDATE` is set. Rows of other hosts stay as they are.
pub(super) fn check_or_update(top: &Path, rows: &[(&Host, Rows)]) -> Result<()> {
    let page = top.join(PAGE);
    let text = fs::read_to_string(&page).with_context(|| format!("cannot read `{PAGE}`"))?;
    let mut written = text.clone();
    for (position, table) in TABLES.iter().enumerate() {
        let rows: Vec<(&Host, &str)> = rows.iter().map(|(host, rows)| (*host, rows[position].as_str())).collect();
        written = table.update(&written, &rows)?;
    }
    if written == text {
        return Ok(());
    }
    if std::env::var_os("ROOTWARD_UPDATE").is_some() {
        return fs::write(&page, written).with_context(|| format!("cannot write `{PAGE}`"));
    }
    let new = rows.iter().flat_map(|(_, rows)| rows).map(String::as_str).filter(|row| !text.contains(row));
    let new: Vec<&str> = new.collect();
    bail!("{PAGE} is out of date: run `ROOTWARD_UPDATE=1 cargo xtask hosts`\n\nactual rows:\n{}", new.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(first: &str) -> Heard {
        Heard { first: first.to_owned(), roots: "none".to_owned() }
    }

    #[test]
    fn a_row_shows_what_failed() {
        let over_http = |first: &str| HeardOverHttp { heard: heard(first), asked: "not asked".to_owned() };
        let mut report = Report {
            version: "1.2".to_owned(),
            heard: heard("`initialize`, 2025-11-25"),
            over_http: vec![over_http("`initialize`")],
            failures: vec![("npm".to_owned(), "a reason".to_owned()), ("gateway".to_owned(), "a reason".to_owned())],
        };
        let name = HOSTS[0].name;
        let expect = [
            format!(
                "| {name} | 1.2 | `initialize`, 2025-11-25 | none | the host | answered, refused | **fails** | answered, refused | answered, refused |"
            ),
            format!("| {name} | `initialize` | not asked | none | the same | answered, refused | **fails** |"),
        ];
        assert_eq!(rows(HOSTS[0], &report), expect);
        report.over_http.push(over_http("again"));
        let [_, row] = rows(HOSTS[0], &report);
        assert!(row.contains("| again; not asked; none |"), "{row}");
    }

    #[test]
    fn rows_of_hosts_that_were_not_run_stay() {
        for table in TABLES {
            let [begin, end] = table.markers();
            let row = |position: usize, says: &str| format!("| {} | {says} |", HOSTS[position].name);
            let page = format!("# T\n\n{begin}\n\nold\n{}\n{}\n\n{end}\nend\n", row(0, "a"), row(2, "c"));
            let written = table.update(&page, &[(HOSTS[2], &row(2, "new")), (HOSTS[1], &row(1, "b"))]).unwrap();
            let lines = [row(0, "a"), row(1, "b"), row(2, "new")].join("\n");
            assert_eq!(written, format!("# T\n\n{begin}\n\n{}\n{lines}\n\n{end}\nend\n", table.heading));
            assert_eq!(table.update(&written, &[]).unwrap(), written);
            assert!(table.update("no markers", &[]).is_err());
        }
    }
}
