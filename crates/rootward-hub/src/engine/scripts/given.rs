//! The user chooses other roots, or restricts a place in them, while the server runs.

use std::sync::Arc;

use rootward_core::session::Sources;
use rootward_core::{Closed, Origin, Restriction, Restrictions, Root, RootSet, Validation};
use serde_json::{Value, json};

use super::super::{Change, Event};
use super::{Ceiling, Client, Play, place};
use rootward_protocol::session::Given;

impl Play {
    /// The user has saved these roots, with these restrictions.
    fn save(&mut self, names: &[&str], restrictions: &Arc<Restrictions>) {
        let root = |name: &&str| Root::from_path(place(&self.directory, name), Origin::Store).unwrap();
        let saved = RootSet::place_ambient(names.iter().map(root), &Validation::new(None));
        let given = Given { sources: Sources { saved, ..Sources::default() }, restrictions: Arc::clone(restrictions) };
        self.feed(Event::Given(self.server, given));
        self.settle();
    }

    /// A call with a path, by a modern client without roots.
    fn read_modern(&mut self, id: u64, name: &str) {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let params = json!({"name": "read", "arguments": {"path": self.path(name)}, "_meta": meta});
        self.client(&json!({"id": id, "method": "tools/call", "params": params}));
    }

    /// Answers Rootward's own requests before a call is forwarded.
    pub(super) fn list_tools_if_asked(&mut self, number: u64) -> Vec<Value> {
        let given = self.given(number);
        for question in given.iter().filter(|message| message["method"] == "tools/list") {
            self.child(number, &json!({"id": question["id"], "result": {"tools": []}}));
        }
        // A server has a moment to ask for its roots.
        self.pass(300);
        given.into_iter().chain(self.given(number)).collect()
    }

    /// The ids of calls that reached a server.
    fn calls(&mut self, number: u64) -> Vec<u64> {
        let given = self.list_tools_if_asked(number);
        let calls = given.iter().filter(|message| message["method"] == "tools/call");
        calls.filter_map(|message| message["id"].as_u64()).collect()
    }

    fn refused(&mut self, id: u64) -> Option<Value> {
        let heard = self.heard().into_iter().find(|message| message["id"] == id)?;
        Some(heard["result"]["structuredContent"]["code"].clone())
    }
}

fn standard() -> Arc<Restrictions> {
    Arc::new(Restrictions::new(Restriction::standard()))
}

#[test]
fn other_saved_roots_start_another_server() {
    let restrictions = standard();
    let mut play = Play::new(Change::NewChild, Ceiling::None);
    play.save(&["project"], &restrictions);
    play.begin(Client::WithoutRoots);
    play.read(1, "project/file.txt");
    assert_eq!(play.calls(1), [1]);
    play.read(2, "other/file.txt");
    assert_eq!(play.refused(2), Some(json!("outside_roots")));
    // The same sources again are not a change.
    play.save(&["project"], &restrictions);
    assert_eq!(play.started(), [0_u64; 0]);
    play.save(&["other"], &restrictions);
    assert_eq!(play.started(), [2]);
    play.read(3, "project/file.txt");
    play.read(4, "other/file.txt");
    play.greet(2);
    assert_eq!(play.calls(2), [4]);
    assert_eq!(play.refused(3), Some(json!("outside_roots")));
    play.child(1, &json!({"id": 1, "result": {}}));
    assert!(play.is_told_to_end(1), "the old server must not keep the removed root");
    // Everything is removed.
    play.save(&[], &restrictions);
    play.read(5, "other/file.txt");
    play.greet(3);
    play.calls(3);
    assert_eq!(play.refused(5), Some(json!("no_roots")));
}

#[test]
fn a_path_closed_during_the_session_is_refused() {
    let mut play = Play::new(Change::NewChild, Ceiling::None);
    play.save(&["project"], &standard());
    play.begin(Client::WithoutRoots);
    play.read(1, "project/file.txt");
    assert_eq!((play.calls(1), play.started()), (vec![1], Vec::new()));
    let closed = Restriction::below(&place(&play.directory, "project"), "file.txt", Closed::Entirely).unwrap();
    play.save(&["project"], &Arc::new(Restrictions::new(vec![closed])));
    assert_eq!(play.started(), [2], "the kernel enforces only the old restrictions on the old server");
    play.read(2, "project/file.txt");
    play.greet(2);
    assert_eq!(play.calls(2), [0_u64; 0]);
    assert_eq!(play.refused(2), Some(json!("restricted")));
}

