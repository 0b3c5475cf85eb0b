//! For any file content, its reader returns: pieces of config files in any order, cut anywhere.

use proptest::collection::vec;
use proptest::prelude::*;
use rootward_core::secrets;
use rootward_testkit::fuzz;
use serde_json::{Map, Value, json};

use super::{FileContext, Form, Transport, parse};

/// Pieces of the files, and a few multi-byte characters.
pub(crate) const PIECES: [&str; 56] = [
    "{",
    "}",
    "[",
    "]",
    "\"",
    ":",
    ",",
    "\n",
    " ",
    "//",
    "/*",
    "*/",
    "\\",
    "\\u12",
    "null",
    "true",
    "1",
    "ä",
    "\u{feff}",
    "\0",
    "'",
    "=",
    "#",
    ".",
    "\"mcpServers\":{",
    "\"servers\":{",
    "\"projects\":{",
    "\"/p\":{",
    "\"a\":{",
    "\"command\":\"docker\",",
    "\"command\":\"npx\"",
    "\"args\":[",
    "\"-v\",",
    "\"--mount\",",
    "\"ä:/x:ro\",",
    "\"type=bind,src=${env:X}\",",
    "\"${workspaceFolder}/~\",",
    "\"--token\",",
    "\"https://ä:b@c/d?e=f\"",
    "\"url\":\"http://x@\",",
    "\"env\":{\"A\":\"b\"},",
    "\"permissions\":{\"additionalDirectories\":[",
    "\"..\"",
    "\"mcp\":{",
    "\"context_servers\":{",
    "\"command\":[\"npx\",",
    "\"command\":{\"path\":\"x\",",
    "\"environment\":{\"A\":\"b\"},",
    "env_vars = [\"A\", {name = \"B\"}]\n",
    "[mcp_servers.x]\n",
    "command = \"x\"\n",
    "args = [",
    "[sandbox_workspace_write]\n",
    "writable_roots = [\"~\"]\n",
    "[projects.\"/p\"]\n",
    "trust_level = \"trusted\"\n",
];

#[test]
fn any_text_is_answered() {
    let text =
        vec(prop_oneof![8 => proptest::sample::select(&PIECES[..]).prop_map(str::to_owned), 1 => ".{0,3}"], 0..40);
    let form = proptest::sample::select(&Form::ALL[..]);
    let around = FileContext { home: Some("/home/me".into()), project: Some("/p".into()) };
    fuzz::run(&(form, text), |(form, text)| {
        let text = text.concat();
        let Ok(found) = parse(form, &text, &around) else { return Ok(()) };
        for server in found.servers {
            if let Transport::Command(line) = &server.transport {
                prop_assert_eq!(secrets::arguments(&line.arguments).len(), line.arguments.len());
            }
            for root in server.roots.iter().chain(&found.roots) {
                prop_assert!(root.path.as_ref().is_none_or(|path| path.is_absolute()));
            }
        }
        Ok(())
    });
}

#[test]
fn any_word_can_be_shown() {
    let piece = prop_oneof![
        proptest::sample::select(
            &[
                "--token", "=", ":", "//", "@", "?", "&", "/", " ", "'", "\"", "${", "}", "ä", "Bearer", "-e", "A=b",
                "-H", "key"
            ][..]
        )
        .prop_map(str::to_owned),
        ".{0,2}"
    ];
    let words = vec(vec(piece, 0..8).prop_map(|pieces| pieces.concat()), 0..6);
    fuzz::run(&words, |words| {
        prop_assert_eq!(secrets::arguments(&words).len(), words.len());
        Ok(())
    });
}

/// The whole command is shown as in the file, for any content.
#[test]
fn a_command_is_what_the_file_says() {
    let word = || prop_oneof![".{0,6}", proptest::sample::select(&PIECES[..]).prop_map(str::to_owned)];
    let servers = proptest::collection::btree_map(word(), (word(), vec(word(), 0..6)), 0..6);
    fuzz::run(&servers, |servers| {
        let entry = |(program, arguments): &(String, Vec<String>)| json!({ "command": program, "args": arguments });
        let entries: Map<String, Value> = servers.iter().map(|(name, line)| (name.clone(), entry(line))).collect();
        let text = json!({ "mcpServers": entries }).to_string();
        let found = parse(Form::Cursor, &text, &FileContext::default())
            .map_err(|error| TestCaseError::fail(error.to_string()))?;
        let usable = |(program, arguments): &(String, Vec<String>)| {
            !program.trim().is_empty() && !program.contains('\0') && !arguments.iter().any(|word| word.contains('\0'))
        };
        let expected: Vec<_> = servers.iter().filter(|(_, line)| usable(line)).collect();
        prop_assert_eq!(found.servers.len(), expected.len());
        prop_assert_eq!(found.not_understood.len(), servers.len() - expected.len());
        for (server, (name, (program, arguments))) in found.servers.iter().zip(expected) {
            let Transport::Command(line) = &server.transport else { return Err(TestCaseError::fail("no command")) };
            prop_assert_eq!((&server.name, &line.program, &line.arguments), (name, program, arguments));
        }
        Ok(())
    });
}
