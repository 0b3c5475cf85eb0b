//! The cost of the file server: `cargo bench -p rootward-files --bench files`.
//!
//! Compares start, a small file, a large tree, a search and idle memory with other servers and with `rg`. Stdout carries only the table
//! in Markdown; progress goes to stderr.
//!
//! # Layout
//!
//! [`servers`] starts the servers; [`starting`], [`reading`], [`tree`], [`searching`] and [`memory`] measure.

#![expect(clippy::disallowed_methods, reason = "the benchmark acts as the user who creates the directories")]
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "the table goes to stdout, progress to stderr")]
#![expect(clippy::expect_used, reason = "a server that stops answering cannot be measured")]

mod memory;
mod reading;
mod searching;
mod servers;
mod starting;
mod tree;

use std::error::Error;

use rootward_testkit::bench::cores;
use rootward_testkit::bench::table::Table;

use servers::Servers;

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().collect();
    // `cargo test --benches` also runs this, to check that it starts; it does not want a measurement.
    if !arguments.iter().any(|argument| argument == "--bench") {
        eprintln!("nothing measured: run by `cargo bench`");
        return Ok(());
    }
    let mut table = Table::default();
    let scratch = tempfile::Builder::new().prefix("rootward-bench-").tempdir()?;
    let top = scratch.path().canonicalize()?;
    let servers = Servers::new(&top)?;
    let sources = searching::plant(&top)?;
    let pinned = cores::pin_to_one()?;
    starting::measure(&servers, &mut table)?;
    reading::measure(&servers, &mut table)?;
    memory::measure(&servers, &mut table)?;
    tree::measure(&servers, &mut table)?;
    searching::measure(&servers, &sources, "", &mut table)?;
    pinned.release()?;
    searching::measure(&servers, &sources, ", all cores", &mut table)?;
    println!("{}\n\n{table}", cores::machine(&top)?);
    Ok(())
}
