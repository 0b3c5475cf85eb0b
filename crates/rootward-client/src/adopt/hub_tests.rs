//! One entry for the hub in place of servers: planned, and undone.

#![expect(clippy::disallowed_methods, reason = "tests lay out files")]

use std::fs;
use std::path::{Path, PathBuf};

use proptest::collection::vec;
use proptest::prelude::*;
use rootward_core::env::Directories;
use rootward_testkit::fuzz;
use serde_json::{Value, json};

use super::record::hash;
use super::{AdoptedHub, Called, HubTerms, Invocation, Left, NotWrapped, Plan, Record, Shelf, Verdict, plan_hub};
use crate::import::fuzz::PIECES;
use crate::import::{FileContext, Form, Holder, parse};

fn planned(form: Form, holder: Holder, text: &str) -> Plan {
    let caller = Invocation { path: "/opt/rootward".to_owned(), called: Called::ByName };
    let file = |table: &[String]| Some(PathBuf::from(format!("/c/{}.json", table.len())));
    let refuses = |config: &str| config.contains("refused").then(|| "the hub refuses it".to_owned());
    let terms = HubTerms { caller: &caller, bare: text, file: &file, refuses: &refuses };
    let found = parse(form, text, &FileContext::default()).unwrap();
    plan_hub(form, text, found, holder, &terms).unwrap()
}

fn configs(plan: &Plan) -> Vec<Value> {
    plan.hubs.iter().map(|hub| serde_json::from_str(&hub.config).unwrap()).collect()
}

/// The record of a plan, after it is parsed again.
fn record(form: Form, plan: &Plan) -> Record {
    let hubs = plan.hubs.iter().map(|hub| hub.adopted.clone()).collect();
    let record = Record { file: "/x".into(), form, entries: Vec::new(), hubs, written: hash(plan.text.as_bytes()) };
    Record::read(&record.text().unwrap()).unwrap()
}

/// What the file and the hubs' configurations become; also checks that undoing restores the file.
#[track_caller]
fn check(form: Form, text: &str, expect: &str, servers: &[Value]) {
    let plan = planned(form, Holder::User, text);
    assert_eq!(plan.text, expect, "{text}");
    let expect: Vec<Value> = servers.iter().map(|servers| json!({"mcpServers": servers})).collect();
    assert_eq!(configs(&plan), expect, "{text}");
    let record = record(form, &plan);
    assert_eq!(record.undo(&plan.text, Some(text)).unwrap().text, text);
    // Without the backup, or with another one, the servers come back from the record.
    for backup in [None, Some("{}"), Some("")] {
        let undone = record.undo(&plan.text, backup).unwrap();
        assert_eq!(undone.hubs, record.hubs);
        assert_eq!(configs(&planned(form, Holder::User, &undone.text)), expect, "{}", undone.text);
    }
}

#[test]
fn every_scope_has_a_hub_of_its_own() {
    check(
        Form::ClaudeState,
        r#"{"mcpServers": {"files": {"type": "stdio", "command": "npx", "args": ["-y", "x"], "env": {"T": "${TOKEN}"}, "other": [1, null]}, "web": {"type": "http", "url": "https://x"}}, "projects": {"/p": {"mcpServers": {"a": {"command": "y"}, "b": {"command": "z"}}, "disabledMcpServers": ["b"]}}}"#,
        r#"{"mcpServers": {"rootward": { "type": "stdio", "command": "rootward", "args": ["hub", "--config", "/c/1.json"] }, "web": {"type": "http", "url": "https://x"}}, "projects": {"/p": {"mcpServers": {"rootward-local": { "command": "rootward", "args": ["hub", "--config", "/c/3.json"] }}, "disabledMcpServers": ["b"]}}}"#,
        &[
            json!({"files": {"command": "npx", "args": ["-y", "x"], "env": {"T": "${TOKEN}"}, "other": [1, null]}}),
            json!({"a": {"command": "y"}, "b": {"command": "z", "disabled": true}}),
        ],
    );
}

