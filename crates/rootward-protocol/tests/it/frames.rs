//! Messages pass through byte for byte.

use proptest::prelude::*;
use rootward_protocol::frame::{Awaited, FrameReader, Id, Kind, Line, Message, outline};
use serde_json::{Value, json};

/// JSON values of every kind.
fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::btree_map("[a-z\"\\\\é/ ]{0,6}", inner, 0..5)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

/// A frame; or the length of one over the limit, and who waits for an answer.
pub(crate) type Cut = Result<Vec<u8>, (usize, Awaited)>;

/// The frames of a stream in chunks of the sizes in `sizes`, repeated.
pub(crate) fn cut(limit: usize, stream: &[u8], sizes: &[usize]) -> Vec<Cut> {
    let mut reader = FrameReader::new(limit);
    let mut frames = Vec::new();
    let mut keep = |line: Line<'_>| {
        frames.push(match line {
            Line::Frame(frame) => Ok(frame.to_vec()),
            Line::TooLong(long) => Err((long.length, long.awaited)),
        });
    };
    let (mut rest, mut sizes) = (stream, sizes.iter().cycle());
    while !rest.is_empty() {
        let (chunk, behind) = rest.split_at((*sizes.next().unwrap()).clamp(1, rest.len()));
        rest = behind;
        reader.add(chunk);
        while let Some(line) = reader.next() {
            keep(line);
        }
    }
    if let Some(line) = reader.finish() {
        keep(line);
    }
    frames
}

/// Pieces of messages, some broken, to build large lines from.
fn piece() -> impl Strategy<Value = String> {
    let long = || "x".repeat(1024);
    let fixed = [
        r#""id":1"#,
        r#""id":"a""#,
        r#""id":"""#,
        r#""method":"m""#,
        r#""Method":"m""#,
        r#""result":{"a":[1,"b",null]}"#,
        r#""result":null"#,
        r#""error":{"code":1}"#,
        r#""params":{}"#,
        r#""jsonrpc":"2.0""#,
        r#""jsonrpc":"1.0""#,
        r#""res\u0075lt":1"#,
        r#""x":[[]]"#,
        r#""x":{"#,
        r#""x":1e5}"#,
        r#""x":"\"""#,
        "\"x\":\t1",
        "\"x\":\r1",
        r#""x""#,
        "{}",
        "",
    ];
    prop_oneof![
        prop::sample::select(fixed.to_vec()).prop_map(str::to_owned),
        prop::sample::select(["result", "id", "method", "x", "jsonrpc"].as_slice())
            .prop_flat_map(move |key| {
                let inside = prop::sample::select(
                    ["", r#"\""#, r"\\", r"\n", r"\u00e9", r"\ud800", "é", r"\x", r"\u12", "\t", "\r", "\"", "\\"]
                        .as_slice(),
                );
                (Just(key), inside.clone(), inside)
            })
            .prop_map(move |(key, before, behind)| format!(r#""{key}":"{before}{}{behind}""#, long())),
        Just(()).prop_map(move |()| format!(r#""{}":1"#, long())),
    ]
}

/// The kind and id of a line, if it is a message.
fn read(line: &str) -> Option<(Kind, Option<String>)> {
    match Message::parse(line.as_bytes()) {
        Ok(Message::Single(envelope)) => Some((envelope.kind(), envelope.id().map(|id| id.as_str().to_owned()))),
        Ok(Message::Batch(_)) | Err(_) => None,
    }
}

proptest! {
    #[test]
    fn an_outline_reads_as_the_message_does(pieces in prop::collection::vec(piece(), 0..6)) {
        let line = format!("{{{}}}", pieces.join(","));
        if let Some(outline) = outline(line.as_bytes()) {
            let (short, whole) = (read(&outline), read(&line));
            let left_out = |id: &Option<String>| id.as_deref() == Some(r#""""#);
            match short {
                Some((kind, id)) if left_out(&id) => prop_assert_eq!(whole.map(|(kind, _)| kind), Some(kind)),
                short => prop_assert_eq!(short, whole),
            }
        }
    }

    #[test]
    fn messages_pass_unchanged(
        params in json(),
        id in prop_oneof![any::<String>().prop_map(Value::from), any::<u64>().prop_map(Value::from)],
        sizes in prop::collection::vec(1_usize..40, 1..5),
    ) {
        let frame = json!({"params": params, "id": id, "jsonrpc": "2.0", "method": "m", "x": params}).to_string();
        let stream = format!("{frame}\r\n\n{frame}\n");
        let frames = cut(1 << 20, stream.as_bytes(), &sizes);
        prop_assert_eq!(frames.len(), 2);
        for line in &frames {
            let line = line.as_ref().unwrap();
            prop_assert_eq!(line.as_slice(), frame.as_bytes());
            let Ok(Message::Single(envelope)) = Message::parse(line) else { return Err(TestCaseError::fail("no message")) };
            prop_assert_eq!(envelope.text(), frame.as_str());
            let id_text = id.to_string();
            prop_assert_eq!(envelope.id().map(Id::as_str), Some(id_text.as_str()));
            let params_text = params.to_string();
            prop_assert_eq!(envelope.params().unwrap().get(), params_text);
            let mut written = Vec::new();
            envelope.write_with_id(Id::read("\"other\"").unwrap(), &mut written);
            let mut expected: Value = serde_json::from_str(&frame).unwrap();
            expected["id"] = "other".into();
            let read: Value = serde_json::from_slice(&written).unwrap();
            prop_assert_eq!(read, expected);
            let mut back = Vec::new();
            let Ok(Message::Single(other)) = Message::parse(&written) else { return Err(TestCaseError::fail("no message")) };
            other.write_with_id(envelope.id().unwrap(), &mut back);
            prop_assert_eq!(back.as_slice(), frame.as_bytes());
        }
    }

    #[test]
    fn the_id_of_a_frame_over_the_limit_is_reported(params in json(), id in any::<String>(), sizes in prop::collection::vec(1_usize..40, 1..5)) {
        let frame = json!({"a": params, "id": id, "method": "m", "z": params}).to_string();
        let frames = cut(8, format!("{frame}\n{{}}\n").as_bytes(), &sizes);
        let id = serde_json::to_string(&id).unwrap().into_boxed_str();
        // Ids of more than a kilobyte are ignored; this test creates none.
        prop_assert_eq!(frames, vec![Err((frame.len(), Awaited::By(id))), Ok(b"{}".to_vec())]);
    }
}
