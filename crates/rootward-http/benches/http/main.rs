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
#![expect(clippy::expect_used, reason = "a server that stops answering cannot be measured")]

mod calling;
mod idle;
mod peers;
mod together;
mod ways;

use std::error::Error;

use rootward_testkit::bench::run::run;
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
    if std::env::args().nth(1).is_some_and(|argument| argument == echo::SERVE) {
        return echo::serve();
    }
    let amount = if std::env::var_os("ROOTWARD_QUICK").is_some() { Amount::Quick } else { Amount::Full };
    run(|top, table| {
        let ways = Ways::new(top)?;
        let pinned = cores::pin_to_one()?;
        calling::measure(&ways, amount, table)?;
        pinned.release()?;
        together::measure(&ways, amount, table)?;
        idle::measure(&ways, amount, table)
    })
}
