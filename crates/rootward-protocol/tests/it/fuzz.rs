//! Random input from small alphabets, for frames and envelopes.

use proptest::prelude::*;
use rootward_protocol::frame::Message;
use rootward_testkit::fuzz;

use crate::frames;

/// Streams made of pieces that frame readers often get wrong.
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
        // The simple implementation: split all lines at once.
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
