//! The escape corpus, each path as the argument of a call.

use std::path::Path;

use rootward_core::{Guard, GuardOptions, Origin, Root, RootSet, Validation};
use rootward_hub::check;
use rootward_hub::scan::{Call, Expansion, Protection, Tool};
use rootward_testkit::escape::{self, Act, Expect, Needs, Row};
use rootward_testkit::tree::{Tree, is_superuser};
use serde_json::json;
use serde_json::value::to_raw_value;

/// The tool that does what a row asks, and its argument keys.
fn tool(act: Act) -> (&'static str, &'static str, &'static str) {
    match act {
        Act::Check | Act::Stat => ("get_file_info", "path", ""),
        Act::Read => ("read_file", "path", ""),
        Act::List => ("list_directory", "path", ""),
        Act::Execute => ("load", "path", ""),
        Act::Put | Act::Append | Act::CreateNew => ("write_file", "path", ""),
        Act::MakeDirectory => ("create_directory", "path", ""),
        Act::Remove => ("delete_file", "path", ""),
        Act::Rename => ("move_file", "source", "destination"),
        Act::Copy => ("copy_file", "source", "destination"),
    }
}

/// Whether the call is refused; `None` if the row's text cannot be expressed in JSON.
fn is_refused(row: &Row, key: Option<&str>, protection: Protection) -> Option<bool> {
    let tree = Tree::build(&[escape::YARD, row.tree]).unwrap();
    let home = row.home.map(|home| tree.expand_path(home).unwrap());
    let base = row.base.map(|base| tree.expand_path(base).unwrap());
    let roots: Vec<Root> = row
        .roots
        .iter()
        .map(|spec| {
            let typed = format!("{}:{}", tree.expand_path(spec.path).unwrap().display(), spec.access);
            Root::from_typed(typed.as_ref(), base.as_deref().unwrap_or(Path::new("/")), home.as_deref(), Origin::Client)
                .unwrap()
        })
        .collect();
    let options = GuardOptions { home: home.clone(), base: base.into(), ..GuardOptions::default() };
    let guard = Guard::new(RootSet::place_ambient(roots, &Validation::new(home.clone())), options);
    let text = |template: &str| String::from_utf8(tree.expand(template).unwrap()).ok();
    let (name, first, second) = tool(row.act);
    let mut arguments = json!({key.unwrap_or(first): text(row.path)?});
    if let Some(to) = row.to {
        arguments[second] = text(to)?.into();
    }
    let params = to_raw_value(&json!({"name": name, "arguments": arguments})).unwrap();
    let expansion = Expansion { home: home.map(|home| home.to_str().unwrap().to_owned()), ..Expansion::default() };
    let call = Call { method: "tools/call", params: Some(&params), tool: Some(&Tool::named(name)) };
    Some(check(&guard, &expansion, protection, &call).map_or(true, |verdict| verdict.refused().is_some()))
}

/// Rows that a guard or a grant refuses and that pass as arguments: they reach nothing outside, and the server or the
/// kernel reports the error.
const NO_ESCAPES: &[(&str, &[&str])] = &[
    ("no way there; once collapsed it lies inside", &["dotdot-through-file", "dotdot-through-missing"]),
    ("empty text is the working directory", &["empty", "empty-list", "empty-put", "empty-remove", "empty-target"]),
    (
        "too long to be opened",
        &[
            "name-of-256",
            "name-of-256-new",
            "name-of-255-in-characters",
            "text-of-4096",
            "text-of-4096-relative",
            "text-of-100000",
        ],
    ),
    (
        "a directory for a file, or a file for a directory",
        &[
            "slash-put-directory-slash",
            "slash-put-new",
            "slash-put-existing",
            "slash-put-root",
            "slash-create-new",
            "slash-remove-link-in",
            "slash-remove-file",
            "slash-rename-to",
            "slash-rename-to-dotdot",
            "rename-into-itself",
            "create-root",
            "create-dot",
            "create-dotdot",
            "make-directory-dot",
            "file-root-below",
            "execute-directory",
            "rename-over-root",
        ],
    ),
    (
        "other schemes are not paths",
        &["scheme-http", "scheme-https", "scheme-ftp", "scheme-remote-editor", "scheme-unknown", "scheme-put"],
    ),
    (
        "no file, but inside",
        &[
            "fifo-read",
            "fifo-put",
            "fifo-append",
            "fifo-execute",
            "fifo-copy",
            "fifo-through-link",
            "socket-read",
            "socket-put",
            "socket-append",
            "device-read",
            "device-put",
            "device-append",
            "mount-remove",
        ],
    ),
    (
        "no name of a tool says that it runs its argument",
        &["ro-execute", "rw-nodelete-execute", "rw-execute", "rwx-execute-link-to-rw"],
    ),
    ("what a directory carries along is known to a grant only", &["ssh-carried", "git-carried"]),
];

