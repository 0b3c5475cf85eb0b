//! What is audited: who asked whom, where a path leads, and nothing that is not a path.

use rootward_core::{AuditEvent, Code};
use rootward_protocol::frame::Line;
use serde_json::{Value, json};

use super::{Change, Play};
use crate::engine::{Effect, Entries, Event, MessageNumber, OnRecord};

/// A play whose server has listed its tools and waits for calls.
fn ready() -> Play {
    let mut play = Play::recorded();
    play.client(&call(1, &json!({})));
    play.list_tools(1);
    play.pass(300);
    play.given(1);
    play
}

fn call(id: u64, arguments: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": "read_it", "arguments": arguments}})
}

/// The audit entries of the last message.
fn recorded(play: &mut Play) -> Vec<AuditEvent> {
    std::mem::take(&mut play.recorded).into_iter().flat_map(|entries| entries.events).collect()
}

/// One decision in a line: the outcome, the path as requested, where it leads, and its root.
fn told(play: &Play, event: &AuditEvent) -> String {
    let code = event.code.map_or("allow", Code::as_str);
    let shown = |place: &Option<String>| place.clone().unwrap_or_else(|| "-".to_owned()).replace(&play.path(""), "");
    format!("{code} `{}` {} in {}", event.path.replace(&play.path(""), ""), shown(&event.resolved), shown(&event.root))
}

#[test]
fn a_record_names_client_and_server() {
    let mut play = ready();
    play.read(2, "project/file.txt");
    let entries = play.recorded.pop().unwrap();
    assert_eq!(entries.child, Some(play.id(1)));
    let event = &entries.events[0];
    assert_eq!((event.client.as_deref(), event.server.as_deref()), (Some("editor 1.0"), Some("files")));
    assert_eq!((event.process, event.session.as_str()), (None, "test"));
    assert_eq!(told(&play, event), "allow `project/file.txt` project/file.txt in project");
}

#[test]
fn a_modern_record_names_the_client_of_each_request() {
    let mut play = Play::with(Change::NewChild, super::Ceiling::Project, |rules| {
        rules.audit = Some(std::sync::Arc::new(super::Looked));
    });
    let mut names = Vec::new();
    for (id, info) in [(1, json!({"name": "one", "version": "1"})), (2, json!(null)), (3, json!({"name": "three\n"}))] {
        let mut message = call(id, &json!({"path": play.path("project/file.txt")}));
        message["params"]["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": info,
        });
        play.client(&message);
        if id == 1 {
            play.list_tools(1);
        }
        play.pass(300);
        names.extend(recorded(&mut play).into_iter().map(|event| event.client));
    }
    assert_eq!(names, [Some("one 1".to_owned()), None, Some("three".to_owned())]);
}

#[test]
fn paths_are_audited_and_other_strings_are_not() {
    let mut play = ready();
    let mut check = |arguments: Value, expect: &[&str]| {
        play.client(&call(2, &arguments));
        let events = recorded(&mut play);
        let told: Vec<String> = events.iter().map(|event| told(&play, event)).collect();
        assert_eq!(told, expect, "{arguments}");
        let passed = expect.iter().all(|line| line.starts_with("allow"));
        assert_eq!(play.given_methods(1).len(), usize::from(passed), "{arguments}");
        play.child(1, &json!({"id": 2, "result": {}}));
    };
    check(json!({"path": "file.txt"}), &["allow `file.txt` project/file.txt in project"]);
    // A file that does not exist yet.
    check(json!({"path": "new/file"}), &["allow `new/file` project/new/file in project"]);
    check(json!({"path": "new/../file.txt"}), &["allow `new/../file.txt` project/file.txt in project"]);
    // The working directory.
    check(json!({"path": ""}), &["allow `` project in project"]);
    // A possible path counts as one if the file exists.
    check(json!({"target": "file.txt"}), &["allow `file.txt` project/file.txt in project"]);
    check(json!({"target": "es2020", "source": "main"}), &[]);
    check(json!({"target": "file.txt:10"}), &["allow `file.txt:10` project/file.txt in project"]);
    // Another scheme, and a text that is too long for a path.
    check(json!({"uri": "https://example.org/a", "url": "data:image/png;base64,/9j/"}), &[]);
    check(json!({"path": "x".repeat(300)}), &[]);
    check(
        json!({"message": "/etc is not a path here", "path": "file.txt", "target": "es2020"}),
        &["allow `file.txt` project/file.txt in project"],
    );
}

#[test]
fn every_refusal_is_audited() {
    let mut play = ready();
    for (key, text) in [
        ("path", "/etc/hosts".to_owned()),
        ("target", "../x".to_owned()),
        ("uri", "xy://../../../y".to_owned()),
        ("path", "../".repeat(2000)),
        ("target", format!("../{}", "x".repeat(300))),
    ] {
        play.client_frame(&call(3, &json!({key: text})).to_string());
        let codes: Vec<_> = recorded(&mut play).iter().map(|event| event.code.map(Code::as_str)).collect();
        assert_eq!(codes, [Some("outside_roots")], "{key}");
        assert_eq!(play.given_methods(1), Vec::<String>::new(), "{key}");
    }
}

/// The front fills in the process of the child that the entries are for.
#[test]
fn the_audited_child_is_the_one_that_gets_the_call() {
    let mut play = ready();
    let session = play.session;
    let text = call(2, &json!({"path": "file.txt"})).to_string();
    let (message, first) = step(&mut play, Event::ClientLine(session, Line::Frame(text.as_bytes())));
    assert_eq!(first.child, Some(play.id(1)));
    // Before that is written, the server ends, and another takes its place.
    play.ended(1);
    play.pass(2000);
    play.greet(2);
    play.pass(300);
    play.given(2);
    let (again, second) = step(&mut play, Event::Recorded(session, message, OnRecord::Yes));
    assert_eq!((second.child, again), (Some(play.id(2)), message));
    assert_eq!(play.given_methods(2), Vec::<String>::new());
    play.feed(Event::Recorded(session, again, OnRecord::Yes));
    assert_eq!(play.given_methods(2), ["tools/call 2"]);
}

/// The engine's audit entries for an event, which stay unwritten.
fn step(play: &mut Play, event: Event<'_>) -> (MessageNumber, Entries) {
    let effects = play.engine.step(play.now, event);
    let mut records = effects.into_iter().filter_map(|effect| match effect {
        Effect::Record(_, message, entries) => Some((message, entries)),
        _ => None,
    });
    records.next().expect("an audit entry")
}
