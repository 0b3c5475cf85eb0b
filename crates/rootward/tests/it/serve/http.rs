//! `rootward serve --http`: who may connect, and what each principal gets.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use rootward_testkit::client::message::{self, ROOTS_QUESTION, again};
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::http_client::{Serving, Session};
use crate::stage::{Run, Stage};

const ADA: &str = "ada-ada-ada-ada-ada-ada-ada-ada-ada-ada";
const BOB: &str = "bob-bob-bob-bob-bob-bob-bob-bob-bob-bob";
const SERVE: [&str; 3] = ["serve", "--http", "127.0.0.1:0"];

/// Writes a token file with this mode.
fn token(stage: &Stage, name: &str, text: &str, mode: u32) -> String {
    stage.write(name, text);
    fs::set_permissions(stage.path(name), Permissions::from_mode(mode)).unwrap();
    stage.path(name).to_str().unwrap().to_owned()
}

/// Two principals: `ada` may reach `ada/`, `bob` may read `bob/` and `shared/`.
fn two() -> Stage {
    let stage = Stage::new();
    for name in ["ada", "bob", "shared"] {
        stage.write(&format!("{name}/file"), name);
    }
    token(&stage, "home/ada.token", &format!("{ADA}\n"), 0o600);
    stage.with("BOBS_TOKEN", BOB).with_settings(
        "[http.principals.ada]\ntoken_file = '~/ada.token'\nroots = ['[STAGE]/ada']\n\
         [http.principals.bob]\ntoken_env = 'BOBS_TOKEN'\nroots = ['[STAGE]/bob:ro', '[STAGE]/shared:ro']\nservers = ['git']",
    )
}

fn refused(run: &Run, says: &str) {
    assert_eq!(run.code, Some(2), "{}", run.stderr);
    assert!(run.stderr.contains(says), "`{says}` is not in:\n{}", run.stderr);
}

#[test]
fn two_principals_never_see_each_others_files() {
    let stage = two();
    let serving = Serving::start(&stage, &SERVE);
    let path = |name: &str| stage.path(name).to_str().unwrap().to_owned();
    let everything = [path(""), path("ada"), path("bob"), path("shared"), "/".to_owned()];
    let everything: Vec<&str> = everything.iter().map(String::as_str).collect();
    let mut ada = Session::begin(&serving, ADA);
    let mut bob = Session::begin(&serving, BOB);
    assert_eq!(ada.read_in(&everything, &path("ada/file")), "ada");
    assert_eq!(ada.read_in(&everything, &path("bob/file")), "outside_roots");
    assert_eq!(ada.read_in(&everything, &path("shared/file")), "outside_roots");
    assert_eq!(bob.read_in(&everything, &path("bob/file")), "bob");
    assert_eq!(bob.read_in(&everything, &path("shared/file")), "shared");
    assert_eq!(bob.read_in(&everything, &path("ada/file")), "outside_roots");
    let (_, written) = bob.call_in(&everything, "write_file", json!({"path": path("bob/new"), "content": ""}));
    assert_eq!(written["structuredContent"]["code"], "access_denied");
    // A session belongs to the principal that started it.
    let headers = [("Mcp-Session-Id", ada.id.as_str()), ("Mcp-Protocol-Version", message::LEGACY)];
    let ping = message::request(7, "ping", Value::Null);
    assert_eq!(serving.post(Some(BOB), &headers, &ping).status, 404);
    assert_eq!(serving.post(Some(ADA), &headers, &ping).status, 200);
    // The audit log names the principal.
    let shown = stage.run(["audit", "show"]).stdout;
    assert!(shown.contains("for `ada`") && shown.contains("for `bob`"), "{shown}");
    let json = stage.run(["audit", "show", "--json"]).stdout;
    assert!(json.contains("\"principal\":\"ada\""), "{json}");
}

#[test]
fn a_modern_state_of_another_principal_is_refused() {
    let stage = two();
    let serving = Serving::start(&stage, &SERVE);
    let ask = |token: &str, params: Value| {
        let headers =
            [("Mcp-Protocol-Version", message::MODERN), ("Mcp-Method", "tools/call"), ("Mcp-Name", "read_text_file")];
        let params = message::modern(&json!({"roots": {}}), params);
        serving.post(Some(token), &headers, &message::request(1, "tools/call", params)).message()
    };
    let call = message::call("read_text_file", json!({"path": stage.path("ada/file")}));
    let question = ask(ADA, call.clone());
    let questions = &question["result"]["inputRequests"];
    assert_eq!(questions, &json!({ROOTS_QUESTION: {"method": "roots/list"}}), "{question}");
    let list = message::roots([format!("file://{}", stage.path("ada").display())]);
    let retried = again(call, &question["result"]["requestState"], &list);
    assert_eq!(ask(BOB, retried.clone())["error"]["code"], -32602);
    assert_eq!(ask(ADA, retried)["result"]["content"][0]["text"], "ada");
}