#[test]
fn the_escape_corpus_is_refused_as_arguments() {
    let known = |row: &Row| NO_ESCAPES.iter().any(|(_, names)| names.contains(&row.name));
    let (mut refused, mut passed, mut needless) = (0, Vec::new(), Vec::new());
    for row in escape::table().filter(|row| row.needs == Needs::Nothing || is_superuser()) {
        if !matches!(row.expect, Expect::Deny { .. } | Expect::Refused) {
            continue;
        }
        match is_refused(row, None, Protection::Kernel) {
            Some(false) if !known(row) => passed.push(row.name),
            Some(true) if known(row) => needless.push(row.name),
            Some(true) => refused += 1,
            _ => {}
        }
    }
    assert_eq!(passed, [""; 0], "these escape");
    assert_eq!(needless, [""; 0], "these are refused after all");
    assert!(refused > 400, "{refused}");
}

/// Absolute paths whose first component does not exist in `/`.
const NOWHERE: [&str; 1] = ["absolute-missing"];

/// A string that looks like a path is checked as one under any key.
#[test]
fn escapes_by_text_are_refused_under_any_key() {
    let (mut refused, mut nowhere) = (0, Vec::new());
    for row in escape::table().filter(|row| row.needs == Needs::Nothing) {
        let by_text = ["../", "/", "{T}", "{../*", "file:", "~", "..\\", "C:", "\\\\"]
            .iter()
            .any(|start| row.path.starts_with(start));
        let outside = matches!(row.expect, Expect::Deny { code: "outside_roots" | "foreign_path" });
        // With several lines, it is text.
        if by_text && outside && row.to.is_none() && !row.path.contains('\n') {
            assert_ne!(is_refused(row, Some("thing"), Protection::CallsOnly), Some(false), "{}", row.name);
            refused += 1;
            // If the kernel confines the server as well, only what leads nowhere is allowed.
            if is_refused(row, Some("thing"), Protection::Kernel) == Some(false) {
                nowhere.push(row.name);
            }
        }
    }
    assert!(refused > 100, "{refused}");
    assert_eq!(nowhere, NOWHERE);
}

/// A guard treats these as harmless names, but a server may interpret them.
#[test]
fn names_that_a_server_may_interpret_are_refused() {
    for name in [
        "cve-2025-68144-output",
        "plain-encoded-dotdot",
        "plain-encoded-slash",
        "plain-encoded-all",
        "plain-encoded-absolute",
        "plain-encoded-below-root",
        "plain-double-encoded",
        "plain-division-slash",
        "apache-half-encoded",
        "variable",
        "variable-braces",
        "leading-blank-absolute",
        "leading-blank-uri",
        "cve-2026-6321-twice",
        "uri-double-encoded",
        "uri-double-encoded-slash",
    ] {
        let row = escape::table().find(|row| row.name == name).unwrap();
        assert_eq!(is_refused(row, None, Protection::Kernel), Some(true), "{name}");
    }
}

/// Names that a careless server interprets, and links that lead outside.
const READ_OTHERWISE: [&str; 13] = [
    "backslash-name",
    "remove-link-out",
    "remove-link-to-directory-out",
    "remove-dangling-link",
    "remove-loop",
    "rename-link-out",
    "uri-double-encoded-name",
    "plain-encoded-dotdot-name",
    "plain-fullwidth-dots-name",
    "plain-put-encoded-name",
    "drive-below-dot",
    "tilde-in-middle",
    "dotdot-blank-name",
];

#[test]
fn allowed_corpus_rows_pass_unless_a_reading_is_outside() {
    let (mut refused, mut passed) = (Vec::new(), 0);
    for row in escape::table().filter(|row| row.needs == Needs::Nothing) {
        if matches!(row.expect, Expect::Allow { .. }) && row.act != Act::Execute {
            match is_refused(row, None, Protection::Kernel) {
                Some(true) => refused.push(row.name),
                Some(false) => passed += 1,
                None => {}
            }
        }
    }
    assert_eq!(refused, READ_OTHERWISE);
    assert!(passed > 150, "{passed}");
}
