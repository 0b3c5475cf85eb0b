//! Long texts are checked like short ones, and length alone is no reason to refuse.

use serde_json::json;

use crate::yard::Yard;

/// Sizes around every limit that once existed.
const SIZES: [usize; 3] = [300, 5000, 70_000];

#[test]
fn a_long_text_that_may_be_a_path_is_decided() {
    let yard = Yard::new("rw");
    for size in SIZES {
        let many = |c: &str| c.repeat(size);
        let filler = many("a");
        for text in [
            format!("{}{{T}}/outside/secret.txt", many(" ")),
            format!("{{T}}/outside/secret.txt{}", many(" ")),
            format!("file://{{T}}/outside/secret.txt?{filler}"),
            format!("file://{{T}}/outside/secret.txt#{filler}"),
            format!("file://{{T}}/outside/secret.txt, {filler}"),
            format!("{{T}}/outside/secret.txt\0{filler}"),
            format!("{}{{T}}/outside/secret.txt", many("\0")),
            format!("{0}{{T}}/outside/secret.txt{0}", many("\"")),
            format!("{0}{{T}}/outside/secret.txt{0}", many("'")),
            format!("{{T}}/outside/secret.txt,{filler}"),
            format!("{filler},{{T}}/outside/secret.txt"),
            format!("{filler};../outside/secret.txt"),
            format!("{filler}\n../outside/secret.txt"),
            format!("{}outside/secret.txt", many("../")),
            format!("{filler}/../../outside/secret.txt"),
            format!("{{T}}{}outside/secret.txt", many("/")),
            format!("{{T}}{}/outside/secret.txt", many("/.")),
            format!("{}etc/passwd", many("..\\")),
            format!("..{}outside/secret.txt", many("%2f")),
            format!("{filler} file://{{T}}/outside/secret.txt"),
            format!("[{}\"../outside/secret.txt\"]", many(" ")),
        ] {
            let shown: String = text.replace(&filler, "…").chars().take(80).collect();
            assert!(!yard.allows(&json!({"path": text})), "{size}: {shown}");
            assert!(!yard.allows(&json!({"paths": ["a/in.txt", text]})), "{size}: {shown}");
        }
    }
}

#[test]
fn long_values_of_ordinary_calls_pass() {
    let yard = Yard::new("rw");
    let code = "fn main() {\n    // ../a, /etc/passwd and ~/b\n}\n".repeat(100_000);
    let line = "One line, with /etc/passwd, ../.. and \"quotes\" in it. ".repeat(2000);
    let blob = "QUJD/9+a".repeat(200_000);
    for arguments in [
        json!({"path": "a/in.txt", "content": code}),
        json!({"path": "a/in.txt", "content": line}),
        json!({"path": "a/in.txt", "content": format!("{}{{T}}/outside", " ".repeat(70_000))}),
        json!({"file_path": "a/in.txt", "old_string": line, "new_string": code}),
        json!({"path": "a/in.txt", "edits": [{"oldText": code, "newText": line}]}),
        json!({"command": "create", "path": "a/new.txt", "file_text": code}),
        json!({"source": code, "text": line, "query": line, "html": line}),
        json!({"anything": code, "other": line}),
        json!({"image": blob, "data": blob, "blob": blob}),
        json!({"image": format!("/9j/{blob}==")}),
        json!({"file": format!("/9j/{blob}==")}),
        json!({"image_url": format!("data:image/jpeg;base64,/9j/{blob}==")}),
        json!({"file": format!("data:application/pdf;base64,{blob}"), "uri": format!("data:text/plain,{line}")}),
        json!({"url": format!("https://example.org/?q={blob}")}),
        json!({"path": "a".repeat(300), "file": "b".repeat(70_000)}),
        json!({"path": format!("a{}in.txt", "/".repeat(70_000))}),
    ] {
        let shown: String = arguments.to_string().chars().take(60).collect();
        assert!(yard.allows(&arguments), "{shown}");
    }
}
