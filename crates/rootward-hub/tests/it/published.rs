//! The published path vulnerabilities of MCP servers, as the calls in their reports, with the trims, quotes and
//! encodings that servers were seen to undo.

use rootward_hub::scan::Tool;
use serde_json::{Value, json};

use crate::yard::Yard;

#[track_caller]
fn refused(tool: &str, arguments: &Value) {
    let params = json!({"name": tool, "arguments": arguments});
    for yard in [Yard::new("rw"), Yard::confined("rw")] {
        let verdict = yard.check("tools/call", &params, Some(&Tool::named(tool))).unwrap();
        assert!(verdict.refused().is_some(), "{tool} {params}, {:?}", yard.protection);
    }
}

#[test]
fn published_calls_are_refused() {
    // CVE-2025-53110: a sibling whose name starts with the root's name.
    refused("read_file", &json!({"path": "{T}/my root-evil/secret.txt"}));
    refused("list_directory", &json!({"path": "{T}/my root_evil"}));
    // CVE-2025-53109: a link, and a missing file behind it.
    refused("read_file", &json!({"path": "link/secret.txt"}));
    refused("write_file", &json!({"path": "link/new.txt", "content": "x"}));
    refused("edit_file", &json!({"path": "{T}/my root/link/secret.txt", "edits": []}));
    // CVE-2025-68143: any directory.
    refused("git_init", &json!({"repo_path": "{T}/outside"}));
    // CVE-2025-68144: an argument that a program treats as an option.
    refused("git_diff", &json!({"repo_path": ".", "target": "--output={T}/outside/secret.txt"}));
    refused("git_checkout", &json!({"repo_path": ".", "branch_name": "--output=/etc/x"}));
    refused("git_diff", &json!({"repo_path": ".", "target": "-O../outside/x"}));
    // CVE-2025-68145: another repository in a later call.
    refused("git_log", &json!({"repo_path": "{T}/outside/other"}));
    // CVE-2026-27735: files outside, in a list.
    refused("git_add", &json!({"repo_path": ".", "files": ["a/in.txt", "../../../.kube/config"]}));
    // CVE-2026-40576: absolute, and joined.
    refused("read_workbook", &json!({"filepath": "{T}/outside/book.xlsx"}));
    refused("write_workbook", &json!({"filename": "../outside/book.xlsx"}));
    // CVE-2026-33989: the destination of a picture.
    refused("mobile_save_screenshot", &json!({"saveTo": "/root/.bashrc", "device": "x"}));
    refused("mobile_save_screenshot", &json!({"saveTo": "../../.bashrc"}));
    // CVE-2026-7213: any destination.
    refused("save_file", &json!({"destination": "{T}/outside/model.bin", "content": "x"}));
    // CVE-2026-25871: bare `..`.
    refused("list", &json!({"path": ".."}));
    refused("list", &json!({"name": ".."}));
    // CVE-2026-7811: the parents of a path that still contains `..`.
    refused("read", &json!({"file": "{T}/my root/../outside/secret.txt"}));
    // CVE-2026-25724: the link's target counts, not its name.
    refused("Read", &json!({"file_path": "{T}/my root/link"}));
    // CVE-2026-6321: escapes before dots.
    refused("read", &json!({"uri": "file://{T}/my%20root/public/%2e%2e/%2e%2e/outside/secret.txt"}));
    refused("read", &json!({"uri": "file://{T}/my%20root/public%2F..%2F..%2Foutside"}));
    refused("read", &json!({"uri": "file://{T}/my%20root/%252e%252e/%252e%252e/outside/secret.txt"}));
}

#[test]
fn trims_and_quotes_do_not_hide_a_path() {
    let yard = Yard::confined("rw");
    let wrappings = [
        " @",
        "@ ",
        "\t@",
        "@\n",
        "\r\n@",
        "\u{a0}@",
        "\u{feff}@",
        "\u{200b}@",
        "\u{3000}@",
        "\0@",
        "@\0",
        "\u{1f}@",
        "\"@\"",
        "'@'",
        "`@`",
        "\"@",
        "@'",
        "<@>",
        "\u{201c}@\u{201d}",
        " \"@\" ",
        "\" @ \"",
        "'\"@\"'",
        "file://@",
        "file:@",
        "FILE://@",
        "file://localhost@",
        "file:///@",
        "@/",
        "@//",
        "@/.",
        "/@",
        "/.@",
        "x/..//..//..//..//..//..//..//..//..//..@",
        "a, @",
        "--file=@",
        "@?x",
        "@#x",
        "%20@",
    ];
    for wrapping in wrappings {
        for target in ["{T}/outside", "{T}/my root/../outside", "{T}/my root/link"] {
            let text = wrapping.replace('@', target);
            assert!(!yard.allows(&json!({"path": text})), "path: {text:?}");
        }
        let text = wrapping.replace('@', "/etc/passwd");
        for value in [json!({"thing": text}), json!({"thing": [[text]]}), json!({text.as_str(): 1})] {
            let is_piece = ["a, ", "x/.."].iter().any(|start| text.starts_with(start));
            assert!(is_piece || !yard.allows(&value), "{value}");
        }
    }
}

#[test]
fn every_encoding_is_seen_through() {
    let yard = Yard::new("rw");
    let encode = |text: &str, bytes: &[u8]| {
        let each = |byte: u8| if bytes.contains(&byte) { format!("%{byte:02x}") } else { char::from(byte).to_string() };
        text.bytes().map(each).collect::<String>()
    };
    for bytes in [b"/".as_slice(), b".", b"./", b"etcpaswd./", b"\\", b"e"] {
        for text in ["/etc/passwd", "../outside", "..\\outside", "a/../../outside/x"] {
            let once = encode(text, bytes);
            let twice = encode(&once, b"%");
            for text in [&once, &once.to_uppercase().replace("OUTSIDE", "outside"), &twice, &encode(&twice, b"%")] {
                assert!(!yard.allows(&json!({"path": text})), "{text}");
            }
        }
    }
}