#[test]
fn every_client_is_understood() {
    check(
        Form::VsCode,
        "{\n\t// Mine.\n\t\"servers\": {\n\t\t\"a\": {\"command\": \"x\", \"env\": {\"N\": 7}}, // About a.\n\t\t\"b\": {\"command\": \"${userHome}/y\"},\n\t},\n}\n",
        "{\n\t// Mine.\n\t\"servers\": {\n\t\t\"rootward\": { \"command\": \"rootward\", \"args\": [\"hub\", \"--config\", \"/c/1.json\"] }, // About a.\n\t\t\n\t},\n}\n",
        &[json!({"a": {"command": "x", "env": {"N": "7"}}, "b": {"command": "${userHome}/y"}})],
    );
    check(
        Form::Opencode,
        r#"{"mcp": {"a": {"type": "local", "command": ["x", "{env:K}"], "environment": {"A": "${B}"}, "enabled": false}}}"#,
        r#"{"mcp": {"rootward": { "type": "local", "command": ["rootward", "hub", "--config", "/c/1.json"] }}}"#,
        &[json!({"a": {"command": "x", "args": ["${K:-}"], "env": {"A": "$${B}"}, "disabled": true}})],
    );
    check(
        Form::Zed,
        r#"{"context_servers": {"a": {"source": "custom", "command": {"path": "x", "args": ["1"], "env": {"A": "b"}}}}}"#,
        r#"{"context_servers": {"rootward": { "source": "custom", "command": { "path": "rootward", "args": ["hub", "--config", "/c/1.json"] } }}}"#,
        &[json!({"a": {"command": "x", "args": ["1"], "env": {"A": "b"}, "source": "custom"}})],
    );
    check(
        Form::Codex,
        "model = 'x' # mine\n\n[mcp_servers.a]\ncommand = 'x'\nenv_vars = ['K']\nenabled_tools = ['t']\nstartup_timeout_sec = 10\n\n[mcp_servers.a.env]\nA = 'b'\n\n[p]\n",
        "model = 'x' # mine\n\n[mcp_servers.rootward]\ncommand = \"rootward\"\nargs = [\"hub\", \"--config\", \"/c/1.json\", \"--root\", \".\"]\nenv_vars = [\"K\"]\n\n[p]\n",
        &[
            json!({"a": {"command": "x", "env": {"A": "b"}, "includeTools": ["t"], "startup_timeout_sec": 10, "rootward": {"env": ["K"]}}}),
        ],
    );
    // A name that is taken.
    check(
        Form::Cursor,
        r#"{"mcpServers": {"rootward": {"url": "https://x"}, "a": {"command": "x"}}}"#,
        r#"{"mcpServers": {"rootward": {"url": "https://x"}, "rootward-2": { "command": "rootward", "args": ["hub", "--config", "/c/1.json"] }}}"#,
        &[json!({"a": {"command": "x"}})],
    );
}

