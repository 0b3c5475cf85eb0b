//! Published vulnerabilities of file servers, each tried with every tool that takes a path.
//!
//! The reference server had CVE-2025-53110 and CVE-2025-53109; the others affected other servers, or libraries that they use.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use rootward_core::{GuardOptions, Validation};
use rootward_testkit::client::{DuplexClient, ToolResult};
use serde_json::{Value, json};

use crate::stage::{Stage, connect};

/// A published vulnerability, and paths that exploit it.
struct Published {
    /// The CVE or advisory, and what it is.
    source: &'static str,
    /// `$TOP` is replaced by the directory above the root.
    paths: &'static [&'static str],
    /// The code of the refusal.
    code: &'static str,
    last: Last,
    leads: Leads,
}

/// What the last component of a path is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    Plain,
    /// A link: a tool that moves, removes or creates an entry acts on the link, not on its target.
    Link,
    /// `..`, or a slash: a tool that moves, removes or creates an entry has no name to act on, and fails with its own error.
    NoName,
}

/// Where the path really leads, from the root: proof that the attack is real.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Leads {
    ToTheSecret,
    /// To a directory outside, or the one above the root.
    Out,
    /// To a name that does not exist yet, in a directory outside.
    ToNewOutside,
    /// Nowhere: to the system it is not such a path, and the server must not turn it into one.
    Nowhere,
}

