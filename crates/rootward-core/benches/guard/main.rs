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
#![expect(clippy::print_stderr, reason = "progress goes to stderr")]
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
use rootward_testkit::bench::run::run;

type Outcome = Result<(), Box<dyn Error>>;

fn main() -> Outcome {
    run(|top, table| {
        let pinned = cores::pin_to_one()?;
        deciding::measure(top, table)?;
        many_roots::measure(top, table)?;
        reading::measure(top, table)?;
        reference::measure(top, table)?;
        allocating::measure(top, table)?;
        let tree = walking::plant(top)?;
        batch::measure(&tree, top, table)?;
        pinned.release()?;
        walking::measure(&tree, table)
    })
}
