//! `cargo xtask check`: everything that a change has to pass, in one command, which also installs what it needs.

use std::path::Path;

use anyhow::{Context, Result};

use crate::tidy;
use taskkit::call::Call;
use taskkit::form::Form;
use taskkit::install::{self, Runtime};
use taskkit::step::{self, AtLeast, Step};

/// What runs the tests.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Runner {
    /// cargo-nextest: one process per test; kills tests that hang.
    Nextest,
    /// `cargo test`.
    Cargo,
}

/// Runs the short form.
pub(crate) fn run(top: &Path) -> Result<()> {
    step::carry_out(top, steps(top, Form::Short))
}

/// The steps, cheapest first.
pub(crate) fn steps(top: &Path, form: Form) -> Vec<Step> {
    let nextest = Call::cargo("nextest --version").succeeds(top);
    let runner = if nextest { Runner::Nextest } else { Runner::Cargo };
    let first = vec![
        Step::here("tools", "rustup component add rustfmt clippy", tools),
        Step::run("format", Call::cargo("fmt --all --check")),
        Step::here("tidy", "cargo xtask tidy", tidy::run),
        Step::run("clippy", Call::cargo("clippy --workspace --all-targets -- -D warnings")),
        Step::run("clippy, bare", Call::cargo("clippy -p rootward --no-default-features -- -D warnings")),
        Step::run(
            "clippy, demo serve",
            Call::cargo("clippy -p rootward --no-default-features --features serve -- -D warnings"),
        ),
        Step::run("clippy, demos", Call::cargo("clippy -p xtask --no-default-features -- -D warnings")),
        Step::run("docs", Call::cargo("doc --workspace --no-deps").variable("RUSTDOCFLAGS", "-D warnings")),
        Step::here("prolog", "apt-get install swi-prolog-nox", |top| {
            install::runtimes(top, &[Runtime::Prolog]).map(|()| "present".to_owned())
        }),
        Step::test("tests", tests(runner, form), AtLeast::One),
        Step::test("doc tests", Call::cargo("test --workspace --doc"), AtLeast::None),
        Step::run("demo", Call::cargo("demo")),
        Step::run("demo serve", Call::cargo("demo serve")),
    ];
    let last = vec![
        Step::test("fuzz", fuzz(form), AtLeast::One),
        Step::test("oracle", oracle(runner, std::env::var("RUSTFLAGS").ok()), AtLeast::One),
    ];
    first.into_iter().chain(interop::steps(form)).chain(last).collect()
}

/// Installs rustfmt and clippy if they are missing. rustup installs them because `rust-toolchain.toml` lists them; a
/// toolchain that was installed by hand may lack them.
fn tools(top: &Path) -> Result<String> {
    if Call::cargo("fmt --version").succeeds(top) && Call::cargo("clippy --version").succeeds(top) {
        return Ok("present".to_owned());
    }
    Call::program("rustup")
        .arguments(["component", "add", "rustfmt", "clippy"])
        .run(top)
        .context("rustfmt and clippy are missing")?;
    Ok("installed".to_owned())
}

const CARGO_TEST: &str = "test --workspace --lib --bins --tests --no-fail-fast";

/// Makes property tests try the same cases every time, so that a failure comes from the change and not from chance.
fn seeded(call: Call) -> Call {
    call.variable("PROPTEST_RNG_SEED", "1")
}

/// Makes property tests try many new cases each time.
fn at_length(call: Call) -> Call {
    call.variable("PROPTEST_CASES", "20000").variable("ROOTWARD_LONG", "1")
}

fn tests(runner: Runner, form: Form) -> Call {
    match (runner, form) {
        (Runner::Nextest, Form::Short) => seeded(Call::cargo("nextest run --workspace")),
        (Runner::Nextest, Form::Long) => {
            at_length(Call::cargo("nextest run --workspace --profile long --cargo-profile long"))
        }
        (Runner::Cargo, Form::Short) => seeded(Call::cargo(CARGO_TEST)),
        (Runner::Cargo, Form::Long) => at_length(Call::cargo(&format!("{CARGO_TEST} --profile long"))),
    }
}

/// Runs the fuzz tests again, for longer than in the step `tests`.
fn fuzz(form: Form) -> Call {
    let call = Call::cargo("test -p rootward-core -p rootward-protocol -p rootward-hub --test it fuzz");
    match form {
        Form::Short => seeded(call).variable("ROOTWARD_FUZZ_SECONDS", "20"),
        Form::Long => call.arguments(["--profile", "long"]).variable("ROOTWARD_FUZZ_SECONDS", "120"),
    }
}

/// Runs the core's tests in a build that compares each grant with the kernel's path of its handle. The separate target
/// directory keeps the flag from rebuilding everything back and forth.
fn oracle(runner: Runner, inherited: Option<String>) -> Call {
    let call = match runner {
        Runner::Nextest => Call::cargo("nextest run -p rootward-core --target-dir target/oracle"),
        Runner::Cargo => Call::cargo("test -p rootward-core --lib --tests --no-fail-fast --target-dir target/oracle"),
    };
    let flags = [inherited.unwrap_or_default().as_str(), "--cfg rootward_oracle -D warnings"].join(" ");
    call.variable("RUSTFLAGS", flags.trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_runners_run_the_same_tests_in_both_forms() {
        let check = |call: Call, text: &str| assert_eq!(call.to_string(), text);
        let short = "PROPTEST_RNG_SEED=1 cargo";
        let long = "PROPTEST_CASES=20000 ROOTWARD_LONG=1 cargo";
        let whole = "test --workspace --lib --bins --tests --no-fail-fast";
        check(tests(Runner::Nextest, Form::Short), &format!("{short} nextest run --workspace"));
        check(
            tests(Runner::Nextest, Form::Long),
            &format!("{long} nextest run --workspace --profile long --cargo-profile long"),
        );
        check(tests(Runner::Cargo, Form::Short), &format!("{short} {whole}"));
        check(tests(Runner::Cargo, Form::Long), &format!("{long} {whole} --profile long"));
        check(
            fuzz(Form::Short),
            "PROPTEST_RNG_SEED=1 ROOTWARD_FUZZ_SECONDS=20 cargo test -p rootward-core -p rootward-protocol -p rootward-hub --test it fuzz",
        );
        check(
            fuzz(Form::Long),
            "ROOTWARD_FUZZ_SECONDS=120 cargo test -p rootward-core -p rootward-protocol -p rootward-hub --test it fuzz --profile long",
        );
    }

    #[test]
    fn the_oracle_keeps_the_flags_it_was_given() {
        let call = oracle(Runner::Nextest, Some("-C opt-level=1".to_owned())).to_string();
        assert!(call.starts_with("RUSTFLAGS='-C opt-level=1 --cfg rootward_oracle -D warnings' cargo"), "{call}");
        let call = oracle(Runner::Cargo, None).to_string();
        assert!(
            call.starts_with("RUSTFLAGS='--cfg rootward_oracle -D warnings' cargo test -p rootward-core"),
            "{call}"
        );
    }
}
