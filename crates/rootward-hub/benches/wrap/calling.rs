//! The cost of a call: one without a path, which is only scanned, and one with a path, which is checked and audited.

use crate::ways::{Way, Ways};
use crate::{Cores, Outcome, peers};
use rootward_testkit::bench::client::Client;
use rootward_testkit::bench::measure::{Turns, compare_each};
use rootward_testkit::bench::table::{Bar, Table};

/// What `wrap` may add to a call: 40 microseconds.
const MOST: f64 = 40e3;

/// What the hub may add to that: 10 microseconds.
const MOST_OF_HUB: f64 = 10e3;

/// Maximum ratio to the time of the earlier binary.
const MOST_OF_BEFORE: f64 = 1.1;

/// A turn takes a few milliseconds.
const TURNS: Turns = Turns { rounds: 200, operations: 100 };

pub(crate) fn measure(ways: &Ways, hub: &Outcome<Way>, cores: Cores, table: &mut Table) -> Outcome<()> {
    let file = ways.file().display().to_string();
    let calls = [
        ("a call without a path", r#"{"name":"echo","arguments":{"text":"hello"}}"#.to_owned(), "hello"),
        ("a call with a path", format!(r#"{{"name":"look","arguments":{{"path":"{file}"}}}}"#), &*file),
    ];
    for (what, params, expected) in &calls {
        let begin = |way: &Way| -> Outcome<Client> {
            let mut client = way.begin()?;
            client.ask("tools/list", "{}")?;
            client.try_call(params, expected)?;
            Ok(client)
        };
        let call = |client: &mut Client| client.ask("tools/call", params).expect("it answered before").len();
        let what = format!("{what}, wrapped{}", cores.suffix());
        let mut wrapped = begin(&ways.wrap())?;
        let mut direct = begin(&ways.direct())?;
        let (more, faster) = match cores {
            Cores::One => (Bar::AtMostMore(MOST), Bar::Faster),
            Cores::All => (Bar::Information, Bar::Information),
        };
        table.add(&what, "direct", &compare_each(TURNS, || call(&mut wrapped), || call(&mut direct)), more);
        let through_hub = what.replacen("wrapped", "through the hub", 1);
        let renamed = params.replacen(r#""name":""#, r#""name":"s0__"#, 1);
        let mut through = ways.own_hub(1)?.begin()?;
        through.ask("tools/list", "{}")?;
        through.try_call(&renamed, expected)?;
        let hub_call = |client: &mut Client| client.ask("tools/call", &renamed).expect("it answered before").len();
        let most = if cores == Cores::One { Bar::AtMostMore(MOST_OF_HUB) } else { Bar::Information };
        let row = compare_each(TURNS, || hub_call(&mut through), || call(&mut wrapped));
        table.add(&through_hub, "wrapped", &row, most);
        if let Some(before) = ways.before() {
            let mut before = begin(&before)?;
            let row = compare_each(TURNS, || call(&mut wrapped), || call(&mut before));
            table.add(&what, "the binary of before", &row, Bar::AtMost(MOST_OF_BEFORE));
            before.end()?;
        }
        let against = format!("behind `mcp-hub` {}", peers::VERSION);
        let hub = match hub {
            Ok(way) => begin(way),
            Err(why) => Err(why.to_string().into()),
        };
        match hub {
            Err(why) => {
                table.add_missing(&what, &against, &why.to_string());
                table.add_missing(&through_hub, &against, &why.to_string());
            }
            Ok(mut hub) => {
                table.add(&what, &against, &compare_each(TURNS, || call(&mut wrapped), || call(&mut hub)), faster);
                let row = compare_each(TURNS, || hub_call(&mut through), || call(&mut hub));
                table.add(&through_hub, &against, &row, faster);
                hub.end()?;
            }
        }
        through.end()?;
        wrapped.end()?;
        direct.end()?;
    }
    Ok(())
}
