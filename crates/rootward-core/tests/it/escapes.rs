//! The escape corpus through the guard, with both resolvers.

use rootward_core::Resolver;
use rootward_testkit::tree::is_superuser;
use rootward_testkit::{escape, report};

use crate::door::GuardDoor;

#[test]
fn guard_passes_the_escape_corpus() {
    assert_eq!(
        Resolver::detect(),
        Resolver::Kernel,
        "this kernel has no openat2: run the test on a machine that has it"
    );
    let report = report::run(&GuardDoor(Resolver::Kernel), escape::table());
    report.assert_clean();
    assert!(report.unsupported.is_empty(), "the guard supports everything in the corpus");
    assert!(report.needing_root.is_empty() || !is_superuser(), "the superuser must run every row");
}

#[test]
fn guard_passes_the_escape_corpus_by_walking() {
    report::run(&GuardDoor(Resolver::Walk), escape::table()).assert_clean();
}
