//! Files as each client writes them: wrapped, and undone.

use proptest::collection::vec;
use proptest::prelude::*;
use rootward_testkit::fuzz;
use serde_json::{Map, json};

use super::record::hash;
use super::{Adopted, Called, Invocation, Left, NotWrapped, Plan, Record, Undone, Verdict, masked, plan};
use crate::import::fuzz::PIECES;
use crate::import::{FileContext, Form, Holder};

fn planned(form: Form, text: &str) -> Plan {
    let caller = Invocation { path: "/opt/rootward".to_owned(), called: Called::ByName };
    plan(form, text, &FileContext::default(), Holder::User, &caller).unwrap()
}

fn record(form: Form, plan: &Plan) -> Record {
    Record {
        file: "/x".into(),
        form,
        entries: plan.changes.clone(),
        hubs: Vec::new(),
        written: hash(plan.text.as_bytes()),
    }
}

/// What the file becomes; also checks that undoing restores it, with the backup and without.
#[track_caller]
fn check(form: Form, text: &str, expect: &str) {
    let plan = planned(form, text);
    assert_eq!(plan.text, expect, "{text}");
    let record = record(form, &plan);
    for backup in [Some(text), None] {
        let undone = record.undo(&plan.text, backup).unwrap();
        assert_eq!((undone.text.as_str(), &undone.left[..]), (text, &[][..]), "{text}");
    }
    // A wrapped server is not wrapped again.
    assert_eq!(planned(form, expect).text, expect);
}

#[test]
fn claude_code() {
    // As `claude mcp add` writes it, in the scopes `user` and `local`.
    let text = r#"{
  "numStartups": 3,
  "mcpServers": {
    "files": {
      "type": "stdio",
      "command": "npx",
      "args": [
        "-y",
        "@modelcontextprotocol/server-filesystem",
        "/tmp"
      ],
      "env": {
        "TOKEN": "abc"
      }
    },
    "web": {
      "type": "http",
      "url": "https://example.com/mcp"
    }
  },
  "projects": {
    "/home/me/p": {
      "mcpServers": {
        "git": {
          "type": "stdio",
          "command": "uvx",
          "args": [],
          "env": {}
        }
      }
    }
  }
}"#;
    let wrapped = text
        .replace("\"npx\",", "\"rootward\",")
        .replace(
            "        \"-y\",\n",
            "        \"wrap\",\n        \"--env\",\n        \"TOKEN\",\n        \"--\",\n        \"npx\",\n        \"-y\",\n",
        )
        .replace("\"uvx\",", "\"rootward\",")
        .replace("[],", "[\"wrap\", \"--\", \"uvx\"],");
    check(Form::ClaudeState, text, &wrapped);
    let plan = planned(Form::ClaudeState, text);
    let verdicts: Vec<&Verdict> = plan.servers.iter().map(|planned| &planned.verdict).collect();
    assert!(
        matches!(verdicts[..], [Verdict::Wrap(_), Verdict::NotWrapped(NotWrapped::Remote), Verdict::Wrap(_)]),
        "{verdicts:?}"
    );
}

