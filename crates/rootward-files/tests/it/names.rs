//! Names that are not UTF-8: tools accept them as lists show them, and check the file that they name.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::stage::Stage;

impl Stage {
    fn bytes(&self, below: &[u8]) -> PathBuf {
        self.path("").join(OsStr::from_bytes(below))
    }
}

#[tokio::test]
async fn a_name_that_is_not_utf8_is_given_as_it_is_shown() {
    let stage = Stage::new();
    fs::create_dir(stage.bytes(b"root/d\xff")).unwrap();
    fs::write(stage.bytes(b"root/d\xff/caf\xe9.txt"), "coffee\n").unwrap();
    fs::write(stage.bytes(b"root/d\xff/\\xe9\n\xfe"), "odd\n").unwrap();
    let mut client = stage.connect(&["root"]).await;
    let listed = client.says("list_directory", json!({"path": "d\\xff"})).await;
    let shown = [r"\x5cxe9\x0a\xfe", r"caf\xe9.txt"];
    assert_eq!(listed, format!("[FILE] {}\n[FILE] {}", shown[0], shown[1]));
    for (name, text) in shown.iter().zip(["odd\n", "coffee\n"]) {
        let path = format!("d\\xff/{name}");
        for path in [path.clone(), format!("./{path}"), stage.name("root/") + &path] {
            assert_eq!(client.says("read_text_file", json!({"path": path})).await, text, "{path}");
        }
        let several = client.says("read_multiple_files", json!({"paths": [path]})).await;
        assert_eq!(several, format!("{path}:\n{text}\n"));
        let info = client.result("get_file_info", json!({"path": path})).await;
        assert_eq!(info.data()["size"], text.len());
        let found = client.result("search_content", json!({"pattern": "o", "path": path})).await;
        assert_eq!(found.data()["matches"][0]["path"], stage.name("root/") + &path);
    }
    // Tools accept the names that other tools show.
    let found = client.says("search_files", json!({"path": ".", "pattern": "**"})).await;
    for path in found.lines() {
        client.says("get_file_info", json!({"path": path})).await;
    }
    let tree: Value = serde_json::from_str(&client.says("directory_tree", json!({"path": "."})).await).unwrap();
    assert_eq!((&tree[0]["name"], &tree[0]["children"][0]["name"]), (&json!("d\\xff"), &json!(shown[0])));
    // The file can be edited, moved and removed, and new files can be created beside it.
    let path = r"d\xff/caf\xe9.txt";
    let edits = json!([{"oldText": "coffee", "newText": "tea"}]);
    client.says("edit_file", json!({"path": path, "edits": edits})).await;
    client.says("append_file", json!({"path": path, "content": "milk\n"})).await;
    assert_eq!(fs::read_to_string(stage.bytes(b"root/d\xff/caf\xe9.txt")).unwrap(), "tea\nmilk\n");
    client.says("copy_file", json!({"source": path, "destination": "d\\xff/copy"})).await;
    client.says("create_directory", json!({"path": "d\\xff/in/side/"})).await;
    client.says("move_file", json!({"source": path, "destination": "d\\xff/in/moved"})).await;
    client.says("delete_file", json!({"path": r"d\xff/\x5cxe9\x0a\xfe"})).await;
    assert_eq!(client.says("list_directory", json!({"path": "d\\xff"})).await, "[FILE] copy\n[DIR] in");
    assert_eq!(stage.read_bytes(b"root/d\xff/in/moved"), "tea\nmilk\n");
    assert_eq!(fs::read_dir(stage.path("root")).unwrap().count(), 1);
}

impl Stage {
    fn read_bytes(&self, below: &[u8]) -> String {
        fs::read_to_string(self.bytes(below)).unwrap()
    }
}

#[tokio::test]
async fn a_literal_name_wins_over_a_decoded_one() {
    let stage = Stage::new();
    stage.file(r"root/a\xff", "literal");
    fs::write(stage.bytes(b"root/a\xff"), "bytes").unwrap();
    let mut client = stage.connect(&["root"]).await;
    let read = |path: &str| json!({"path": path});
    // Each has its own displayed form. A name that exists literally means that file.
    let listed = client.says("list_directory", read(".")).await;
    assert_eq!(listed, "[FILE] a\\x5cxff\n[FILE] a\\xff");
    assert_eq!(client.says("read_text_file", read(r"a\x5cxff")).await, "literal");
    assert_eq!(client.says("read_text_file", read(r"a\xff")).await, "literal");
    fs::remove_file(stage.path(r"root/a\xff")).unwrap();
    assert_eq!(client.says("read_text_file", read(r"a\xff")).await, "bytes");
    // A new file gets the name as given.
    client.says("write_file", json!({"path": r"new\xff", "content": "new"})).await;
    client.says("create_directory", json!({"path": r"c\xff/d\xff"})).await;
    assert_eq!(stage.read(r"root/new\xff"), "new");
    assert!(stage.path(r"root/c\xff/d\xff").is_dir());
    assert_eq!(client.says("read_text_file", read(r"new\xff")).await, "new");
}

