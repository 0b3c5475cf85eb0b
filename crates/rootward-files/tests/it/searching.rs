//! `search_content`: what it finds, what it skips, and its limits.

use rootward_testkit::client::DuplexClient;
use serde_json::{Value, json};

use crate::stage::Stage;

/// Searches, and removes the root's path from the text.
async fn search(client: &mut DuplexClient, stage: &Stage, arguments: Value) -> String {
    client.says("search_content", arguments).await.replace(&stage.name("root/"), "")
}

#[tokio::test]
async fn lines_are_found_by_path_and_number() {
    let stage = Stage::new();
    stage.file("root/b/two.txt", "one\ntwo\nthree\nfour\nfive\nsix\ntwo again\n");
    stage.file("root/a.rs", "fn two() {}\r\nlast two");
    stage.file("root/b.rs", "a [two]");
    stage.file("root/none.txt", "nothing");
    let mut client = stage.connect(&["root"]).await;
    let cases = [
        (
            json!({"pattern": "two"}),
            "a.rs\n1:fn two() {}\n2:last two\n\nb/two.txt\n2:two\n7:two again\n\nb.rs\n1:a [two]",
        ),
        (json!({"pattern": "two", "path": "b"}), "b/two.txt\n2:two\n7:two again"),
        (json!({"pattern": "two", "path": "b/two.txt"}), "b/two.txt\n2:two\n7:two again"),
        // `$` matches before `\n` and before `\r\n`.
        (json!({"pattern": r"\}$|two$"}), "a.rs\n1:fn two() {}\n2:last two\n\nb/two.txt\n2:two"),
        (json!({"pattern": "[two]", "literal": true}), "b.rs\n1:a [two]"),
        (json!({"pattern": "LAST", "ignore_case": true}), "a.rs\n2:last two"),
        (json!({"pattern": "LAST"}), "No matches found"),
        (json!({"pattern": "two", "glob": "*.rs"}), "a.rs\n1:fn two() {}\n2:last two\n\nb.rs\n1:a [two]"),
        (json!({"pattern": "two", "glob": ["*.rs", "!b.*"]}), "a.rs\n1:fn two() {}\n2:last two"),
        (json!({"pattern": "two", "glob": "!*.rs"}), "b/two.txt\n2:two\n7:two again"),
        (json!({"pattern": "two", "glob": "b/*"}), "b/two.txt\n2:two\n7:two again"),
        (json!({"pattern": "^two$", "context": 1}), "b/two.txt\n1-one\n2:two\n3-three"),
        (json!({"pattern": "^two", "context": 1}), "b/two.txt\n1-one\n2:two\n3-three\n--\n6-six\n7:two again"),
        (
            json!({"pattern": "two|four", "context": 2, "path": "b"}),
            "b/two.txt\n1-one\n2:two\n3-three\n4:four\n5-five\n6-six\n7:two again",
        ),
    ];
    for (arguments, expect) in cases {
        assert_eq!(search(&mut client, &stage, arguments.clone()).await, expect, "{arguments}");
    }
}

#[tokio::test]
async fn the_data_has_the_same_matches() {
    let stage = Stage::new();
    stage.file("root/a.txt", "one\ntwo\nthree\nfour\ntwo");
    let mut client = stage.connect(&["root"]).await;
    let path = stage.name("root/a.txt");
    let plain = client.result("search_content", json!({"pattern": "two"})).await;
    let expect = json!({
        "matches": [{"path": path, "line": 2, "text": "two"}, {"path": path, "line": 5, "text": "two"}],
        "truncated": false,
        "files": 1,
    });
    assert_eq!(plain.data(), &expect);
    let around = client.result("search_content", json!({"pattern": "two", "context": 1})).await;
    let expect = json!([
        {"path": path, "line": 2, "text": "two", "before": ["one"], "after": ["three"]},
        {"path": path, "line": 5, "text": "two", "before": ["four"]},
    ]);
    assert_eq!(around.data()["matches"], expect);
}

