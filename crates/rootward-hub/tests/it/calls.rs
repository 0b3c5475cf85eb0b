//! Calls of every kind, and which of them pass.

use rootward_core::Code;
use rootward_hub::check_path;
use rootward_hub::scan::{Call, Evidence, Need, ScanError, Tool, Treatment, scan, tool_name};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

use crate::yard::Yard;

#[test]
fn paths_inside_pass() {
    let yard = Yard::new("rw");
    for arguments in [
        json!({}),
        json!(null),
        json!([]),
        json!({"path": "a/in.txt"}),
        json!({"path": "{T}/my root/a/in.txt"}),
        json!({"path": "{T}/my root"}),
        json!({"path": "file://{T}/my%20root/a/in.txt"}),
        json!({"path": "./a"}),
        json!({"path": "."}),
        json!({"path": ""}),
        json!({"path": "new/deeper/file.txt"}),
        json!({"path": "missing/../a/in.txt"}),
        json!({"path": "a/(group)/[id]/page.tsx"}),
        json!({"path": "a b, c; d: e = f @ g.txt"}),
        json!({"path": "100% sure.txt"}),
        json!({"path": "it's $5.txt"}),
        json!({"files": ["a/in.txt", "b.txt"], "pattern": "*.rs", "maxDepth": 3}),
        json!({"path": "{T}/my root/a/*.txt"}),
        json!({"anything": "{T}/my root/a"}),
        json!({"paths": "[\"a\", \"{T}/my root/a\"]"}),
        json!({"files": {"{T}/my root/new.txt": "text"}}),
        json!({"path": "x".repeat(300)}),
        json!({"path": null, "file": 7, "dir": true}),
    ] {
        assert!(yard.allows(&arguments), "{arguments}");
    }
}

#[test]
fn paths_outside_are_refused() {
    let yard = Yard::new("rw");
    for arguments in [
        json!({"path": "{T}/outside/secret.txt"}),
        json!({"path": "../outside/secret.txt"}),
        json!({"path": "link/secret.txt"}),
        json!({"path": "link"}),
        json!({"name": "/etc/passwd"}),
        json!({"x": {"y": [[{"z": "/etc/passwd"}]]}}),
        json!({"x": "see file:///etc/passwd"}),
        json!({"x": "~/secret.txt"}),
        json!({"x": "~root"}),
        json!({"x": "C:\\Windows\\win.ini"}),
        json!({"x": "\\\\host\\share"}),
        json!({"x": ".."}),
        json!({"json": "/etc/x.json"}),
        json!({"x": "a/../../outside"}),
        json!({"file": " {T}/outside/secret.txt"}),
        json!({"file": "\"{T}/outside/secret.txt\""}),
        json!({"file": "{T}/my root/../outside/secret.txt"}),
        json!({"file": "..%2foutside"}),
        json!({"file": "..%252foutside"}),
        json!({"file": "..\\outside"}),
        json!({"file": "$HOME/secret.txt"}),
        json!({"file": "${HOME}/secret.txt"}),
        json!({"file": "$UNSET/etc/passwd"}),
        json!({"file": "missing/../../outside"}),
        json!({"files": ["a", "link/secret.txt"]}),
        json!({"files": "a,../outside"}),
        json!({"args": {"FILE_PATH": "--output={T}/outside/x"}}),
        json!({"file": "../out*"}),
        json!({"files": {"../outside/new.txt": "text"}}),
        json!({"path": format!("{}/../../outside", "x".repeat(300))}),
        json!({"path": format!("{}{{T}}/outside", "/".repeat(5000))}),
        json!({"path": "a\n/etc/passwd"}),
        json!({"path": "a/in.txt\u{0}"}),
        json!({"path": "file://host{T}/my%20root"}),
        json!({"path": "\u{2025}\u{ff0f}outside"}),
    ] {
        assert!(!yard.allows(&arguments), "{arguments}");
    }
}

#[test]
fn json_within_strings_is_searched() {
    let yard = Yard::new("rw");
    for arguments in [
        json!({"paths": "[\"{T}/outside\"]"}),
        json!({"paths": " [\"link\"]"}),
        json!({"options": "{\"path\": \"link\"}"}),
        json!("{\"path\": \"link\"}"),
        json!({"options": "{\"a\": \"[\\\"/etc\\\"]\"}"}),
    ] {
        assert!(!yard.allows(&arguments), "{arguments}");
    }
    assert!(yard.allows(&json!({"content": "{\"path\": \"/etc\"}", "paths": "[\"a"})));
}

