//! The cost of the file server: `cargo bench -p rootward-files --bench files`.
//!
//! Compares start, a small file, a large tree, a search and idle memory with other servers and with `rg`. Stdout carries only the table
//! in Markdown; progress goes to stderr.
//!
//! # Layout
//!
//! [`servers`] starts the servers; [`starting`], [`reading`], [`tree`], [`searching`] and [`memory`] measure.

#![expect(clippy::disallowed_methods, reason = "the benchmark acts as the user who creates the directories")]
#![expect(clippy::print_stderr, reason = "progress goes to stderr")]
#![expect(clippy::expect_used, reason = "a server that stops answering cannot be measured")]

mod memory;
mod reading;
mod searching;
mod servers;
mod starting;
mod tree;

use std::error::Error;

use rootward_testkit::bench::cores;
use rootward_testkit::bench::run::run;

use servers::Servers;

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    run(|top, table| {
        let servers = Servers::new(top)?;
        let sources = searching::plant(top)?;
        let pinned = cores::pin_to_one()?;
        starting::measure(&servers, table)?;
        reading::measure(&servers, table)?;
        memory::measure(&servers, table)?;
        tree::measure(&servers, table)?;
        searching::measure(&servers, &sources, "", table)?;
        pinned.release()?;
        searching::measure(&servers, &sources, ", all cores", table)
    })
}