#[test]
fn arguments_in_every_style() {
    let entry = |entry: &str| format!("{{\"mcpServers\": {{\"a\": {entry}}}}}");
    let check = |old: &str, new: &str| check(Form::Cursor, &entry(old), &entry(new));
    check(r#"{"command": "x"}"#, r#"{"command": "rootward", "args": ["wrap", "--", "x"]}"#);
    check(r#"{"command": "x", "cwd": "y"}"#, r#"{"command": "rootward", "args": ["wrap", "--", "x"], "cwd": "y"}"#);
    check(r#"{"args": ["b"], "command": "x"}"#, r#"{"args": ["wrap", "--", "x", "b"], "command": "rootward"}"#);
    check(r#"{"command":"x","args":["b","c"]}"#, r#"{"command":"rootward","args":["wrap","--","x","b","c"]}"#);
    check(r#"{"command": "x", "args": null}"#, r#"{"command": "rootward", "args": ["wrap", "--", "x"]}"#);
    check(r#"{"command": "x", "args": [ ]}"#, r#"{"command": "rootward", "args": ["wrap", "--", "x" ]}"#);
    check(r#"{"command": "x", "args": ["b",],}"#, r#"{"command": "rootward", "args": ["wrap", "--", "x", "b",],}"#);
    check(
        "{\r\n\t\"command\": \"x\"\r\n}",
        "{\r\n\t\"command\": \"rootward\",\r\n\t\"args\": [\"wrap\", \"--\", \"x\"]\r\n}",
    );
    check(
        "{\n // mine\n \"command\": \"x\", // why\n /* list */ \"args\": [ // first\n  \"b\" /* b */,\n  // c\n  \"c\"\n ]\n}",
        "{\n // mine\n \"command\": \"rootward\", // why\n /* list */ \"args\": [ // first\n  \"wrap\",\n  \"--\",\n  \"x\",\n  \"b\" /* b */,\n  // c\n  \"c\"\n ]\n}",
    );
    check(
        r#"{"command": "x\u0020y\\", "args": ["ä\n"]}"#,
        r#"{"command": "rootward", "args": ["wrap", "--", "x\u0020y\\", "ä\n"]}"#,
    );
    check(
        r#"{"command": "x", "disabled": true}"#,
        r#"{"command": "rootward", "args": ["wrap", "--", "x"], "disabled": true}"#,
    );
    check(
        r#"{"command": "sh", "args": ["-c", "npx x | tee y"]}"#,
        r#"{"command": "rootward", "args": ["wrap", "--", "sh", "-c", "npx x | tee y"]}"#,
    );
}

#[test]
fn codex() {
    // As `codex mcp add` writes it.
    check(
        Form::Codex,
        "model = \"x\" # mine\n\n[mcp_servers.files]\ncommand = \"npx\"\nargs = [\"-y\", \"pkg\"]\n\n[mcp_servers.files.env]\nTOKEN = \"abc\"\n\n[mcp_servers.web]\nurl = \"https://x\"\n",
        "model = \"x\" # mine\n\n[mcp_servers.files]\ncommand = \"rootward\"\nargs = [\"wrap\", \"--root\", \".\", \"--env\", \"TOKEN\", \"--\", \"npx\", \"-y\", \"pkg\"]\n\n[mcp_servers.files.env]\nTOKEN = \"abc\"\n\n[mcp_servers.web]\nurl = \"https://x\"\n",
    );
    let words = r#""wrap", "--root", ".", "--", 'x'"#;
    let check = |old: &str, new: &str| check(Form::Codex, old, &new.replace("WORDS", words));
    check(
        "[mcp_servers.a]\ncommand = 'x' # why\ncwd_ = 1",
        "[mcp_servers.a]\ncommand = \"rootward\" # why\nargs = [WORDS]\ncwd_ = 1",
    );
    check("[mcp_servers.a]\ncommand = 'x'", "[mcp_servers.a]\ncommand = \"rootward\"\nargs = [WORDS]");
    check(
        "[mcp_servers.a]\r\n  command = 'x'\r\n",
        "[mcp_servers.a]\r\n  command = \"rootward\"\r\n  args = [WORDS]\r\n",
    );
    check("mcp_servers.a.command = 'x'\n", "mcp_servers.a.command = \"rootward\"\nmcp_servers.a.args = [WORDS]\n");
    check("mcp_servers.a = { command = 'x' }\n", "mcp_servers.a = { command = \"rootward\", args = [WORDS] }\n");
    check(
        "mcp_servers = { a = { args = [], command = 'x' } }",
        "mcp_servers = { a = { args = [WORDS], command = \"rootward\" } }",
    );
    check(
        "[mcp_servers.a]\nargs = [\n  # first\n  'b', # b\n]\ncommand = \"\"\"x\"\"\"\n",
        &"[mcp_servers.a]\nargs = [\n  # first\n  WORDS,\n  'b', # b\n]\ncommand = \"rootward\"\n"
            .replace("WORDS", &words.replace(", ", ",\n  ").replace("'x'", r#""""x""""#)),
    );
}

#[test]
fn the_other_clients() {
    // As `gemini mcp add` and `opencode mcp add` write it.
    check(
        Form::Gemini,
        "{\n  \"mcpServers\": {\n    \"mem\": {\n      \"command\": \"npx\",\n      \"args\": [\n        \"-y\"\n      ]\n    },\n    \"web\": {\n      \"url\": \"https://x\",\n      \"type\": \"http\"\n    }\n  }\n}",
        "{\n  \"mcpServers\": {\n    \"mem\": {\n      \"command\": \"rootward\",\n      \"args\": [\n        \"wrap\",\n        \"--\",\n        \"npx\",\n        \"-y\"\n      ]\n    },\n    \"web\": {\n      \"url\": \"https://x\",\n      \"type\": \"http\"\n    }\n  }\n}",
    );
    check(
        Form::Opencode,
        "{\n  \"mcp\": {\n    \"files\": {\n      \"type\": \"local\",\n      \"command\": [\n        \"npx\",\n        \"-y\"\n      ],\n      \"environment\": {\n        \"TOKEN\": \"abc\"\n      }\n    }\n  }\n}",
        "{\n  \"mcp\": {\n    \"files\": {\n      \"type\": \"local\",\n      \"command\": [\n        \"rootward\",\n        \"wrap\",\n        \"--env\",\n        \"TOKEN\",\n        \"--\",\n        \"npx\",\n        \"-y\"\n      ],\n      \"environment\": {\n        \"TOKEN\": \"abc\"\n      }\n    }\n  }\n}",
    );
    check(
        Form::Opencode,
        r#"{"mcp": {"a": {"type": "local", "command": ["x"], "enabled": false}, "b": {"type": "remote", "url": "https://x"}}}"#,
        r#"{"mcp": {"a": {"type": "local", "command": ["rootward", "wrap", "--", "x"], "enabled": false}, "b": {"type": "remote", "url": "https://x"}}}"#,
    );
    check(
        Form::VsCode,
        r#"{"servers": {"a": {"type": "stdio", "command": "x", "args": ["y"], "env": {"PORT": 1, "GONE": null}}}}"#,
        r#"{"servers": {"a": {"type": "stdio", "command": "rootward", "args": ["wrap", "--env", "PORT", "--", "x", "y"], "env": {"PORT": 1, "GONE": null}}}}"#,
    );
    check(
        Form::Windsurf,
        r#"{"mcpServers": {"a": {"command": "x", "args": []}, "b": {"serverUrl": "https://x"}}}"#,
        r#"{"mcpServers": {"a": {"command": "rootward", "args": ["wrap", "--", "x"]}, "b": {"serverUrl": "https://x"}}}"#,
    );
    check(
        Form::Zed,
        r#"{"context_servers": {"a": {"source": "custom", "command": "x", "args": ["y"], "env": {"A": "b"}},
            "b": {"command": {"path": "x", "args": ["y"], "env": {"A": "b"}}, "settings": {}},
            "c": {"command": {"path": "x"}}, "d": {"url": "https://x"}, "e": {"settings": {}}}}"#,
        r#"{"context_servers": {"a": {"source": "custom", "command": "rootward", "args": ["wrap", "--env", "A", "--", "x", "y"], "env": {"A": "b"}},
            "b": {"command": {"path": "rootward", "args": ["wrap", "--env", "A", "--", "x", "y"], "env": {"A": "b"}}, "settings": {}},
            "c": {"command": {"path": "rootward", "args": ["wrap", "--", "x"]}}, "d": {"url": "https://x"}, "e": {"settings": {}}}}"#,
    );
}

#[test]
fn duplicate_keys_are_left_alone() {
    for text in [
        r#"{"mcpServers": {"a": {"command": "x"}, "a": {"command": "y"}}}"#,
        r#"{"mcpServers": {"a": {"command": "x"}}, "mcpServers": {"a": {"command": "y"}}}"#,
        r#"{"mcpServers": {"a": {"command": "x", "command": "y"}}}"#,
        r#"{"mcpServers": {"a": {"command": "x", "args": ["b"], "args": ["c"]}}}"#,
    ] {
        let plan = planned(Form::Cursor, text);
        assert_eq!(plan.text, text);
        assert!(
            matches!(&plan.servers[0].verdict, Verdict::NotWrapped(NotWrapped::Unclear(why)) if why.starts_with("duplicate key")),
            "{plan:?}"
        );
    }
}

#[test]
fn entries_that_are_not_understood_are_left_alone() {
    let text = r#"{"mcpServers": {"empty": {"command": ""}, "number": {"command": "x", "env": {"A": 1}},
        "list": {"command": "x", "args": "y"}, "good": {"command": "x", "args": []}}}"#;
    let plan = planned(Form::Cursor, text);
    assert_eq!(plan.text, text.replace(r#""x", "args": []"#, r#""rootward", "args": ["wrap", "--", "x"]"#));
    let says: Vec<&str> = plan.not_understood.iter().map(|mistake| mistake.says.as_str()).collect();
    assert_eq!(
        says,
        [
            "server `empty`: `command` is empty",
            "server `number`: `env.A` must be a string, not a number",
            "server `list`: `args` must be a list, not a string"
        ]
    );
}

/// The result of undoing for a file that was changed since.
fn undone(old: &str, since: impl Fn(&str) -> String) -> Undone {
    let plan = planned(Form::Cursor, old);
    record(Form::Cursor, &plan).undo(&since(&plan.text), Some(old)).unwrap()
}

#[test]
fn later_changes_are_kept() {
    let old = "{\n  \"mcpServers\": {\n    \"a\": {\"command\": \"x\"},\n    \"b\": {\"command\": \"y\", \"args\": [\"1\"]}\n  }\n}";
    let result = undone(old, |text| text.replace("\n  }\n}", ",\n    \"c\": {\"command\": \"z\"} // mine\n  }\n}"));
    assert_eq!(result.text, old.replace("\n  }\n}", ",\n    \"c\": {\"command\": \"z\"} // mine\n  }\n}"));
    assert_eq!((result.entries.len(), result.left.len()), (2, 0));
    // A client rewrites the whole file.
    let result = undone(old, |text| {
        let parsed: serde_json::Value = serde_json::from_str(text).unwrap();
        serde_json::to_string_pretty(&parsed).unwrap()
    });
    let expect: serde_json::Value = serde_json::from_str(old).unwrap();
    assert_eq!(serde_json::from_str::<serde_json::Value>(&result.text).unwrap(), expect);
    // Another command, the old command, no entry.
    let left = |since: &str, with: &str| {
        let result = undone(old, |text| text.replace(since, with));
        assert_eq!(result.entries.len(), 1, "{since}");
        result.left[0].1.clone()
    };
    assert_eq!(left(r#""wrap", "--", "x""#, r#""wrap", "--root", "/srv", "--", "x""#), Left::Changed);
    assert_eq!(left(r#""rootward", "args": ["wrap", "--", "x"]"#, r#""x""#), Left::Unwrapped);
    assert_eq!(left(r#""a""#, r#""renamed""#), Left::Gone);
    assert_eq!(left(r#""a": {"#, r#""a": {"command": "x", "#), Left::Unclear("duplicate key `command`".to_owned()));
    let all = undone(old, |_| "{}".to_owned());
    assert_eq!((all.text.as_str(), all.entries.len(), all.left.len()), ("{}", 0, 2));
}

#[test]
fn a_planted_backup_is_not_put_back() {
    let old = r#"{"mcpServers": {"a": {"command": "x"}}}"#;
    let plan = planned(Form::Cursor, old);
    let record = record(Form::Cursor, &plan);
    for planted in [r#"{"mcpServers": {"a": {"command": "evil"}}}"#, "{}", "{", ""] {
        assert_eq!(record.undo(&plan.text, Some(planted)).unwrap().text, old, "{planted}");
    }
}

#[test]
fn a_planted_record_edits_nothing() {
    let record = |entry: &str| {
        format!(
            r#"{{"version": 1, "file": "/x", "form": "cursor", "written": "{}", "entries": [{entry}]}}"#,
            "0".repeat(64)
        )
    };
    let good =
        r#"{"place": ["mcpServers", "a"], "before": ["rootward", "wrap", "--"], "words": ["x"], "arguments": "list"}"#;
    assert_eq!(Record::read(&record(good)).unwrap().entries[0].name(), "a");
    for (from, to) in [
        ("rootward", "npx"),
        ("\"wrap\"", "\"serve\""),
        ("\"--\"", "\"-y\""),
        ("mcpServers", "servers"),
        ("\"a\"]", "\"a\", \"env\"]"),
        ("\"a\"]", "\"a\", \"b\", \"c\"]"),
        ("[\"x\"]", "[]"),
        ("\"list\"", "\"other\""),
        ("\"place\"", "\"more\": 1, \"place\""),
    ] {
        assert!(Record::read(&record(&good.replacen(from, to, 1))).is_err(), "{from} {to}");
    }
    for (from, to) in [
        ("\"version\": 1", "\"version\": 2"),
        ("\"/x\"", "\"x\""),
        ("cursor", "other"),
        ("\"form\"", "\"also\": 1, \"form\""),
        ("0000", "000g"),
        ("{\"version\"", "[\"version\""),
    ] {
        assert!(Record::read(&record(good).replacen(from, to, 1)).is_err(), "{from} {to}");
    }
}

/// For any file content, adopting returns, and its changes can be undone.
#[test]
fn any_text_that_can_be_adopted_can_be_undone() {
    let piece = proptest::sample::select(&PIECES[..]).prop_map(str::to_owned);
    let text = vec(prop_oneof![8 => piece, 1 => ".{0,3}"], 0..40);
    let form = proptest::sample::select(&Form::ALL[..]);
    let caller = Invocation { path: "/opt/rootward".to_owned(), called: Called::ByPath };
    fuzz::run(&(form, text), |(form, text)| {
        let text = text.concat();
        masked(form, &text);
        let Ok(plan) = plan(form, &text, &FileContext::default(), Holder::User, &caller) else { return Ok(()) };
        let undone = record(form, &plan).undo(&plan.text, None);
        let undone = undone.map_err(|error| TestCaseError::fail(error.to_string()))?;
        prop_assert_eq!(undone.text, text);
        Ok(())
    });
}

#[test]
fn adopt_then_undo_is_the_identity() {
    let word = || prop_oneof![3 => "[a-z/@-]{1,6}", 1 => ".{0,4}"];
    let entry = || {
        let arguments = prop_oneof![Just(None), vec(word(), 0..4).prop_map(Some)];
        (word(), arguments, proptest::collection::btree_map("[A-Z*=_]{0,4}", word(), 0..3), 0_u8..4)
    };
    let servers = proptest::collection::btree_map(word(), entry(), 0..5);
    fuzz::run(&(servers, 0_usize..3), |(servers, style)| {
        let mut entries = Map::new();
        for (name, (program, arguments, variables, shape)) in &servers {
            let mut entry =
                json!({"command": program, "env": variables, "other": {"command": "kept", "args": ["kept"]}});
            match (arguments, shape) {
                (Some(arguments), _) => entry["args"] = json!(arguments),
                (None, 0) => entry["args"] = json!(null),
                _ => {}
            }
            entries.insert(name.clone(), entry);
        }
        let tree = json!({"before": [1, {"mcpServers": {}}], "mcpServers": entries, "z": "end"});
        let text = match style {
            0 => tree.to_string(),
            1 => serde_json::to_string_pretty(&tree).unwrap(),
            _ => serde_json::to_string_pretty(&tree).unwrap().replace('\n', " // note\r\n\t"),
        };
        let plan = planned(Form::Cursor, &text);
        let wrapped = plan.servers.iter().filter(|planned| matches!(planned.verdict, Verdict::Wrap(_))).count();
        prop_assert_eq!(wrapped, plan.changes.len());
        let again: Vec<Adopted> = planned(Form::Cursor, &plan.text).changes;
        prop_assert!(again.is_empty(), "{:?}", again);
        let undone = record(Form::Cursor, &plan).undo(&plan.text, None);
        let undone = undone.map_err(|error| TestCaseError::fail(error.to_string()))?;
        prop_assert_eq!(undone.left, vec![]);
        prop_assert_eq!(undone.text, text);
        Ok(())
    });
}