#[test]
fn json_within_strings_is_a_name_as_well() {
    let yard = Yard::new("rw");
    for path in [
        r#"{"text":"a/../../evil"}"#,
        r#"["a", {"query": "x/../../evil"}]"#,
        r#"{"x/../../evil": 1}"#,
        r#"{"text":"a/%2e%2e/%2e%2e/evil"}"#,
        r#"{"text":"a/.$UNSET./.${UNSET}./evil"}"#,
    ] {
        assert!(!yard.allows(&json!({"path": path})), "{path}");
    }
    for path in ["[]", "{}", r#"["inside", "./inside"]"#, r#"{"text": "a/b"}"#] {
        assert!(yard.allows(&json!({"path": path})), "{path}");
    }
}

#[test]
fn json_with_more_than_white_space_around_it_is_a_name_as_well() {
    let yard = Yard::new("rw");
    for path in ["[]\0", "\0{}", "{\"text\": \"a/b\"}\0"] {
        assert!(!yard.allows(&json!({"path": path})), "{path:?}");
    }
    for path in ["[] ", "\n{}\n", " {\"text\": \"a/b\"}\t"] {
        assert!(yard.allows(&json!({"path": path})), "{path:?}");
    }
}

#[test]
fn another_scheme_behind_an_escape_does_not_climb() {
    let yard = Yard::new("rw");
    for path in ["http:%2f%2f..%2f..%2f..%2fevil", "http:%2f%2fa/../../../../evil", "x:%2f..%2f..%2fevil"] {
        assert!(!yard.allows(&json!({"path": path})), "{path:?}");
    }
}

#[test]
fn other_schemes_are_not_paths_unless_they_climb() {
    let yard = Yard::new("rw");
    for value in
        ["https://example.org/etc/passwd", "memory://a/../b", "data:image/jpeg;base64,/9j/4AAQ", "s3://bucket/x y"]
    {
        assert!(yard.allows(&json!({"uri": value, "path": value})), "{value}");
    }
    for value in [
        "x://../../etc/passwd",
        "http://a/%2e%2e/%2e%2e/%2e%2e/etc",
        "http:\\\\..\\..\\..\\x",
        "jar:file:///etc/x.jar!/a",
    ] {
        assert!(!yard.allows(&json!({"uri": value})), "{value}");
    }
}

#[test]
fn too_many_readings_are_refused() {
    let yard = Yard::new("rw");
    let many = |count: usize| (0..count).map(|number| format!("./{number}")).collect::<Vec<_>>().join(",");
    assert!(check_path(&yard.guard, &yard.expansion, &many(20), Need::READ).is_ok());
    assert!(check_path(&yard.guard, &yard.expansion, &many(2_000), Need::READ).is_err());
}

#[test]
fn a_refusal_names_the_path_as_asked() {
    let yard = Yard::new("rw");
    let verdict = yard.check("resources/read", &json!({"uri": " ..%2foutside"}), None).unwrap();
    let (finding, refusal) = verdict.refused().unwrap();
    assert_eq!((finding.key.as_str(), finding.why, finding.need), ("uri", Evidence::Key, Need::READ));
    assert_eq!(refusal.denial.to_string(), "path ` ..%2foutside` is outside every root");
    let (reading, denial) = refusal.reading.as_ref().unwrap();
    assert_eq!(reading, "../outside");
    assert_eq!(denial.code().for_peer().as_str(), "outside_roots");
}

