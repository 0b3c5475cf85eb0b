//! Fuzzing on the stable toolchain: random values for `ROOTWARD_FUZZ_SECONDS` seconds per test (default: one). A failure is
//! shrunk and printed.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "only tests call this, and a panic fails them")]
#![expect(clippy::print_stdout, reason = "tests print how many cases they ran")]

use std::time::{Duration, Instant};

use proptest::strategy::Strategy;
use proptest::test_runner::{Config, TestCaseError, TestRunner};

/// Runs `test` on random values of `strategy` until the time is up.
///
/// # Panics
///
/// On the first failure, and if there is no time for a single case.
#[track_caller]
pub fn run<S: Strategy>(strategy: &S, test: impl Fn(S::Value) -> Result<(), TestCaseError>) {
    let seconds = std::env::var("ROOTWARD_FUZZ_SECONDS").map_or(1, |text| text.parse().expect("a number of seconds"));
    let end = Instant::now() + Duration::from_secs(seconds);
    // One case at a time: `TestRunner::run` stops for good after its configured number of cases.
    let mut runner = TestRunner::new(Config {
        failure_persistence: None,
        max_local_rejects: u32::MAX,
        max_global_rejects: u32::MAX,
        ..Config::default()
    });
    let mut cases = 0_u64;
    while Instant::now() < end {
        let case = strategy.new_tree(&mut runner).unwrap();
        runner.run_one(case, &test).unwrap();
        cases += 1;
    }
    assert!(cases > 0, "no time to fuzz");
    println!("{cases} cases");
}

#[cfg(test)]
mod tests {
    use proptest::num::u8::ANY;

    use super::*;

    #[test]
    fn cases_run_until_the_time_is_up() {
        let tried = std::cell::Cell::new(0_u64);
        run(&ANY, |_| {
            tried.set(tried.get() + 1);
            Ok(())
        });
        assert!(tried.get() > 1000, "{}", tried.get());
    }

    #[test]
    #[should_panic(expected = "128")]
    fn a_value_that_fails_is_found() {
        run(&ANY, |value| if value < 128 { Ok(()) } else { Err(TestCaseError::fail("too large")) });
    }
}
