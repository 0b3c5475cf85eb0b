//! The cost of the guard, compared with the bare calls it uses and with other implementations: `cargo bench -p
//! rootward-core --bench guard`.
//!
//! Each row compares two ways of doing the same in one process and one run, in many short alternating batches, so that
//! a busy machine affects both equally and the ratio stays correct. Stdout only gets the table in Markdown; progress
//! goes to stderr.
//!
//! # Layout
//!
//! [`places`] creates the directories; timing and the table are in [`rootward_testkit::bench`]. There is a file per
//! concern: [`deciding`], [`many_roots`], [`reading`], [`reference`], [`walking`], [`batch`], [`allocating`].

#![expect(clippy::disallowed_methods, reason = "the guard is compared with the bare calls")]
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "the table goes to stdout, progress to stderr")]
#![expect(clippy::expect_used, reason = "a benchmark that fails must stop, not print half a table")]

mod allocating;
mod batch;
mod deciding;
mod many_roots;
mod places;
mod reading;
mod reference;
mod walking;

use std::error::Error;

use rootward_testkit::bench::cores;
use rootward_testkit::bench::table::Table;

type Outcome = Result<(), Box<dyn Error>>;

fn main() -> Outcome {
    // `cargo test --benches` also runs this, to check that it starts; it does not want a measurement.
    if !std::env::args().any(|argument| argument == "--bench") {
        eprintln!("nothing measured: run by `cargo bench`");
        return Ok(());
    }
    let mut table = Table::default();
    let scratch = tempfile::Builder::new().prefix("rootward-bench-").tempdir()?;
    let top = scratch.path().canonicalize()?;

    let pinned = cores::pin_to_one()?;
    deciding::measure(&top, &mut table)?;
    many_roots::measure(&top, &mut table)?;
    reading::measure(&top, &mut table)?;
    reference::measure(&top, &mut table)?;
    allocating::measure(&top, &mut table)?;
    let tree = walking::plant(&top)?;
    batch::measure(&tree, &top, &mut table)?;
    pinned.release()?;
    walking::measure(&tree, &mut table)?;

    println!("{}\n\n{table}", cores::machine(&top)?);
    Ok(())
}
