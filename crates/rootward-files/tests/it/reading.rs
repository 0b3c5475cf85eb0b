//! `read_text_file` and `read_file`: all kinds of files, whole and in part.

use serde_json::{Value, json};

use crate::stage::Stage;

#[tokio::test]
async fn a_file_is_read_as_it_is() {
    let stage = Stage::new();
    let cases: [(&str, &[u8], &str); 7] = [
        ("plain", b"one\ntwo\n", "one\ntwo\n"),
        ("empty", b"", ""),
        ("crlf", b"one\r\ntwo", "one\r\ntwo"),
        ("mark", b"\xef\xbb\xbfone", "\u{feff}one"),
        ("latin", b"k\xe4se", "k\u{fffd}se"),
        ("wide", b"\xff\xfeo\0n\0e\0", "one"),
        ("wide-big", b"\xfe\xff\0o\0n\0e", "one"),
    ];
    for (name, bytes, _) in cases {
        stage.file(&format!("root/{name}"), bytes);
    }
    let mut client = stage.connect(&["root"]).await;
    for (name, _, expect) in cases {
        for tool in ["read_text_file", "read_file"] {
            let answered = client.result(tool, json!({"path": name})).await;
            assert_eq!(answered.text(), expect, "{name}");
            assert_eq!(*answered.data(), json!({"content": expect}), "{name}");
        }
    }
    assert_eq!(client.says("read_text_file", json!({"path": stage.name("root/plain")})).await, "one\ntwo\n");
}

#[tokio::test]
async fn lines_are_counted() {
    let stage = Stage::new();
    let long = (1..=50_000).map(|line| format!("line {line}")).collect::<Vec<_>>().join("\n") + "\n";
    stage.file("root/five", "1\n2\n3\n4\n5\n");
    stage.file("root/open", "1\n2\n3");
    stage.file("root/crlf", "1\r\n2\r\n3\r\n");
    stage.file("root/gaps", "\n\n1\n\n");
    stage.file("root/empty", "");
    stage.file("root/long", &long);
    let wide: Vec<u8> = "\u{feff}1\n2\n੊\n4".encode_utf16().flat_map(u16::to_le_bytes).collect();
    stage.file("root/wide", wide);
    let mut client = stage.connect(&["root"]).await;
    let cases = [
        ("five", json!({"head": 2}), "1\n2"),
        ("five", json!({"head": 5}), "1\n2\n3\n4\n5"),
        ("five", json!({"head": 2.0}), "1\n2"),
        ("five", json!({"head": 1e18}), "1\n2\n3\n4\n5"),
        ("five", json!({"tail": 1}), "5"),
        ("five", json!({"tail": 2}), "4\n5"),
        ("five", json!({"tail": 99}), "1\n2\n3\n4\n5"),
        ("five", json!({"offset": 2, "limit": 2}), "2\n3"),
        ("five", json!({"offset": 4}), "4\n5"),
        ("five", json!({"limit": 1}), "1"),
        ("five", json!({"offset": 5, "limit": 10}), "5"),
        ("five", json!({"head": null, "tail": null}), "1\n2\n3\n4\n5\n"),
        ("open", json!({"tail": 2}), "2\n3"),
        ("open", json!({"head": 9}), "1\n2\n3"),
        ("open", json!({"offset": 3}), "3"),
        ("crlf", json!({"head": 2}), "1\r\n2\r"),
        ("crlf", json!({"tail": 2}), "2\r\n3\r"),
        ("gaps", json!({"head": 2}), "\n"),
        ("gaps", json!({"tail": 2}), "1\n"),
        ("empty", json!({"head": 3}), ""),
        ("empty", json!({"tail": 3}), ""),
        ("empty", json!({"offset": 1}), ""),
        ("long", json!({"offset": 40_000, "limit": 2}), "line 40000\nline 40001"),
        ("long", json!({"offset": 50_000}), "line 50000"),
        ("long", json!({"tail": 2}), "line 49999\nline 50000"),
        ("long", json!({"tail": 60_000}), long.trim_end()),
        ("long", json!({"head": 60_000}), long.trim_end()),
        ("wide", json!({"head": 2}), "1\n2"),
        ("wide", json!({"offset": 2, "limit": 2}), "2\n੊"),
        ("wide", json!({"tail": 2}), "੊\n4"),
    ];
    for (name, mut arguments, expect) in cases {
        arguments["path"] = json!(name);
        let text = client.says("read_text_file", arguments.clone()).await;
        assert!(text == expect, "{arguments}: {:?}", text.get(..200).unwrap_or(&text));
    }
}