#[test]
fn servers_that_the_hub_cannot_run_stay() {
    let check = |form: Form, text: &str, expect: &str| {
        let plan = planned(form, Holder::User, text);
        assert!(plan.text == text && plan.hubs.is_empty(), "{}", plan.text);
        let why = plan.servers.iter().find_map(|planned| match &planned.verdict {
            Verdict::NotWrapped(NotWrapped::NotByHub(why)) => Some(why.as_str()),
            _ => None,
        });
        assert!(why.is_some_and(|why| why.contains(expect)), "{text}: {why:?}");
    };
    let cursor = |entry: &str, expect| check(Form::Cursor, &format!(r#"{{"mcpServers": {{{entry}}}}}"#), expect);
    cursor(r#""a": {"command": "x", "args": ["${input:key}"]}"#, "only the client knows `${input:key}`");
    cursor(r#""a": {"command": "x", "cwd": "src"}"#, "its `cwd` is a relative path");
    cursor(r#""a": {"command": "refused"}"#, "the hub refuses it");
    cursor(r#""a": {"command": "x"}, "a": {"command": "y"}"#, "duplicate key `a`");
    cursor(r#""h": {"command": "rootward", "args": ["hub"]}, "a": {"command": "x"}"#, "the file already has a hub");
    check(Form::VsCode, r#"{"sandbox": {}, "servers": {"a": {"command": "x"}}}"#, "`sandbox` beside `servers`");
    check(Form::Gemini, r#"{"mcp": {"allowed": ["a"]}, "mcpServers": {"a": {"command": "x"}}}"#, "`mcp.allowed`");
    check(Form::Codex, "[mcp_servers.a]\ncommand = 'x'\ncwd = '/srv'\n", "it sets its own directories");
    check(Form::Codex, "mcp_servers = { a = { command = 'x' } }\n", "not in a table of their own");
    // The others still move.
    let text = r#"{"mcpServers": {"a": {"command": "refused"}, "b": {"command": "x"}, "c": {"command": "docker"}}}"#;
    let plan = planned(Form::Cursor, Holder::User, text);
    assert_eq!(configs(&plan), [json!({"mcpServers": {"b": {"command": "x"}}})]);
    assert_eq!(plan.changed_servers(), 1);
}

#[test]
fn a_project_does_not_choose_how_its_servers_are_confined() {
    for setting in [r#""rootward": {"sandbox": "off"}"#, r#""sandbox": {}"#, r#""sandboxEnabled": false"#] {
        let text = format!(r#"{{"servers": {{"a": {{"command": "x", {setting}}}}}}}"#);
        let plan = planned(Form::VsCode, Holder::Project, &text);
        assert!(plan.hubs.is_empty() && plan.text == text, "{}", plan.text);
        assert_eq!(planned(Form::VsCode, Holder::User, &text).hubs.len(), 1, "{setting}");
    }
    let plan = planned(Form::VsCode, Holder::Project, r#"{"servers": {"a": {"command": "x"}}}"#);
    assert_eq!(plan.hubs[0].adopted.name, "rootward-project");
}

#[test]
fn a_hub_that_was_changed_since_stays() {
    let text = "{\n  \"mcpServers\": {\n    \"a\": {\"command\": \"x\"},\n    \"b\": {\"command\": \"y\"}\n  }\n}\n";
    let plan = planned(Form::Cursor, Holder::User, text);
    let record = record(Form::Cursor, &plan);
    let left = |since: &str| {
        let undone = record.undo(since, Some(text)).unwrap();
        assert_eq!((undone.text.as_str(), undone.hubs.len()), (since, 0));
        undone.hubs_left[0].1.clone()
    };
    assert_eq!(left(&plan.text.replace("\"/c/1.json\"", "\"/c/1.json\", \"--root\", \"/srv\"")), Left::Changed);
    assert_eq!(left(&plan.text.replace("\"rootward\":", "\"other\":")), Left::Gone);
    assert!(!Left::Changed.is_settled() && Left::Gone.is_settled());
    // Later additions are kept as well.
    let since = plan.text.replace("\n  }\n}", ",\n    \"c\": {\"command\": \"z\"} // mine\n  }\n}");
    let undone = record.undo(&since, Some(text)).unwrap();
    assert_eq!(undone.text, text.replace("\n  }\n}", ",\n    \"c\": {\"command\": \"z\"} // mine\n  }\n}"));
    assert_eq!(undone.changed_servers(), 2);
}

#[test]
fn a_planted_record_of_a_hub_is_not_used() {
    let plan = planned(Form::Cursor, Holder::User, r#"{"mcpServers": {"a": {"command": "x"}}}"#);
    let good = record(Form::Cursor, &plan).text().unwrap();
    for (from, to) in [
        ("\"rootward\",\n        \"hub\"", "\"npx\",\n        \"hub\""),
        ("\"hub\"", "\"wrap\""),
        ("\"--config\"", "\"--root\""),
        ("\"file\": \"/c/1.json\"", "\"file\": \"/c/2.json\""),
        ("\"mcpServers\"", "\"servers\""),
    ] {
        let planted = good.replacen(from, to, 1);
        assert_ne!(planted, good, "{from}");
        assert!(Record::read(&planted).is_err(), "{from} {to}");
    }
}

#[test]
fn a_planted_record_removes_no_other_file() {
    let home = tempfile::tempdir().unwrap();
    let shelf = Shelf::of(&Directories::new(&[("HOME", home.path().as_os_str())].into())).unwrap();
    let hub = |file: &Path| AdoptedHub {
        table: vec!["mcpServers".to_owned()],
        name: "rootward".to_owned(),
        words: Vec::new(),
        servers: Vec::new(),
        entries: String::new(),
        file: file.to_owned(),
        written: hash(b"text"),
    };
    let directory = home.path().join(".config/rootward/hub");
    fs::create_dir_all(directory.join("deep")).unwrap();
    for (name, text, removed) in [
        ("cursor.json", "text", true),
        ("cursor.json", "other", false),
        ("deep/cursor.json", "text", false),
        ("../config.toml", "text", false),
    ] {
        let file = directory.join(name);
        fs::write(&file, text).unwrap();
        assert_eq!(shelf.remove_hub_ambient(&hub(&file)), removed, "{name}");
        assert_eq!(fs::exists(&file).unwrap(), !removed, "{name}");
    }
}

#[test]
fn every_file_has_a_name_of_its_own() {
    let home = tempfile::tempdir().unwrap();
    let shelf = Shelf::of(&Directories::new(&[("HOME", home.path().as_os_str())].into())).unwrap();
    let directory = home.path().join(".config/rootward/hub");
    let table = ["mcpServers".to_owned()];
    let path = |holder: Holder, place: &str, taken: &[PathBuf]| {
        let path = shelf.hub_path_ambient((Form::Cursor, holder), Path::new(place), &table, taken).unwrap();
        assert_eq!(path.parent(), Some(directory.as_path()));
        path.file_name().unwrap().to_str().unwrap().to_owned()
    };
    assert_eq!(path(Holder::User, "/h/a", &[]), "cursor.json");
    let second = path(Holder::User, "/h/a", &[directory.join("cursor.json")]);
    assert_eq!(second, path(Holder::Project, "/h/a", &[]));
    assert_ne!(second, path(Holder::Project, "/h/b", &[]));
    fs::create_dir_all(&directory).unwrap();
    fs::write(directory.join(&second), "").unwrap();
    assert_eq!(path(Holder::Project, "/h/a", &[]), second.replace(".json", "-2.json"));
}

/// For any file content, changes can be undone: with the backup, and from the record alone.
#[test]
fn any_text_that_a_hub_is_put_into_can_be_undone() {
    let piece = proptest::sample::select(&PIECES[..]).prop_map(str::to_owned);
    let entry = |form: Form| match form {
        Form::Codex => "\n[mcp_servers.a]\ncommand = 'x'\n".to_owned(),
        _ => format!(r#"{{"{}": {{"a": {{"command": "x"}}, "#, form.servers_key().unwrap_or_default()),
    };
    let text = vec(prop_oneof![8 => piece, 1 => ".{0,3}"], 0..40);
    let form = proptest::sample::select(&Form::ALL[..]);
    fuzz::run(&(form, text, any::<bool>()), |(form, text, begins)| {
        let begin = if begins { entry(form) } else { String::new() };
        let text = begin + &text.concat();
        let Ok(found) = parse(form, &text, &FileContext::default()) else { return Ok(()) };
        let caller = Invocation { path: "/opt/rootward".to_owned(), called: Called::ByPath };
        let terms = HubTerms {
            caller: &caller,
            bare: &text,
            file: &|_| Some(PathBuf::from("/c/hub.json")),
            refuses: &|config| serde_json::from_str::<Value>(config).err().map(|error| error.to_string()),
        };
        let Ok(plan) = plan_hub(form, &text, found, Holder::User, &terms) else { return Ok(()) };
        let record = record(form, &plan);
        for backup in [Some(text.as_str()), None] {
            let undone = record.undo(&plan.text, backup);
            let undone = undone.map_err(|error| TestCaseError::fail(error.to_string()))?;
            prop_assert_eq!(undone.hubs_left, vec![]);
            prop_assert!(backup.is_none() || undone.text == text, "{}", undone.text);
        }
        Ok(())
    });
}

/// Servers in any style and order, mixed with others that stay.
#[test]
fn a_hub_and_back_is_the_identity() {
    let name = || prop_oneof![3 => "[a-z]{1,3}", 1 => ".{1,3}"];
    let servers = proptest::collection::btree_map(name(), (name(), 0_u8..3), 1..6);
    fuzz::run(&(servers, 0_usize..4), |(servers, style)| {
        let entry = |(command, kind): &(String, u8)| match kind {
            0 => json!({"url": "https://x"}),
            1 => json!({"command": command, "args": [command], "env": {"A": command}, "other": {"a": [1.5, "b"]}}),
            _ => json!({"command": command}),
        };
        let entries: serde_json::Map<String, Value> =
            servers.iter().map(|(name, server)| (name.clone(), entry(server))).collect();
        let tree = json!({"before": [1, {"mcpServers": {}}], "mcpServers": entries, "z": "end"});
        let text = match style {
            0 => tree.to_string(),
            1 => serde_json::to_string_pretty(&tree).unwrap(),
            2 => serde_json::to_string_pretty(&tree).unwrap().replace('\n', " // note, /* too\r\n\t"),
            _ => toml::to_string(&json!({"z": "end", "mcp_servers": entries})).unwrap_or_default(),
        };
        let form = if style == 3 { Form::Codex } else { Form::Cursor };
        let plan = planned(form, Holder::User, &text);
        let moved = plan.servers.iter().filter(|planned| planned.verdict == Verdict::Hub).count();
        prop_assert_eq!(moved, plan.changed_servers());
        let unclear =
            plan.servers.iter().find(|planned| matches!(planned.verdict, Verdict::NotWrapped(NotWrapped::Unclear(_))));
        prop_assert!(unclear.is_none(), "{:?}", unclear);
        let record = record(form, &plan);
        let undone = record.undo(&plan.text, Some(&text)).map_err(|error| TestCaseError::fail(error.to_string()))?;
        prop_assert_eq!(undone.text, text);
        let undone = record.undo(&plan.text, None).map_err(|error| TestCaseError::fail(error.to_string()))?;
        prop_assert_eq!(undone.hubs_left, vec![]);
        prop_assert_eq!(configs(&planned(form, Holder::User, &undone.text)), configs(&plan));
        Ok(())
    });
}
