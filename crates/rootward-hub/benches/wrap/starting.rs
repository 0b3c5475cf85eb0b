//! From the start to the first list of tools, with a cached handshake.

use std::time::Duration;

use crate::ways::{Way, Ways};
use crate::{Cores, Outcome};
use rootward_testkit::bench::measure::in_turns;
use rootward_testkit::bench::table::{Bar, Table};

/// What `wrap` may add: 15 milliseconds.
const MOST: f64 = 15e6;

const ROUNDS: usize = 100;

pub(crate) fn measure(ways: &Ways, cores: Cores, table: &mut Table) -> Outcome<()> {
    let direct = ways.direct();
    let wraps = [("roots from the client", ways.wrap()), ("a root on the command line", ways.wrap_with_root())];
    for (roots, wrap) in wraps {
        // Cached are the handshake, and that this server does not ask for its roots.
        let mut client = wrap.begin()?;
        client.ask("tools/list", "{}")?;
        std::thread::sleep(Duration::from_millis(300));
        client.ask("tools/list", "{}")?;
        client.end()?;
        let time = |way: &Way| way.first_list().expect("it answered before");
        let row = in_turns(ROUNDS, || time(&wrap), || time(&direct));
        let bar = if cores == Cores::One { Bar::AtMostMore(MOST) } else { Bar::Information };
        table.add(&format!("start to `tools/list`, wrapped, {roots}{}", cores.suffix()), "direct", &row, bar);
    }
    Ok(())
}
