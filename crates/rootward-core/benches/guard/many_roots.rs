//! Ten thousand roots: the cost must depend on the path, not on the number of roots.

use std::fs;
use std::path::{Path, PathBuf};

use rootward_core::{Access, GuardOptions};

use crate::Outcome;
use crate::places::{guard, guard_with, with_deep_file};
use rootward_testkit::bench::measure::{Turns, compare};
use rootward_testkit::bench::table::{Bar, Table};

const ROOTS: usize = 10_000;

/// How many roots the last row visits in turn: far more than the number of open handles.
const VISITED: usize = 1_000;

pub(crate) fn measure(top: &Path, table: &mut Table) -> Outcome {
    let roots: Vec<PathBuf> = (0..ROOTS).map(|number| top.join(format!("many/project-{number:05}"))).collect();
    for root in &roots {
        fs::create_dir_all(root)?;
    }
    let middle = &roots[ROOTS / 2];
    let file = with_deep_file(middle)?;
    let one = guard([middle.clone()]);
    let many = guard(roots.iter().cloned());
    let row = compare(
        Turns::SHORT,
        || many.check(&file, Access::READ).expect("inside a root"),
        || one.check(&file, Access::READ).expect("inside the root"),
    );
    table.add("`check` with 10,000 roots", "with one root", &row, Bar::AtMost(1.2));

    let visited: Vec<PathBuf> =
        roots.iter().step_by(ROOTS / VISITED).map(|root| with_deep_file(root)).collect::<Result<_, _>>()?;
    assert!(GuardOptions::default().most_handles < visited.len(), "the row is about handles that are not held");
    let mut next = visited.iter().cycle();
    let row = compare(
        Turns::SHORT,
        || many.check(next.next().expect("a cycle"), Access::READ).expect("inside a root"),
        || one.check(&file, Access::READ).expect("inside the root"),
    );
    table.add("1,000 of 10,000 roots in turn, 128 handles held", "with one root", &row, Bar::Information);
    let most_handles = visited.len();
    let held = guard_with(roots, GuardOptions { most_handles, ..GuardOptions::default() });
    let mut next = visited.iter().cycle();
    let mut again = visited.iter().cycle();
    let row = compare(
        Turns::SHORT,
        || held.check(next.next().expect("a cycle"), Access::READ).expect("inside a root"),
        || many.check(again.next().expect("a cycle"), Access::READ).expect("inside a root"),
    );
    table.add("1,000 of 10,000 roots in turn, all their handles held", "128 handles held", &row, Bar::Information);
    Ok(())
}
