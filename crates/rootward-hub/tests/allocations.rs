//! A message without paths is forwarded without allocating, except for the JSON parser's scratch buffer.
//!
//! This is a separate binary, because counting replaces the allocator of the whole program.

use rootward_core::{Guard, GuardOptions, Origin, Root, RootSet, Validation};
use rootward_hub::check;
use rootward_hub::scan::{Call, Expansion, Protection, Tool};
use rootward_protocol::frame::{FrameReader, Line, Message};

/// The number of allocations for parsing a message and for checking it.
#[expect(clippy::panic, reason = "a message that cannot be read must fail the test")]
fn allocations(guard: &Guard, line: &str) -> (u64, u64) {
    let stream = format!("{line}\n");
    let (expansion, tool) = (Expansion::default(), Tool::named("search"));
    let mut reader = FrameReader::new(1 << 20);
    reader.add(stream.as_bytes());
    let mut message = None;
    let read = allocation_counter::measure(|| {
        let Some(Line::Frame(frame)) = reader.next() else { return };
        message = Message::parse(frame).ok();
    });
    let Some(Message::Single(envelope)) = message else { panic!("{line}") };
    let call = Call { method: envelope.method().unwrap_or_default(), params: envelope.params(), tool: Some(&tool) };
    let mut passed = false;
    let decided = allocation_counter::measure(|| {
        passed = check(guard, &expansion, Protection::Kernel, &call).is_ok_and(|verdict| verdict.refused().is_none());
    });
    assert!(passed, "{line}");
    (read.count_total, decided.count_total)
}

#[test]
fn a_message_without_paths_allocates_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let root = Root::from_path(directory.path(), Origin::Flag).unwrap();
    let guard = Guard::new(RootSet::place_ambient([root], &Validation::new(None)), GuardOptions::default());
    for line in [
        r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"message":"hello \n /etc"}}}"#,
        r#"{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"add","arguments":{"a":1,"b":[2.5,{"c":"x y, z: a/b"}]},"_meta":{"progressToken":7,"exe":"/usr/bin/codex"}}}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"content":"\t\"file or not\n"}}}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"/etc"}]}}"#,
    ] {
        let (read, decided) = allocations(&guard, line);
        assert!(read <= 1 && decided == 0, "{read}, {decided}: {line}");
    }
}

/// A decision keeps the path and its key in a list of findings, and for a path also where it leads and its root.
#[test]
fn a_path_costs_two_allocations_more_than_a_word() {
    let directory = tempfile::tempdir().unwrap();
    let root = Root::from_path(directory.path(), Origin::Flag).unwrap();
    let guard = Guard::new(RootSet::place_ambient([root], &Validation::new(None)), GuardOptions::default());
    let call = |key: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"x","arguments":{{"{key}":"a"}}}}}}"#
        )
    };
    assert_eq!(allocations(&guard, &call("target")).1, 3);
    assert_eq!(allocations(&guard, &call("path")).1, 5);
}
