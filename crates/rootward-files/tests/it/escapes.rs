//! The escape corpus, run through the tools over the protocol.
//!
//! Each row runs in three ways: with the tool for the row's act, which must give the row's expected answer; with all tools that read; and
//! with each tool that changes something. No tool may show, create, change or remove anything outside.

use rootward_testkit::door::Request;
use rootward_testkit::escape::{Act, Expect, Needs, Row, table};
use rootward_testkit::report::{self, Report};
use rootward_testkit::tree::{Item, is_superuser};
use serde_json::{Value, json};

use crate::door::{Call, Server, ToolDoor};

/// The paths of a request as strings. `None` if one is not UTF-8, which JSON cannot express.
fn texts(request: &Request) -> Option<(String, String)> {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).ok();
    Some((text(&request.path)?, text(request.to.as_deref().unwrap_or_default())?))
}

/// The call for the row's act.
fn as_asked(request: &Request) -> Option<Vec<Call>> {
    let (path, to) = texts(request)?;
    let data = String::from_utf8(request.data.clone()).ok()?;
    let pair = json!({"source": path, "destination": to});
    let call = match request.act {
        Act::Check => ("path_in_roots", json!({"path": path})),
        Act::Read => ("read_text_file", json!({"path": path})),
        Act::List => ("list_directory", json!({"path": path})),
        Act::Stat => ("get_file_info", json!({"path": path})),
        Act::Put => ("write_file", json!({"path": path, "content": data})),
        Act::Append => ("append_file", json!({"path": path, "content": data})),
        Act::MakeDirectory => ("create_directory", json!({"path": path})),
        Act::Remove => ("delete_file", json!({"path": path})),
        Act::Rename => ("move_file", pair),
        Act::Copy => ("copy_file", pair),
        // No tool creates a file only if it does not exist, or opens one to run it.
        Act::CreateNew | Act::Execute => return None,
    };
    Some(vec![call])
}

/// Every tool that reads.
fn by_reading(request: &Request) -> Option<Vec<Call>> {
    let (path, _) = texts(request)?;
    let by = |tool, arguments: Value| {
        let mut arguments = arguments;
        arguments["path"] = json!(path);
        (tool, arguments)
    };
    Some(vec![
        by("read_text_file", json!({})),
        by("read_text_file", json!({"head": 5})),
        by("read_text_file", json!({"tail": 5})),
        by("read_file", json!({"offset": 1, "limit": 5})),
        by("read_media_file", json!({})),
        ("read_multiple_files", json!({"paths": [path]})),
        by("list_directory", json!({})),
        by("list_directory_with_sizes", json!({})),
        by("directory_tree", json!({})),
        by("search_files", json!({"pattern": "**"})),
        by("get_file_info", json!({})),
        by("path_in_roots", json!({})),
        by("analyze_project", json!({})),
        by("find_documentation", json!({})),
        by("build_configuration", json!({})),
        by("edit_file", json!({"edits": [{"oldText": "SEC", "newText": "found"}], "dryRun": true})),
    ])
}

