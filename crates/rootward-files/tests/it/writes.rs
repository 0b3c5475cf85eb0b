//! The tools that change files: what they do, and what they refuse.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::{Value, json};

use crate::stage::Stage;

fn stage() -> Stage {
    let stage = Stage::new();
    stage.file("root/a.txt", "a");
    stage.file("root/full/inner.txt", "inner");
    fs::create_dir(stage.path("root/empty")).unwrap();
    stage.file("root/.git/hooks/pre-commit", "hook");
    stage.file("read-only/kept.txt", "kept");
    stage.file("add/kept.txt", "kept");
    symlink(stage.path("outside/secret.txt"), stage.path("root/out")).unwrap();
    symlink(stage.path("outside"), stage.path("root/out-directory")).unwrap();
    symlink("a.txt", stage.path("root/in")).unwrap();
    mknodat(CWD, stage.path("root/fifo"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    stage
}

const ROOTS: [&str; 3] = ["root", "read-only:ro", "add:rw-nodelete"];

#[tokio::test]
async fn each_tool_works_and_its_answer_repeats_the_path() {
    let stage = stage();
    let mut client = stage.connect(&ROOTS).await;
    let absolute = stage.name("root/b.txt");
    for (tool, arguments, says) in [
        ("write_file", json!({"path": "new.txt", "content": "new"}), "Successfully wrote to new.txt"),
        (
            "write_file",
            json!({"path": "./full/../new.txt", "content": "again"}),
            "Successfully wrote to ./full/../new.txt",
        ),
        ("write_file", json!({"path": absolute, "content": ""}), &*format!("Successfully wrote to {absolute}")),
        ("write_file", json!({"path": "in", "content": "through"}), "Successfully wrote to in"),
        ("append_file", json!({"path": "new.txt", "content": "+\n"}), "Successfully appended to new.txt"),
        ("append_file", json!({"path": "fresh.txt", "content": "x"}), "Successfully appended to fresh.txt"),
        ("create_directory", json!({"path": "x/y/z"}), "Successfully created directory x/y/z"),
        ("create_directory", json!({"path": "x/y/z"}), "Successfully created directory x/y/z"),
        ("copy_file", json!({"source": "a.txt", "destination": "x/copy"}), "Successfully copied a.txt to x/copy"),
        ("move_file", json!({"source": "full", "destination": "x/moved"}), "Successfully moved full to x/moved"),
        ("move_file", json!({"source": "out", "destination": "x/out"}), "Successfully moved out to x/out"),
        ("delete_file", json!({"path": "x/out"}), "Successfully deleted x/out"),
        ("delete_file", json!({"path": "empty"}), "Successfully deleted empty"),
        ("delete_file", json!({"path": "in"}), "Successfully deleted in"),
        ("delete_file", json!({"path": "fifo"}), "Successfully deleted fifo"),
    ] {
        let result = client.result(tool, arguments.clone()).await;
        assert_eq!(result.text(), says, "{arguments}");
        assert_eq!(*result.data(), json!({"content": says}), "{arguments}");
    }
    let expect = [".git", "a.txt", "b.txt", "fresh.txt", "new.txt", "out-directory", "x"];
    assert_eq!(stage.names("root"), expect);
    assert_eq!(stage.names("root/x"), ["copy", "moved", "y"]);
    let read = |name: &str| stage.read(name);
    assert_eq!([read("root/new.txt"), read("root/a.txt"), read("root/x/copy")], ["again+\n", "through", "through"]);
    assert_eq!(read("outside/secret.txt"), "SECRET");
}

#[tokio::test]
async fn a_refused_call_changes_nothing() {
    let stage = stage();
    let mut client = stage.connect(&ROOTS).await;
    let (secret, outside) = (stage.name("outside/secret.txt"), stage.name("outside/new"));
    let (read_only, add) = (stage.name("read-only/kept.txt"), stage.name("add/kept.txt"));
    let root = stage.name("root");
    let write = |path: &str| json!({"path": path, "content": "EVIL"});
    let pair = |source: &str, destination: &str| json!({"source": source, "destination": destination});
    let hook = ".git/hooks/pre-commit";
    let cases: Vec<(&str, Value, &str)> = vec![
        ("write_file", write(&secret), "outside_roots"),
        ("write_file", write("../outside/new"), "outside_roots"),
        ("write_file", write("out"), "outside_roots"),
        ("write_file", write("out-directory/new"), "outside_roots"),
        ("write_file", write(hook), "restricted"),
        ("write_file", write(&read_only), "access_denied"),
        ("write_file", write("fifo"), "special_file"),
        ("append_file", write("out"), "outside_roots"),
        ("append_file", write(hook), "restricted"),
        ("append_file", write(&read_only), "access_denied"),
        ("append_file", write("fifo"), "special_file"),
        ("create_directory", json!({"path": outside}), "outside_roots"),
        ("create_directory", json!({"path": "out-directory/new"}), "outside_roots"),
        ("create_directory", json!({"path": ".git/hooks/new"}), "restricted"),
        ("copy_file", pair(&secret, "b"), "outside_roots"),
        ("copy_file", pair("out", "b"), "outside_roots"),
        ("copy_file", pair("a.txt", &outside), "outside_roots"),
        ("copy_file", pair("a.txt", ".git/hooks/new"), "restricted"),
        ("copy_file", pair("fifo", "b"), "special_file"),
        ("move_file", pair(&secret, "b"), "outside_roots"),
        ("move_file", pair("a.txt", &outside), "outside_roots"),
        ("move_file", pair(&read_only, "b"), "access_denied"),
        ("move_file", pair(&add, "b"), "access_denied"),
        ("move_file", pair(".git", "git"), "restricted"),
        ("move_file", pair(".", "b"), "invalid_path"),
        ("move_file", pair(&root, "b"), "access_denied"),
        ("delete_file", json!({"path": root}), "access_denied"),
        ("delete_file", json!({"path": secret}), "outside_roots"),
        ("delete_file", json!({"path": "out-directory/secret.txt"}), "outside_roots"),
        ("delete_file", json!({"path": hook}), "restricted"),
        ("delete_file", json!({"path": add}), "access_denied"),
        ("delete_file", json!({"path": read_only}), "access_denied"),
        ("delete_file", json!({"path": "."}), "invalid_path"),
        ("edit_file", json!({"path": "out", "edits": [{"oldText": "S", "newText": "E"}]}), "outside_roots"),
        ("edit_file", json!({"path": hook, "edits": [{"oldText": "h", "newText": "E"}]}), "restricted"),
        ("edit_file", json!({"path": read_only, "edits": [{"oldText": "k", "newText": "E"}]}), "access_denied"),
    ];
    let before = stage.names("root");
    for (tool, arguments, code) in cases {
        assert_eq!(client.why(tool, arguments.clone()).await, code, "{tool} {arguments}");
    }
    assert_eq!(stage.names("root"), before);
    assert_eq!(stage.names("outside"), ["secret.txt"]);
    let read = |name: &str| stage.read(name);
    assert_eq!(
        [read("outside/secret.txt"), read("read-only/kept.txt"), read("add/kept.txt")],
        ["SECRET", "kept", "kept"]
    );
    assert_eq!([read("root/a.txt"), read("root/.git/hooks/pre-commit")], ["a", "hook"]);
}

#[tokio::test]
async fn a_failed_call_says_what_to_do_instead() {
    let stage = stage();
    let mut client = stage.connect(&ROOTS).await;
    let write = |path: &str| json!({"path": path, "content": "x"});
    let pair = |source: &str, destination: &str| json!({"source": source, "destination": destination});
    for (tool, arguments, says) in [
        ("write_file", write("no/such/a.txt"), "does not exist; `create_directory` creates it"),
        ("write_file", write("full"), "is a directory, not a file"),
        ("write_file", write("new/"), "is a directory, not a file"),
        ("write_file", write("a.txt/b"), "is not a directory, or a parent is not"),
        ("append_file", write("no/a.txt"), "does not exist; `create_directory` creates it"),
        ("append_file", write("full"), "is a directory, not a file"),
        ("create_directory", json!({"path": "a.txt"}), "already exists and is not a directory"),
        ("create_directory", json!({"path": "a.txt/b"}), "is not a directory, or a parent is not"),
        ("copy_file", pair("a.txt", "in"), "already exists; choose another name"),
        ("copy_file", pair("a.txt", "out"), "already exists; choose another name"),
        ("copy_file", pair("a.txt", "no/b"), "does not exist; `create_directory` creates it"),
        ("copy_file", pair("full", "b"), "is a directory, and only files are copied"),
        ("copy_file", pair("missing", "b"), "does not exist; `list_directory`"),
        ("move_file", pair("a.txt", "full"), "already exists; choose another name"),
        ("move_file", pair("a.txt", "a.txt"), "already exists; choose another name"),
        ("move_file", pair("a.txt", "no/b"), "does not exist; `create_directory` creates it"),
        ("move_file", pair("missing", "b"), "does not exist; `list_directory`"),
        ("move_file", pair("full", "full/b"), "cannot be moved into itself"),
        ("delete_file", json!({"path": "full"}), "is not empty; delete what is in it first"),
        ("delete_file", json!({"path": "missing"}), "does not exist; `list_directory`"),
        ("delete_file", json!({}), "invalid arguments: missing field `path`"),
        ("write_file", json!({"path": "b"}), "invalid arguments: missing field `content`"),
    ] {
        let said = client.why(tool, arguments.clone()).await;
        assert!(said.contains(says), "{tool} {arguments}: {said}");
    }
    assert_eq!((stage.read("root/a.txt"), stage.read("root/full/inner.txt")), ("a".into(), "inner".into()));
}

#[tokio::test]
async fn writing_keeps_the_mode_and_leaves_nothing_else() {
    let stage = stage();
    let mut client = stage.connect(&ROOTS).await;
    let mode = |name: &str| fs::metadata(stage.path(name)).unwrap().permissions().mode() & 0o777;
    fs::set_permissions(stage.path("root/a.txt"), fs::Permissions::from_mode(0o751)).unwrap();
    let before = stage.names("root");
    let large = "line\r\n".repeat(1 << 16);
    client.says("write_file", json!({"path": "a.txt", "content": large})).await;
    assert_eq!((stage.read("root/a.txt") == large, mode("root/a.txt")), (true, 0o751));
    client.says("edit_file", json!({"path": "a.txt", "edits": [{"oldText": "line\n", "newText": "LINE\n"}]})).await;
    assert_eq!(mode("root/a.txt"), 0o751);
    assert_eq!(stage.names("root"), before);
    client.says("copy_file", json!({"source": "a.txt", "destination": "b.txt"})).await;
    assert_eq!(mode("root/b.txt") & 0o700, 0o700);
}

/// Numbered lines, followed by enough text that an edit takes a while.
fn lines(before: &str, after: &str) -> String {
    let lines = (0..COUNT).fold(String::new(), |text, number| text + before + &number.to_string() + after + "\n");
    lines + &"and more\n".repeat(1 << 15)
}

const COUNT: usize = 12;

/// The client sends all calls without waiting for answers, and none is lost.
#[tokio::test]
async fn concurrent_calls_all_take_effect() {
    let stage = stage();
    stage.file("root/many.txt", lines("<", ">"));
    let mut client = stage.connect(&ROOTS).await;
    let mut ids = Vec::new();
    for number in 0..COUNT {
        let edit = json!({"oldText": format!("<{number}>"), "newText": format!("done {number}")});
        let edit = json!({"name": "edit_file", "arguments": {"path": "many.txt", "edits": [edit]}});
        ids.push(client.begin("tools/call", edit).await);
        let append = json!({"name": "append_file", "arguments": {"path": "log.txt", "content": format!("{number}\n")}});
        ids.push(client.begin("tools/call", append).await);
    }
    while !ids.is_empty() {
        let message = client.receive().await;
        assert_ne!(message["result"]["isError"], true, "{message}");
        ids.retain(|id| message["id"] != *id);
    }
    assert!(stage.read("root/many.txt") == lines("done ", ""), "an edit was lost");
    assert_eq!(stage.read("root/log.txt").lines().count(), COUNT);
}
