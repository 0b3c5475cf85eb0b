//! What a large result costs.

use crate::client::Client;
use crate::server::BIG;
use crate::ways::{Way, Ways};
use crate::{Cores, Outcome};
use rootward_testkit::bench::measure::{Turns, compare_each};
use rootward_testkit::bench::table::{Bar, Table};

/// How many times as long as the server alone.
const MOST: f64 = 1.3;

/// A turn is about ten milliseconds.
const TURNS: Turns = Turns { rounds: 60, operations: 10 };

pub(crate) fn measure(ways: &Ways, cores: Cores, table: &mut Table) -> Outcome<()> {
    let params = r#"{"name":"big","arguments":{}}"#;
    let begin = |way: &Way| -> Outcome<Client> {
        let mut client = way.begin()?;
        client.ask("tools/list", "{}")?;
        if client.ask("tools/call", params)?.len() < BIG {
            return Err("the server answered otherwise".into());
        }
        Ok(client)
    };
    let (mut wrapped, mut direct) = (begin(&ways.wrap())?, begin(&ways.direct())?);
    let carried = |client: &mut Client| client.ask("tools/call", params).expect("it answered before").len();
    let row = compare_each(TURNS, || carried(&mut wrapped), || carried(&mut direct));
    table.add(&format!("a result of 1 MB, its bytes, wrapped{}", cores.told()), "direct", &row, Bar::AtMost(MOST));
    let read = |client: &mut Client| {
        let answer = client.ask("tools/call", params).expect("it answered before");
        serde_json::from_slice::<serde_json::Value>(answer).expect("JSON")
    };
    let row = compare_each(TURNS, || read(&mut wrapped), || read(&mut direct));
    table.add(&format!("a result of 1 MB, read as JSON, wrapped{}", cores.told()), "direct", &row, Bar::AtMost(MOST));
    wrapped.end()?;
    direct.end()
}
