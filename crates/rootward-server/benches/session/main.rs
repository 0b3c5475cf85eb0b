//! The cost of roots for a server: `cargo bench -p rootward-server --bench session`.
//!
//! Compares a call with a rooted path with the same call with a string, and the memory of an idle session with that of a session
//! without roots. Stdout carries only the table in Markdown; progress goes to stderr.
//!
//! # Layout
//!
//! [`server`] is the measured server, [`client`] sends it raw frames; [`calling`] measures calls, [`memory`] measures sessions.

#![expect(clippy::disallowed_methods, reason = "the benchmark acts as the user who creates the directories")]
#![expect(clippy::print_stdout, reason = "the measured process prints its memory")]

mod calling;
mod client;
mod memory;
mod server;

use std::error::Error;

use rootward_testkit::bench::cores;
use rootward_testkit::bench::run::run;

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    if let Some(weighed) = std::env::args().find_map(|argument| Some(argument.strip_prefix(memory::WEIGH)?.to_owned()))
    {
        return memory::weigh(&weighed);
    }
    run(|top, table| {
        let pinned = cores::pin_to_one()?;
        calling::measure(top, table)?;
        pinned.release()?;
        memory::measure(table)
    })
}
