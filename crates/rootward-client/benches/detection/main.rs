//! What detection costs, against a mere listing of the same tree: `cargo bench -p rootward-client --bench detection`.
//!
//! Each row compares two ways in one process and one run, which take turns. Stdout carries the table in Markdown and nothing else;
//! progress goes to stderr.
//!
//! # Layout
//!
//! [`tree`] makes the files, [`rootward_testkit::bench::listing`] is what detection is compared with, [`sources`] looks at real projects: the crates that
//! Cargo has fetched.

#![expect(clippy::disallowed_methods, reason = "the tree is made and listed by name")]
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "the table goes to stdout, progress to stderr")]
#![expect(clippy::expect_used, reason = "a benchmark that cannot do its work must end, not print half a table")]

mod sources;
mod tree;

use std::error::Error;
use std::path::Path;
use std::time::Duration;

use rootward_client::detect::{DetectOptions, Detection, Limits, detect_ambient};
use rootward_testkit::bench::cores;
use rootward_testkit::bench::table::Table;

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// How many threads both sides have.
const THREADS: usize = 2;

fn main() -> Outcome {
    // `cargo test --benches` runs this too, to see that it starts; a measurement was not asked for.
    if !std::env::args().any(|argument| argument == "--bench") {
        eprintln!("nothing measured: run by `cargo bench`");
        return Ok(());
    }
    let mut table = Table::default();
    let scratch = tempfile::Builder::new().prefix("rootward-bench-").tempdir()?;
    let top = scratch.path().canonicalize()?;
    tree::measure(&top, &mut table)?;
    sources::measure(&mut table)?;
    println!("{}\n\n{table}", cores::machine(&top)?);
    Ok(())
}

/// A scan that no limit ends.
fn detect(top: &Path) -> Detection {
    let limits = Limits { time: Duration::from_hours(1), depth: 64, entries: u64::MAX, ..Limits::default() };
    let options = DetectOptions { limits, threads: THREADS, ..DetectOptions::default() };
    detect_ambient(&[top.to_owned()], &options, &|_| {}).expect("the tree can be read")
}
