//! `list_directory`, `list_directory_with_sizes`, `directory_tree`, `search_files`.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;

use serde_json::{Value, json};

use crate::stage::Stage;

/// Directories, dot files, ignored files, links out and in, a name that looks like two lines, and one that is not UTF-8.
fn stage() -> Stage {
    let stage = Stage::new();
    stage.file("root/b.txt", "1234567");
    stage.file("root/.gitignore", "ignored\n");
    stage.file("root/ignored/x.txt", "");
    stage.file("root/a/deep/c.txt", vec![0; 1536]);
    stage.file("root/a/two\n[DIR] lines", "");
    stage.file("root/.ssh/id", "key");
    stage.directory("root/empty");
    stage.link("root/out", stage.path("outside"));
    stage.link("root/in", "a");
    fs::write(stage.path("root/a").join(OsStr::from_bytes(b"\xff.txt")), "").unwrap();
    stage
}

#[tokio::test]
async fn a_directory_is_listed() {
    let stage = stage();
    let mut client = stage.connect(&["root"]).await;
    let listed = client.says("list_directory", json!({"path": "."})).await;
    let expect = "[FILE] .gitignore\n[DIR] a\n[FILE] b.txt\n[DIR] empty\n[DIR] ignored\n[FILE] in\n[FILE] out";
    assert_eq!(listed, expect);
    assert_eq!(client.says("list_directory", json!({"path": "empty"})).await, "");
    let listed = client.says("list_directory", json!({"path": "in"})).await;
    assert_eq!(listed, "[DIR] deep\n[FILE] two\\n[DIR] lines\n[FILE] \\xff.txt");
    let sentence = client.fails("list_directory", json!({"path": "b.txt"})).await;
    assert!(sentence.contains("is not a directory"), "{sentence}");
}

#[tokio::test]
async fn a_directory_is_listed_with_sizes() {
    let stage = stage();
    let mut client = stage.connect(&["root"]).await;
    let listed = client.says("list_directory_with_sizes", json!({"path": "a/deep"})).await;
    let expect =
        format!("[FILE] {:30} {:>10}\n\nTotal: 1 files, 0 directories\nCombined size: 1.50 KB", "c.txt", "1.50 KB");
    assert_eq!(listed, expect);
    let listed = client.says("list_directory_with_sizes", json!({"path": "."})).await;
    let lines: Vec<&str> = listed.lines().collect();
    assert_eq!(lines[1], format!("[DIR] {:30} ", "a"));
    assert_eq!(lines[2], format!("[FILE] {:30} {:>10}", "b.txt", "7 B"));
    // A link has its own size: its target may be outside.
    assert_eq!(lines[5], format!("[FILE] {:30} {:>10}", "in", "1 B"));
    assert_eq!(lines[8], "Total: 4 files, 3 directories");
    let listed = client.says("list_directory_with_sizes", json!({"path": ".", "sortBy": "size"})).await;
    let names: Vec<&str> = listed.lines().take(7).map(|line| line.split_whitespace().nth(1).unwrap()).collect();
    assert_eq!(names, ["out", ".gitignore", "b.txt", "in", "a", "empty", "ignored"]);
    let empty = client.says("list_directory_with_sizes", json!({"path": "empty"})).await;
    assert_eq!(empty, "\nTotal: 0 files, 0 directories\nCombined size: 0 B");
    let sentence = client.fails("list_directory_with_sizes", json!({"path": ".", "sortBy": "colour"})).await;
    assert!(sentence.contains("expected `name` or `size`"), "{sentence}");
}

/// The paths in a tree; directories end in a slash.
fn paths(tree: &Value, above: &str, into: &mut Vec<String>) {
    for entry in tree.as_array().unwrap() {
        let name = format!("{above}{}", entry["name"].as_str().unwrap());
        match entry["type"].as_str().unwrap() {
            "directory" => {
                let name = name + "/";
                into.push(name.clone());
                paths(&entry["children"], &name, into);
            }
            kind => {
                assert_eq!(kind, "file");
                assert!(entry.get("children").is_none());
                into.push(name);
            }
        }
    }
}

