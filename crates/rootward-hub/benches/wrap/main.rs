//! The cost of `rootward wrap` and `rootward hub`: `cargo bench -p rootward-hub --bench wrap`.
//!
//! Compares a call, a large result and a start through `wrap` with the same server alone and behind another hub; also
//! a call through the hub, and the list of many servers that do not run. Stdout carries only the table in Markdown;
//! progress goes to stderr.
//!
//! `ROOTWARD_BEFORE=FILE` compares with another binary of `rootward`, call by call.
//!
//! # Layout
//!
//! [`echo`] is the wrapped server, [`ways`] are the ways to reach it, [`peers`] fetches other hubs; [`calling`],
//! [`carrying`], [`starting`] and [`listing`] measure.

#![expect(clippy::disallowed_methods, reason = "the benchmark creates the user's directories")]
#![expect(clippy::expect_used, reason = "a server that stops answering cannot be measured")]

mod calling;
mod carrying;
mod listing;
mod peers;
mod starting;
mod ways;

use std::error::Error;

use rootward_testkit::bench::run::run;
use rootward_testkit::bench::{cores, echo};

use ways::Ways;

type Outcome<T> = Result<T, Box<dyn Error>>;

/// The number of cores for a row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Cores {
    /// All processes on one core: each waits for the other, and a wake-up costs least.
    One,
    /// As the scheduler decides.
    All,
}

impl Cores {
    /// The suffix of a row's name.
    fn suffix(self) -> &'static str {
        match self {
            Cores::One => "",
            Cores::All => ", all cores",
        }
    }
}

fn main() -> Outcome<()> {
    if std::env::args().nth(1).is_some_and(|argument| argument == echo::SERVE) {
        return echo::serve();
    }
    run(|top, table| {
        let ways = Ways::new(top)?;
        let hub = ways.hub(1);
        for cores in [Cores::One, Cores::All] {
            let pinned = if cores == Cores::One { Some(cores::pin_to_one()?) } else { None };
            calling::measure(&ways, &hub, cores, table)?;
            carrying::measure(&ways, cores, table)?;
            starting::measure(&ways, cores, table)?;
            listing::measure(&ways, cores, table)?;
            if let Some(pinned) = pinned {
                pinned.release()?;
            }
        }
        Ok(())
    })
}