const fn row(source: &'static str, leads: Leads, paths: &'static [&'static str]) -> Published {
    Published { source, paths, code: "outside_roots", last: Last::Plain, leads }
}

impl Published {
    const fn by_link(self) -> Published {
        Published { last: Last::Link, ..self }
    }

    const fn without_a_name(self) -> Published {
        Published { last: Last::NoName, ..self }
    }

    const fn code(self, code: &'static str) -> Published {
        Published { code, ..self }
    }
}

const PREFIX: &str = "CVE-2025-53110: a sibling whose name begins like the root's";
const LINK: &str = "CVE-2025-53109: a link inside that leads out";
const NEW: &str = "CVE-2025-53109: an error taken for a new file";
const UNCHECKED: &str = "CVE-2026-40576, CVE-2026-33989, CVE-2026-7213: absolute and relative paths unchecked";
const BARE: &str = "CVE-2026-25871: a bare `..`";
const KEPT: &str = "CVE-2026-7811, CVE-2026-27735: `..` kept while parents are compared";
const DECODED: &str = "CVE-2026-6321: escapes decoded before dots are judged";
const SLASH: &str = "CVE-2026-39822, GHSA-hp8f-xmx4-4qrg: a slash behind a link, or at the end of its target";
const RULE: &str = "CVE-2026-25724: a rule judged on the path asked for, not where its link leads";
const WINDOWS: &str = "a path of another system, taken for a name below the root";
const ZERO: &str = "a NUL that cuts the path behind the check";
const HOME: &str = "`~` expanded behind the check";

const TABLE: &[Published] = &[
    row(PREFIX, Leads::ToTheSecret, &["$TOP/root-evil/secret.txt", "$TOP/root.secret", "../root-evil/secret.txt"]),
    row(PREFIX, Leads::Out, &["$TOP/root-evil", "$TOP/root-evil/", "../root-evil"]),
    row(PREFIX, Leads::ToNewOutside, &["$TOP/root-evil/planted", "$TOP/root-planted", "$TOP/root "]),
    row(
        LINK,
        Leads::ToTheSecret,
        &["out/secret.txt", "$TOP/root/out/secret.txt", "in/../out/secret.txt", "relative-out/secret.txt"],
    ),
    row(LINK, Leads::ToTheSecret, &["secret-link", "$TOP/root/secret-link", "second-link"]).by_link(),
    row(LINK, Leads::Out, &["out", "relative-out", "to-sibling"]).by_link(),
    row(NEW, Leads::ToNewOutside, &["out/planted", "$TOP/root/out/planted", "to-sibling/planted"]),
    row(NEW, Leads::ToNewOutside, &["dangling", "$TOP/root/dangling", "second-dangling"]).by_link(),
    row(NEW, Leads::Nowhere, &["out/missing/planted", "dangling/planted", "out/secret.txt/planted"]),
    row(
        UNCHECKED,
        Leads::ToTheSecret,
        &["$TOP/outside/secret.txt", "../outside/secret.txt", "//$TOP/outside/secret.txt"],
    ),
    row(UNCHECKED, Leads::ToNewOutside, &["$TOP/outside/planted", "../outside/planted", "../planted"]),
    row(BARE, Leads::Out, &["..", "../", "$TOP/root/..", "./..", "in/../..", "../root/.."]).without_a_name(),
    row(
        KEPT,
        Leads::ToTheSecret,
        &["$TOP/root/../outside/secret.txt", "in/../../outside/secret.txt", "out/../outside/secret.txt"],
    ),
    row(KEPT, Leads::ToNewOutside, &["$TOP/root/../outside/planted", "in/../../planted", "out/../planted"]),
    row(
        DECODED,
        Leads::Nowhere,
        &[
            "file://$TOP/root/%2e%2e/outside/secret.txt",
            "file://$TOP/root/in/%2e%2e/%2E./outside/secret.txt",
            "file://$TOP/root/..%2Foutside%2Fsecret.txt",
            "file://$TOP/root%2F..%2Foutside/secret.txt",
        ],
    )
    .code("invalid_path"),
    row(DECODED, Leads::Nowhere, &["file://$TOP/outside/secret.txt", "file://$TOP/root-evil/secret.txt"]),
    row(SLASH, Leads::Out, &["out/", "slash-out/", "$TOP/root/out/.", "out//"]).without_a_name(),
    row(SLASH, Leads::Out, &["slash-out"]).by_link(),
    row(SLASH, Leads::ToTheSecret, &["slash-out/secret.txt", "out//secret.txt", "out/./secret.txt"]),
    row(RULE, Leads::ToTheSecret, &["keys/id_ed25519", ".ssh/id_ed25519"]).code("restricted"),
    row(RULE, Leads::ToTheSecret, &["notes"]).code("restricted").by_link(),
    row(WINDOWS, Leads::Nowhere, &["C:\\outside\\secret.txt", "c:/outside/secret.txt", "\\\\host\\share\\secret.txt"])
        .code("foreign_path"),
    row(
        ZERO,
        Leads::Nowhere,
        &["$TOP/outside/secret.txt\0", "in.txt\0/../../outside/secret.txt", "$TOP/root\0/in.txt", "\0"],
    )
    .code("invalid_path"),
    row(HOME, Leads::Nowhere, &["~", "~/", "~/secret.txt", "~/planted", "~/../outside/secret.txt"]),
    row(HOME, Leads::Nowhere, &["~root/.bashrc", "~root"]).code("invalid_path"),
];

/// A tool, its arguments for a path, and what it acts on.
type Way = (&'static str, fn(&str) -> Value, To);

#[derive(Clone, Copy, PartialEq, Eq)]
enum To {
    /// The object that the path leads to.
    Target,
    /// The entry itself, even if it is a link.
    Name,
}

const WAYS: [Way; 20] = [
    ("read_text_file", |path| json!({"path": path}), To::Target),
    ("read_file", |path| json!({"path": path, "tail": 1}), To::Target),
    ("read_media_file", |path| json!({"path": path}), To::Target),
    ("read_multiple_files", |path| json!({"paths": ["in.txt", path]}), To::Target),
    ("get_file_info", |path| json!({"path": path}), To::Target),
    ("path_in_roots", |path| json!({"path": path}), To::Target),
    ("list_directory", |path| json!({"path": path}), To::Target),
    ("list_directory_with_sizes", |path| json!({"path": path, "sortBy": "size"}), To::Target),
    ("directory_tree", |path| json!({"path": path}), To::Target),
    ("search_files", |path| json!({"path": path, "pattern": "**"}), To::Target),
    ("search_content", |path| json!({"path": path, "pattern": "SECRE."}), To::Target),
    ("write_file", |path| json!({"path": path, "content": "PLANTED"}), To::Target),
    ("append_file", |path| json!({"path": path, "content": "PLANTED"}), To::Target),
    ("edit_file", |path| json!({"path": path, "edits": [{"oldText": "SECRET", "newText": "PLANTED"}]}), To::Target),
    ("create_directory", |path| json!({"path": path}), To::Target),
    ("move_file", |path| json!({"source": path, "destination": "taken"}), To::Name),
    ("move_file", |path| json!({"source": "in.txt", "destination": path}), To::Name),
    ("copy_file", |path| json!({"source": path, "destination": "taken"}), To::Target),
    ("copy_file", |path| json!({"source": "in.txt", "destination": path}), To::Name),
    ("delete_file", |path| json!({"path": path}), To::Name),
];

fn stage() -> Stage {
    let stage = Stage::new();
    stage.file("root/in.txt", "inside");
    stage.directory("root/in");
    stage.file("root/.ssh/id_ed25519", "SECRET");
    stage.file("root-evil/secret.txt", "SECRET");
    stage.file("root.secret", "SECRET");
    stage.link("root/out", stage.path("outside"));
    stage.link("root/relative-out", "../outside");
    stage.link("root/slash-out", "../outside/");
    stage.link("root/to-sibling", stage.path("root-evil"));
    stage.link("root/secret-link", stage.path("outside/secret.txt"));
    stage.link("root/second-link", "secret-link");
    stage.link("root/dangling", stage.path("outside/planted"));
    stage.link("root/second-dangling", "dangling");
    stage.link("root/notes", ".ssh/id_ed25519");
    stage.link("root/keys", ".ssh");
    stage
}

async fn client(stage: &Stage) -> DuplexClient {
    let mut settings = stage.settings(&["root"]);
    // The shared directory is not the user's home.
    let home = Some(stage.path("outside"));
    settings.guard = GuardOptions { home: home.clone(), ..GuardOptions::default() };
    settings.validation = Validation::new(home);
    connect(settings, rootward_files::FileServer::default(), json!({})).await
}

/// Collects everything below a directory: the contents of files, the targets of links.
fn everything(top: &Path, all: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in fs::read_dir(top).unwrap() {
        let path = entry.unwrap().path();
        let kind = fs::symlink_metadata(&path).unwrap().file_type();
        let holds = if kind.is_dir() {
            everything(&path, all);
            Vec::new()
        } else if kind.is_symlink() {
            fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes()
        } else {
            fs::read(&path).unwrap()
        };
        all.insert(path, holds);
    }
}

fn snapshot(stage: &Stage) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut all = BTreeMap::new();
    everything(&stage.path(""), &mut all);
    all
}

/// The code of a refused call.
fn refusal<'a>(tool: &str, answered: &'a ToolResult) -> Option<&'a str> {
    match tool {
        "path_in_roots" => answered.data()["reason"].as_str().filter(|_| answered.data()["inRoots"] == false),
        // This tool skips the refused path and reads the others.
        "read_multiple_files" => {
            answered.text().strip_prefix("in.txt:\ninside\n\n---\n")?.contains(": Error - ").then_some("")
        }
        _ => answered.data()["code"].as_str().filter(|_| answered["isError"] == true),
    }
}

