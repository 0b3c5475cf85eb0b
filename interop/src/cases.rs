//! Named test cases: selects them by name, runs several at once, and reports the failures.

use std::sync::Mutex;
use std::thread;

use anyhow::{Result, bail};

use taskkit::table;

/// The cases whose names contain each of `parts`. It is an error if there are none.
pub(crate) fn chosen<C: Copy>(mut cases: Vec<C>, parts: &[&str], name: impl Fn(C) -> String) -> Result<Vec<C>> {
    cases.retain(|case| parts.iter().all(|part| name(*case).contains(part)));
    if cases.is_empty() {
        bail!("no case name contains `{}`", parts.join("` and `"));
    }
    Ok(cases)
}

/// Runs the cases on `threads` threads; returns an outcome for each.
pub(crate) fn all_at_once<C: Copy + Send + Sync>(
    cases: &[C],
    threads: usize,
    carry_out: impl Fn(C) -> Result<()> + Sync,
) -> Vec<(C, Result<()>)> {
    let (waiting, outcomes) = (Mutex::new(cases.iter()), Mutex::new(Vec::new()));
    let next = || waiting.lock().ok()?.next();
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(case) = next() {
                    let outcome = carry_out(*case);
                    if let Ok(mut outcomes) = outcomes.lock() {
                        outcomes.push((*case, outcome));
                    }
                }
            });
        }
    });
    outcomes.into_inner().unwrap_or_default()
}

/// Runs the cases on `threads` threads, prints the count that each returns, and fails if any case did.
pub(crate) fn count_all_at_once<C: Copy + Send + Sync>(
    cases: &[C],
    threads: usize,
    name: impl Fn(C) -> String + Sync,
    carry_out: impl Fn(C) -> Result<String> + Sync,
) -> Result<String> {
    let rows = Mutex::new(Vec::new());
    let outcomes = all_at_once(cases, threads, |case| {
        let counted = carry_out(case);
        if let Ok(mut rows) = rows.lock() {
            let outcome = counted.as_ref().map_or_else(|_| "FAILED".to_owned(), String::clone);
            rows.push(vec![name(case), outcome]);
        }
        counted.map(drop)
    });
    let mut rows = rows.into_inner().unwrap_or_default();
    rows.sort();
    rows.insert(0, ["case", "outcome"].map(str::to_owned).to_vec());
    println!("\n{}", table::lay_out(&rows));
    judge(cases.len(), &outcomes, name)
}

/// Prints a table of the outcomes, sorted by name.
pub(crate) fn lay_out<C: Copy>(outcomes: &mut [(C, Result<()>)], name: impl Fn(C) -> String) {
    outcomes.sort_by_key(|(case, _)| name(*case));
    let row = |(case, outcome): &(C, Result<()>)| {
        vec![name(*case), if outcome.is_ok() { "passed" } else { "FAILED" }.to_owned()]
    };
    let head = ["server", "outcome"].map(str::to_owned).to_vec();
    let rows: Vec<Vec<String>> = [head].into_iter().chain(outcomes.iter().map(row)).collect();
    println!("\n{}", table::lay_out(&rows));
}

/// Prints the failures. If all of the `count` cases passed, returns a note for the table of steps.
pub(crate) fn judge<C: Copy>(count: usize, outcomes: &[(C, Result<()>)], name: impl Fn(C) -> String) -> Result<String> {
    for (case, outcome) in outcomes {
        if let Err(error) = outcome {
            println!("FAILED {}: {error:#}\n", name(*case));
        }
    }
    let passed = outcomes.iter().filter(|(_, outcome)| outcome.is_ok()).count();
    if passed != count {
        bail!("only {passed} of {count} cases passed");
    }
    Ok(match passed {
        1 => "1 case passed".to_owned(),
        passed => format!("{passed} cases passed"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selecting_no_case_is_an_error() {
        let check = |parts: &[&str], expect: Option<&[u32]>| {
            let cases = chosen(vec![1, 12, 23], parts, |case| case.to_string());
            assert_eq!(cases.ok().as_deref(), expect, "{parts:?}");
        };
        check(&[], Some(&[1, 12, 23]));
        check(&["2"], Some(&[12, 23]));
        check(&["1", "2"], Some(&[12]));
        check(&["1", "3"], None);
    }

    #[test]
    fn every_case_has_one_outcome() {
        let cases: Vec<u32> = (0..100).collect();
        let fails = |case: u32| if case % 10 == 3 { bail!("a reason") } else { Ok(()) };
        let mut outcomes = all_at_once(&cases, 4, fails);
        outcomes.sort_by_key(|(case, _)| *case);
        assert!(outcomes.iter().map(|(case, _)| *case).eq(cases));
        for (case, outcome) in outcomes {
            assert_eq!(outcome.is_err(), case % 10 == 3, "{case}");
        }
    }

    #[test]
    fn a_case_that_failed_or_is_missing_is_a_failure() {
        let check = |outcomes: &[(u32, Result<()>)], note: Option<&str>| {
            assert_eq!(judge(2, outcomes, |case| case.to_string()).ok().as_deref(), note, "{outcomes:?}");
        };
        check(&[(1, Ok(())), (2, Ok(()))], Some("2 cases passed"));
        check(&[(1, Ok(()))], None);
        check(&[(1, Ok(())), (2, Err(anyhow::anyhow!("a reason")))], None);
        assert_eq!(judge(1, &[(1, Ok(()))], |_: u32| String::new()).unwrap(), "1 case passed");
    }
}