#[tokio::test]
async fn an_error_says_how_to_read_the_file() {
    let stage = Stage::new();
    stage.file("root/small", "1\n2\n3\n");
    stage.file("root/binary", b"\x7fELF\0\0");
    stage.file("root/late", [vec![b'\n'; 300 << 10], b"a\0b".to_vec()].concat());
    stage.file("root/big", "0123456789abcde\n".repeat(300_000));
    stage.file("root/long-line", [b"a\n".to_vec(), vec![b'x'; 5 << 20], b"\nb\n".to_vec()].concat());
    stage.directory("root/directory");
    let mut client = stage.connect(&["root"]).await;
    let cases: [(&str, Value, &str); 19] = [
        ("small", json!({"head": 0}), "`head` is 0, but must be a positive integer"),
        ("small", json!({"tail": -1}), "`tail` is -1"),
        ("small", json!({"offset": 1.5}), "`offset` is 1.5"),
        ("small", json!({"limit": "2"}), "expected a positive integer"),
        ("small", json!({"head": 1, "tail": 1}), "use only one of `head`, `tail`, and `offset` with `limit`"),
        ("small", json!({"head": 1, "limit": 1}), "use only one of"),
        ("small", json!({"tail": 1, "offset": 1}), "use only one of"),
        ("small", json!({"offset": 4}), "has 3 lines; `offset` 4 is past the last line"),
        ("binary", json!({}), "is not text; `read_media_file` returns its bytes"),
        ("binary", json!({"head": 1}), "is not text"),
        ("binary", json!({"tail": 1}), "is not text"),
        ("late", json!({"tail": 1}), "is not text"),
        ("big", json!({}), "has 4800000 bytes, and one answer holds 4 MiB"),
        ("big", json!({"head": 300_000}), "from line 1 on, `limit` 262144 is the most that fits"),
        ("big", json!({"offset": 2}), "from line 2 on, `limit` 262144 is the most that fits"),
        ("big", json!({"tail": 300_000}), "`tail` 262144 is the most that fits"),
        ("long-line", json!({"offset": 2, "limit": 1}), "line 2 of"),
        ("missing", json!({}), "does not exist"),
        ("directory", json!({}), "is a directory; `list_directory` shows what is in it"),
    ];
    for (name, mut arguments, expect) in cases {
        arguments["path"] = json!(name);
        let sentence = client.fails("read_text_file", arguments.clone()).await;
        assert!(sentence.contains(expect), "{arguments}: {sentence}");
    }
    // The limits that the errors suggest work.
    for arguments in [json!({"offset": 2, "limit": 262_144}), json!({"tail": 262_144})] {
        let mut arguments = arguments;
        arguments["path"] = json!("big");
        assert_eq!(client.says("read_text_file", arguments).await.len(), (4 << 20) - 1);
    }
    for (arguments, expect) in [(json!({"head": 1}), "a"), (json!({"offset": 3}), "b"), (json!({"tail": 1}), "b")] {
        let mut arguments = arguments;
        arguments["path"] = json!("long-line");
        assert_eq!(client.says("read_text_file", arguments).await, expect);
    }
    let sentence = client.fails("read_text_file", json!({"path": "long-line", "tail": 2})).await;
    assert!(sentence.contains("`tail` 1 is the most that fits"), "{sentence}");
}

#[tokio::test]
async fn closed_and_outside_paths_are_refused() {
    let stage = Stage::new();
    stage.link("root/out", stage.path("outside/secret.txt"));
    stage.file("root/.ssh/id", "key");
    stage.fifo("root/fifo");
    let mut client = stage.connect(&["root:ro"]).await;
    let outside = stage.name("outside/secret.txt");
    let cases = [
        (outside.as_str(), "outside_roots"),
        ("../outside/secret.txt", "outside_roots"),
        ("../outside/nothing", "outside_roots"),
        ("out", "outside_roots"),
        ("/dev/zero", "outside_roots"),
        ("/proc/self/environ", "outside_roots"),
        (".ssh/id", "restricted"),
        ("fifo", "special_file"),
        ("", "invalid_path"),
        ("a\0b", "invalid_path"),
    ];
    for tool in ["read_text_file", "read_media_file", "get_file_info", "list_directory", "directory_tree"] {
        for (path, code) in cases {
            if (tool, path) == ("get_file_info", "fifo") {
                continue;
            }
            let answered = client.result(tool, json!({"path": path})).await;
            if path == "fifo" && tool.contains("direct") {
                assert!(answered.text().contains("is not a directory"), "{tool}: {answered:?}");
                continue;
            }
            assert_eq!(answered.code(), Some(code), "{tool} {path}: {answered:?}");
            assert!(!answered.to_string().contains("SECRET"));
        }
    }
}