#[test]
fn every_method_is_scanned() {
    let yard = Yard::new("rw");
    let check = |method: &str, params: Value, passes: bool| {
        let verdict = yard.check(method, &params, None).unwrap();
        assert_eq!(verdict.refused().is_none(), passes, "{method} {params}");
    };
    check("resources/read", json!({"uri": "file:///etc/passwd"}), false);
    check("resources/read", json!({"uri": "file://{T}/my%20root/a"}), true);
    check("resources/read", json!({"uri": "memo://insights"}), true);
    check("resources/read", json!({"uri": "repo://x/../../../etc"}), false);
    check("resources/subscribe", json!({"uri": "file:///etc/passwd"}), false);
    check("resources/unsubscribe", json!({"uri": "/etc/passwd"}), false);
    check("prompts/get", json!({"name": "/x", "arguments": {"file": "link"}}), false);
    check("prompts/get", json!({"name": "/x", "arguments": {"topic": "a/b"}}), true);
    let complete = |reference: Value, name: &str, value: &str| json!({"ref": reference, "argument": {"value": value, "name": name}, "context": {"arguments": {}}});
    let prompt = json!({"type": "ref/prompt", "name": "/x"});
    check("completion/complete", complete(prompt.clone(), "path", "link"), false);
    check("completion/complete", complete(prompt.clone(), "text", "/usr"), true);
    check("completion/complete", complete(prompt.clone(), "x", "/usr"), false);
    check("completion/complete", complete(prompt, "language", "py"), true);
    let template = |uri: &str| json!({"type": "ref/resource", "uri": uri});
    check("completion/complete", complete(template("file:///{path}"), "path", "etc/passwd"), false);
    check("completion/complete", complete(template("file:///{path}"), "x", "etc/passwd"), false);
    check("completion/complete", complete(template("file:///{+path}"), "path", "a"), false);
    check("completion/complete", complete(template("file:///etc/{name}"), "name", "passwd"), false);
    check("completion/complete", complete(template("file://{T}/my%20root/{path}"), "path", "a/in.txt"), true);
    check("completion/complete", complete(template("file://{T}/my%20root/{path}"), "path", "../outside"), false);
    check("completion/complete", complete(template("file://{T}/my%20root/{name}"), "name", "link"), false);
    check("completion/complete", complete(template("repo://{owner}/{name}"), "name", "etc/passwd"), true);
    check("completion/complete", complete(template("https://example.org/{path}"), "path", "etc/passwd"), true);
    check("completion/complete", complete(json!({"type": "ref/resource", "uri": "file:///etc"}), "path", "a"), false);
    check("completion/complete", json!({"context": {"arguments": {"path": "link"}}}), false);
    let refuse = |method: &str, params: Value, key: &str| {
        let error = yard.check(method, &params, None).unwrap_err();
        assert_eq!(error, ScanError::AmbiguousKey(key.to_owned()), "{method} {params}");
    };
    let complete = |argument: Value, reference: Value, context: Value| json!({"argument": argument, "ref": reference, "context": context});
    let (argument, prompt) = (json!({"name": "path", "value": "a"}), json!({"type": "ref/prompt", "name": "/x"}));
    check(
        "completion/complete",
        complete(argument.clone(), prompt.clone(), json!({"arguments": {"ARGUMENTS": "a"}})),
        true,
    );
    for (key, with) in [
        ("value", json!({"name": "path", "value": "a", "VALUE": "link"})),
        ("value", json!({"VALUE": "link", "name": "path"})),
        ("name", json!({"name": "text", "Name": "path", "value": "link"})),
    ] {
        refuse("completion/complete", complete(with, prompt.clone(), json!({})), key);
    }
    for (key, with) in [
        ("uri", json!({"type": "ref/resource", "uri": "x:///{path}", "URI": "file:///{path}"})),
        ("type", json!({"type": "ref/prompt", "TYPE": "ref/resource", "name": "x"})),
        ("name", json!({"type": "ref/prompt", "name": "x", "NAME": "y"})),
    ] {
        refuse("completion/complete", complete(argument.clone(), with, json!({})), key);
    }
    refuse(
        "completion/complete",
        complete(argument, prompt, json!({"argument\u{17f}": {"path": "link"}})),
        "arguments",
    );
    refuse("completion/complete", json!({"ref": {}, "Argument": {"name": "path", "value": "link"}}), "argument");
    refuse("completion/complete", json!({"ref": {}, "CONTEXT": {"arguments": {"path": "link"}}}), "context");
    refuse("tools/call", json!({"name": "x", "NAME": "y", "arguments": {}}), "name");
    refuse("tools/call", json!({"name": "x", "arguments": {}, "ARGUMENTS": {"x": "link"}}), "arguments");
    refuse("prompts/get", json!({"name": "x", "argument\u{17f}": {"path": "link"}}), "arguments");
    refuse("resources/read", json!({"uri": "a", "URI": "link"}), "uri");
    refuse("resources/subscribe", json!({"Uri": "link"}), "uri");
    check("x/unheard-of", json!({"a": ["/etc"]}), false);
    check("x/unheard-of", json!(["/etc"]), false);
    check("x/unheard-of", json!({"name": "/etc"}), false);
    check("x/unheard-of", json!({"a": ["b"]}), true);
    check("subscriptions/listen", json!({"notifications": {"resourceSubscriptions": ["file:///etc"]}}), false);
    check(
        "tools/call",
        json!({"name": "x", "arguments": {}, "_meta": {"progressToken": "/a"}, "requestState": "/9=="}),
        true,
    );
    let client = json!({"io.modelcontextprotocol/clientInfo": {"icons": [{"src": "file:///usr/share/x.png"}]}});
    check("tools/call", json!({"name": "x", "arguments": {}, "_meta": client}), true);
    check("initialize", json!({"clientInfo": {"icons": [{"src": "file:///usr/share/x.png"}]}}), true);
    check("notifications/cancelled", json!({"reason": "/"}), true);
}

