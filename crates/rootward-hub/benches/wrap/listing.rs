//! The cost of the hub's list of tools with many cached servers that do not run, and the memory of that hub.

use std::time::{Duration, Instant};

use crate::ways::{Way, Ways};
use crate::{Cores, Outcome, peers};
use rootward_testkit::bench::measure::{Comparison, in_turns};
use rootward_testkit::bench::table::{Bar, Most, Table};

/// How many servers the hub has.
const SERVERS: usize = 20;

/// How long the list may take from the start of the hub, in microseconds: 100 milliseconds.
const MOST_FROM_START: u64 = 100_000;

/// The same in a running hub: 5 milliseconds.
const MOST_OF_LIST: u64 = 5_000;

/// The resident memory that the hub may use then, in kilobytes: 20 megabytes.
const MOST_MEMORY: u64 = 20_000;

const ROUNDS: usize = 60;

/// Times something in a hub, in nanoseconds.
type Timed = fn(&Way) -> Outcome<f64>;

pub(crate) fn measure(ways: &Ways, cores: Cores, table: &mut Table) -> Outcome<()> {
    let own = ways.own_hub(SERVERS)?;
    remember(&own)?;
    let theirs = ways.hub(SERVERS).and_then(|way| {
        way.first_list()?;
        Ok(way)
    });
    let against = format!("`mcp-hub` {}", peers::VERSION);
    let is_pinned = cores == Cores::One;
    let rows: [(&str, Timed, u64); 2] = [
        ("start to `tools/list` of a hub with", Way::first_list, MOST_FROM_START),
        ("`tools/list` of a hub with", list_alone, MOST_OF_LIST),
    ];
    for (what, time, most) in rows {
        let what = format!("{what} {SERVERS} servers, none running");
        let suffix = cores.suffix();
        // Without the other hub it takes turns with itself.
        let baseline = theirs.as_ref().unwrap_or(&own);
        let time = |way: &Way| time(way).expect("it answered before");
        let row = in_turns(ROUNDS, || time(&own), || time(baseline));
        let most = if is_pinned { Most::AtMost(most) } else { Most::Any };
        table.add_count(&format!("{what}, µs{suffix}"), microseconds(&row), most);
        match &theirs {
            Ok(_) => table.add(&format!("{what}{suffix}"), &against, &row, Bar::Information),
            Err(why) => table.add_missing(&format!("{what}{suffix}"), &against, &why.to_string()),
        }
    }
    if is_pinned { memory(&own, &theirs, &against, table) } else { Ok(()) }
}

/// Lets the hub learn every server. None runs when they are listed afterwards.
fn remember(hub: &Way) -> Outcome<()> {
    let mut client = hub.begin()?;
    client.ask("tools/list", "{}")?;
    std::thread::sleep(Duration::from_secs(1));
    client.ask("tools/list", "{}")?;
    client.end()?;
    let mut client = hub.begin()?;
    let tools = String::from_utf8_lossy(client.ask("tools/list", "{}")?).matches(r#""inputSchema""#).count();
    let children = client.count_children()?;
    client.end()?;
    // Four of each server, and the hub's own.
    if tools != SERVERS * 4 + 1 || children != 0 {
        return Err(format!("the hub listed {tools} tools, and {children} servers ran").into());
    }
    Ok(())
}

/// Nanoseconds for the first list, in a hub after the handshake.
fn list_alone(hub: &Way) -> Outcome<f64> {
    let mut client = hub.begin()?;
    let start = Instant::now();
    client.ask("tools/list", "{}")?;
    let taken = start.elapsed();
    client.end()?;
    Ok(taken.as_secs_f64() * 1e9)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a time of less than centuries")]
fn microseconds(row: &Comparison) -> u64 {
    (row.candidate.median / 1e3).round() as u64
}

/// The memory of the hub's own process. The other hub also runs its servers, which are not counted.
fn memory(own: &Way, theirs: &Outcome<Way>, against: &str, table: &mut Table) -> Outcome<()> {
    let settled = |hub: &Way| -> Outcome<u64> {
        let mut client = hub.begin()?;
        client.ask("tools/list", "{}")?;
        std::thread::sleep(Duration::from_secs(3));
        let memory = client.memory("Rss")?;
        client.end()?;
        Ok(memory)
    };
    let what = format!("memory of a hub with {SERVERS} servers, RSS");
    let memory = settled(own)?;
    table.add_count(&format!("{what}, kB"), memory / 1000, Most::AtMost(MOST_MEMORY));
    match theirs {
        Ok(theirs) => table.add_bytes(&what, against, memory, settled(theirs)?, Bar::Information),
        Err(why) => table.add_missing(&what, against, &why.to_string()),
    }
    Ok(())
}
