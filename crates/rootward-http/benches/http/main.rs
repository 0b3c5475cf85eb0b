//! The cost of a call over HTTP: `cargo bench -p rootward-http --bench http`.
//!
//! Compares a call through `rootward hub --http` with the same call of the same server on pipes and through other
//! gateways; many sessions at once; the memory of idle ones. Stdout carries only the table in Markdown; progress goes
//! to stderr.
//!
//! `ROOTWARD_QUICK=1` measures a little of everything, to check that it works.
//!
//! # Layout
//!
//! [`ways`] starts what is measured, [`peers`] fetches other gateways; [`calling`], [`together`] and [`idle`]
//! measure.

#![expect(clippy::disallowed_methods, reason = "the benchmark creates the user's directories")]
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "the table goes to stdout, progress to stderr")]
#![expect(clippy::expect_used, reason = "a server that stops answering cannot be measured")]

mod calling;
mod idle;
mod peers;
mod together;
mod ways;

use std::error::Error;

use rootward_testkit::bench::table::Table;
use rootward_testkit::bench::{cores, echo};

use ways::Ways;

type Outcome<T> = Result<T, Box<dyn Error>>;

/// How much to measure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Amount {
    /// Enough for the docs.
    Full,
    /// Enough to check that it works.
    Quick,
}

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().collect();
    if arguments.get(1).is_some_and(|argument| argument == echo::SERVE) {
        return echo::serve();
    }
    // `cargo test --benches` also runs this, to check that it starts; it does not ask for a measurement.
    if !arguments.iter().any(|argument| argument == "--bench") {
        eprintln!("nothing measured: run by `cargo bench`");
        return Ok(());
    }
    let amount = if std::env::var_os("ROOTWARD_QUICK").is_some() { Amount::Quick } else { Amount::Full };
    let mut table = Table::default();
    let scratch = tempfile::Builder::new().prefix("rootward-bench-").tempdir()?;
    let top = scratch.path().canonicalize()?;
    let ways = Ways::new(&top)?;
    let pinned = cores::pin_to_one()?;
    calling::measure(&ways, amount, &mut table)?;
    pinned.release()?;
    together::measure(&ways, amount, &mut table)?;
    idle::measure(&ways, amount, &mut table)?;
    println!("{}\n\n{table}", cores::machine(&top)?);
    Ok(())
}
