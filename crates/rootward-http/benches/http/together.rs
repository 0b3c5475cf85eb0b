//! Many sessions at once, on all cores: calls per second, and how long the slow ones take.

use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use rootward_testkit::bench::http::Session;
use rootward_testkit::bench::measure::{Comparison, Spread, spread_of_each};
use rootward_testkit::bench::table::{Bar, Most, Table};

use crate::peers::Peer;
use crate::ways::{Call, Isolation, Way, Ways};
use crate::{Amount, Outcome};

/// How many sessions call at once.
const SESSIONS: usize = 64;

/// How many times more calls per second than the best of the others.
const LEAST: f64 = 3.0;

/// Sessions of one server, and their measurements.
struct Crowd<'w> {
    /// Held, so that the server runs as long as its sessions.
    _way: &'w Way,
    sessions: Vec<Session>,
    params: String,
    expected: String,
    rates: Vec<f64>,
    times: Vec<f64>,
    errors: u64,
}

/// The measurements of a crowd.
struct Measured {
    rate: f64,
    spread: Spread,
    errors: u64,
}

impl<'w> Crowd<'w> {
    fn new(way: &'w Way, call: &Call) -> Outcome<Crowd<'w>> {
        let (params, expected) = (way.named(call), call.expected.clone());
        let mut sessions = Vec::with_capacity(SESSIONS);
        for _ in 0..SESSIONS {
            let mut session = way.begin()?;
            session.ask("tools/list", "{}")?;
            session.call(&params, &expected)?;
            sessions.push(session);
        }
        Ok(Crowd { _way: way, sessions, params, expected, rates: Vec::new(), times: Vec::new(), errors: 0 })
    }

    /// All sessions call for a while, each as fast as it is answered.
    fn turn(&mut self, duration: Duration) {
        let start = Barrier::new(self.sessions.len() + 1);
        let (params, expected) = (&*self.params, &*self.expected);
        let mut told = Vec::with_capacity(SESSIONS);
        let began = thread::scope(|scope| {
            let start = &start;
            let callers: Vec<_> = self
                .sessions
                .iter_mut()
                .map(|session| {
                    scope.spawn(move || {
                        start.wait();
                        call_until(session, Instant::now() + duration, params, expected)
                    })
                })
                .collect();
            start.wait();
            let began = Instant::now();
            told.extend(callers.into_iter().map(|caller| caller.join().expect("a caller does not panic")));
            began
        });
        let taken = began.elapsed();
        let before = self.times.len();
        for (times, errors) in told {
            self.times.extend(times);
            self.errors += errors;
        }
        #[expect(clippy::cast_precision_loss, reason = "nobody calls so often")]
        self.rates.push((self.times.len() - before) as f64 / taken.as_secs_f64());
    }

    fn measured(mut self) -> Outcome<Measured> {
        if self.times.is_empty() {
            return Err(format!("no call was answered, {} failed", self.errors).into());
        }
        self.rates.sort_by(f64::total_cmp);
        Ok(Measured { rate: self.rates[self.rates.len() / 2], spread: spread_of_each(self.times), errors: self.errors })
    }
}

/// The time of each call in nanoseconds, and how many calls failed.
fn call_until(session: &mut Session, deadline: Instant, params: &str, expected: &str) -> (Vec<f64>, u64) {
    let (mut times, mut errors) = (Vec::new(), 0);
    let mut now = Instant::now();
    while now < deadline {
        let called = session.call(params, expected);
        let after = Instant::now();
        match called {
            Ok(_) => times.push((after - now).as_secs_f64() * 1e9),
            Err(_) => errors += 1,
        }
        now = after;
    }
    (times, errors)
}

pub(crate) fn measure(ways: &Ways, amount: Amount, table: &mut Table) -> Outcome<()> {
    let (rounds, duration) = match amount {
        // Node closes a connection that was idle for five seconds, which happens during the others' turns.
        Amount::Full => (15, Duration::from_secs(1)),
        Amount::Quick => (2, Duration::from_millis(500)),
    };
    let [call, _] = ways.calls();
    let (hub, sharing_hub) = (ways.hub(Isolation::Session)?, ways.hub(Isolation::Roots)?);
    let (mut own, mut sharing) = (Crowd::new(&hub, &call)?, Crowd::new(&sharing_hub, &call)?);
    let peers: Vec<(String, Outcome<Way>)> = Peer::ALL.map(|peer| (peer.name(), ways.peer(peer))).into();
    let mut crowds = Vec::new();
    let what = format!("{SESSIONS} sessions at once through the hub, all cores");
    let what_sharing = format!("{SESSIONS} sessions at once through the hub, one process of the server, all cores");
    for (name, way) in &peers {
        let crowd = way.as_ref().map_err(|why| why.to_string().into()).and_then(|way| Crowd::new(way, &call));
        match crowd {
            Ok(crowd) => crowds.push((name, crowd)),
            Err(why) => table.add_missing(&what, name, &why.to_string()),
        }
    }
    for round in 0..=rounds {
        own.turn(duration);
        sharing.turn(duration);
        for (_, crowd) in &mut crowds {
            crowd.turn(duration);
        }
        if round == 0 {
            // This was the warm-up. Errors count from the start.
            for crowd in crowds.iter_mut().map(|(_, crowd)| crowd).chain([&mut own, &mut sharing]) {
                crowd.rates.clear();
                crowd.times.clear();
            }
        }
    }
    let (own, sharing) = (own.measured()?, sharing.measured()?);
    let mut theirs = Vec::new();
    for (name, crowd) in crowds {
        match crowd.measured() {
            Ok(measured) => theirs.push((name, measured)),
            Err(why) => table.add_missing(&what, name, &why.to_string()),
        }
    }
    let best = theirs.iter().map(|(_, measured)| measured.rate).fold(0.0, f64::max);
    for (name, theirs) in theirs {
        let least = (theirs.rate >= best).then_some(LEAST);
        for (what, own, least) in [(&what, &own, least), (&what_sharing, &sharing, None)] {
            table.add_rates(&format!("{what}: calls"), name, own.rate, theirs.rate, least);
            let row = Comparison { candidate: own.spread, baseline: theirs.spread };
            table.add(&format!("{what}: a call"), name, &row, Bar::Information);
        }
        table.add_count(&format!("{SESSIONS} sessions at once through {name}: errors"), theirs.errors, Most::Any);
    }
    table.add_count(&format!("{what}: errors"), own.errors, Most::None);
    table.add_count(&format!("{what_sharing}: errors"), sharing.errors, Most::None);
    serve(ways, rounds, duration, table)
}

/// The file server, which has nothing to compare with.
fn serve(ways: &Ways, rounds: usize, duration: Duration, table: &mut Table) -> Outcome<()> {
    let (way, call) = (ways.serve()?, ways.reading());
    let mut crowd = Crowd::new(&way, &call)?;
    for _ in 0..rounds {
        crowd.turn(duration);
    }
    let measured = crowd.measured()?;
    let what = format!("{SESSIONS} sessions at once on `rootward serve`, {}, all cores", call.what);
    table.add_rate(&format!("{what}: calls"), measured.rate);
    table.add_time(&format!("{what}: a call"), &measured.spread);
    table.add_count(&format!("{what}: errors"), measured.errors, Most::None);
    Ok(())
}
