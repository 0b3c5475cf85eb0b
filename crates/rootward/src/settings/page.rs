//! Generates the tables of `docs/settings.md` from the table of settings: `ROOTWARD_UPDATE=1` writes them; without
//! it, the test fails if the page differs.

use std::fmt::Write;
use std::path::Path;

use super::row::{Group, Row};
use super::table::GROUPS;

/// One column: its title, and its cell in a row; a column without any cell in a group is left out.
type Column = (&'static str, fn(&Row) -> String);

const COLUMNS: [Column; 5] = [
    ("key", |row| row.key.map(code).unwrap_or_default()),
    ("environment", |row| row.variable.map(code).unwrap_or_default()),
    ("flag", |row| row.flag.map(|(flag, _)| code(flag)).unwrap_or_default()),
    ("default", |row| code(&(row.default)())),
    ("from, to", |row| row.bounds.map(|(least, most)| format!("{least}, {most}")).unwrap_or_default()),
];

fn code(text: &str) -> String {
    // Words in place of a value are not code.
    if text == "none" || text.contains(' ') { text.to_owned() } else { format!("`{text}`") }
}

/// The table of a group; its keys omit the name of the group's table.
fn table(group: &Group) -> String {
    let used: Vec<&Column> =
        COLUMNS.iter().filter(|(_, cell)| group.rows.iter().any(|row| !cell(row).is_empty())).collect();
    let mut page = String::new();
    let titles: Vec<&str> = used.iter().map(|(title, _)| *title).collect();
    let _ = writeln!(page, "| {} | meaning |\n|{}", titles.join(" | "), "---|".repeat(used.len() + 1));
    let prefix = if group.table.is_empty() { String::new() } else { format!("{}.", group.table) };
    for row in group.rows {
        let short = Row { key: row.key.map(|key| key.strip_prefix(&prefix).unwrap_or(key)), ..*row };
        let cells: Vec<String> = used.iter().map(|(_, cell)| cell(&short)).collect();
        let _ = writeln!(page, "| {} | {} |", cells.join(" | "), row.text());
        for part in row.parts {
            // Entries of a list have no names, those of a table do.
            let between = if row.name == "http.principals" { ".NAME." } else { "[]." };
            let key = format!("`{}{between}{}`", short.key.unwrap_or_default(), part.key);
            let cells: Vec<String> = used
                .iter()
                .map(|(title, _)| match *title {
                    "key" => key.clone(),
                    "default" => part.default.to_owned(),
                    _ => String::new(),
                })
                .collect();
            let _ = writeln!(page, "| {} | {} |", cells.join(" | "), part.means);
        }
    }
    page.replace("|  |", "| |").replace("|  |", "| |")
}

/// The page with its tables regenerated.
fn written(page: &str) -> String {
    let mut page = page.to_owned();
    for group in &GROUPS {
        let name = if group.table.is_empty() { "top" } else { group.table };
        let (begin, end) = (format!("<!-- begin: {name} -->\n"), format!("<!-- end: {name} -->\n"));
        let from = page.find(&begin).unwrap_or_else(|| panic!("`{begin}` is missing")) + begin.len();
        let to = page.find(&end).unwrap_or_else(|| panic!("`{end}` is missing"));
        page.replace_range(from..to, &table(group));
    }
    page
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a page of this repository")]
fn the_page_lists_what_the_table_has() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/settings.md");
    let found = std::fs::read_to_string(&path).unwrap();
    let expect = written(&found);
    if std::env::var_os("ROOTWARD_UPDATE").is_some() {
        std::fs::write(&path, &expect).unwrap();
        return;
    }
    assert!(found == expect, "docs/settings.md is out of date: run this test with ROOTWARD_UPDATE=1");
}
