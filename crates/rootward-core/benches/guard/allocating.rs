//! How often the common path allocates.

use std::path::Path;

use rootward_core::Access;

use crate::Outcome;
use crate::places::{guard, with_deep_file};
use rootward_testkit::bench::table::{Most, Table};

pub(crate) fn measure(top: &Path, table: &mut Table) -> Outcome {
    let root = top.join("allocating");
    let file = with_deep_file(&root)?;
    let guard = guard([root]);
    let check = || drop(guard.check(&file, Access::READ).expect("inside the root"));
    // The first check opens the root's handle.
    check();
    table.add_count("allocations in `check`, depth 6", allocation_counter::measure(check).count_total, Most::None);
    let open = || drop(guard.open(&file).expect("inside the root"));
    // One allocation is for the displayed path.
    let count = allocation_counter::measure(open).count_total;
    table.add_count("allocations in `Guard::open`, depth 6", count, Most::Any);
    Ok(())
}
