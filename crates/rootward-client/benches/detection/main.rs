//! The cost of detection, compared with a plain listing of the same tree: `cargo bench -p rootward-client --bench detection`.
//!
//! Each row compares two ways in one process and one run, in alternating turns. Stdout carries only the table in Markdown;
//! progress goes to stderr.
//!
//! # Layout
//!
//! [`tree`] measures a generated tree, [`sources`] real projects: the crates that Cargo has fetched.
//! [`rootward_testkit::bench::listing`] is the listing to compare with.

#![expect(clippy::disallowed_methods, reason = "the benchmark creates and lists the tree by name")]
#![expect(clippy::print_stderr, reason = "progress goes to stderr")]
#![expect(clippy::expect_used, reason = "a benchmark that fails must stop, not print half a table")]

mod sources;
mod tree;

use std::error::Error;
use std::path::Path;
use std::time::Duration;

use rootward_client::detect::{DetectOptions, Detection, Limits, detect_ambient};
use rootward_testkit::bench::run::run;

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// The number of threads of both sides.
const THREADS: usize = 2;

fn main() -> Outcome {
    run(|top, table| {
        tree::measure(top, table)?;
        sources::measure(table)
    })
}

/// A scan without limits.
fn detect(top: &Path) -> Detection {
    let limits = Limits { time: Duration::from_hours(1), depth: 64, entries: u64::MAX, ..Limits::default() };
    let options = DetectOptions { limits, threads: THREADS, ..DetectOptions::default() };
    detect_ambient(&[top.to_owned()], &options, &|_| {}).expect("the tree can be read")
}
