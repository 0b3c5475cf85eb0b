//! The wire transcripts of `testdata/transcripts`, played through the engine.
//!
//! Only `adapter.rs` knows the engine; `server.rs` is the server behind it, which checks nothing.

mod adapter;
mod server;

use std::rc::Rc;

use rootward_testkit::transcript::{self, Difference, Side, Transcript};

use adapter::{Start, Wrapped};

/// Plays a transcript in each way that `wrap` runs: servers restarted or notified when the roots change, with the
/// last handshake cached or not.
fn play(transcript: &Transcript) -> Result<(), Difference> {
    for start in [Start::ForEachChange, Start::Once] {
        let memory = Rc::default();
        for handshake in ["new", "remembered"] {
            let played = transcript::play(transcript, &mut Wrapped::new(start, Rc::clone(&memory)));
            played.map_err(|Difference { line, says }| Difference {
                line,
                says: format!("{says}\n  with:     {start:?}, a {handshake} handshake"),
            })?;
        }
    }
    Ok(())
}

#[test]
fn every_transcript_plays_as_written() {
    let report = transcript::play_all(Side::Wrap, play).unwrap();
    println!("{report}");
    assert!(report.failures.is_empty(), "{report}\n{}", report.failures.join("\n"));
}
