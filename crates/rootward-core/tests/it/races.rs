//! Attackers swap directories, files and parents for links while the guard is at work: nothing outside is reached.
//!
//! 20,000 attempts each in the short form, a million with `ROOTWARD_LONG=1`.

use rootward_core::Resolver;
use rootward_testkit::door::Door;
use rootward_testkit::naive::Naive;
use rootward_testkit::race::{self, Race};

use crate::door::{GuardDoor, LastingDoor};

fn nothing_escapes(door: &dyn Door) {
    for (swap, report) in race::run_all(door, race::attempts()).unwrap() {
        assert_eq!(report.escapes, 0, "{swap:?}: {:?}", report.examples);
        assert!(report.swaps > report.attempts / 10, "{swap:?}: the attacker hardly came to swap");
        assert!(report.allowed > 0 && report.refused + report.failed > 0, "{swap:?}: the swaps made no difference");
    }
}

#[test]
fn nothing_outside_is_reached_while_directories_and_links_are_swapped() {
    nothing_escapes(&LastingDoor::new(Resolver::Kernel));
}

#[test]
fn nothing_outside_is_reached_by_walking_while_directories_and_links_are_swapped() {
    nothing_escapes(&LastingDoor::new(Resolver::Walk));
}

#[test]
fn nothing_outside_is_reached_by_fresh_guards_while_directories_and_links_are_swapped() {
    nothing_escapes(&GuardDoor(Resolver::Kernel));
}

/// The control: the same attack on a door that checks a path and then opens it by name.
#[test]
fn the_swap_attack_works_on_a_check_by_name() {
    for race in Race::ALL {
        let report = race.run_until(&Naive, 200_000, |report| report.escapes > 0).unwrap();
        assert!(report.escapes > 0, "{race:?}: {report}");
    }
}
