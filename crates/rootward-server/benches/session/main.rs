//! What roots cost a server: `cargo bench -p rootward-server --bench session`.
//!
//! A call with a rooted path against the same call with a text, and the memory of a session that does nothing against that of
//! one without roots. Stdout carries the table in Markdown and nothing else; progress goes to stderr.
//!
//! # Layout
//!
//! [`server`] is what is measured, [`client`] speaks to it in raw frames; [`calling`] times calls, [`memory`] weighs sessions.

#![expect(clippy::disallowed_methods, reason = "the benchmark plays the user, who makes the directories")]
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
    // `cargo test --benches` runs this too, to see that it starts; a measurement was not asked for.
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