#[tokio::test]
async fn ignored_hidden_closed_and_binary_files_are_skipped() {
    let stage = Stage::new();
    stage.file("root/.gitignore", "/target\n*.log\n");
    for name in ["target/x", "a.log", ".hidden", ".config/x", ".git/config", ".ssh/id_ed25519", "sub/.ssh/x", "seen"] {
        stage.file(&format!("root/{name}"), "needle");
    }
    stage.file("root/binary", b"needle\n\0");
    stage.file(
        "root/wide",
        [b"\xff\xfe".to_vec(), "a needle".encode_utf16().flat_map(u16::to_le_bytes).collect()].concat(),
    );
    stage.file("root/empty", "");
    stage.file("root/broken", b"\xff needle\n");
    stage.link("root/link", stage.path("outside/secret.txt"));
    stage.link("root/directory", stage.path("outside"));
    stage.file("root/new\nline", "a\nneedle");
    stage.fifo("root/fifo");
    stage.directory("root/bare");
    let mut client = stage.connect(&["root"]).await;
    let usual = search(&mut client, &stage, json!({"pattern": "needle|SECRET"})).await;
    assert_eq!(usual, "broken\n1:\u{fffd} needle\n\nnew\\nline\n2:needle\n\nseen\n1:needle\n\nwide\n1:a needle");
    let hidden = search(&mut client, &stage, json!({"pattern": "^needle", "hidden": true})).await;
    assert_eq!(hidden, ".config/x\n1:needle\n\n.hidden\n1:needle\n\nnew\\nline\n2:needle\n\nseen\n1:needle");
    // A file or directory that `path` names is searched, unless it is closed.
    assert_eq!(search(&mut client, &stage, json!({"pattern": "n", "path": "target"})).await, "target/x\n1:needle");
    assert_eq!(search(&mut client, &stage, json!({"pattern": "n", "path": ".hidden"})).await, ".hidden\n1:needle");
    let binary = search(&mut client, &stage, json!({"pattern": "absent", "path": "binary"})).await;
    assert_eq!(binary, "No matches found\n\nThe file is binary and was not searched to the end");
    for (path, code) in [
        (".ssh", "restricted"),
        ("link", "outside_roots"),
        ("directory", "outside_roots"),
        ("../outside", "outside_roots"),
        ("fifo", "special_file"),
    ] {
        let refused = client.result("search_content", json!({"pattern": "x", "path": path})).await;
        assert_eq!(refused.code(), Some(code), "{path}: {refused:?}");
    }
}

/// A project's secrets: no tool reads, lists, finds or changes them, unless the operator names one as a root.
#[tokio::test]
async fn guarded_files_are_closed_to_every_tool() {
    let stage = Stage::new();
    let guarded = [".env", ".env.local", "sub/.env", "tls.pem", "sub/id_rsa", "terraform.tfstate"];
    let open = [".env.example", "sub/id_rsa.pub", "seen"];
    for name in guarded.iter().chain(&open) {
        stage.file(&format!("root/{name}"), "needle");
    }
    let mut client = stage.connect(&["root"]).await;
    let found = search(&mut client, &stage, json!({"pattern": "needle", "hidden": true})).await;
    assert_eq!(found, ".env.example\n1:needle\n\nseen\n1:needle\n\nsub/id_rsa.pub\n1:needle");
    let listed = client.says("list_directory", json!({"path": "."})).await;
    assert_eq!(listed, "[FILE] .env.example\n[FILE] seen\n[DIR] sub");
    let tree = client.says("directory_tree", json!({"path": "."})).await;
    let names = client.says("search_files", json!({"path": ".", "pattern": "**"})).await;
    for name in guarded {
        let last = name.rsplit('/').next().unwrap();
        assert!(!tree.contains(&format!("\"{last}\"")), "{name} in {tree}");
        assert!(!names.lines().any(|line| line.ends_with(&format!("/{last}"))), "{name} in {names}");
        for (tool, arguments) in [
            ("read_text_file", json!({"path": name})),
            ("get_file_info", json!({"path": name})),
            ("search_content", json!({"pattern": "n", "path": name})),
            ("write_file", json!({"path": name, "content": "x"})),
            ("append_file", json!({"path": name, "content": "x"})),
            ("edit_file", json!({"path": name, "edits": [{"oldText": "needle", "newText": "x"}]})),
            ("move_file", json!({"source": name, "destination": "moved"})),
            ("copy_file", json!({"source": name, "destination": "copied"})),
            ("copy_file", json!({"source": "seen", "destination": format!("{name}.pem")})),
            ("delete_file", json!({"path": name})),
        ] {
            let refused = client.result(tool, arguments.clone()).await;
            assert_eq!(refused.code(), Some("restricted"), "{tool} {arguments}: {refused:?}");
        }
        assert_eq!(stage.read(&format!("root/{name}")), "needle");
    }
    let mut client = stage.connect(&["root", "root/.env"]).await;
    assert_eq!(client.says("read_text_file", json!({"path": ".env"})).await, "needle");
    let other = client.result("read_text_file", json!({"path": ".env.local"})).await;
    assert_eq!(other.code(), Some("restricted"));
}

#[tokio::test]
async fn a_search_without_a_path_begins_at_the_first_root() {
    let stage = Stage::new();
    stage.file("root/a", "needle");
    stage.file("other/b", "needle");
    stage.file("single", "needle");
    let cases: [(&[&str], &str); 4] = [
        (&["root", "other"], "root/a"),
        (&["other", "root"], "other/b"),
        // Relative paths start at the first directory, even after a root that is a file.
        (&["single", "root"], "root/a"),
        (&["single"], "single"),
    ];
    for (roots, expect) in cases {
        let mut client = stage.connect(roots).await;
        let text = client.says("search_content", json!({"pattern": "needle"})).await;
        assert_eq!(text, format!("{}\n1:needle", stage.name(expect)));
    }
    let mut client = stage.connect(&[]).await;
    let refused = client.result("search_content", json!({"pattern": "needle"})).await;
    assert_eq!(refused.code(), Some("no_roots"));
}

