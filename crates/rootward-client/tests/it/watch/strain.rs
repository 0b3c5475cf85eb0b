//! Many events, the limit on watches, and the end of a watch.

use std::fs;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use rootward_client::watch::{Options, Unwatched, Watching};

use super::{BY_EVENTS, PATIENCE, Stage};

#[test]
fn a_storm_of_events_does_not_postpone_the_rescan_forever() {
    let stage = Stage::new();
    let (root, aside) = (stage.make("root"), stage.path("aside"));
    stage.save(&[(&root, "")]);
    let mut watched = stage.watch(BY_EVENTS);
    watched.until_states("initial state", &["shared"]);
    // At least ten thousand events, until a change is reported: a storm must not postpone the rescan forever.
    let begun = Instant::now();
    let mut change = None;
    for number in 0.. {
        fs::rename(&root, &aside).unwrap();
        fs::create_dir(&root).unwrap();
        fs::remove_dir(&root).unwrap();
        fs::rename(&aside, &root).unwrap();
        change = change.or_else(|| watched.changes.try_recv().ok());
        if number >= 2_500 && change.is_some() {
            break;
        }
        assert!(begun.elapsed() < PATIENCE, "no change was reported");
    }
    let (seen, _) = change.unwrap();
    watched.seen = seen;
    fs::rename(&root, &aside).unwrap();
    fs::write(stage.path("last"), "").unwrap();
    stage.save(&[(&root, ""), (&stage.path("last"), "")]);
    watched.until_states("after the storm", &["missing", "shared"]);
}

#[test]
fn places_beyond_the_watch_limit_are_polled() {
    let stage = Stage::new();
    let (one, two) = (stage.make("one/root"), stage.make("two/root"));
    stage.save(&[(&one, ""), (&two, "")]);
    let poll = Duration::from_millis(30);
    let mut watched = stage.watch(Options { most_watches: 2, poll, ..BY_EVENTS });
    watched.until_states("initial state", &["shared", "shared"]);
    let Watching::Polling { every, places, why } = watched.seen.watching.clone() else { panic!("not polling") };
    assert!((every, why) == (poll, Unwatched::Bound(2)) && places >= 3, "{:?}", watched.seen.watching);
    fs::remove_dir(&two).unwrap();
    watched.until_states("beyond the limit", &["shared", "missing"]);
    fs::remove_dir(&one).unwrap();
    watched.until_states("also beyond the limit", &["missing", "missing"]);
    stage.save(&[]);
    watched.until_states("no roots left", &[]);
    // With fewer places to watch, the limit is high enough.
    let enough = stage.top.ancestors().count() + 8;
    let mut watched = stage.watch(Options { most_watches: enough, ..BY_EVENTS });
    assert_eq!(watched.seen.watching, Watching::Events);
    let many: Vec<_> = (0..8).map(|number| stage.make(&format!("many/{number}/root"))).collect();
    stage.save(&many.iter().map(|root| (root.as_path(), "")).collect::<Vec<_>>());
    watched.until("too many", |seen| seen.roots.len() == 8 && seen.watching != Watching::Events);
    stage.save(&[]);
    watched.until("few again", |seen| seen.roots.is_empty() && seen.watching == Watching::Events);
}

#[test]
fn the_watch_ends_when_its_value_is_dropped() {
    let stage = Stage::new();
    stage.save(&[(&stage.make("root"), "")]);
    for leave in [false, true] {
        let mut watched = stage.watch(BY_EVENTS);
        let watch = watched.watch.take().unwrap();
        let (sender, ended) = channel();
        std::thread::spawn(move || {
            if leave {
                watch.leave();
            } else {
                drop(watch);
            }
            let _ = sender.send(());
        });
        ended.recv_timeout(PATIENCE).unwrap();
        // The thread releases what it holds; `leave` does not wait for that.
        let begun = Instant::now();
        while leave && Arc::strong_count(&watched.token) > 1 {
            assert!(begun.elapsed() < PATIENCE, "the thread still runs");
            std::thread::sleep(Duration::from_millis(5));
        }
        assert_eq!(Arc::strong_count(&watched.token), 1);
    }
}