#[test]
fn members_of_meta_are_not_arguments() {
    let yard = Yard::new("rw");
    let check = |method: &str, params: &str, passes: bool| {
        let params: Box<RawValue> = RawValue::from_string(params.to_owned()).unwrap();
        let call = Call { method, params: Some(&params), tool: None };
        let verdict = rootward_hub::check(&yard.guard, &yard.expansion, yard.protection, &call);
        assert_eq!(verdict.is_ok_and(|verdict| verdict.refused().is_none()), passes, "{method} {params}");
    };
    let tool = "tools/call";
    check(tool, r#"{"name":"x","_meta":{"exe":"/usr/bin/codex","cwd":"/etc","list":[{"path":"../.."}]}}"#, true);
    check(tool, r#"{"name":"x","\u005fmeta":{"exe":"/usr/bin/codex"}}"#, true);
    check("prompts/get", r#"{"name":"x","_meta":{"uri":"file:///etc/passwd"}}"#, true);
    check("x/unheard-of", r#"{"_meta":{"path":"/etc"}}"#, true);
    // An argument called `_meta` is an argument, and so is a key that only resembles the host's own.
    check(tool, r#"{"name":"x","arguments":{"_meta":{"exe":"/usr/bin/codex"}}}"#, false);
    check(tool, r#"{"name":"x","arguments":{"a":[{"_meta":{"path":"../.."}}]}}"#, false);
    check(tool, r#"{"name":"x","_Meta":{"exe":"/usr/bin/codex"}}"#, false);
    check(tool, r#"{"name":"x"," _meta":{"exe":"/usr/bin/codex"}}"#, false);
    check(tool, r#"{"name":"x","meta":{"exe":"/usr/bin/codex"}}"#, false);
    check(tool, r#"{"name":"x","_meta":"/etc/passwd"}"#, false);
    check(tool, r#"{"name":"x","_meta":["/etc/passwd"]}"#, false);
    // Ambiguous JSON is refused there as well.
    check(tool, r#"{"name":"x","_meta":{},"_meta":{}}"#, false);
    check(tool, r#"{"name":"x","_meta":{},"_m\u0065ta":{}}"#, false);
    check(tool, r#"{"name":"x","_meta":{"a":1,"a":2}}"#, false);
    check(tool, r#"{"name":"x","_meta":{"a":[{"b":1,"b":2}]}}"#, false);
    check(tool, &format!(r#"{{"name":"x","_meta":{{"a":{}{}}}}}"#, "[".repeat(200), "]".repeat(200)), false);
}

#[test]
fn a_whole_file_uri_is_a_path_under_every_key() {
    let keys = ["x", "content", "message", "query", "pattern", "old_str", "html", "json", "data", "source", "path"];
    for (yard, key) in [Yard::new("rw"), Yard::confined("rw")].iter().flat_map(|yard| keys.map(|key| (yard, key))) {
        for uri in [
            "file:///etc/passwd",
            "file:/etc/passwd",
            "FILE:///etc/passwd",
            "file://localhost/etc/passwd",
            "file:///no-such-name-in-slash/x",
            "file:\\\\host\\share",
            " file:///etc/passwd\n",
            "\"file:///etc/passwd\"",
            "\u{feff}file:///etc/passwd",
        ] {
            assert!(!yard.allows(&json!({key: uri})), "{key}: {uri:?}");
            assert!(!yard.allows(&json!({key: ["a", uri]})), "{key}: {uri:?}");
        }
        assert!(yard.allows(&json!({key: "file://{T}/my%20root/a/in.txt"})), "{key}");
    }
    // JSON escapes are decoded first.
    let yard = Yard::new("rw");
    for text in [r"f\u0069le:///etc/passwd", r"\u0066ile:\/\/\/etc\/passwd", r"\n\tfile:///etc/passwd"] {
        let params = RawValue::from_string(format!(r#"{{"arguments":{{"content":"{text}"}}}}"#)).unwrap();
        let call = Call { method: "tools/call", params: Some(&params), tool: None };
        let verdict = rootward_hub::check(&yard.guard, &yard.expansion, yard.protection, &call).unwrap();
        assert!(verdict.refused().is_some(), "{text}");
    }
    // Prose that mentions one, another word, and an argument that the user declared as text.
    for text in ["file:///etc/passwd is a file", "see file:///etc/passwd", "file:main.rs", "profile:///x", "file: x"] {
        assert!(yard.allows(&json!({"content": text, "query": text})), "{text}");
    }
    let tool = Tool::named("echo").with_treatment("message", Treatment::Text);
    let params = json!({"name": "echo", "arguments": {"message": "file:///etc/passwd"}});
    assert!(yard.check("tools/call", &params, Some(&tool)).unwrap().refused().is_none());
}

/// Ids, routes and documentation paths whose first component does not exist in `/`.
const NOWHERE: [&str; 6] = [
    "/facebook/react",
    "/vercel/next.js/v14.3.0-canary.87",
    "/api/users",
    "/api/users/{id}?verbose=1",
    "/platforms/javascript/guides/nextjs/",
    "/@angular/core",
];

#[test]
fn a_path_to_nowhere_is_text_only_for_a_confined_server() {
    for (yard, passes) in [(Yard::confined("rw"), true), (Yard::confined("ro"), true), (Yard::new("rw"), false)] {
        for text in NOWHERE {
            for arguments in [
                json!({"libraryId": text}),
                json!({"entities": [{"name": text, "entityType": "route", "observations": [text]}]}),
                json!({"ids": format!("[\"{text}\"]")}),
                json!({"routes": {text: {"method": "GET"}}}),
                json!([text]),
                json!(text),
            ] {
                assert_eq!(yard.allows(&arguments), passes, "{arguments}");
            }
            for (method, params) in [
                ("prompts/get", json!({"name": "p", "arguments": {"topic": text}})),
                ("completion/complete", json!({"argument": {"name": "library", "value": text}})),
                ("x/unheard-of", json!({"id": text})),
            ] {
                let verdict = yard.check(method, &params, None).unwrap();
                assert_eq!(verdict.refused().is_none(), passes, "{method} {params}");
            }
        }
    }
    // It is text, not an allowed path, so nothing is audited.
    let params = json!({"name": "x", "arguments": {"id": "/facebook/react"}});
    assert!(Yard::confined("rw").check("tools/call", &params, None).unwrap().findings.is_empty());
}

#[test]
fn keys_and_schemas_make_any_string_a_path() {
    let yard = Yard::confined("rw");
    let listing = to_raw_value(&json!({"name": "read_things", "inputSchema": {"properties": {
        "one": {"format": "rooted-path"},
        "two": {"format": "uri"},
        "three": {"description": "Which file to read"},
        "pattern": {"description": "A glob of names"},
        "four": {"type": "object", "properties": {"of": {"format": "file-path"}}},
    }}}))
    .unwrap();
    let tool = Tool::from_listing(&listing).unwrap().with_treatment("five", Treatment::Path(Need::READ));
    for text in NOWHERE {
        for arguments in [
            json!({"path": text}),
            json!({"filePaths": [text]}),
            json!({"options": {"cwd": text}}),
            json!({"uri": text}),
            json!({"source": text}),
            json!({"repo": text}),
            json!({"files": {text: "content"}}),
            json!({"one": text}),
            json!({"two": text}),
            json!({"three": text}),
            json!({"pattern": text}),
            json!({"four": {"of": text}}),
            json!({"five": text}),
        ] {
            let params = json!({"name": "read_things", "arguments": arguments});
            let verdict = yard.check("tools/call", &params, Some(&tool)).unwrap();
            assert!(verdict.refused().is_some(), "{arguments}");
        }
        for (method, params) in [
            ("resources/read", json!({"uri": text})),
            ("prompts/get", json!({"name": "p", "arguments": {"file": text}})),
            ("completion/complete", json!({"argument": {"name": "path", "value": text}})),
        ] {
            assert!(yard.check(method, &params, None).unwrap().refused().is_some(), "{method} {params}");
        }
    }
}

#[test]
fn strings_that_may_be_paths_are_checked_under_any_key() {
    let yard = Yard::confined("rw");
    for text in [
        "/",
        "//",
        "/etc",
        "//etc/passwd",
        "/./etc/passwd",
        "/ETC/passwd",
        "/proc/self/root/facebook",
        "/facebook/../etc/passwd",
        "/facebook/%2e%2e/etc",
        "/%65tc/passwd",
        "/\u{ff45}tc/passwd",
        "/e*/passwd",
        "/facebook,/etc/passwd",
        "/facebook:{T}/outside",
        "/facebook\u{0}",
        " /etc/passwd",
        "{T}/outside/secret.txt",
        "{T}/my root/link/secret.txt",
        "~/secret.txt",
        "../outside",
        "[\"/facebook/react\", \"/etc/passwd\"]",
        "{\"id\": \"/facebook/react\", \"path\": \"/facebook/react\"}",
    ] {
        assert!(!yard.allows(&json!({"libraryId": text})), "{text:?}");
    }
    // A string that leads nowhere says nothing about the next one.
    assert!(!yard.allows(&json!({"a": "/facebook/react", "b": "/etc/passwd"})));
    assert!(yard.allows(&json!({"a": "/facebook/react", "b": "{T}/my root/a/in.txt", "c": "{T}/my root"})));
}

#[test]
fn a_link_through_what_is_missing_is_refused() {
    let yard = Yard::new("rw");
    yard.link("my root/l", "missing/../../outside/x");
    assert!(!yard.allows(&json!({"path": "l"})) && !yard.allows(&json!({"path": "a/../l"})));
    assert!(yard.allows(&json!({"path": "missing/../a"})));
}

#[test]
fn removing_or_replacing_a_link_needs_access_to_the_link() {
    let yard = Yard::new("rw");
    yard.link("outside/back", "../my root/a/in.txt");
    let check = |name: &str, path: &str, passes: bool| {
        let params = json!({"name": name, "arguments": {"path": path}});
        let verdict = yard.check("tools/call", &params, Some(&Tool::named(name))).unwrap();
        assert_eq!(verdict.refused().is_none(), passes, "{name} {path}");
    };
    check("read_file", "{T}/outside/back", true);
    check("write_file", "{T}/outside/back", false);
    check("delete_file", "{T}/outside/back", false);
    check("delete_file", "a/in.txt", true);
    check("delete_file", "link", false);
    check("delete_file", "{T}/my root", false);
    check("write_file", "{T}/my root", true);
    check("frobnicate", ".", true);
    check("frobnicate", "a/", true);
}

#[test]
fn a_word_does_not_open_a_restricted_place() {
    let check = |access: &str, target: &str, passes: bool| {
        let params = json!({"name": "frobnicate", "arguments": {"target": target}});
        let verdict = Yard::new(access).check("tools/call", &params, None).unwrap();
        assert_eq!(verdict.refused().is_none(), passes, "{target} in {access}");
    };
    check("ro", "es2020", true);
    check("ro", "a", false);
    check("rw", ".ssh/authorized_keys", false);
    check("ro", ".ssh/authorized_keys", false);
    check("rw", ".git/hooks/pre-commit", false);
    check("ro", "link/new", false);
}

#[test]
fn guarded_files_are_refused_in_calls() {
    for key in ["path", "file", "target"] {
        for (name, refused) in [
            (".env", true),
            ("a/.env", true),
            ("./.env.local", true),
            ("a/tls.pem", true),
            ("a/id_ed25519", true),
            ("a/terraform.tfstate", true),
            (".env.example", false),
            ("a/id_ed25519.pub", false),
        ] {
            let params = json!({"name": "read_file", "arguments": {key: name}});
            let verdict = Yard::new("rw").check("tools/call", &params, None).unwrap();
            let code = verdict.refused().map(|(_, refusal)| refusal.denial.code());
            assert_eq!(code, refused.then_some(Code::Restricted), "{key}: {name}");
        }
    }
}

#[test]
fn access_is_what_the_tool_does() {
    let yard = Yard::new("ro");
    let check = |name: &str, hints: Value, passes: bool| {
        let listing = to_raw_value(&json!({"name": name, "inputSchema": {}, "annotations": hints})).unwrap();
        let tool = Tool::from_listing(&listing).unwrap();
        let params = json!({"name": name, "arguments": {"path": "a/in.txt"}});
        assert_eq!(yard.check("tools/call", &params, Some(&tool)).unwrap().refused().is_none(), passes, "{name}");
    };
    check("read_file", Value::Null, true);
    check("write_file", Value::Null, false);
    check("delete_file", Value::Null, false);
    check("frobnicate", Value::Null, false);
    check("frobnicate", json!({"readOnlyHint": true}), true);
    check("frobnicate", json!({"readOnlyHint": false, "destructiveHint": true}), false);
    check("write_file", json!({"readOnlyHint": true}), false);
}

/// Keys of strings that count as paths, and why.
fn found(tool: &Tool, arguments: &Value) -> Vec<(String, Evidence)> {
    let params = to_raw_value(&json!({"name": "x", "arguments": arguments})).unwrap();
    let mut found = Vec::new();
    scan(&Call { method: "tools/call", params: Some(&params), tool: Some(tool) }, &mut |candidate| {
        found.push((candidate.key.to_string(), candidate.why));
    })
    .unwrap();
    found
}

/// `thing` is a path by its schema alone, and `link` leads outside without looking like a path.
#[test]
fn a_key_that_differs_only_in_case_is_judged_as_the_listed_one() {
    let schema = json!({
        "properties": {
            "thing": {"format": "path"},
            "kinds": {"properties": {"task": {"format": "path"}, "when": {"format": "date"}}},
            "list": {"items": {"properties": {"thing": {"format": "path"}}}},
            "when": {"format": "date"},
            "text": {"type": "string"},
        },
        "additionalProperties": {"properties": {"other": {"format": "path"}}},
    });
    let listing = to_raw_value(&json!({"name": "x", "inputSchema": schema})).unwrap();
    let tool = Tool::from_listing(&listing).unwrap();
    let tool = tool.with_treatment("mark", Treatment::Path(Need::READ)).with_treatment("word", Treatment::Text);
    let yard = Yard::new("rw");
    let check = |arguments: Value, passes: bool| {
        let verdict = yard.check("tools/call", &json!({"name": "x", "arguments": arguments}), Some(&tool)).unwrap();
        assert_eq!(verdict.refused().is_none(), passes, "{arguments}");
    };
    check(json!({"thing": "a", "mark": "a", "kinds": {"task": "a"}, "text": "link", "word": "/etc"}), true);
    check(json!({"thing": "link"}), false);
    check(json!({"Thing": "link"}), false);
    check(json!({"Thing": ["link"]}), false);
    check(json!({"thing": "a", "THING": "link"}), false);
    check(json!({"thing": "link", "THING": "a"}), false);
    check(json!({"kinds": {"ta\u{17f}k": "link"}}), false);
    check(json!({"\u{212a}inds": {"task": "link"}}), false);
    check(json!({"\u{212a}inds": {"TASK": "link"}}), false);
    check(json!({"LIST": [{"Thing": "link"}]}), false);
    check(json!({"Kinds": "{\"Task\": \"link\"}"}), false);
    check(json!({"MARK": "link"}), false);
    // A server that does not ignore case takes these for keys that are not listed.
    check(json!({"when": "/etc"}), true);
    check(json!({"When": "/etc"}), false);
    check(json!({"Kinds": {"when": "/etc"}}), false);
    check(json!({"Kinds": {"other": "link"}}), false);
    check(json!({"Word": "/etc"}), false);
    // Inside, and no path at all.
    check(json!({"Thing": "a", "THING": true, "tHing": 7, "Mark": "a", "Kinds": {"Task": null}}), true);
    check(json!({"Text": "link", "TEXT": {"a": ["link"]}, "Word": "word", "When": "2026-01-01"}), true);
}

/// Maps from names that the user chose, next to names that the schema lists.
#[test]
fn free_keys_may_differ_from_listed_ones_in_case() {
    let schema = json!({"properties": {
        "properties": {
            "properties": {"title": {"type": "array"}, "done": {"type": "boolean"}, "id": {"type": "string"}},
            "additionalProperties": true,
        },
        "headers": {"properties": {"content-type": {"type": "string"}, "accept": {}}},
        "filter": {"properties": {"path": {"type": "string"}}},
    }});
    let listing = to_raw_value(&json!({"name": "x", "inputSchema": schema})).unwrap();
    let tool = Tool::from_listing(&listing).unwrap().with_treatment("filter", Treatment::Text);
    for (yard, elsewhere) in [(Yard::new("rw"), false), (Yard::elsewhere("rw"), true)] {
        let check = |arguments: Value, passes: bool| {
            let verdict = yard.check("tools/call", &json!({"name": "x", "arguments": arguments}), Some(&tool)).unwrap();
            assert_eq!(verdict.refused().is_none(), passes, "{arguments}");
        };
        check(
            json!({"properties": {"Title": [{"text": {"content": "A / B"}}], "Done": true, "ID": "b7", "Id": 1}}),
            true,
        );
        check(json!({"headers": {"Content-Type": "text/html", "ACCEPT": "*/*", "accept": "text/*"}}), true);
        check(json!({"filter": {"Path": "/etc", "PATH": ["/usr"]}}), true);
        check(json!({"properties": {"Title": "/etc/passwd"}}), elsewhere);
    }
}

/// No name may reduce what a value needs if the server may see another one.
#[test]
fn a_key_in_another_case_needs_no_less() {
    let schema = json!({"properties": {"oldthing": {"format": "path"}, "mark": {"x-rootward-access": "read"}}});
    let listing = |name: &str| to_raw_value(&json!({"name": name, "inputSchema": schema})).unwrap();
    let (copy, write) = (Tool::from_listing(&listing("copy")).unwrap(), Tool::from_listing(&listing("write")).unwrap());
    let yard = Yard::new("ro");
    let check = |tool: &Tool, arguments: Value, passes: bool| {
        let verdict =
            yard.check("tools/call", &json!({"name": tool.name(), "arguments": arguments}), Some(tool)).unwrap();
        assert_eq!(verdict.refused().is_none(), passes, "{arguments}");
    };
    check(&copy, json!({"oldPath": "a/in.txt"}), true);
    check(&copy, json!({"oldThing": "a/in.txt"}), false);
    check(&write, json!({"mark": "a/in.txt"}), true);
    check(&write, json!({"Mark": "a/in.txt"}), false);
}

#[test]
fn schema_and_treatments_override_the_key() {
    let listing = to_raw_value(&json!({"name": "x", "inputSchema": {"properties": {
        "one": {"type": "string", "format": "rooted-path", "x-rootward-access": "read"},
        "two": {"type": "array", "items": {"format": "file-path"}},
        "three": {"description": "Which directory to look in"},
        "content": {"description": "What to write to the file"},
        "glob_pattern": {"description": "Glob of names"},
        "pattern": {"description": "Regular expression"},
        "when": {"format": "date-time"},
        "list": {"description": "files to read", "type": "array", "items": {"type": "string"}},
        "query": {"format": "path"},
    }}}))
    .unwrap();
    let tool = Tool::from_listing(&listing).unwrap();
    let check = |tool: &Tool, arguments: Value, expected: &[(&str, Evidence)]| {
        let found = found(tool, &arguments);
        let found: Vec<_> = found.iter().map(|(key, why)| (key.as_str(), *why)).collect();
        assert_eq!(found, expected, "{arguments}");
    };
    check(&tool, json!({"one": "a"}), &[("one", Evidence::Marker)]);
    check(&tool, json!({"two": ["a", "b"]}), &[("two", Evidence::Schema), ("two", Evidence::Schema)]);
    check(&tool, json!({"three": "a"}), &[("three", Evidence::Schema)]);
    check(&tool, json!({"three": "a\nb"}), &[]);
    check(&tool, json!({"list": ["a"]}), &[("list", Evidence::Schema)]);
    check(&tool, json!({"content": "/a"}), &[]);
    check(&tool, json!({"glob_pattern": "/a/*"}), &[("glob_pattern", Evidence::Value)]);
    check(&tool, json!({"pattern": "/a/"}), &[]);
    check(&tool, json!({"when": "/a"}), &[]);
    check(&tool, json!({"query": "a"}), &[("query", Evidence::Schema)]);
    check(
        &tool,
        json!({"more": "/c", "other": "a", "path": "b"}),
        &[("more", Evidence::Value), ("path", Evidence::Key)],
    );
    let told = tool
        .with_treatment("path", Treatment::Text)
        .with_treatment("pattern", Treatment::Path(Need::READ))
        .with_treatment("one", Treatment::Text);
    check(
        &told,
        json!({"path": "/a", "pattern": "b", "x": {"path": "/c"}, "one": "/a"}),
        &[("pattern", Evidence::Treatment)],
    );
}

#[test]
fn ambiguous_params_are_refused() {
    let check = |params: &str, says: &str| {
        let params = RawValue::from_string(params.to_owned()).unwrap();
        let error = scan(&Call { method: "tools/call", params: Some(&params), tool: None }, &mut |_| {}).unwrap_err();
        assert!(error.to_string().contains(says), "{error}");
    };
    check(r#"{"name":"a","name":"b"}"#, "duplicate key `name`");
    check(r#"{"arguments":{},"\u0061rguments":{}}"#, "duplicate key `arguments`");
    check(r#"{"arguments":{"x":[{"a":1,"b":2,"a":3}]}}"#, "duplicate key `a`");
    check(r#"{"name":"a","Arguments":{}}"#, "some parsers read as `arguments`");
    check(r#"{"arguments":{"x":"{\"a\":1,\"a\":2}"}}"#, "duplicate key `a`");
    check(&format!(r#"{{"arguments":{}{}}}"#, "[".repeat(200), "]".repeat(200)), "nested deeper");
    let wide: Vec<String> = (0..40).chain([39]).map(|number| format!("\"k{number}\":1")).collect();
    check(&format!("{{{}}}", wide.join(",")), "duplicate key");
    let many: Vec<&str> = vec!["\"/a\""; 5000];
    check(&format!("{{\"arguments\":[{}]}}", many.join(",")), "more than");
    let mut text = "[]".to_owned();
    for _ in 0..5 {
        text = format!("[{}]", serde_json::to_string(&text).unwrap());
    }
    check(&format!("{{\"arguments\":{text}}}"), "nested in strings");
    let fine = RawValue::from_string(format!("{{{}}}", &wide[..40].join(","))).unwrap();
    assert_eq!(
        scan(&Call { method: "tools/call", params: Some(&fine), tool: None }, &mut |_| {}),
        Ok::<(), ScanError>(())
    );
}

/// The error goes to the client.
#[test]
fn long_keys_are_shortened_in_errors() {
    let long = "a".repeat(10_000);
    let variants = [
        long.clone(),
        long.to_uppercase(),
        long.replacen('a', "A", 1),
        long.replacen('a', "A", 2),
        long.replacen('a', "A", 3),
    ];
    let properties: serde_json::Map<_, _> = variants.into_iter().map(|name| (name, json!({}))).collect();
    let listing = to_raw_value(&json!({"name": "x", "inputSchema": {"properties": properties}})).unwrap();
    let tool = Tool::from_listing(&listing).unwrap();
    let ambiguous = format!(r#"{{"arguments":{{"{}":1}}}}"#, long.replacen('a', "A", 4));
    let duplicate = format!(r#"{{"arguments":{{"{long}":1,"{long}":1}}}}"#);
    let control = r#"{"arguments":{"\u001b[2J":1,"\u001b[2J":1}}"#.to_owned();
    for (params, says) in [(ambiguous, "some parsers read"), (duplicate, "duplicate key"), (control, "duplicate key")] {
        let params = RawValue::from_string(params).unwrap();
        let call = Call { method: "tools/call", params: Some(&params), tool: Some(&tool) };
        let error = scan(&call, &mut |_| {}).unwrap_err().to_string();
        assert!(error.contains(says) && error.len() < 300 && !error.contains('\u{1b}'), "{error}");
    }
}

#[test]
fn the_name_of_the_tool() {
    let check = |params: &str, name: Option<&str>| {
        let params = RawValue::from_string(params.to_owned()).unwrap();
        assert_eq!(tool_name(&params).as_deref(), name, "{params}");
    };
    check(r#"{"name":"a"}"#, Some("a"));
    check(r#"{"arguments":{"name":["b",{"name":1}],"x":{}},"n\u0061me":"a\/b" , "_meta" : [ ] }"#, Some("a/b"));
    check(r#"{"name":"a","name":"b"}"#, None);
    check(r#"{"name":7}"#, None);
    check("{}", None);
    check("[]", None);
}
