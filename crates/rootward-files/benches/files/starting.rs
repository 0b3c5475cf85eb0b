//! From the start to the first list of tools.

use std::time::Instant;

use crate::Outcome;
use crate::servers::{Servers, Which};
use rootward_testkit::bench::client::Client;
use rootward_testkit::bench::measure::in_turns;
use rootward_testkit::bench::table::{Bar, Table};

pub(crate) fn measure(servers: &Servers, table: &mut Table) -> Outcome<()> {
    let what = "start to `tools/list`";
    for peer in &servers.peers {
        let own = || first_list(|| servers.rootward(&servers.root));
        let theirs = || first_list(|| servers.peer(peer, &servers.root));
        if let Err(why) = theirs() {
            table.add_missing(what, &peer.name, &why.to_string());
            continue;
        }
        own()?;
        // If the two are close, more turns are needed to tell them apart.
        let (rounds, bar) = match peer.which {
            Which::Reference => (20, Bar::TimesFaster(30.0)),
            Which::Fastest => (200, Bar::AtMost(1.0)),
        };
        let own = || own().expect("it answered before");
        let theirs = || theirs().expect("it answered before");
        table.add(what, &peer.name, &in_turns(rounds, own, theirs), bar);
    }
    Ok(())
}

/// Nanoseconds until the list has been read.
fn first_list(begin: impl Fn() -> Outcome<Client>) -> Outcome<f64> {
    let start = Instant::now();
    let mut client = begin()?;
    client.ask("tools/list", "{}")?;
    let taken = start.elapsed();
    client.end()?;
    Ok(taken.as_secs_f64() * 1e9)
}