#[tokio::test]
async fn a_name_that_is_not_utf8_is_checked_as_the_file_that_it_names() {
    let stage = Stage::new();
    let secret = stage.path("outside/secret.txt");
    std::os::unix::fs::symlink(&secret, stage.bytes(b"root/out\xff")).unwrap();
    std::os::unix::fs::symlink(stage.path("outside"), stage.bytes(b"root/d\xff")).unwrap();
    fs::create_dir(stage.bytes(b"root/n\xff")).unwrap();
    fs::create_dir(stage.bytes(b"root/n\xff/.ssh")).unwrap();
    fs::write(stage.bytes(b"root/n\xff/.ssh/id"), "SECRET").unwrap();
    fs::write(stage.bytes(b"outside/s\xff"), "SECRET").unwrap();
    let mut client = stage.connect(&["root"]).await;
    for (path, code) in [
        (r"out\xff", "outside_roots"),
        (r"d\xff/secret.txt", "outside_roots"),
        (r"d\xff/new", "outside_roots"),
        (r"d\xff/s\xff", "outside_roots"),
        (r"n\xff/.ssh/id", "restricted"),
        // Taken literally, a component of this path does not exist.
        (r"n\xff/../../outside/s\xff", "invalid_path"),
        (r"../outside/s\xff", "outside_roots"),
    ] {
        for (tool, arguments) in [
            ("read_text_file", json!({"path": path})),
            ("write_file", json!({"path": path, "content": "PLANTED"})),
            ("append_file", json!({"path": path, "content": "PLANTED"})),
            ("get_file_info", json!({"path": path})),
            ("search_content", json!({"path": path, "pattern": "."})),
        ] {
            assert_eq!(client.why(tool, arguments).await, code, "{tool} {path}");
        }
        let several = client.says("read_multiple_files", json!({"paths": [path]})).await;
        assert!(several.contains(": Error - ") && !several.contains("SECRET"), "{several}");
        let told = client.result("path_in_roots", json!({"path": path})).await;
        assert_eq!((&told.data()["inRoots"], &told.data()["reason"]), (&json!(false), &json!(code)), "{path}");
    }
    // Moving or removing a link acts on the link, not on its target.
    client.says("delete_file", json!({"path": r"out\xff"})).await;
    assert_eq!(fs::read_to_string(secret).unwrap(), "SECRET");
    assert_eq!(fs::read_dir(stage.path("outside")).unwrap().count(), 2);
}

#[tokio::test]
async fn escaped_names_do_not_bypass_the_checks() {
    let stage = Stage::new();
    stage.file("root/in/f", "f");
    stage.file("root/.ssh/id", "SECRET");
    fs::write(stage.bytes(b"root/in/\xff"), "bytes").unwrap();
    let mut client = stage.connect(&["root"]).await;
    // A careless decoder would turn each of these into a path outside, to a closed place, or to another file.
    for path in [
        r"\x2e\x2e/outside/secret.txt",
        r"\x2e\x2e\x2foutside\x2fsecret.txt",
        r"in/\xff\x2f..\x2f..\x2f..\x2foutside\x2fsecret.txt",
        r"in\x2f..\x2f..\x2foutside\x2fsecret.txt",
        r"\x2e\x2e\xff/../../outside/secret.txt",
        r"\x2essh/id",
        r".ss\x68/id",
        r"\x2e\x73\x73\x68\x2fid",
        r"in/f\x00",
        r"in/\xff\x00",
        r"\x2fetc\x2fpasswd",
        r"\x7e/secret.txt",
        r"in/\x66",
        r"in/\xFF",
        r"in/\\xff",
        r"in/\xff\x2f",
        r"in/.\x2f\xff",
    ] {
        for tool in ["read_text_file", "read_media_file", "get_file_info", "list_directory"] {
            let answered = client.result(tool, json!({"path": path})).await;
            assert_eq!(answered["isError"], true, "{tool} {path}: {answered:?}");
            assert!(!answered.to_string().contains("SECRET"), "{tool} {path}");
        }
    }
    // A literal NUL is refused as usual.
    assert_eq!(client.why("read_text_file", json!({"path": "in/\\xff\u{0}"})).await, "invalid_path");
    // Writing to them creates files with these literal names in the root.
    for path in [r"\x2e\x2e", r"a\x2fb", r"\x2essh", r"n\x00"] {
        client.says("write_file", json!({"path": path, "content": "x"})).await;
        assert_eq!(stage.read(&format!("root/{path}")), "x");
    }
    assert_eq!(stage.names("outside"), ["secret.txt"]);
    assert_eq!(stage.names("root/.ssh"), ["id"]);
}