#[test]
fn a_token_is_always_required() {
    let stage = two();
    let serving = Serving::start(&stage, &SERVE);
    let hello = message::request(0, "initialize", message::hello(json!({})));
    let almost = format!("{ADA}x");
    for token in [None, Some(""), Some(&*almost), Some(&ADA[1..])] {
        assert_eq!(serving.post(token, &[], &hello).status, 401, "{token:?}");
    }
    assert_eq!(serving.post(Some(ADA), &[], &hello).status, 200);
}

#[test]
fn a_token_is_generated_and_shown_once() {
    let stage = Stage::new();
    let arguments = ["serve", "--http", "127.0.0.1:0", "."];
    let first = Serving::start(&stage, &arguments);
    let file = stage.path("home/.local/state/rootward/http-token");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let token = fs::read_to_string(&file).unwrap().trim_end().to_owned();
    assert_eq!(token.len(), 64);
    assert!(first.said.contains(&token), "{}", first.said);
    let readme = stage.path("project/README.md");
    assert_eq!(Session::begin(&first, &token).read_in(&[], readme.to_str().unwrap()), "text");
    drop(first);
    let second = Serving::start(&stage, &arguments);
    assert!(!second.said.contains(&token), "{}", second.said);
    assert!(second.said.contains("http-token"), "{}", second.said);
    let mut session = Session::begin(&second, &token);
    // No principal can reach Rootward's own places.
    assert_ne!(session.read_in(&[], file.to_str().unwrap()), token);
}

#[test]
fn a_token_file_that_others_can_read_is_refused() {
    let stage = Stage::new();
    for mode in [0o640, 0o604, 0o620, 0o602] {
        let file = token(&stage, "token", ADA, mode);
        refused(&stage.run(["serve", "--http", "0", "--token-file", &file, "."]), "by others (mode ");
    }
    let file = token(&stage, "token", "short\n", 0o600);
    refused(&stage.run(["serve", "--http", "0", "--token-file", &file, "."]), "shorter than 32 characters");
    let file = token(&stage, "token", &format!("{ADA} {ADA}"), 0o600);
    refused(&stage.run(["serve", "--http", "0", "--token-file", &file, "."]), "whitespace");
    refused(&stage.run(["serve", "--http", "0", "--token-file", "missing", "."]), "cannot be read");
}

#[test]
fn a_token_file_that_a_server_could_write_is_refused() {
    let stage = Stage::new().with_path();
    // From now on, a confined command could have written anything in `src`.
    let confined = stage.run(["sandbox", "--root", "src", "--", "true"]);
    assert_eq!(confined.code, Some(0), "{}", confined.stderr);
    let file = token(&stage, "project/src/token", ADA, 0o600);
    refused(&stage.run(["serve", "--http", "0", "--token-file", &file, "."]), "could have written it");
    std::os::unix::fs::symlink(token(&stage, "home/token", ADA, 0o600), stage.path("project/src/link")).unwrap();
    refused(&stage.run(["serve", "--http", "0", "--token-file", "src/link", "."]), "could have written it");
    std::os::unix::fs::symlink(&file, stage.path("home/into")).unwrap();
    let into = stage.path("home/into");
    refused(&stage.run(["serve", "--http", "0", "--token-file", into.to_str().unwrap(), "."]), "could have written it");
}

#[test]
fn beyond_loopback_plain_http_takes_a_flag() {
    let stage = Stage::new();
    let file = token(&stage, "token", ADA, 0o600);
    let run = stage.run(["serve", "--http", "0.0.0.0:0", "--token-file", &file, "."]);
    refused(&run, "HTTP is not encrypted");
    assert!(run.stderr.contains("--insecure-plain-http"), "{}", run.stderr);
    let arguments = ["serve", "--http", "0.0.0.0:0", "--token-file", &file, "--insecure-plain-http", "."];
    drop(Serving::start(&stage, &arguments));
}

