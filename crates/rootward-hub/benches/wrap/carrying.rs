//! The cost of a large result.

use crate::ways::{Way, Ways};
use crate::{Cores, Outcome};
use rootward_testkit::bench::client::Client;
use rootward_testkit::bench::echo::BIG;
use rootward_testkit::bench::measure::{Comparison, Turns, compare_each};
use rootward_testkit::bench::table::{Bar, Table};

/// Maximum ratio to the time of the server alone. Every byte of the result is checked to be JSON before it is
/// forwarded.
const MOST: f64 = 1.5;

/// A turn takes about ten milliseconds.
const TURNS: Turns = Turns { rounds: 60, operations: 10 };

/// The server builds its result from a text, and the client extracts the text, as in real use.
const MADE: &str = r#"{"name":"big","arguments":{}}"#;
/// The server has its result ready, and the client discards it: what remains is the cost of the pipes.
const READY: &str = r#"{"name":"ready","arguments":{}}"#;

pub(crate) fn measure(ways: &Ways, cores: Cores, table: &mut Table) -> Outcome<()> {
    let read = |client: &mut Client| {
        let answer = client.ask("tools/call", MADE).expect("it answered before");
        serde_json::from_slice::<serde_json::Value>(answer).expect("JSON")
    };
    let bar = if cores == Cores::One { Bar::AtMost(MOST) } else { Bar::Information };
    let mut add =
        |what: &str, row: &Comparison, bar| table.add(&format!("{what}{}", cores.suffix()), "direct", row, bar);
    let (mut wrapped, mut direct) = (begin(&ways.wrap())?, begin(&ways.direct())?);
    add("a result of 1 MB, wrapped", &compare_each(TURNS, || read(&mut wrapped), || read(&mut direct)), bar);
    let carried = |client: &mut Client| client.ask("tools/call", READY).expect("it answered before").len();
    add(
        "a result of 1 MB, bytes alone, wrapped",
        &compare_each(TURNS, || carried(&mut wrapped), || carried(&mut direct)),
        // Nobody builds or parses the bytes: two pipes against one.
        Bar::Information,
    );
    wrapped.end()?;
    direct.end()?;
    let ways = ways.of_node();
    let what = "a result of 1 MB of a server in Node, wrapped";
    match begin(&ways.wrap()).and_then(|wrapped| Ok((wrapped, begin(&ways.direct())?))) {
        Err(why) => table.add_missing(what, "direct", &why.to_string()),
        Ok((mut wrapped, mut direct)) => {
            add(what, &compare_each(TURNS, || read(&mut wrapped), || read(&mut direct)), bar);
            wrapped.end()?;
            direct.end()?;
        }
    }
    Ok(())
}

fn begin(way: &Way) -> Outcome<Client> {
    let mut client = way.begin()?;
    client.ask("tools/list", "{}")?;
    for params in [MADE, READY] {
        if client.ask("tools/call", params)?.len() < BIG {
            return Err("unexpected response".into());
        }
    }
    Ok(client)
}
