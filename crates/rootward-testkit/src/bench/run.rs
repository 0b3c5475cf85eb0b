//! Runs a benchmark that prints a table: decides whether to measure, creates the directory, prints the result.

use std::error::Error;
use std::path::Path;

use super::cores;
use super::table::Table;

/// Whether `cargo bench` runs this. `cargo test --benches` also runs it, but only to check that it starts.
#[expect(clippy::print_stderr, reason = "the person who ran it by hand must see why nothing happens")]
pub fn is_asked_for() -> bool {
    let asked_for = std::env::args().any(|argument| argument == "--bench");
    if !asked_for {
        eprintln!("nothing measured: run by `cargo bench`");
    }
    asked_for
}

/// Measures in an empty directory, then prints the machine and the table.
#[expect(clippy::print_stdout, reason = "the table goes to stdout")]
pub fn run(measure: impl FnOnce(&Path, &mut Table) -> Result<(), Box<dyn Error>>) -> Result<(), Box<dyn Error>> {
    if !is_asked_for() {
        return Ok(());
    }
    let scratch = tempfile::Builder::new().prefix("rootward-bench-").tempdir()?;
    let top = scratch.path().canonicalize()?;
    let mut table = Table::default();
    measure(&top, &mut table)?;
    println!("{}\n\n{table}", cores::machine(&top)?);
    Ok(())
}