#[test]
fn beyond_loopback_a_token_must_be_given() {
    let stage = Stage::new();
    let arguments = ["serve", "--http", "0.0.0.0:0", "--insecure-plain-http", "."];
    refused(&stage.run(arguments), "a token is required");
    let stage = stage.with("ROOTWARD_TOKEN", ADA);
    drop(Serving::start(&stage, &arguments));
}

#[test]
fn a_principal_without_a_ceiling_is_refused() {
    let stage = Stage::new().with("ROOTWARD_TOKEN", ADA);
    let run = stage.run(SERVE);
    refused(&run, "principal `default` is refused: it has no roots");
    assert!(run.stderr.contains("rootward serve --http ADDR DIR"), "{}", run.stderr);
    refused(&stage.run(["serve", "--http", "0", "gone"]), "none of its roots can be used");
    let stage = stage.with_settings("roots = ['[STAGE]/project']\n[http.principals.eve]\ntoken_env = 'ROOTWARD_TOKEN'");
    let run = stage.run(SERVE);
    refused(&run, "principal `eve` is refused: it has no roots");
    assert!(run.stderr.contains("[http.principals.eve]"), "{}", run.stderr);
}

#[test]
fn two_principals_with_one_token_are_refused() {
    let settings = "[http.principals.ada]\ntoken_env = 'T'\nroots = ['[STAGE]/project']\n\
                    [http.principals.bob]\ntoken_env = 'T'\nroots = ['[STAGE]/project']";
    let stage = Stage::new().with("T", ADA).with_settings(settings);
    refused(&stage.run(SERVE), "principals `ada` and `bob` have the same token");
}

#[test]
fn modes_that_widen_are_refused_over_http() {
    let stage = Stage::new().with("ROOTWARD_TOKEN", ADA);
    for (variable, value) in [("ROOTWARD_MODE", "replace"), ("ROOTWARD_MODE", "union"), ("ROOTWARD_FALLBACK_ONLY", "1")]
    {
        let mut command = stage.command(["serve", "--http", "0", "."]);
        let run = command.env(variable, value).output().unwrap().into();
        refused(&run, "cannot be used over HTTP");
    }
}

#[test]
fn flags_that_principals_leave_without_meaning_are_refused() {
    let stage = two();
    refused(&stage.run(["serve", "--http", "0", "."]), "each with its own directories");
    refused(&stage.run(["serve", "--http", "0", "--token-file", "x"]), "each with its own token");
    refused(&stage.run(["serve", "--token-file", "x"]), "--http");
    refused(&stage.run(["serve", "--http", "nowhere"]), "not a usable address");
}

#[test]
fn saved_roots_are_not_for_http() {
    let stage = Stage::new().with("ROOTWARD_TOKEN", ADA);
    let added = stage.run(["roots", "add", "--yes", stage.path("outside").to_str().unwrap()]);
    assert_eq!(added.code, Some(0), "{}", added.stderr);
    refused(&stage.run(SERVE), "it has no roots");
    let serving = Serving::start(&stage, &["serve", "--http", "127.0.0.1:0", "."]);
    let secret = stage.path("outside/secret");
    assert_eq!(Session::begin(&serving, ADA).read_in(&[], secret.to_str().unwrap()), "outside_roots");
}

#[test]
fn a_tool_asks_on_the_stream_of_its_call_and_a_change_is_its_sessions_own() {
    let stage = Stage::new().with("ROOTWARD_TOKEN", ADA);
    let serving = Serving::start(&stage, &["serve", "--http", "127.0.0.1:0", stage.top().to_str().unwrap()]);
    let (project, outside) = (stage.path("project"), stage.path("outside"));
    let (project, outside) = (project.to_str().unwrap(), outside.to_str().unwrap());
    let mut one = Session::begin(&serving, ADA);
    let mut other = Session::begin(&serving, ADA);
    let inside = json!({"path": format!("{project}/README.md")});
    for session in [&mut one, &mut other] {
        let (asked, result) = session.call_in(&[project], "roots", json!({}));
        assert_eq!((asked, &result["structuredContent"]["roots"][0]["path"]), (1, &json!(project)));
        assert_eq!(session.call_in(&[], "roots", json!({})).0, 0);
        let (asked, result) = session.call_in(&[], "path_in_roots", inside.clone());
        assert_eq!((asked, &result["structuredContent"]["inRoots"]), (0, &json!(true)));
    }
    one.tell("notifications/roots/list_changed");
    let (asked, result) = one.call_in(&[outside], "path_in_roots", inside.clone());
    assert_eq!((asked, &result["structuredContent"]["inRoots"]), (1, &json!(false)));
    let (asked, result) = other.call_in(&[outside], "path_in_roots", inside);
    assert_eq!((asked, &result["structuredContent"]["inRoots"]), (0, &json!(true)));
}