/// A tool that changes something, with the row's path as one of its arguments.
type Change = (&'static str, fn(&str) -> Call);

const CHANGES: [Change; 9] = [
    ("write_file", |path| ("write_file", json!({"path": path, "content": "EVIL"}))),
    ("append_file", |path| ("append_file", json!({"path": path, "content": "EVIL"}))),
    ("edit_file", |path| ("edit_file", json!({"path": path, "edits": [{"oldText": "e", "newText": "EVIL"}]}))),
    ("create_directory", |path| ("create_directory", json!({"path": path}))),
    ("delete_file", |path| ("delete_file", json!({"path": path}))),
    ("move_file from", |path| ("move_file", json!({"source": path, "destination": "moved-here"}))),
    ("move_file to", |path| ("move_file", json!({"source": "in.txt", "destination": path}))),
    ("copy_file from", |path| ("copy_file", json!({"source": path, "destination": "copied-here"}))),
    ("copy_file to", |path| ("copy_file", json!({"source": "in.txt", "destination": path}))),
];

/// Whether the tool must refuse what this act is refused: it needs the same access.
fn owes(tool: &str, act: Act) -> bool {
    match tool {
        "write_file" | "append_file" | "edit_file" => matches!(act, Act::Put | Act::Append),
        "delete_file" | "move_file from" => act == Act::Remove,
        "move_file to" | "copy_file to" => act == Act::CreateNew,
        "copy_file from" => act == Act::Read,
        _ => false,
    }
}

/// The row for another tool: if `owed`, a refused path stays refused; otherwise nothing outside may be shown or changed.
fn in_another_way(row: &Row, owed: bool) -> Row {
    let expect = match row.expect {
        Expect::Deny { .. } | Expect::Refused if owed => Expect::Refused,
        _ => Expect::Harmless,
    };
    Row { expect, ..*row }
}

/// The row for all tools that read: if its path is refused, all of them refuse it with the same code. They may say what a special file is,
/// and what is below a file.
fn by_all(row: &Row) -> Row {
    let reads = matches!(row.act, Act::Check | Act::Read | Act::List | Act::Stat);
    let expect = match row.expect {
        Expect::Deny { code } if reads && code != "special_file" => Expect::Deny { code },
        _ => Expect::Harmless,
    };
    Row { expect, ..*row }
}

fn is_text(row: &Row) -> bool {
    !row.path.contains("{x:") && !row.to.is_some_and(|to| to.contains("{x:"))
}

/// A bind mount inside a root is inside, whatever other paths it has. So is a hard link: appending changes the file under its other names
/// too. `SECURITY.md` lists both.
fn is_shared(row: &Row, tool: &str) -> bool {
    let shared = |item: &Item| match item {
        Item::BindMount(..) => true,
        Item::HardLink(..) => tool == "append_file" && matches!(row.expect, Expect::Allow { .. }),
        _ => false,
    };
    row.tree.iter().any(shared)
}

/// Rows with another answer from `create_directory`: it succeeds if the directory exists, and it follows links, so that a link that leads
/// out is refused as such.
const MADE_ALREADY: [&str; 4] =
    ["make-existing-directory", "make-directory-over-dangling-out", "create-root", "make-directory-dot"];

/// Asserts that every row ran, except for those that need another user.
fn assert_all_ran(report: &Report, rows: &[Row]) {
    report.assert_clean();
    let missing = rows.iter().filter(|row| row.needs == Needs::Root && !is_superuser()).count();
    assert_eq!(report.passed + report.unsupported.len(), rows.len() - missing, "{report}");
}

#[test]
fn every_row_gets_its_expected_answer() {
    let rows: Vec<Row> = table()
        .map(|row| if MADE_ALREADY.contains(&row.name) { Row { expect: Expect::Harmless, ..*row } } else { *row })
        .collect();
    let report = report::run(&ToolDoor::new(Server::Files, as_asked), rows.iter());
    assert_all_ran(&report, &rows);
    for row in rows.iter().filter(|row| report.unsupported.contains(&row.name)) {
        assert!(matches!(row.act, Act::CreateNew | Act::Execute) || !is_text(row), "{}", row.name);
    }
}

#[test]
fn no_tool_that_reads_shows_what_lies_outside() {
    let rows: Vec<Row> = table().map(by_all).collect();
    assert!(rows.iter().filter(|row| matches!(row.expect, Expect::Deny { .. })).count() > 200);
    let report = report::run(&ToolDoor::new(Server::Files, by_reading), rows.iter());
    assert_all_ran(&report, &rows);
}

fn nothing_outside_changes(changes: &[Change]) {
    for &(tool, call) in changes {
        let rows = table().filter(|row| !is_shared(row, tool));
        let rows: Vec<Row> = rows.map(|row| in_another_way(row, owes(tool, row.act))).collect();
        let door = ToolDoor::new(Server::Files, move |request: &Request| {
            let (path, _) = texts(request)?;
            // The second call would show a copied secret.
            Some(vec![call(&path), ("read_text_file", json!({"path": "copied-here"}))])
        });
        let report = report::run(&door, rows.iter());
        assert!(report.failures.is_empty(), "{tool}: {report}");
        assert_all_ran(&report, &rows);
    }
}

#[test]
fn no_tool_that_writes_reaches_outside() {
    nothing_outside_changes(&CHANGES[..3]);
}

#[test]
fn no_tool_that_creates_or_removes_reaches_outside() {
    nothing_outside_changes(&CHANGES[3..6]);
}

#[test]
fn no_tool_that_moves_or_copies_reaches_outside() {
    nothing_outside_changes(&CHANGES[6..]);
}

/// The control: each of the three ways detects a server that opens by name.
#[test]
fn a_server_that_opens_by_name_is_caught() {
    let names = ["cve-2025-53110-read", "cve-2025-53110-list", "prefix-sibling-put", "prefix-sibling"];
    let rows: Vec<Row> = table().filter(|row| names.contains(&row.name)).copied().collect();
    assert_eq!(rows.len(), names.len());
    let asked = report::run(&ToolDoor::new(Server::ByName, as_asked), rows.iter());
    assert_eq!(asked.failures.len(), names.len(), "{asked}");
    let harmless: Vec<Row> = rows.iter().map(|row| Row { expect: Expect::Harmless, ..*row }).collect();
    let read = report::run(&ToolDoor::new(Server::ByName, by_reading), harmless.iter());
    for name in ["cve-2025-53110-read", "cve-2025-53110-list", "prefix-sibling"] {
        assert!(read.failed_names().contains(&name), "{name}: {read}");
    }
    for (tool, call) in CHANGES {
        let door = ToolDoor::new(Server::ByName, move |request: &Request| {
            let (path, _) = texts(request)?;
            // The second call would show a copied secret.
            Some(vec![call(&path), ("read_text_file", json!({"path": "copied-here"}))])
        });
        let changed = report::run(&door, harmless.iter());
        assert!(!changed.failures.is_empty(), "{tool}: {changed}");
    }
}
