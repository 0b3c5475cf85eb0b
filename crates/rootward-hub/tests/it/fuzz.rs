//! Random input from small alphabets, through frames, envelopes and the scanner.

use proptest::prelude::*;
use rootward_core::Access;
use rootward_hub::frame::Message;
use rootward_hub::scan::{Call, Need, Tool, scan, tool_name};
use rootward_hub::{check, check_path};
use rootward_testkit::fuzz;
use serde_json::value::RawValue;

use crate::yard::Yard;
use crate::{frames, model};

/// Streams made of the pieces that frame readers stumble over.
fn stream() -> impl Strategy<Value = Vec<u8>> {
    let pieces: Vec<&'static [u8]> = vec![
        b"\n",
        b"\r\n",
        b"\r",
        b" ",
        b"\t",
        b"\xef\xbb\xbf",
        b"\xff",
        b"\0",
        b"{",
        b"}",
        b"[",
        b"]",
        b"\"",
        b"\\",
        b",",
        b":",
        b"\"id\"",
        b"\"id\":1",
        b"\"method\":\"m\"",
        b"\"params\":{}",
        b"{\"id\":2,\"method\":\"a\"}",
        b"\"result\":[]",
        b"null",
        b"-1.5e9",
        b"\xc3\xa9",
        b"x",
    ];
    prop::collection::vec(prop::sample::select(pieces), 0..40).prop_map(|pieces| pieces.concat())
}

#[test]
fn fuzz_frames() {
    let sizes = || prop::collection::vec(1_usize..20, 1..6);
    fuzz::run(&(stream(), 1_usize..40, sizes(), sizes()), |(stream, limit, sizes, others)| {
        let frames = frames::cut(limit, &stream, &sizes);
        prop_assert_eq!(&frames, &frames::cut(limit, &stream, &others));
        prop_assert_eq!(&frames, &frames::cut(limit, &stream, &[usize::MAX]));
        // The slow way: all lines at once.
        let lines = stream.split(|byte| *byte == b'\n').map(|line| {
            let bare = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
            (line.len(), bare.strip_suffix(b"\r").unwrap_or(bare))
        });
        let slow = lines.filter(|(length, bare)| *length > limit || !bare.iter().all(|byte| b" \t\r".contains(byte)));
        let slow: Vec<Result<&[u8], usize>> =
            slow.map(|(length, bare)| if length > limit { Err(length) } else { Ok(bare) }).collect();
        let fast: Vec<Result<&[u8], usize>> =
            frames.iter().map(|frame| frame.as_deref().map_err(|(length, ..)| *length)).collect();
        prop_assert_eq!(fast, slow);
        for frame in frames.iter().flatten() {
            match Message::parse(frame) {
                Ok(Message::Single(envelope)) => prop_assert_eq!(envelope.text().as_bytes(), frame.as_slice()),
                Ok(Message::Batch(batch)) => batch.members().for_each(drop),
                Err(_) => {}
            }
        }
        Ok(())
    });
}

#[test]
fn fuzz_scanner() {
    fuzz::run(&model::arguments(), |arguments| model::agrees(&arguments));
}

/// Whatever JSON it is, no method makes the scanner panic, and every reader of the name agrees with serde.
#[test]
fn fuzz_params() {
    let methods = vec!["tools/call", "prompts/get", "resources/read", "completion/complete", "x/y"];
    fuzz::run(&(prop::sample::select(methods), model::arguments(), any::<bool>()), |(method, params, wrapped)| {
        let params = if wrapped {
            serde_json::json!({"ref": params, "argument": params, "_meta": params, "name": params})
        } else {
            params
        };
        let raw = RawValue::from_string(params.to_string()).unwrap();
        let tool = Tool::named("read");
        let mut count = 0;
        let _ = scan(&Call { method, params: Some(&raw), tool: Some(&tool) }, &mut |_| count += 1);
        let name = tool_name(&raw);
        prop_assert_eq!(name.as_deref(), params.get("name").and_then(|name| name.as_str()));
        Ok(())
    });
}

/// A path that passes is one that the guard itself lets pass, and so is what it becomes once trimmed, unquoted, decoded and turned.
#[test]
fn fuzz_readings() {
    let yard = Yard::new("rw");
    let inside = |text: &str| match yard.guard.check(text, Access::READ) {
        Ok(_) => true,
        Err(denial) => denial.code().as_str() == "invalid_path",
    };
    fuzz::run(&model::text(), |text| {
        let call = RawValue::from_string(serde_json::json!({"arguments": {"path": text}}).to_string()).unwrap();
        let verdict =
            check(&yard.guard, &yard.expansion, &Call { method: "tools/call", params: Some(&call), tool: None });
        let Ok(verdict) = verdict else { return Ok(()) };
        if verdict.refused().is_some() {
            return Ok(());
        }
        prop_assert!(check_path(&yard.guard, &yard.expansion, &text, Need::READ).is_ok());
        if text.contains("://") || text.to_lowercase().contains("file:") {
            return Ok(());
        }
        let turned = text.replace('\\', "/");
        for reading in [
            text.as_str(),
            text.trim(),
            text.trim_matches(['"', '\'', ' ']),
            &turned,
            turned.trim(),
            &text.replace("%2f", "/").replace("%2e", "."),
        ] {
            prop_assert!(reading.is_empty() || inside(reading), "{text:?} passes, {reading:?} does not");
        }
        Ok(())
    });
}
