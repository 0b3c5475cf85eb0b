//! Attackers swap directories, files and parents for links while the guard works: nothing outside is reached.
//!
//! 20,000 attempts each in the short form, a million with `ROOTWARD_LONG=1`.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use rootward_core::{Access, Guard, Origin, Resolver};
use rootward_testkit::door::{Door, Outcome, Request, Root};
use rootward_testkit::naive::Naive;
use rootward_testkit::race::{self, Race};

use crate::door::{GuardDoor, act, guard};
use crate::yard::Yard;

/// Reuses one guard while the roots stay the same, so that it keeps its handles through a whole race.
struct LastingDoor {
    resolver: Resolver,
    last: Mutex<Option<(Vec<Root>, Guard)>>,
}

impl LastingDoor {
    fn new(resolver: Resolver) -> LastingDoor {
        LastingDoor { resolver, last: Mutex::new(None) }
    }

    fn guard(&self, request: &Request) -> Guard {
        let mut last = self.last.lock().unwrap();
        match &*last {
            Some((roots, guard)) if *roots == request.roots => guard.clone(),
            _ => {
                let guard = guard(self.resolver, request);
                *last = Some((request.roots.clone(), guard.clone()));
                guard
            }
        }
    }
}

impl Door for LastingDoor {
    fn act(&self, request: &Request) -> Outcome {
        act(&self.guard(request), request).unwrap_or_else(|failure| failure)
    }
}

fn nothing_escapes(door: &dyn Door) {
    for (swap, report) in race::run_all(door, race::attempts()).unwrap() {
        assert_eq!(report.escapes, 0, "{swap:?}: {:?}", report.examples);
        assert!(report.swaps > report.attempts / 10, "{swap:?}: the attacker swapped too rarely");
        assert!(report.allowed > 0 && report.refused + report.failed > 0, "{swap:?}: the swaps had no effect");
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

/// A directory appears where a file is about to be created: nothing is created in it.
#[test]
fn a_directory_that_appears_meanwhile_is_not_written_into() {
    for resolver in [Resolver::Kernel, Resolver::Walk] {
        let yard = Yard::new();
        fs::create_dir_all(yard.path("root/prepared/hooks")).unwrap();
        let guard = yard.guard_by(resolver, Origin::Flag, &["root"]);
        let (there, away) = (yard.path("root/x"), yard.path("root/prepared"));
        let done = Arc::new(AtomicBool::new(false));
        let swapper = thread::spawn({
            let (done, there, away) = (Arc::clone(&done), there.clone(), away.clone());
            move || {
                while !done.load(Ordering::Relaxed) {
                    fs::rename(&away, &there).unwrap();
                    fs::rename(&there, &away).unwrap();
                }
                away
            }
        });
        let mut wrong = 0;
        for _ in 0..race::attempts() {
            // The request was for `x/hooks`, not for `x/hooks/hooks`.
            if let Ok(grant) = guard.check("x/hooks", Access::WRITE) {
                let _ = grant.create_new(b"!");
            }
            wrong += usize::from(away.join("hooks/hooks").exists() || there.join("hooks/hooks").exists());
        }
        done.store(true, Ordering::Relaxed);
        swapper.join().unwrap();
        assert_eq!(wrong, 0, "{resolver:?}: a file was created one level below the decided place");
    }
}
