//! Many modern requests at once, and what remains of them.

use super::modern::{plain, reading, with_roots};
use super::*;

/// Each client gets the answers to its own requests. Every script checks that no process gets a path of other roots.
#[test]
fn a_thousand_visits_hear_nothing_of_each_other() {
    let mut play = Play::new(vec![script("a", &["read"]), script("b", &["read"])]);
    let connections = [play.client, play.connect(), play.connect()];
    let lists: [&[&str]; 3] = [&["one"], &["two"], &["one", "two"]];
    for number in 0..1000_u64 {
        let position = usize::try_from(number).unwrap();
        let (list, place) = (lists[position % 3], ["one", "two"][(position / 3) % 2]);
        let server = ["a", "b"][(position / 7) % 2];
        play.client = connections[position % 3];
        let mut params = reading(&format!("{server}__read"), &(play.path(place) + "/file.txt"));
        params["arguments"]["number"] = json!(number);
        play.call_with(number, &with_roots(), &params, list);
        if number < 20 {
            play.pass(3000);
        }
        let told = play.answer(number);
        if list.contains(&place) {
            assert_eq!(told["result"]["params"]["arguments"]["number"], number, "{told}");
            assert_eq!(told["result"]["server"], server, "{told}");
        } else {
            assert_eq!(told["result"]["structuredContent"]["code"], "outside_roots", "{told}");
        }
        for connection in connections {
            play.client = connection;
            assert_eq!(play.heard(), Vec::<Value>::new(), "another client heard of visit {number}");
        }
        play.asked.clear();
    }
    assert_eq!((play.starts.iter().sum::<usize>(), play.middle.hub.modern.count()), (6, 3));
}

#[test]
fn legacy_and_modern_clients_live_side_by_side() {
    let mut play = Play::begun(vec![script("a", &["read"])]);
    let (legacy, modern) = (play.client, play.connect());
    let [one, two] = ["one", "two"].map(|name| play.path(name) + "/file.txt");
    for turn in 0..20 {
        play.client = legacy;
        play.call(100 + turn, "a__read", &one);
        play.pass(3000);
        assert_eq!(play.answer(100 + turn)["result"]["server"], "a");
        play.client = modern;
        assert_eq!(play.called_in(100 + turn, &["two"], "a__read", &two)["result"]["resultType"], "complete");
        let refused = play.called_in(200 + turn, &["two"], "a__read", &one);
        assert_eq!(refused["result"]["structuredContent"]["code"], "outside_roots");
    }
    assert_eq!(play.starts, [2]);
}

#[test]
fn unused_sessions_and_servers_end() {
    let mut play = Play::new(vec![script("a", &["read"])]);
    play.called_in(1, &["one"], "a__read", &play.path("one"));
    play.visited(2, "tools/list", &plain(), &json!({}));
    assert_eq!((play.middle.hub.modern.count(), play.running.len()), (2, 1));
    play.pass(11 * 60_000);
    let hub = &play.middle.hub;
    assert_eq!((hub.modern.count(), hub.clients.len(), hub.branches.len(), hub.sessions.len()), (0, 1, 0, 0));
    assert!(play.running.is_empty());
}

#[test]
fn modern_sessions_are_limited() {
    let mut play = Play::new(vec![script("a", &["read"])]);
    let mut settings = HubSettings::default();
    settings.limits.sessions = 1;
    play.middle.hub.settings = Arc::new(settings);
    for (id, name) in [(1, "one"), (2, "two"), (3, "one")] {
        assert_eq!(play.called_in(id, &[name], "a__read", &play.path(name))["result"]["server"], "a");
        assert_eq!(play.middle.hub.modern.count(), 1);
    }
    assert_eq!(play.starts, [3], "the least recently used one is ended");
    play.scripts[0].manner = Manner::Silent;
    play.call_with(4, &with_roots(), &reading("a__read", &play.path("one")), &["one"]);
    let refused = play.called_in(5, &["two"], "a__read", &play.path("two"));
    assert!(refused["error"]["message"].as_str().unwrap().contains("limits.sessions"), "{refused}");
    assert!(play.middle.hub.open().is_none(), "the one session is the client on stdin and stdout");
}

#[test]
fn servers_end_with_the_client_on_standard_input() {
    let mut play = Play::new(vec![script("a", &["read"])]);
    play.called_in(1, &["one"], "a__read", &play.path("one"));
    let effects = play.middle.client_closed(play.now, play.client);
    play.carry_out(effects);
    let child = play.child(0);
    play.running.remove(&child);
    play.feed(Event::ChildEnded(child, &Failure::new("exit code 0")));
    play.pass(10_000);
    assert_eq!((&play.starts, &play.said), (&vec![1], &Vec::new()));
}

#[test]
fn modern_clients_share_a_process_if_the_server_allows_it() {
    for (isolation, starts) in [(Isolation::Session, 2), (Isolation::Roots, 1)] {
        let mut play = Play::new(vec![Script { isolation, ..script("a", &["read"]) }]);
        let path = play.path("one") + "/file.txt";
        for (id, capabilities) in [(1, with_roots()), (2, json!({"roots": {}, "sampling": {}}))] {
            play.call_with(id, &capabilities, &reading("a__read", &path), &["one"]);
            play.pass(3000);
            assert_eq!(play.answer(id)["result"]["server"], "a");
        }
        assert_eq!((play.middle.hub.modern.count(), &play.starts), (2, &vec![starts]), "{isolation:?}");
        assert_eq!(
            play.called_in(3, &["two"], "a__read", &path)["result"]["structuredContent"]["code"],
            "outside_roots"
        );
    }
}
