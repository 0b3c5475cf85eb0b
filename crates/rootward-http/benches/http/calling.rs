//! The cost of a call, with all processes on one core.

use rootward_testkit::bench::client::Client;
use rootward_testkit::bench::http::Session;
use rootward_testkit::bench::measure::{Turns, compare_each};
use rootward_testkit::bench::table::{Bar, Table};

use crate::peers::Peer;
use crate::ways::{Call, Isolation, Way, Ways};
use crate::{Amount, Outcome};

/// What HTTP and the hub may add to a call: 150 microseconds.
const MOST: f64 = 150e3;

/// A turn takes about ten milliseconds.
const TURNS: Turns = Turns { rounds: 100, operations: 100 };
const QUICK: Turns = Turns { rounds: 10, operations: 20 };

/// A session that repeats one call.
struct Caller<'c> {
    session: Session,
    params: String,
    expected: &'c str,
}

impl<'c> Caller<'c> {
    fn new(way: &Way, call: &'c Call) -> Outcome<Caller<'c>> {
        let mut caller = Caller { session: way.begin()?, params: way.named(call), expected: &call.expected };
        caller.session.ask("tools/list", "{}")?;
        caller.session.call(&caller.params, caller.expected)?;
        Ok(caller)
    }

    fn call(&mut self) -> usize {
        self.session.call(&self.params, self.expected).expect("it answered before")
    }
}

pub(crate) fn measure(ways: &Ways, amount: Amount, table: &mut Table) -> Outcome<()> {
    let turns = if amount == Amount::Full { TURNS } else { QUICK };
    let hub = ways.hub(Isolation::Session)?;
    let peers = Peer::ALL.map(|peer| (peer.name(), ways.peer(peer)));
    for call in &ways.calls() {
        let params = call.direct();
        let mut direct = ways.direct()?;
        direct.ask("tools/list", "{}")?;
        direct.try_call(&params, &call.expected)?;
        let direct_call = |client: &mut Client| client.ask("tools/call", &params).expect("it answered before").len();
        let mut own = Caller::new(&hub, call)?;
        let what = format!("{}, by HTTP through the hub", call.what);
        let row = compare_each(turns, || own.call(), || direct_call(&mut direct));
        table.add(&what, "direct, on pipes", &row, Bar::AtMostMore(MOST));
        for (name, way) in &peers {
            let begun = match way {
                Ok(way) => Caller::new(way, call),
                Err(why) => Err(why.to_string().into()),
            };
            let mut theirs = match begun {
                Ok(theirs) => theirs,
                Err(why) => {
                    table.add_missing(&what, &format!("through {name}"), &why.to_string());
                    continue;
                }
            };
            let row = compare_each(turns, || theirs.call(), || direct_call(&mut direct));
            let through = format!("{}, by HTTP through {name}", call.what);
            table.add(&through, "direct, on pipes", &row, Bar::Information);
            let row = compare_each(turns, || own.call(), || theirs.call());
            table.add(&what, &format!("through {name}"), &row, Bar::Faster);
        }
        direct.end()?;
    }
    Ok(())
}
