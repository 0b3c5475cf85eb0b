//! Timing two things in turns.

use std::hint::black_box;
use std::time::Instant;

/// How often the two take turns, and how much each does in a turn.
#[derive(Clone, Copy, Debug)]
pub struct Turns {
    /// How many turns each has.
    pub rounds: usize,
    /// How many operations a turn has.
    pub operations: u32,
}

impl Turns {
    /// For calls of a few microseconds: a turn is about a millisecond, shorter than a time slice of the scheduler, so a
    /// turn that was interrupted stands out and the median does not see it.
    pub const SHORT: Turns = Turns { rounds: 400, operations: 250 };
}

/// Nanoseconds for one operation: the middle of all turns, and where the fastest and the slowest tenth begin.
#[derive(Clone, Copy, Debug)]
pub struct Spread {
    /// Where the fastest tenth ends.
    pub tenth: f64,
    /// The middle.
    pub median: f64,
    /// Where the slowest tenth begins.
    pub ninetieth: f64,
    /// Where the slowest hundredth begins, where operations were timed one by one.
    pub slowest: Option<f64>,
}

/// What two took.
#[derive(Clone, Copy, Debug)]
pub struct Comparison {
    /// What is measured.
    pub candidate: Spread,
    /// What it is measured against.
    pub baseline: Spread,
}

impl Comparison {
    /// How many times the baseline's time the candidate takes.
    pub fn ratio(&self) -> f64 {
        self.candidate.median / self.baseline.median
    }
}

/// Times single operations in turns, after a warm-up of a tenth of the rounds.
pub fn compare<A, B>(turns: Turns, mut candidate: impl FnMut() -> A, mut baseline: impl FnMut() -> B) -> Comparison {
    let operations = turns.operations;
    for _ in 0..turns.rounds.div_ceil(10) {
        one_turn(operations, &mut candidate);
        one_turn(operations, &mut baseline);
    }
    in_turns(turns.rounds, || one_turn(operations, &mut candidate), || one_turn(operations, &mut baseline))
}

/// Takes turns between two that time themselves and answer with nanoseconds for one operation. Who begins alternates.
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

/// Times each operation on its own, in turns, after a warm-up of a tenth of the rounds: for those of many microseconds, of which the
/// slow ones matter too.
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

/// Nanoseconds for one of `operations` operations.
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
