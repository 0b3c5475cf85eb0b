//! Tests of the owner without a client: events in, orders out.
#![expect(clippy::disallowed_methods, reason = "builds the directories that clients share")]

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use rootward_core::session::{Policy, RequestNumber, Sources, State, Support};
use rootward_core::{Code, Denial, GuardOptions, Origin, Restrictions, Root, RootSet, Validation};
use serde_json::{Value, json};

use super::*;
use crate::message::INVALID_PARAMS;
use crate::round::Said;

/// A session, and directories that its client may share.
struct Stage {
    session: SessionGuard,
    given: Given,
    terms: Arc<Terms>,
    directory: tempfile::TempDir,
}

fn at(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

impl Stage {
    fn new() -> Stage {
        let directory = tempfile::tempdir().unwrap();
        for name in ["a", "b"] {
            std::fs::create_dir(directory.path().join(name)).unwrap();
        }
        let guard = GuardOptions::default();
        let given = Given { sources: Sources::default(), restrictions: Arc::clone(&guard.restrictions) };
        let terms = Arc::new(Terms::new_ambient(Policy::default(), guard, Validation::new(None)));
        let session = SessionGuard::new(Arc::clone(&terms), Arc::new(given.clone()), Support::Announced);
        Stage { session, given, terms, directory }
    }

    fn place(&self, name: &str) -> PathBuf {
        self.directory.path().canonicalize().unwrap().join(name)
    }

    fn page(&self, names: &[&str], next: Option<&str>) -> Value {
        let roots = names.iter().map(|name| json!({"uri": format!("file://{}", self.place(name).display())}));
        json!({"roots": roots.collect::<Vec<_>>(), "nextCursor": next})
    }

    fn shared(&self) -> Vec<PathBuf> {
        let list = self.session.published().map(Published::list).unwrap_or_default();
        list.iter().map(|root| root.place.clone()).collect()
    }

    fn waits(&self, arrived: u64, now: u64) -> bool {
        matches!(self.session.turn(at(arrived), at(now)), Turn::Wait { .. })
    }

    /// The client is asked for the first time and shares these directories.
    fn share(&mut self, now: u64, names: &[&str]) {
        let question = asked(&self.session.needed(at(now), at(now)));
        let answer = self.page(names, None);
        let placing = placing(self.session.answered(at(now), question, Ok(answer)));
        self.session.placed(at(now), placing.run_ambient());
    }
}

#[track_caller]
fn asked(orders: &[Order]) -> RequestNumber {
    let found =
        orders.iter().find_map(|order| if let Order::Ask { question, .. } = order { Some(*question) } else { None });
    found.unwrap_or_else(|| panic!("no question: {orders:?}"))
}

#[track_caller]
fn placing(orders: Vec<Order>) -> Placing {
    let found =
        orders.into_iter().find_map(|order| if let Order::Place(placing) = order { Some(placing) } else { None });
    found.unwrap_or_else(|| panic!("no lookup"))
}

#[test]
fn a_list_in_pages_is_published_when_it_is_whole() {
    let mut stage = Stage::new();
    let question = asked(&stage.session.needed(at(0), at(0)));
    let first = stage.page(&["a"], Some("two"));
    let orders = stage.session.answered(at(1), question, Ok(first));
    let [Order::Ask { question: again, cursor: Some(cursor) }] = orders.as_slice() else { panic!("{orders:?}") };
    assert_eq!((*again, cursor.as_str()), (question, "two"));
    assert!(stage.waits(0, 2) && stage.shared().is_empty());
    let last = stage.page(&["b"], None);
    let placing = placing(stage.session.answered(at(2), question, Ok(last)));
    assert!(stage.session.is_placing() && stage.waits(0, 3));
    stage.session.placed(at(3), placing.run_ambient());
    assert_eq!(stage.shared(), [stage.place("a"), stage.place("b")]);
    assert_eq!(stage.session.turn(at(0), at(3)), Turn::GoOn);
}

#[test]
fn a_list_that_changes_while_it_is_read_is_read_again_a_few_times() {
    let mut stage = Stage::new();
    let question = asked(&stage.session.needed(at(0), at(0)));
    let refused = || Err(NoList::error(Some(i64::from(INVALID_PARAMS)), "Stale cursor"));
    for turn in 0..4 {
        let first = stage.page(&["a"], Some("two"));
        let orders = stage.session.answered(at(1), question, Ok(first));
        assert!(matches!(orders.as_slice(), [Order::Ask { cursor: Some(_), .. }]), "{orders:?}");
        let orders = stage.session.answered(at(1), question, refused());
        let restarted = matches!(orders.as_slice(), [Order::Ask { cursor: None, .. }]);
        assert_eq!(restarted, turn < 3, "{turn}: {orders:?}");
    }
    let published = stage.session.published().unwrap();
    assert_eq!(published.state(), State::Failed);
    // The reason for a refusal now is that the client failed.
    let denial = Denial::new(Code::NoRoots, "x", rootward_core::Access::READ);
    assert_eq!(published.refusal(&denial).data()["code"], "roots_failed");
}

#[test]
fn a_lookup_from_before_a_change_is_discarded() {
    let mut stage = Stage::new();
    let question = asked(&stage.session.needed(at(0), at(0)));
    let answer = stage.page(&["a"], None);
    let placing = placing(stage.session.answered(at(1), question, Ok(answer)));
    // The client has answered, so there is nothing to cancel.
    let orders = stage.session.list_changed(at(2));
    assert!(orders.is_empty(), "{orders:?}");
    stage.session.placed(at(3), placing.run_ambient());
    assert!(stage.shared().is_empty() && stage.waits(0, 4));
    let again = asked(&stage.session.tick(at(300)));
    // A late answer to the old question is ignored.
    let late = stage.page(&["a"], None);
    assert!(stage.session.answered(at(301), question, Ok(late)).is_empty());
    let orders = stage.session.list_changed(at(302));
    assert!(matches!(orders.as_slice(), [Order::Cancel { question }] if *question == again), "{orders:?}");
}

#[test]
fn a_missing_root_is_looked_up_once_at_a_time_and_within_the_timeout() {
    let mut stage = Stage::new();
    stage.share(0, &["a", "missing"]);
    assert_eq!(stage.shared(), [stage.place("a")]);
    assert!(stage.session.needed(at(500), at(500)).is_empty(), "too soon");
    std::fs::create_dir(stage.place("missing")).unwrap();
    assert!(stage.session.is_look_due(at(1000)));
    let look = placing(stage.session.needed(at(1000), at(1000)));
    assert!(stage.session.needed(at(5000), at(5000)).is_empty(), "a lookup is already running");
    assert!(stage.waits(1000, 1001) && stage.waits(5000, 5001));
    // A hanging disk never delays a call beyond its timeout.
    assert_eq!(stage.session.turn(at(5000), at(11_000)), Turn::GoOn);
    stage.session.placed(at(12_000), look.run_ambient());
    assert_eq!(stage.shared(), [stage.place("a"), stage.place("missing")]);
}

#[test]
fn new_restrictions_mean_a_new_guard_and_generation() {
    let mut stage = Stage::new();
    stage.share(0, &["a"]);
    let before = stage.session.published().unwrap().clone();
    let given = Arc::new(Given { restrictions: Arc::new(Restrictions::none()), ..stage.given.clone() });
    stage.session.given(at(1), &given);
    let after = stage.session.published().unwrap();
    assert!(!after.guard().decides_as(before.guard()) && after.generation() > before.generation());
    assert!(Arc::ptr_eq(&after.guard().restrictions(), &given.restrictions));
}

#[test]
fn requests_with_the_same_roots_have_the_same_number() {
    let stage = Stage::new();
    let number = |names: &[&str], restrictions: &Arc<Restrictions>| {
        let given = Given { restrictions: Arc::clone(restrictions), ..stage.given.clone() };
        let mut request = SessionGuard::of_request(Arc::clone(&stage.terms), Arc::new(given), Support::Listed);
        let placing = request.list_of_request(at(0), Said::List(stage.page(names, None))).unwrap();
        request.placed(at(0), placing.run_ambient());
        assert_eq!(request.turn(at(0), at(0)), Turn::GoOn);
        request.published().unwrap().clone()
    };
    let standard = &stage.given.restrictions;
    let first = number(&["a"], standard);
    let again = number(&["a"], standard);
    assert!(first.generation() == again.generation() && first.guard().decides_as(again.guard()));
    assert_ne!(first.generation(), number(&["b"], standard).generation());
    // The generation identifies the roots; the guard knows the restrictions.
    assert!(!first.guard().decides_as(number(&["a"], &Arc::new(Restrictions::none())).guard()));
    let mut asked = SessionGuard::of_request(Arc::clone(&stage.terms), Arc::new(stage.given.clone()), Support::Listed);
    assert!(asked.list_of_request(at(0), Said::Nothing).is_none() && asked.published().is_none());
}

#[test]
fn the_list_of_a_request_counts_however_long_the_disk_takes() {
    let stage = Stage::new();
    let saved = Root::from_path(stage.place("b"), Origin::Store).unwrap();
    let saved = RootSet::place_ambient([saved], &Validation::new(None));
    let given = Given { sources: Sources { saved, ..Sources::default() }, ..stage.given.clone() };
    let given = Arc::new(given);
    let mut request = SessionGuard::of_request(Arc::clone(&stage.terms), Arc::clone(&given), Support::Listed);
    let placing = request.list_of_request(at(0), Said::List(stage.page(&["a"], None))).unwrap();
    request.given(at(60_000), &given);
    assert!(matches!(request.turn(at(0), at(60_000)), Turn::Wait { .. }) && request.published().is_none());
    request.placed(at(900_000), placing.run_ambient());
    assert!(request.needed(at(900_000), at(900_000)).is_empty());
    assert_eq!(request.turn(at(900_000), at(900_000)), Turn::GoOn);
    let list = request.published().unwrap().list();
    assert_eq!(list.iter().map(|root| root.place.clone()).collect::<Vec<_>>(), [stage.place("a")]);
}

/// The client answered in time but the disk was slow. There is no fallback for the client.
#[test]
fn roots_that_are_looked_up_too_slowly_still_count_as_named() {
    let stage = Stage::new();
    let saved = Root::from_path(stage.place("b"), Origin::Store).unwrap();
    let saved = RootSet::place_ambient([saved], &Validation::new(None));
    let given = Arc::new(Given { sources: Sources { saved, ..Sources::default() }, ..stage.given.clone() });
    for (names, expect) in [(&["a"][..], Vec::new()), (&[], vec![stage.place("b")])] {
        let mut session = SessionGuard::new(Arc::clone(&stage.terms), Arc::clone(&given), Support::Announced);
        let asked = session.needed(at(0), at(0)).into_iter().find_map(|order| match order {
            Order::Ask { question, .. } => Some(question),
            _ => None,
        });
        session.answered(at(100), asked.unwrap(), Ok(stage.page(names, None)));
        session.tick(at(60_000));
        let list = session.published().map(Published::list).unwrap_or_default();
        assert_eq!(list.iter().map(|root| root.place.clone()).collect::<Vec<_>>(), expect, "{names:?}");
    }
}

impl Stage {
    fn ceiling(&mut self, names: &[&str], bound: Option<&[&str]>) {
        let set = |names: &[&str]| {
            let roots = names.iter().map(|name| Root::from_path(self.place(name), Origin::Flag).unwrap());
            RootSet::place_ambient(roots, &Validation::new(None))
        };
        let (ceiling, bound) = (set(names), bound.map(set));
        self.given.sources.ceiling = ceiling;
        self.given.sources.bound = bound;
        let given = Arc::new(self.given.clone());
        self.session = SessionGuard::new(Arc::clone(&self.terms), given, Support::Announced);
    }

    fn refusal(&self) -> String {
        let denial = Denial::new(Code::NoRoots, "/x", rootward_core::Access::READ);
        self.session.published().unwrap().refusal(&denial).sentence().to_owned()
    }
}

#[test]
fn a_refusal_for_disjoint_lists_names_both_and_the_settings() {
    let mut stage = Stage::new();
    stage.ceiling(&["a"], None);
    stage.share(0, &["b"]);
    assert_eq!(
        stage.refusal(),
        format!(
            "path `/x` is refused: this client shares `{}`, the server is limited to `{}`, and these have no place in common; set \
             `ROOTWARD_IGNORE_CLIENT=true` to use that limit alone, or `ROOTWARD_MODE=replace` to use what the client shares",
            stage.place("b").display(),
            stage.place("a").display(),
        )
    );
}

#[test]
fn a_refusal_to_a_bounded_client_names_nothing_outside_its_bound() {
    let mut stage = Stage::new();
    std::fs::create_dir(stage.place("a/in")).unwrap();
    std::fs::create_dir(stage.place("other")).unwrap();
    stage.ceiling(&["a/in", "other"], Some(&["a"]));
    stage.share(0, &["b"]);
    let says = stage.refusal();
    assert!(says.contains(&stage.place("a/in").display().to_string()), "{says}");
    assert!(!says.contains("other") && !says.contains("ROOTWARD_MODE"), "{says}");
}

fn named(roots: &[LeftOut]) -> Vec<(&str, &'static str)> {
    roots.iter().map(|root| (root.text.rsplit('/').next().unwrap(), root.kind.word())).collect()
}

#[test]
fn a_root_that_is_left_out_is_reported_once_per_change() {
    let mut stage = Stage::new();
    let question = asked(&stage.session.needed(at(0), at(0)));
    let (a, missing) = (stage.place("a"), stage.place("missing"));
    let uris = [
        format!("file://{}", a.display()),
        format!("file://{}", missing.display()),
        "file://host/x".into(),
        "file:///etc/ssl".into(),
    ];
    let answer = json!({"roots": uris.map(|uri| json!({"uri": uri}))});
    let look = placing(stage.session.answered(at(0), question, Ok(answer.clone())));
    stage.session.placed(at(0), look.run_ambient());
    let mut news = LeftOutNews::default();
    let first = news.take(stage.session.published());
    assert_eq!(named(&first), [("missing", "unavailable"), ("ssl", "refused"), ("x", "unusable")]);
    assert_eq!(named(stage.session.published().unwrap().left_out()), named(&first));
    assert!(
        first[1]
            .to_string()
            .ends_with("is left out (refused): cannot be shared: in `/etc`, which belongs to the system"),
        "{}",
        first[1]
    );
    // The same list again: nothing is new.
    stage.session.list_changed(at(1000));
    let question = asked(&stage.session.tick(at(2000)));
    let look = placing(stage.session.answered(at(2000), question, Ok(answer)));
    stage.session.placed(at(2000), look.run_ambient());
    assert!(news.take(stage.session.published()).is_empty());
    // The missing root appears.
    std::fs::create_dir(&missing).unwrap();
    let look = placing(stage.session.needed(at(4000), at(4000)));
    stage.session.placed(at(4000), look.run_ambient());
    assert_eq!(named(stage.session.published().unwrap().left_out()), [("ssl", "refused"), ("x", "unusable")]);
    assert!(news.take(stage.session.published()).is_empty());
}

#[test]
fn a_root_outside_the_operators_list_is_left_out_as_refused() {
    let mut stage = Stage::new();
    stage.ceiling(&["a"], None);
    stage.share(0, &["a", "b"]);
    assert_eq!(named(stage.session.published().unwrap().left_out()), [("b", "refused")]);
}

#[test]
fn a_bounded_client_does_not_learn_what_exists() {
    let mut stage = Stage::new();
    stage.ceiling(&["a"], Some(&["a"]));
    stage.share(0, &["a", "b", "missing"]);
    let left_out = |stage: &Stage| stage.session.published().unwrap().left_out().to_vec();
    assert_eq!(named(&left_out(&stage)), [("b", "refused"), ("missing", "refused")]);
    // The message does not reveal it either if no root is left.
    let mut says = Vec::new();
    for name in ["b", "missing"] {
        let mut stage = Stage::new();
        stage.ceiling(&["a"], Some(&["a"]));
        stage.share(0, &[name]);
        let published = stage.session.published().unwrap();
        says.push((published.state(), published.why(), published.generation(), published.guard().root_set().clone()));
        assert!(stage.refusal().contains("these have no existing place in common"), "{}", stage.refusal());
    }
    assert_eq!(says[0], says[1]);
    // Neither does the order of the names.
    for names in [["b", "absent"], ["absent", "b"]] {
        let mut stage = Stage::new();
        stage.ceiling(&["a"], Some(&["a"]));
        stage.share(0, &names);
        let says = stage.refusal();
        assert!(says.find("/absent`").unwrap() < says.find("/b`").unwrap(), "{says}");
    }
}