#[test]
fn a_thousand_sessions_with_different_roots_do_not_mix() {
    const SESSIONS: usize = 1_000;
    const THREADS: usize = 4;
    let stage = Stage::new().with("ROOTWARD_TOKEN", ADA);
    for number in 0..SESSIONS {
        stage.write(&format!("many/{number}/file"), &number.to_string());
    }
    let top = stage.path("many").to_str().unwrap().to_owned();
    let serving = Serving::start(&stage, &["serve", "--http", "127.0.0.1:0", &top]);
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (serving, top) = (&serving, &top);
            scope.spawn(move || {
                let numbers = (thread..SESSIONS).step_by(THREADS);
                let mut sessions: Vec<_> = numbers.map(|number| (number, Session::begin(serving, ADA))).collect();
                for _ in 0..2 {
                    for (number, session) in &mut sessions {
                        let root = format!("{top}/{number}");
                        assert_eq!(session.read_in(&[&root], &format!("{root}/file")), number.to_string());
                        let neighbour = format!("{top}/{}/file", (*number + 1) % SESSIONS);
                        assert_eq!(session.read_in(&[], &neighbour), "outside_roots");
                    }
                }
            });
        }
    });
}

#[test]
fn running_calls_finish_after_a_signal() {
    for signal in [Signal::TERM, Signal::INT] {
        let stage = Stage::new().with_path().with("ROOTWARD_TOKEN", ADA);
        let serving = Serving::start(&stage, &["serve", "--http", "127.0.0.1:0", ".:rwx"]);
        let mut session = Session::begin(&serving, ADA);
        let root = stage.path("project").to_str().unwrap().to_owned();
        assert_eq!(session.read_in(&[&root], &format!("{root}/README.md")), "text");
        let mut answer = session.call("shell", json!({"command": "sleep 1; echo finished"}));
        serving.signal(signal);
        let result = answer.message()["result"].to_string();
        assert!(result.contains("finished"), "{result}");
        drop(answer);
        let began = Instant::now();
        assert_eq!(serving.wait().0, Some(0));
        assert!(began.elapsed() < Duration::from_secs(8));
    }
}

#[test]
fn limits_are_settings() {
    let hello = message::request(1, "initialize", message::hello(json!({})));
    let stage =
        Stage::new().with_settings("[http.limits]\nsessions = 1\nbody_bytes = 2000\n").with("ROOTWARD_TOKEN", ADA);
    let project = stage.path("project").to_str().unwrap().to_owned();
    let serving = Serving::start(&stage, &["serve", &project, "--http", "127.0.0.1:0"]);
    assert_eq!(serving.post(Some(ADA), &[], &hello).status, 200);
    let refused = serving.post(Some(ADA), &[], &hello);
    assert_eq!((refused.status, refused.header("retry-after").is_some()), (503, true));
    let long = message::request(1, "initialize", json!({"long": "x".repeat(2000)}));
    assert_eq!(serving.post(Some(ADA), &[], &long).status, 413);
    drop(serving);
    for (settings, says) in [
        ("[http.limits]\nsessions = 0", "line 2, column 12: `0` (expected a number from 1 to 1000000)"),
        ("[http.limits]\nsession = 1", "unknown key `session`"),
    ] {
        refused_with(settings, says);
    }
}

fn refused_with(settings: &str, says: &str) {
    let stage = Stage::new().with_settings(settings);
    refused(&stage.run(SERVE), says);
}

#[test]
fn names_that_mean_nothing_are_refused_at_the_start() {
    let stage = Stage::new().with("ROOTWARD_TOKEN", ADA);
    for (flag, value, says) in [
        ("--allow-origin", "*", "not a valid web page origin: `*`"),
        ("--allow-origin", "null", "not a valid web page origin: `null`"),
        ("--allow-origin", "example.org", "not a valid web page origin: `example.org`"),
        ("--allow-host", "a b", "not a host name: `a b`"),
    ] {
        refused(&stage.run(["serve", ".", "--http", "127.0.0.1:0", flag, value]), says);
    }
}
