//! `check --stdin`: the order and timing of answers, invalid lines, and lines with their own roots.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::Stdio;

use serde_json::{Value, json};

use crate::stage::Stage;

fn answers(stage: &Stage, input: &[u8]) -> (Vec<Value>, Option<i32>) {
    let run = stage.feed(["check", "--root", ".", "--stdin"], input);
    assert_eq!(run.stderr, "");
    (run.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect(), run.code)
}

#[test]
fn each_line_is_answered_in_order() {
    let stage = Stage::new();
    let input =
        "{\"path\": \"README.md\"}\n{\"path\": \"../outside/secret\"}\r\n{\"path\":\"\\u0041\", \"access\":\"write\"}";
    let (answers, code) = answers(&stage, input.as_bytes());
    let seen: Vec<_> = answers.iter().map(|answer| (answer["path"].as_str(), answer["decision"].as_str())).collect();
    assert_eq!(
        seen,
        [(Some("README.md"), Some("allow")), (Some("../outside/secret"), Some("deny")), (Some("A"), Some("allow"))]
    );
    assert_eq!(answers[0]["code"], Value::Null);
    assert_eq!(answers[0].as_object().unwrap().keys().len(), 5);
    assert_eq!(code, Some(1));
    let run = stage.feed(["check", "--root", ".", "--stdin"], b"");
    assert_eq!((run.stdout.as_str(), run.code), ("", Some(0)));
}

#[test]
fn an_invalid_line_is_refused_and_the_next_is_answered() {
    let stage = Stage::new();
    let check = |line: &[u8], says: &str| {
        let input = [line, b"\n{\"path\": \"README.md\"}\n"].concat();
        let (answers, code) = answers(&stage, &input);
        let shown = String::from_utf8_lossy(&line[..line.len().min(80)]).into_owned();
        assert_eq!((answers.len(), code), (2, Some(2)), "{shown}");
        assert_eq!((&answers[0]["decision"], &answers[0]["code"]), (&json!("deny"), &json!("invalid_path")), "{shown}");
        let error = answers[0]["error"].as_str().unwrap();
        assert!(error.contains(says), "{shown}: {error}");
        assert_eq!(answers[1]["decision"], "allow");
    };
    check(b"", "an empty line is not a question");
    check(b" \t", "an empty line is not a question");
    check(b"README.md", "not JSON: expected value");
    check(b"\"README.md\"", "a question is an object");
    check(b"[]", "a question is an object");
    check(b"[\"README.md\"]", "a question is an object");
    check(b"[\"README.md\", \"read\", [\"/\"], \"/\"]", "a question is an object");
    check(b"{}", "a question needs a `path`");
    check(b"{\"path\": 7}", "`path` is not a string");
    check(b"{\"path\": null}", "`path` is not a string");
    check(b"{\"path\": \"a\", \"path\": \"b\"}", "duplicate key `path`");
    check(b"{\"path\": \"a\", \"roots\": [], \"roots\": []}", "duplicate key `roots`");
    check(b"{\"path\": \"a\", \"acces\": \"write\"}", "unknown key `acces`");
    check(b"{\"path\": \"a\"} {\"path\": \"b\"}", "not JSON: trailing characters");
    check(b"{\"path\": \"a\"", "not JSON: the line ends within an object");
    check(b"{\"path\": \"\xff\"}", "invalid unicode");
    check(b"{\"path\": \"\\ud800\"}", "");
    check(b"\xef\xbb\xbf{\"path\": \"a\"}", "expected value");
    check(b"{\"path\": \"a\", \"access\": \"fly\"}", "`access` is not `read`");
    check(b"{\"path\": \"a\", \"access\": []}", "`access` is not `read`");
    check(b"{\"path\": \"a\", \"access\": [\"read\", 1]}", "`access` is not `read`");
    check(b"{\"path\": \"a\", \"access\": null}", "`access` is not `read`");
    check(b"{\"path\": \"a\", \"base\": 7}", "`base` is not a string");
    check(b"{\"path\": \"a\", \"roots\": null}", "`roots` is not a list");
    check(b"{\"path\": \"a\", \"roots\": \".\"}", "`roots` is not a list");
    check(b"{\"path\": \"a\", \"roots\": [7]}", "a root is a string, or an object with");
    check(
        b"{\"path\": \"a\", \"roots\": [[\"file:///a\", \"/a\", \"read\"]]}",
        "a root is a string, or an object with",
    );
    check(b"{\"path\": \"a\", \"roots\": [{\"uri\": 7}]}", "a root is a string, or an object with");
    check(
        b"{\"path\": \"a\", \"roots\": [{\"uri\": null, \"path\": \"/a\"}]}",
        "a root is a string, or an object with",
    );
    check(b"{\"path\": \"a\", \"roots\": [{\"url\": \"file:///a\"}]}", "unknown key `url`: a root is");
    check(b"{\"path\": \"a\", \"roots\": [{\"path\": \"/a\", \"path\": \"/\"}]}", "duplicate key `path` of a root");
    check(
        b"{\"path\": \"a\", \"roots\": [{\"path\": \"/a\", \"access\": \"fly\"}]}",
        "`access` of a root is not `read`",
    );
    check(b"{\"path\": \"a\", \"roots\": [\"http://x\"]}", "not a usable root: `http://x` (scheme `http`");
    check(b"{\"path\": \"a\", \"roots\": [{\"path\": \"src\"}]}", "not a usable root: `src` (not an absolute path)");
    check(b"{\"path\": \"a\", \"roots\": [{\"uri\": \"/a\", \"path\": \"/a\"}]}", "either a `uri` or a `path`");
    check(b"{\"path\": \"a\", \"roots\": [{\"uri\": \"file:///a/..\"}]}", "not a usable root: `file:///a/..` (");
    check(b"{\"path\": \"a\", \"base\": \"C:\\\\x\"}", "not a usable base: `C:\\x`");
    check(b"{\"path\": \"a\", \"base\": \"gone\"}", "not a usable base: `gone` (does not exist)");
    check(&[b"{\"path\": \"a\", \"base\": ".as_slice(), &b"[".repeat(100_000)].concat(), "");
    let long = format!("{{\"path\": \"{}\"}}", "x".repeat(3 << 20));
    check(long.as_bytes(), "a line of more than 1048576 bytes");
}

