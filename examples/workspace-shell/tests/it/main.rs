//! Tests the binary over both transports with clients of both eras.
#![expect(clippy::disallowed_methods, reason = "tests create their own files")]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod hostile;
mod scene;
mod tools;
mod transports;

#[test]
fn is_at_most_120_lines() {
    assert!(include_str!("../../src/main.rs").lines().count() <= 120);
}
