//! Measures two things in alternating turns.

use std::hint::black_box;
use std::time::Instant;

/// How many turns each side has, and how many operations a turn has.
#[derive(Clone, Copy, Debug)]
pub struct Turns {
    /// The number of turns of each side.
    pub rounds: usize,
    /// The number of operations in a turn.
    pub operations: u32,
}

impl Turns {
    /// For calls of a few microseconds. A turn takes about a millisecond, less than a scheduler time slice, so an interrupted
    /// turn is an outlier and does not affect the median.
    pub const SHORT: Turns = Turns { rounds: 400, operations: 250 };
}

/// Nanoseconds per operation: the median of all turns and other percentiles.
#[derive(Clone, Copy, Debug)]
pub struct Spread {
    /// The 10th percentile.
    pub tenth: f64,
    /// The median.
    pub median: f64,
    /// The 90th percentile.
    pub ninetieth: f64,
    /// The 99th percentile, if each operation was timed on its own.
    pub slowest: Option<f64>,
}

/// The times of two sides.
#[derive(Clone, Copy, Debug)]
pub struct Comparison {
    /// The side under test.
    pub candidate: Spread,
    /// The side to compare with.
    pub baseline: Spread,
}

impl Comparison {
    /// The candidate's time divided by the baseline's.
    pub fn ratio(&self) -> f64 {
        self.candidate.median / self.baseline.median
    }
}

/// Measures operations in alternating turns, after a warm-up of a tenth of the rounds.
pub fn compare<A, B>(turns: Turns, mut candidate: impl FnMut() -> A, mut baseline: impl FnMut() -> B) -> Comparison {
    let operations = turns.operations;
    for _ in 0..turns.rounds.div_ceil(10) {
        one_turn(operations, &mut candidate);
        one_turn(operations, &mut baseline);
    }
    in_turns(turns.rounds, || one_turn(operations, &mut candidate), || one_turn(operations, &mut baseline))
}

/// Alternates between two functions that measure themselves and return nanoseconds per operation. The first of each round
/// alternates, too.
pub fn in_turns(rounds: usize, mut candidate: impl FnMut() -> f64, mut baseline: impl FnMut() -> f64) -> Comparison {
    let mut candidates = Vec::with_capacity(rounds);
    let mut baselines = Vec::with_capacity(rounds);
    for round in 0..rounds {
        if round % 2 == 0 {
            candidates.push(candidate());
            baselines.push(baseline());
        } else {
            baselines.push(baseline());
            candidates.push(candidate());
        }
    }
    Comparison { candidate: spread(candidates), baseline: spread(baselines) }
}

/// Times each operation on its own, in alternating turns, after a warm-up of a tenth of the rounds: for operations of many
/// microseconds whose slowest runs matter, too.
pub fn compare_each<A, B>(
    turns: Turns,
    mut candidate: impl FnMut() -> A,
    mut baseline: impl FnMut() -> B,
) -> Comparison {
    let operations = turns.operations;
    let (mut candidates, mut baselines) = (Vec::new(), Vec::new());
    let warm_up = turns.rounds.div_ceil(10);
    for round in 0..warm_up + turns.rounds {
        if round == warm_up {
            candidates.clear();
            baselines.clear();
        }
        if round % 2 == 0 {
            each(operations, &mut candidate, &mut candidates);
            each(operations, &mut baseline, &mut baselines);
        } else {
            each(operations, &mut baseline, &mut baselines);
            each(operations, &mut candidate, &mut candidates);
        }
    }
    Comparison { candidate: spread_of_each(candidates), baseline: spread_of_each(baselines) }
}

fn each<T>(operations: u32, operation: &mut impl FnMut() -> T, times: &mut Vec<f64>) {
    times.extend((0..operations).map(|_| one_turn(1, operation)));
}

/// The average nanoseconds per operation, over `operations` runs.
pub fn one_turn<T>(operations: u32, operation: &mut impl FnMut() -> T) -> f64 {
    let start = Instant::now();
    for _ in 0..operations {
        black_box(operation());
    }
    start.elapsed().as_secs_f64() * 1e9 / f64::from(operations)
}

fn spread(mut times: Vec<f64>) -> Spread {
    times.sort_by(f64::total_cmp);
    let at = |percent: usize| times[(times.len() - 1) * percent / 100];
    Spread { tenth: at(10), median: at(50), ninetieth: at(90), slowest: None }
}

/// The spread of operations that were timed one by one.
pub fn spread_of_each(mut times: Vec<f64>) -> Spread {
    times.sort_by(f64::total_cmp);
    let slowest = Some(times[(times.len() - 1) * 99 / 100]);
    Spread { slowest, ..spread(times) }
}
