//! What confinement costs: `cargo bench -p rootward-sandbox --bench confinement`.
//!
//! From the start of a server to its first answer, against the same server unconfined and in the sandboxes of others; and what a
//! call costs a server that runs confined. Stdout carries the table in Markdown and nothing else; progress goes to stderr.
//!
//! # Layout
//!
//! [`server`] is what is confined, [`ways`] are the ways to start it, [`peers`] is what others made; [`starting`] and
//! [`calling`] measure.

#![expect(clippy::disallowed_methods, reason = "the benchmark plays the user, who makes the directories")]
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "the table goes to stdout, progress to stderr")]
#![expect(clippy::expect_used, reason = "what answered before answers again, or nothing can be measured")]

mod calling;
mod peers;
mod server;
mod starting;
mod ways;

use std::error::Error;

use rootward_testkit::bench::cores;
use rootward_testkit::bench::table::Table;

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().collect();
    if arguments.get(1).is_some_and(|argument| argument == server::ECHO) {
        return server::echo();
    }
    // `cargo test --benches` runs this too, to see that it starts; a measurement was not asked for.
    if !arguments.iter().any(|argument| argument == "--bench") {
        eprintln!("nothing measured: run by `cargo bench`");
        return Ok(());
    }
    let mut table = Table::default();
    let scratch = tempfile::Builder::new().prefix("rootward-bench-").tempdir()?;
    let top = scratch.path().canonicalize()?;
    // The way to the first answer leads through several processes, and so does a call: on one core each waits for the other, on
    // several a wake-up costs more than what is measured.
    let pinned = cores::pin_to_one()?;
    starting::measure(&top, &mut table)?;
    calling::measure(&top, &mut table)?;
    pinned.release()?;
    println!("{}\n\n{table}", cores::machine(&top)?);
    Ok(())
}
