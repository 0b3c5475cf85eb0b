//! The cost of a call to a running server.

use std::path::Path;

use crate::Outcome;
use crate::server::Server;
use crate::ways::Way;
use rootward_testkit::bench::measure::{Turns, compare};
use rootward_testkit::bench::peers::rootward;
use rootward_testkit::bench::table::{Bar, Table};

/// The maximum that confinement may add to a call: five microseconds.
const MOST: f64 = 5e3;

/// A turn is a few milliseconds.
const TURNS: Turns = Turns { rounds: 400, operations: 100 };

pub(crate) fn measure(top: &Path, table: &mut Table) -> Outcome<()> {
    let binary = rootward()?;
    let mut confined = Way::rootward(&binary, &top.join("root"), Server::Rust)?.begin()?;
    let mut unconfined = Way::unconfined(Server::Rust)?.begin()?;
    let row = compare(TURNS, || confined.ask().expect("an answer"), || unconfined.ask().expect("an answer"));
    table.add("call of an echo server, confined", "unconfined", &row, Bar::AtMostMore(MOST));
    confined.end()?;
    unconfined.end()
}