#[tokio::test]
async fn at_a_limit_the_result_says_how_to_continue() {
    let stage = Stage::new();
    for file in 0..20 {
        stage.file(&format!("root/{file}"), "needle\n".repeat(10));
    }
    let mut client = stage.connect(&["root"]).await;
    for (limit, more) in [(1, true), (7, true), (199, true), (200, false), (5000, false)] {
        let answered = client.result("search_content", json!({"pattern": "needle", "limit": limit})).await;
        assert_eq!(answered.data()["matches"].as_array().unwrap().len(), limit.min(200));
        assert_eq!(answered.data()["truncated"], more, "{limit}");
        assert_eq!(answered.text().contains(&format!("Stopped after {limit} matches")), more, "{limit}");
    }
    stage.file("root/long", format!("{}\n", "x".repeat(400)).repeat(2000));
    let answered = client.result("search_content", json!({"pattern": "x", "limit": 5000})).await;
    assert_eq!(answered.data()["truncated"], true);
    assert!(answered.text().contains("Stopped after 256 KiB"));
    for size in [answered.text().len(), answered.data().to_string().len()] {
        assert!((200 << 10..400 << 10).contains(&size), "{size}");
    }
}

#[tokio::test]
async fn long_lines_are_cut() {
    let stage = Stage::new();
    stage.file("root/long", format!("{}needle{}\n", "x".repeat(100_000), "y".repeat(100_000)));
    // The second line has no end and is longer than the limit.
    stage.file("root/longer", [b"needle\n".to_vec(), b"z".repeat(20 << 20), b"needle".to_vec()].concat());
    let mut client = stage.connect(&["root"]).await;
    let text = search(&mut client, &stage, json!({"pattern": "needle"})).await;
    let line = text.lines().nth(1).unwrap();
    assert!(line.starts_with("1:[…]xx") && line.contains("xneedley") && line.ends_with("yy[…]"), "{line}");
    assert!(text.ends_with("longer\n1:needle\n\nOne file or directory could not be read completely"), "{text}");
}

#[tokio::test]
async fn invalid_arguments_get_an_explanation() {
    let stage = Stage::new();
    stage.file("root/a", "x");
    let mut client = stage.connect(&["root"]).await;
    let cases = [
        (json!({}), "missing field `pattern`"),
        (json!({"pattern": "("}), "`literal` searches for it as plain text"),
        (json!({"pattern": "a\nb"}), "each line is searched by itself"),
        (json!({"pattern": r"a\nb"}), "cannot be searched for"),
        (json!({"pattern": r"\w{1000}{1000}"}), "cannot be searched for"),
        (json!({"pattern": "(".repeat(10_000)}), "cannot be searched for"),
        (json!({"pattern": "x".repeat(20_000)}), "longer than 16384 bytes"),
        (json!({"pattern": "x", "glob": "[a"}), "`glob` cannot be used"),
        (json!({"pattern": "x", "glob": 7}), "`glob` must be a string or a list of strings"),
        (json!({"pattern": "x", "glob": vec!["a"; 101]}), "too many globs in `glob`"),
        (json!({"pattern": "x", "limit": 0}), "`limit` is 0, but must be a positive integer"),
        (json!({"pattern": "x", "path": "absent"}), "does not exist"),
    ];
    for (arguments, words) in cases {
        let sentence = client.fails("search_content", arguments.clone()).await;
        assert!(sentence.contains(words), "{arguments}: {sentence}");
    }
    // Values above the maximum are reduced to it.
    let text = search(&mut client, &stage, json!({"pattern": "x", "limit": 1e300, "context": 1_000_000})).await;
    assert_eq!(text, "a\n1:x");
    let nothing = search(&mut client, &stage, json!({"pattern": "x", "glob": "*.rs"})).await;
    assert!(nothing.starts_with("No matches found\n\nNo file was searched"), "{nothing}");
}

#[tokio::test]
async fn a_cancelled_search_ends() {
    let stage = Stage::new();
    stage.file("root/big", "x\n".repeat(1 << 20));
    for link in 0..2000 {
        std::fs::hard_link(stage.path("root/big"), stage.path(&format!("root/{link}"))).unwrap();
    }
    let mut client = stage.connect(&["root"]).await;
    let call = json!({"name": "search_content", "arguments": {"pattern": "absent"}, "_meta": {"progressToken": "t"}});
    let id = client.begin("tools/call", call).await;
    let told = client.receive().await;
    assert_eq!((&told["method"], &told["params"]["progressToken"]), (&json!("notifications/progress"), &json!("t")));
    assert!(told["params"]["message"].as_str().unwrap().ends_with("files searched"), "{told}");
    client.notify("notifications/cancelled", json!({"requestId": id})).await;
    // The cancelled call gets no answer: the next message answers the next call.
    assert_eq!(search(&mut client, &stage, json!({"pattern": "y", "path": "0"})).await, "No matches found");
}
