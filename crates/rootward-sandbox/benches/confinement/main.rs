//! The cost of confinement: `cargo bench -p rootward-sandbox --bench confinement`.
//!
//! Measures the time from the start of a server to its first answer, compared with the same server unconfined and in
//! other sandboxes; and the cost of a call to a confined server. Stdout only gets the table in Markdown; progress goes
//! to stderr.
//!
//! # Layout
//!
//! [`server`] is the confined program, [`ways`] are the ways to start it, [`peers`] are other sandboxes; [`starting`]
//! and [`calling`] measure.

#![expect(clippy::disallowed_methods, reason = "the benchmark acts as the user who creates the directories")]
#![expect(clippy::expect_used, reason = "a server that stops answering cannot be measured")]

mod calling;
mod peers;
mod server;
mod starting;
mod ways;

use std::error::Error;

use rootward_testkit::bench::cores;
use rootward_testkit::bench::run::run;

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    if std::env::args().nth(1).is_some_and(|argument| argument == server::ECHO) {
        return server::echo();
    }
    run(|top, table| {
        // Several processes are involved in the first answer and in a call. On one core each waits for the other; on
        // several, a wake-up costs more than the operation that is measured.
        let pinned = cores::pin_to_one()?;
        starting::measure(top, table)?;
        calling::measure(top, table)?;
        Ok(pinned.release()?)
    })
}