#[tokio::test]
async fn a_tree_shows_everything_below() {
    let stage = stage();
    let mut client = stage.connect(&["root"]).await;
    let all = [
        ".gitignore",
        "a/",
        "a/deep/",
        "a/deep/c.txt",
        "a/two\n[DIR] lines",
        "a/\\xff.txt",
        "b.txt",
        "empty/",
        "ignored/",
        "ignored/x.txt",
        "in",
        "out",
    ];
    let without = |gone: &[&str]| -> Vec<&str> { all.into_iter().filter(|path| !gone.contains(path)).collect() };
    let cases = [
        (json!([]), without(&[])),
        (json!(["deep"]), without(&["a/deep/", "a/deep/c.txt"])),
        (json!(["*.txt"]), without(&["b.txt"])),
        (json!(["**/*.txt"]), without(&["a/deep/c.txt", "a/\\xff.txt", "b.txt", "ignored/x.txt"])),
        (
            json!(["a/**", "x.txt"]),
            without(&["a/deep/", "a/deep/c.txt", "a/two\n[DIR] lines", "a/\\xff.txt", "ignored/x.txt"]),
        ),
        (json!(["a/deep"]), without(&["a/deep/", "a/deep/c.txt"])),
    ];
    for (exclude, expect) in cases {
        let text = client.says("directory_tree", json!({"path": ".", "excludePatterns": exclude})).await;
        let mut found = Vec::new();
        paths(&serde_json::from_str(&text).unwrap(), "", &mut found);
        assert_eq!(found, expect, "{exclude}");
    }
    let text = client.says("directory_tree", json!({"path": "a/deep"})).await;
    assert_eq!(text, "[\n  {\n    \"name\": \"c.txt\",\n    \"type\": \"file\"\n  }\n]");
    assert_eq!(client.says("directory_tree", json!({"path": "empty"})).await, "[]");
    let sentence = client.fails("directory_tree", json!({"path": ".", "excludePatterns": ["["]})).await;
    assert!(sentence.contains("`[` is not a valid pattern"), "{sentence}");
    let sentence = client.fails("directory_tree", json!({"path": "b.txt"})).await;
    assert!(sentence.contains("is not a directory"), "{sentence}");
}

#[tokio::test]
async fn files_are_found_by_name() {
    let stage = stage();
    let mut client = stage.connect(&["root"]).await;
    let cases: [(&str, Value, &[&str]); 8] = [
        ("*.txt", json!([]), &["b.txt"]),
        ("**/*.txt", json!([]), &["a/deep/c.txt", "a/\\xff.txt", "b.txt", "ignored/x.txt"]),
        ("**/*.txt", json!(["a", "ignored/**"]), &["b.txt"]),
        ("**/d*", json!([]), &["a/deep"]),
        ("**", json!(["a", "ignored"]), &[".gitignore", "b.txt", "empty", "in", "out"]),
        (".git*", json!([]), &[".gitignore"]),
        ("**/id", json!([]), &[]),
        ("**/secret.txt", json!([]), &[]),
    ];
    for (pattern, exclude, expect) in cases {
        let arguments = json!({"path": stage.name("root"), "pattern": pattern, "excludePatterns": exclude});
        let text = client.says("search_files", arguments).await;
        let expect: Vec<String> = expect.iter().map(|path| stage.name(&format!("root/{path}"))).collect();
        let expect = if expect.is_empty() { "No matches found".to_owned() } else { expect.join("\n") };
        assert_eq!(text, expect, "{pattern}");
    }
    let sentence = client.fails("search_files", json!({"path": ".", "pattern": "{a"})).await;
    assert!(sentence.contains("`{a` is not a valid pattern"), "{sentence}");
}

#[tokio::test]
async fn too_many_matches_are_cut_with_a_note() {
    let stage = Stage::new();
    for number in 0..10_001 {
        stage.file(&format!("root/many/{number}"), "");
    }
    let mut client = stage.connect(&["root"]).await;
    let answered = client.result("search_files", json!({"path": ".", "pattern": "many/*"})).await;
    assert_eq!(answered.text().lines().count(), 10_000);
    let note = answered["content"][1]["text"].as_str().unwrap();
    assert!(note.contains("showing the first 10000 matches; there are more"), "{note}");
    assert_eq!(answered.data()["note"], note);
    let answered = client.result("search_files", json!({"path": ".", "pattern": "many/*1"})).await;
    assert!(answered.data().get("note").is_none());
}