#[test]
fn the_path_is_echoed_if_it_can_be_parsed() {
    let stage = Stage::new();
    let check = |line: &str, path: Value| {
        let (answers, _) = answers(&stage, line.as_bytes());
        assert_eq!(answers[0]["path"], path, "{line}");
        let error = answers[0]["error"].as_str().unwrap();
        assert!(!error.contains("line 1") && !error.contains("struct") && !error.contains("enum"), "{error}");
    };
    check(r#"{"path": "a", "access": "fly"}"#, json!("a"));
    check(r#"{"path": "a", "acces": "read"}"#, json!("a"));
    check(r#"{"path": "a", "roots": null}"#, json!("a"));
    check(r#"{"base": 7, "path": "a"}"#, json!("a"));
    check(r#"{"path": "a", "base": "gone"}"#, json!("a"));
    check(r#"{"path": "a", "path": "b"}"#, Value::Null);
    check(r#"{"path": "a""#, Value::Null);
    check(r#"["a"]"#, Value::Null);
}

#[test]
fn unusable_roots_of_a_line_are_reported() {
    let stage = Stage::new();
    let check = |roots: Value, expect: Value| {
        // Twice: the second answer uses the cached roots of the first.
        let line = json!({"path": "README.md", "roots": roots}).to_string() + "\n";
        for answer in answers(&stage, line.repeat(2).as_bytes()).0 {
            assert_eq!(answer.get("left_out").unwrap_or(&Value::Null), &expect, "{line}");
        }
    };
    check(json!(["."]), Value::Null);
    check(json!([".", "gone", "fifo"]), {
        json!(["root `gone`: does not exist", "root `fifo`: is neither a file nor a directory"])
    });
    check(json!([{"uri": "file:///gone"}]), json!(["root `/gone`: does not exist"]));
}

#[test]
fn a_lines_own_roots_replace_the_others() {
    let stage = Stage::new();
    let outside = stage.path("outside").display().to_string();
    let check = |line: Value, decision: &str, code: Option<&str>| {
        let (answers, _) = answers(&stage, format!("{line}\n").as_bytes());
        assert_eq!((&answers[0]["decision"], &answers[0]["code"]), (&json!(decision), &json!(code)), "{line}");
    };
    check(json!({"path": "README.md", "roots": [outside]}), "deny", Some("outside_roots"));
    check(json!({"path": "README.md", "roots": []}), "deny", Some("no_roots"));
    check(json!({"path": "README.md", "roots": ["gone"]}), "deny", Some("no_roots"));
    check(json!({"path": "secret", "roots": [outside], "base": outside}), "allow", None);
    check(json!({"path": "main.rs", "base": "src"}), "allow", None);
    check(json!({"path": "secret", "base": outside}), "deny", Some("outside_roots"));
    let secret = format!("{outside}/secret");
    check(
        json!({"path": secret, "roots": [format!("{outside}:ro")], "access": "write"}),
        "deny",
        Some("access_denied"),
    );
    check(json!({"path": secret, "roots": [{"path": outside, "access": "read"}]}), "allow", None);
    let object = json!([{"uri": format!("file://{outside}"), "access": ["read", "execute"]}]);
    check(json!({"path": secret, "roots": object, "access": ["execute", "read"]}), "allow", None);
    check(json!({"path": secret, "roots": object, "access": "write"}), "deny", Some("access_denied"));
    // A root as a client sends it.
    let sent = json!([{"uri": format!("file://{outside}"), "name": "outside", "_meta": {"x": [1]}}]);
    check(json!({"path": secret, "roots": sent}), "allow", None);
}

#[test]
fn roots_that_alternate_are_not_mixed_up() {
    let stage = Stage::new();
    let (inside, outside) = (stage.path("project"), stage.path("outside"));
    let mut input = String::new();
    for number in 0..50 {
        let roots = if number % 3 == 0 { json!([inside]) } else { json!([outside]) };
        let own = json!({"path": "README.md", "roots": roots});
        input.extend([own, json!({"path": "README.md"})].map(|line| format!("{line}\n")));
    }
    let (answers, _) = answers(&stage, input.as_bytes());
    for (number, pair) in answers.chunks(2).enumerate() {
        assert_eq!(pair[0]["decision"], if number % 3 == 0 { "allow" } else { "deny" });
        assert_eq!(pair[1]["decision"], "allow");
    }
}

#[test]
fn an_answer_comes_before_the_next_question() {
    let stage = Stage::new();
    let mut child = stage
        .command(["check", "--root", ".", "--stdin"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut questions = child.stdin.take().unwrap();
    let mut answers = BufReader::new(child.stdout.take().unwrap());
    for _ in 0..3 {
        // The second line is incomplete, so only the first gets an answer.
        questions.write_all(b"{\"path\": \"README.md\"}\n{\"path\": ").unwrap();
        let mut answer = String::new();
        answers.read_line(&mut answer).unwrap();
        assert!(answer.contains("\"allow\""), "{answer}");
        questions.write_all(b"\"../outside\"}\n").unwrap();
        answer.clear();
        answers.read_line(&mut answer).unwrap();
        assert!(answer.contains("\"deny\""), "{answer}");
    }
    drop(questions);
    assert_eq!(child.wait().unwrap().code(), Some(1));
}

#[test]
fn a_reader_that_goes_away_causes_no_panic() {
    let stage = Stage::new();
    let mut child = stage
        .command(["check", "--root", ".", "--stdin"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let mut questions = child.stdin.take().unwrap();
    // The pipe closes on this side as soon as the child gives up.
    let _ = questions.write_all(&b"{\"path\": \"README.md\"}\n".repeat(50_000));
    drop(questions);
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!((said.as_str(), child.wait().unwrap().code()), ("", Some(2)));
}
