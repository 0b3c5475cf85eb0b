//! The binary over both transports, spoken to by clients of both eras.
#![expect(clippy::disallowed_methods, reason = "tests lay out the files they are about")]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod hostile;
mod scene;
mod tools;
mod transports;

#[test]
fn is_at_most_120_lines() {
    assert!(include_str!("../../src/main.rs").lines().count() <= 120);
}
