//! The cost of roots for a server: `cargo bench -p rootward-server --bench session`.
//!
//! Compares a call with a rooted path with the same call with a string, and the memory of an idle session with that of a session
//! without roots. Stdout carries only the table in Markdown; progress goes to stderr.
//!
//! # Layout
//!
//! [`server`] is the measured server, [`client`] sends it raw frames; [`calling`] measures calls, [`memory`] measures sessions.

#![expect(clippy::disallowed_methods, reason = "the benchmark acts as the user who creates the directories")]
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "the table goes to stdout, progress to stderr")]

mod calling;
mod client;
mod memory;
mod server;

use std::error::Error;

use rootward_testkit::bench::cores;
use rootward_testkit::bench::table::Table;

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().collect();
    if let Some(weighed) = arguments.iter().find_map(|argument| argument.strip_prefix(memory::WEIGH)) {
        return memory::weigh(weighed);
    }
    // `cargo test --benches` also runs this, to check that it starts; it does not want a measurement.
    if !arguments.iter().any(|argument| argument == "--bench") {
        eprintln!("nothing measured: run by `cargo bench`");
        return Ok(());
    }
    let mut table = Table::default();
    let scratch = tempfile::Builder::new().prefix("rootward-bench-").tempdir()?;
    let top = scratch.path().canonicalize()?;
    let pinned = cores::pin_to_one()?;
    calling::measure(&top, &mut table)?;
    pinned.release()?;
    memory::measure(&mut table)?;
    println!("{}\n\n{table}", cores::machine(&top)?);
    Ok(())
}
