//! The memory of idle sessions.

use rootward_testkit::bench::http::Session;
use rootward_testkit::bench::table::{Most, Table};

use crate::ways::{Call, Way, Ways};
use crate::{Amount, Outcome};

/// What one of them may take: 40 KiB.
const MOST: u64 = 40 << 10;

/// How many sessions exist before the measurement, since the first ones allocate what all share.
const BEFORE: u64 = 100;

pub(crate) fn measure(ways: &Ways, amount: Amount, table: &mut Table) -> Outcome<()> {
    let count = if amount == Amount::Full { 10_000 } else { 1_000 };
    let (way, call) = (ways.serve()?, ways.reading());
    let session = begin(BEFORE, way.begin()?, &way, &call)?;
    let before = way.listening.memory("Rss")?;
    let session = begin(count, session, &way, &call)?;
    let after = way.listening.memory("Rss")?;
    drop(session);
    table.add_count(
        &format!("bytes of an idle session on `rootward serve --http`, of {count}"),
        after.saturating_sub(before) / count,
        Most::AtMost(MOST),
    );
    Ok(())
}

/// Begins this many sessions on the connections of one of them. Each calls once and is asked for its roots.
fn begin(count: u64, mut session: Session, way: &Way, call: &Call) -> Outcome<Session> {
    for _ in 0..count {
        session = session.another()?;
        session.call(&way.named(call), &call.expected)?;
    }
    Ok(session)
}