#[tokio::test]
async fn every_tool_refuses_published_attacks() {
    let mut tried = 0;
    let mut failures = Vec::new();
    let mut stage = stage_with_snapshot();
    for published in TABLE {
        for path in published.paths {
            for (tool, arguments, to) in WAYS {
                let path = path.replace("$TOP", stage.0.path("").to_str().unwrap().trim_end_matches('/'));
                let mut client = client(&stage.0).await;
                let answered = client.result(tool, arguments(&path)).await;
                let what = format!("{}: {tool} {}: {answered:?}", published.source, arguments(&path));
                // Plain, and in base64.
                let said = answered.to_string();
                assert!(!said.contains("SECRET") && !said.contains("U0VDUkVU"), "{what}");
                let after = snapshot(&stage.0);
                let outside = |(path, _): &(&PathBuf, &Vec<u8>)| !path.starts_with(stage.0.path("root"));
                assert!(after.iter().filter(outside).eq(stage.1.iter().filter(outside)), "{what}");
                let refused = match (published.last, to) {
                    // The tool may move or remove the link itself, or fail because it exists.
                    (Last::Link, To::Name) => {
                        if after != stage.1 {
                            stage = stage_with_snapshot();
                        }
                        true
                    }
                    (Last::NoName, To::Name) => answered["isError"] == true && after == stage.1,
                    _ => {
                        let code = if tool == "read_multiple_files" { "" } else { published.code };
                        refusal(tool, &answered) == Some(code) && after == stage.1
                    }
                };
                if !refused {
                    failures.push(what);
                }
                tried += 1;
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert_eq!(tried, WAYS.len() * TABLE.iter().map(|published| published.paths.len()).sum::<usize>());
}

fn stage_with_snapshot() -> (Stage, BTreeMap<PathBuf, Vec<u8>>) {
    let stage = stage();
    let all = snapshot(&stage);
    (stage, all)
}

/// The control: without Rootward these paths lead outside.
#[test]
fn the_system_follows_these_paths_out() {
    let stage = stage();
    let root = stage.path("root");
    for published in TABLE {
        for path in published.paths {
            let path = root.join(path.replace("$TOP", stage.path("").to_str().unwrap().trim_end_matches('/')));
            let what = format!("{}: {}", published.source, path.display());
            match published.leads {
                Leads::ToTheSecret => assert_eq!(fs::read_to_string(&path).unwrap(), "SECRET", "{what}"),
                Leads::Out => {
                    let place = fs::canonicalize(&path).unwrap();
                    assert!(place.is_dir() && !place.starts_with(&root), "{what}");
                }
                Leads::ToNewOutside => {
                    assert!(!path.exists(), "{what}");
                    fs::write(&path, "").unwrap();
                    let place = fs::canonicalize(&path).unwrap();
                    assert!(!place.starts_with(&root), "{what}");
                    fs::remove_file(place).unwrap();
                }
                Leads::Nowhere => {}
            }
        }
    }
}

/// CVE-2025-53109, from a parent directory: a walk must not go through a link that leads out.
#[tokio::test]
async fn listing_and_searching_do_not_follow_links_out() {
    let stage = stage();
    let mut client = client(&stage).await;
    for (tool, arguments) in [
        ("directory_tree", json!({"path": "."})),
        ("search_files", json!({"path": ".", "pattern": "**"})),
        ("search_files", json!({"path": ".", "pattern": "out/**"})),
        ("list_directory_with_sizes", json!({"path": "."})),
    ] {
        let text = client.says(tool, arguments.clone()).await;
        assert!(!text.contains("secret.txt") && !text.contains("id_ed25519"), "{tool} {arguments}: {text}");
    }
}

/// CVE-2025-53109 in two steps: a name is checked, and has become a link when it is used. The client cannot create links, but
/// other programs can.
#[tokio::test]
async fn writing_does_not_follow_a_link_that_appeared_later() {
    let stage = stage();
    let mut client = client(&stage).await;
    client.says("write_file", json!({"path": "in/new.txt", "content": "one"})).await;
    fs::remove_file(stage.path("root/in/new.txt")).unwrap();
    stage.link("root/in/new.txt", stage.path("outside/planted"));
    let answered = client.result("write_file", json!({"path": "in/new.txt", "content": "two"})).await;
    assert_eq!(answered.code(), Some("outside_roots"));
    fs::remove_dir_all(stage.path("root/in")).unwrap();
    stage.link("root/in", stage.path("outside"));
    for (tool, arguments) in [
        ("write_file", json!({"path": "in/new.txt", "content": "two"})),
        ("create_directory", json!({"path": "in/new"})),
        ("move_file", json!({"source": "in.txt", "destination": "in/new"})),
        ("copy_file", json!({"source": "in.txt", "destination": "in/new"})),
        ("append_file", json!({"path": "in/secret.txt", "content": "two"})),
        ("read_text_file", json!({"path": "in/secret.txt"})),
    ] {
        let answered = client.result(tool, arguments).await;
        assert_eq!(answered.code(), Some("outside_roots"), "{tool}");
    }
    assert_eq!(fs::read_dir(stage.path("outside")).unwrap().count(), 1);
    assert_eq!(fs::read_to_string(stage.path("outside/secret.txt")).unwrap(), "SECRET");
}