#[test]
fn a_modern_clients_child_ends_when_its_roots_are_removed() {
    let restrictions = standard();
    let mut play = Play::new(Change::NewChild, Ceiling::None);
    play.save(&["project", "other"], &restrictions);
    play.read_modern(1, "other/file.txt");
    let first = play.started();
    let [first] = first.as_slice() else { panic!("{first:?}") };
    assert_eq!(play.calls(*first), [1]);
    play.child(*first, &json!({"id": 1, "result": {"resultType": "complete"}}));
    play.save(&["project"], &restrictions);
    assert!(play.is_told_to_end(*first), "it ends even without a new request");
    assert!(!play.session().links[0].children.contains_key(first));
    play.read_modern(2, "other/file.txt");
    play.read_modern(3, "project/file.txt");
    let second = play.started();
    let [second] = second.as_slice() else { panic!("{second:?}") };
    assert_eq!(play.calls(*second), [3]);
    assert_eq!(play.refused(2), Some(json!("outside_roots")));
}

#[test]
fn a_path_closed_during_the_session_is_refused_to_modern_clients() {
    let mut play = Play::new(Change::NewChild, Ceiling::None);
    play.save(&["project"], &standard());
    play.read_modern(1, "project/file.txt");
    assert_eq!(play.started(), [1]);
    assert_eq!(play.calls(1), [1]);
    let closed = Restriction::below(&place(&play.directory, "project"), "file.txt", Closed::Entirely).unwrap();
    play.save(&["project"], &Arc::new(Restrictions::new(vec![closed])));
    play.read_modern(2, "project/file.txt");
    for number in play.started() {
        assert_eq!(play.calls(number), [0_u64; 0]);
    }
    assert_eq!(play.refused(2), Some(json!("restricted")));
}

/// The call waits for the list of tools, and its root is removed in the meantime.
#[test]
fn a_waiting_modern_call_is_decided_by_the_current_roots() {
    let restrictions = standard();
    let mut play = Play::new(Change::NewChild, Ceiling::None);
    play.save(&["project", "other"], &restrictions);
    play.read_modern(1, "other/file.txt");
    assert_eq!(play.started(), [1]);
    play.save(&["project"], &restrictions);
    let mut numbers = vec![1];
    for _ in 0..3 {
        numbers.extend(play.started());
        for number in numbers.clone() {
            assert_eq!(play.calls(number), [0_u64; 0], "{number}");
        }
    }
    assert_eq!(play.refused(1), Some(json!("outside_roots")));
}

/// The last request did not send its roots, so the client's current roots are unknown, and its child's roots are no
/// longer allowed.
#[test]
fn a_child_ends_when_its_roots_are_removed_whatever_the_last_request_said() {
    let restrictions = standard();
    let mut play = Play::new(Change::NewChild, Ceiling::None);
    play.save(&["project", "other"], &restrictions);
    play.read_modern(1, "other/file.txt");
    assert_eq!(play.started(), [1]);
    assert_eq!(play.calls(1), [1]);
    play.child(1, &json!({"id": 1, "result": {"resultType": "complete"}}));
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {"roots": {}},
    });
    play.client(&json!({"id": 2, "method": "tools/list", "params": {"_meta": meta}}));
    play.given(1);
    play.child(1, &json!({"id": 2, "result": {"resultType": "complete", "tools": []}}));
    play.save(&["project"], &restrictions);
    assert!(play.is_told_to_end(1), "{:?}", play.seen);
}

/// Rootward answers such a request by sending the call again.
#[test]
fn a_server_that_asks_for_roots_after_they_changed_does_not_get_the_call_again() {
    let restrictions = standard();
    let asks = json!({"resultType": "input_required", "inputRequests": {"where": {"method": "roots/list"}}});
    for (changed, expect) in [(None, [1].as_slice()), (Some("project"), &[])] {
        let mut play = Play::new(Change::NewChild, Ceiling::None);
        play.save(&["project", "other"], &restrictions);
        play.read_modern(1, "other/file.txt");
        assert_eq!(play.calls(1), [1]);
        if let Some(saved) = changed {
            play.save(&[saved], &restrictions);
        }
        play.child(1, &json!({"id": 1, "result": asks}));
        assert_eq!(play.calls(1), expect, "{changed:?}");
        let heard = play.heard();
        assert_eq!(heard.iter().filter(|message| message["id"] == 1).count(), 1 - expect.len(), "{heard:?}");
    }
}
