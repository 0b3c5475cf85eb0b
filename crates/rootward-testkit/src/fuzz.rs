//! Fuzzing on the stable toolchain: random values for as long as `ROOTWARD_FUZZ_SECONDS` says (one second each unless set).
//! A failure is shrunk and printed.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "called by tests, which fail by it")]

use std::time::{Duration, Instant};

use proptest::strategy::Strategy;
use proptest::test_runner::{Config, TestCaseError, TestRunner};

/// Cases between two looks at the clock.
const CASES: u32 = 50;

/// Runs `test` on values of `strategy` until the time is up.
///
/// # Panics
///
/// On the first failure, and where there is no time for a single case.
#[track_caller]
pub fn run<S: Strategy>(strategy: &S, test: impl Fn(S::Value) -> Result<(), TestCaseError>) {
    let seconds = std::env::var("ROOTWARD_FUZZ_SECONDS").map_or(1, |text| text.parse().expect("a number of seconds"));
    let end = Instant::now() + Duration::from_secs(seconds);
    let mut runner = TestRunner::new(Config { cases: CASES, failure_persistence: None, ..Config::default() });
    let mut cases = 0;
    while Instant::now() < end {
        runner.run(strategy, &test).unwrap();
        cases += CASES;
    }
    assert!(cases > 0, "no time to fuzz");
}

#[cfg(test)]
mod tests {
    use proptest::num::u8::ANY;

    use super::*;

    #[test]
    #[should_panic(expected = "128")]
    fn a_value_that_fails_is_found() {
        run(&ANY, |value| if value < 128 { Ok(()) } else { Err(TestCaseError::fail("too large")) });
    }
}
