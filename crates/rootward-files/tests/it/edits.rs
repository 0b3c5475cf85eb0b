//! `edit_file`: what it matches, what it returns, what it refuses.

use std::fs;

use serde_json::{Value, json};

use crate::stage::Stage;

fn edit(old: &str, new: &str) -> Value {
    json!({"oldText": old, "newText": new})
}

#[tokio::test]
async fn the_answer_is_a_diff_as_the_reference_gives_it() {
    let stage = Stage::new();
    stage.file("root/f", "1\n2\n3\n4\n5\n6\n7\n8\n");
    let mut client = stage.connect(&["root"]).await;
    let name = stage.name("root/f");
    let line = "=".repeat(67);
    let expect = format!(
        "```diff\nIndex: {name}\n{line}\n--- {name}\toriginal\n+++ {name}\tmodified\n@@ -2,7 +2,8 @@\n 2\n 3\n 4\n 5\n-6\n+six\n+\n 7\n 8\n```\n\n"
    );
    let edits = json!([edit("6", "six\n")]);
    let dry = client.result("edit_file", json!({"path": "f", "edits": edits, "dryRun": true})).await;
    assert_eq!((dry.text(), dry.data()), (expect.as_str(), &json!({"content": expect})));
    assert_eq!(stage.read("root/f"), "1\n2\n3\n4\n5\n6\n7\n8\n");
    assert_eq!(client.says("edit_file", json!({"path": "f", "edits": edits})).await, expect);
    assert_eq!(stage.read("root/f"), "1\n2\n3\n4\n5\nsix\n\n7\n8\n");
}

#[tokio::test]
async fn edits_are_made_in_order_all_or_none() {
    let stage = Stage::new();
    stage.file("root/f", "a\r\nb\r\nc\r\n");
    let mut client = stage.connect(&["root"]).await;
    let some = json!([edit("a", "x"), edit("x\nb", "y"), edit("missing", "z")]);
    let said = client.why("edit_file", json!({"path": "f", "edits": some})).await;
    assert!(
        said.starts_with("edit 3 of 3 cannot be made") && said.ends_with("`missing`. Nothing was changed"),
        "{said}"
    );
    assert_eq!(stage.read("root/f"), "a\r\nb\r\nc\r\n");
    let all = json!([edit("a", "x"), edit("x\nb", "y\nz\nw")]);
    client.says("edit_file", json!({"path": "f", "edits": all})).await;
    assert_eq!(stage.read("root/f"), "y\r\nz\r\nw\r\nc\r\n");
}

#[tokio::test]
async fn several_matches_are_reported() {
    let stage = Stage::new();
    stage.file("root/f", "x x x\n");
    let mut client = stage.connect(&["root"]).await;
    let said = client.says("edit_file", json!({"path": "f", "edits": [edit("x", "y")]})).await;
    assert!(
        said.ends_with(
            "```\n\nEdit 1 matched 3 places; the first was changed. Include more surrounding text to choose another match.\n"
        ),
        "{said}"
    );
    assert_eq!(stage.read("root/f"), "y x x\n");
}

#[tokio::test]
async fn a_refused_edit_changes_nothing() {
    let stage = Stage::new();
    stage.file("root/latin1", b"caf\xe9\n");
    stage.file("root/f", "text\n");
    stage.file("root/empty", "");
    fs::File::create(stage.path("root/huge")).unwrap().set_len(1 << 40).unwrap();
    fs::create_dir(stage.path("root/d")).unwrap();
    let mut client = stage.connect(&["root"]).await;
    let many: Vec<Value> = vec![edit("text", "text"); 1001];
    for (path, edits, says) in [
        ("latin1", json!([edit("caf", "tea")]), "is not UTF-8 text"),
        ("f", json!([edit("", "x")]), "its `oldText` is empty"),
        ("f", json!([edit("no", "x")]), "its `oldText` was not found"),
        ("f", json!(many), "1001 edits at once are too many"),
        ("f", json!([{"oldText": "text"}]), "invalid arguments: missing field `newText`"),
        ("empty", json!([edit("a", "b")]), "its `oldText` was not found"),
        ("huge", json!([edit("a", "b")]), "more than the 16777216 that are edited at once"),
        ("d", json!([edit("a", "b")]), "is a directory"),
        ("missing", json!([edit("a", "b")]), "does not exist"),
    ] {
        let said = client.why("edit_file", json!({"path": path, "edits": edits})).await;
        assert!(said.contains(says), "{path}: {said}");
    }
    assert_eq!(fs::read(stage.path("root/latin1")).unwrap(), b"caf\xe9\n");
    assert_eq!(stage.read("root/f"), "text\n");
}

/// A write creates a new inode, so the inode number shows whether anything was written.
#[tokio::test]
async fn nothing_is_written_if_nothing_changes() {
    use std::os::unix::fs::MetadataExt;
    let stage = Stage::new();
    stage.file("root/f", "same\n");
    let mut client = stage.connect(&["root"]).await;
    let object = || fs::metadata(stage.path("root/f")).unwrap().ino();
    let before = object();
    for arguments in [
        json!({"path": "f", "edits": []}),
        json!({"path": "f", "edits": [edit("same", "same")]}),
        json!({"path": "f", "edits": [edit("same", "other")], "dryRun": true}),
    ] {
        client.says("edit_file", arguments.clone()).await;
        assert_eq!(object(), before, "{arguments}");
    }
    client.says("edit_file", json!({"path": "f", "edits": [edit("same", "other")]})).await;
    assert_ne!(object(), before, "control");
}
