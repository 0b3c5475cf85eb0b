//! Calls of well-known servers, with their own schemas and annotations: everyday calls pass, calls that lead outside
//! do not.

use rootward_hub::scan::Tool;
use serde_json::value::to_raw_value;
use serde_json::{Value, json};

use crate::yard::Yard;

fn tool(name: &str, properties: &Value, annotations: &Value) -> Tool {
    let listing = json!({
        "name": name,
        "inputSchema": {"type": "object", "properties": properties, "$schema": "http://json-schema.org/draft-07/schema#"},
        "annotations": annotations,
    });
    Tool::from_listing(&to_raw_value(&listing).unwrap()).unwrap()
}

#[track_caller]
fn check(access: &str, tool: &Tool, arguments: &Value, passes: bool) {
    let params = json!({"name": tool.name(), "arguments": arguments});
    let verdict = Yard::new(access).check("tools/call", &params, Some(tool)).unwrap();
    assert_eq!(verdict.refused().is_none(), passes, "{params} in {access}");
}

#[test]
fn the_reference_file_server() {
    let read_only = json!({"readOnlyHint": true});
    let read = tool("read_text_file", &json!({"path": {"type": "string"}, "tail": {"type": "number"}}), &read_only);
    let many = tool(
        "read_multiple_files",
        &json!({"paths": {"type": "array", "items": {"type": "string"}, "description": "Array of file paths to read."}}),
        &read_only,
    );
    let write = tool(
        "write_file",
        &json!({"path": {"type": "string"}, "content": {"type": "string"}}),
        &json!({"readOnlyHint": false, "idempotentHint": true, "destructiveHint": true}),
    );
    let edit = tool(
        "edit_file",
        &json!({
            "path": {"type": "string"},
            "edits": {"type": "array", "items": {"type": "object", "properties": {
                "oldText": {"type": "string", "description": "Text to search for - must match exactly"},
                "newText": {"type": "string", "description": "Text to replace with"},
            }}},
            "dryRun": {"type": "boolean"},
        }),
        &json!({"readOnlyHint": false, "idempotentHint": false, "destructiveHint": true}),
    );
    let search = tool(
        "search_files",
        &json!({"path": {"type": "string"}, "pattern": {"type": "string"}, "excludePatterns": {"type": "array", "items": {"type": "string"}}}),
        &read_only,
    );
    let move_file = tool(
        "move_file",
        &json!({"source": {"type": "string"}, "destination": {"type": "string"}}),
        &json!({"readOnlyHint": false, "destructiveHint": false}),
    );
    for access in ["rw", "ro"] {
        let writable = access == "rw";
        check(access, &read, &json!({"path": "{T}/my root/a/in.txt", "tail": 3}), true);
        check(access, &read, &json!({"path": "{T}/outside/secret.txt"}), false);
        check(access, &many, &json!({"paths": ["a/in.txt", "{T}/my root/b"]}), true);
        check(access, &many, &json!({"paths": ["a/in.txt", "{T}/outside/b"]}), false);
        check(access, &write, &json!({"path": "new.txt", "content": "/etc/passwd"}), writable);
        check(access, &edit, &json!({"path": "a/in.txt", "edits": [{"oldText": "/a", "newText": "../b"}]}), writable);
        check(access, &search, &json!({"path": ".", "pattern": "**/*.rs", "excludePatterns": ["/target/**"]}), true);
        check(access, &search, &json!({"path": "..", "pattern": "*"}), false);
        check(access, &move_file, &json!({"source": "a/in.txt", "destination": "b.txt"}), writable);
        check(access, &move_file, &json!({"source": "a/in.txt", "destination": "../b.txt"}), false);
    }
    check("rw-nodelete", &write, &json!({"path": "new.txt", "content": ""}), true);
    check("rw-nodelete", &move_file, &json!({"source": "a/in.txt", "destination": "b.txt"}), false);
}

#[test]
fn the_git_server() {
    let repository = json!({"title": "Repo Path", "type": "string"});
    let diff = tool(
        "git_diff",
        &json!({"repo_path": repository, "target": {"title": "Target", "type": "string"}}),
        &json!({"readOnlyHint": true}),
    );
    let commit = tool(
        "git_commit",
        &json!({"repo_path": repository, "message": {"title": "Message", "type": "string"}}),
        &json!({}),
    );
    let log = tool(
        "git_log",
        &json!({"repo_path": repository, "start_timestamp": {"anyOf": [{"type": "string"}, {"type": "null"}], "description": "Start timestamp. Accepts: ISO 8601, '2 weeks ago', 'yesterday'"}}),
        &json!({"readOnlyHint": true}),
    );
    check("ro", &diff, &json!({"repo_path": "{T}/my root", "target": "origin/main..feature/x"}), true);
    check("ro", &diff, &json!({"repo_path": "{T}/my root", "target": "HEAD~2"}), true);
    check("ro", &log, &json!({"repo_path": "{T}/my root", "start_timestamp": "2024-01-15T14:30:25"}), true);
    check("rw", &commit, &json!({"repo_path": "{T}/my root", "message": "/ fix: a/b\n\n../c"}), true);
    check("ro", &commit, &json!({"repo_path": "{T}/my root", "message": "x"}), false);
    check("rw", &commit, &json!({"repo_path": "{T}/outside", "message": "x"}), false);
}

#[test]
fn servers_without_files() {
    let fetch = tool(
        "fetch",
        &json!({"url": {"description": "URL to fetch", "format": "uri", "minLength": 1, "type": "string"}, "raw": {"type": "boolean"}}),
        &json!({}),
    );
    check("ro", &fetch, &json!({"url": "https://example.org/a/b.html?x=/y#/z", "raw": false}), true);
    check("ro", &fetch, &json!({"url": "file:///etc/passwd"}), false);
    let time = tool(
        "convert_time",
        &json!({"source_timezone": {"type": "string"}, "time": {"type": "string"}, "target_timezone": {"type": "string"}}),
        &json!({}),
    );
    check(
        "rw",
        &time,
        &json!({"source_timezone": "Europe/Berlin", "time": "16:30", "target_timezone": "America/New_York"}),
        true,
    );
    let memory = tool("create_entities", &json!({"entities": {"type": "array"}}), &json!({}));
    check(
        "rw",
        &memory,
        &json!({"entities": [{"name": "A/B", "entityType": "t", "observations": ["knows ./x\nand /y", "uses ~5 GB"]}]}),
        true,
    );
    let echo = tool("echo", &json!({"message": {"type": "string", "description": "Message to echo"}}), &json!({}));
    check("rw", &echo, &json!({"message": "/etc/passwd"}), true);
}
