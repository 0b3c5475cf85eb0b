//! Crowds: clients with different roots, thousands of tools, servers that come and go.

use super::*;

/// A deterministic pseudorandom number generator.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }
}

/// Two clients with disjoint roots and two servers each: everybody gets the answers to their own calls and nothing
/// else. Every script checks that no process gets another's paths.
#[test]
fn two_clients_with_different_roots_hear_nothing_of_each_other() {
    let is_long = std::env::var_os("ROOTWARD_LONG").is_some_and(|value| value == "1");
    let count = if is_long { 100_000 } else { 5_000 };
    let mut play = Play::new(vec![script("a", &["read"]), script("b", &["read"])]);
    let clients = [play.client, play.middle.hub.open().unwrap()];
    let names = ["one", "two"];
    for (client, name) in clients.iter().zip(names) {
        play.client = *client;
        play.begin_with(&[name]);
        for (id, tool) in [(1, "a__read"), (2, "b__read")] {
            play.call(id, tool, &play.path(name));
            play.pass(3000);
            play.answer(id);
        }
    }
    assert_eq!(play.running.len(), 4);
    let mut dice = Dice(7);
    for number in 0..count {
        let (who, server) = (usize::from(dice.roll(2) == 1), ["a", "b"][usize::from(dice.roll(2) == 1)]);
        let is_inside = dice.roll(4) > 0;
        let place = names[if is_inside { who } else { 1 - who }];
        let (path, token) = (play.path(place) + "/file.txt", format!("client {who}, call {number}"));
        play.client = clients[who];
        let call = json!({"name": format!("{server}__read"), "arguments": {"path": path, "token": token}});
        play.ask(1000 + number, "tools/call", &call);
        if number % 100 == 0 {
            play.pass(1);
        }
        let answer = play.answer(1000 + number);
        if is_inside {
            assert_eq!(answer["result"]["params"]["arguments"]["token"], token, "{answer}");
            assert_eq!(answer["result"]["server"], server, "{answer}");
        } else {
            assert_eq!(answer["result"]["structuredContent"]["code"], "outside_roots", "{answer}");
        }
        play.client = clients[1 - who];
        assert_eq!(play.heard(), Vec::<Value>::new(), "the other client heard of call {number}");
        play.asked.clear();
    }
}

#[test]
fn a_thousand_tools_come_in_pages() {
    let names: Vec<&'static str> =
        (0..1500).map(|number| &*Box::leak(format!("tool{number}").into_boxed_str())).collect();
    let mut play = Play::begun(vec![script("a", &names), script("b", &["read"])]);
    play.ask(1, "tools/list", &json!({}));
    play.pass(3000);
    let first = play.answer(1);
    let cursor = first["result"]["nextCursor"].as_str().unwrap().to_owned();
    play.ask(2, "tools/list", &json!({"cursor": cursor}));
    play.pass(3000);
    let second = play.answer(2);
    let tools = |answer: &Value| answer["result"]["tools"].as_array().unwrap().len();
    assert_eq!(tools(&first) + tools(&second), 1502);
    assert_eq!(second["result"]["nextCursor"], Value::Null);
    play.call(3, "a__tool1499", &play.path("one"));
    play.pass(3000);
    assert_eq!(play.answer(3)["result"]["server"], "a");
    // A cursor is valid for the list that it came from.
    play.grown.insert(0);
    play.server(0, &json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}));
    play.ask(4, "tools/list", &json!({"cursor": cursor}));
    play.pass(3000);
    assert_eq!(play.answer(4)["error"]["code"], -32602);
}

/// Servers that end, hang and come back during calls: every call is answered once.
#[test]
fn every_call_is_answered_while_servers_end() {
    let mut play = Play::begun(vec![script("a", &["read"]), script("b", &["read"]), script("c", &["read"])]);
    let path = play.path("one") + "/file.txt";
    let mut dice = Dice(11);
    let mut open = BTreeSet::new();
    let (mut answered, mut ended) = (0, 0);
    for number in 0..2000_u64 {
        match dice.roll(10) {
            0 if !play.running.is_empty() => {
                let position = usize::try_from(dice.roll(play.running.len() as u64)).unwrap();
                let child = *play.running.keys().nth(position).unwrap();
                play.running.remove(&child);
                ended += 1;
                play.feed(Event::ChildEnded(child, &Failure::new("killed")));
            }
            1 => {
                let server = usize::try_from(dice.roll(3)).unwrap();
                play.scripts[server].manner =
                    if play.scripts[server].manner == Manner::Answers { Manner::Silent } else { Manner::Answers };
            }
            _ => {
                let tool = ["a__read", "b__read", "c__read"][usize::try_from(dice.roll(3)).unwrap()];
                play.call(1000 + number, tool, &path);
                open.insert(1000 + number);
            }
        }
        play.pass(50);
        for message in play.heard().iter().filter(|message| message["method"].is_null()) {
            let id = message["id"].as_u64().unwrap();
            assert!(open.remove(&id), "{id} was answered twice");
            answered += 1;
        }
    }
    // The remaining calls are at servers that do not answer. When those servers end, the calls fail.
    for script in &mut play.scripts {
        script.manner = Manner::Answers;
    }
    for child in play.running.keys().copied().collect::<Vec<_>>() {
        play.running.remove(&child);
        play.feed(Event::ChildEnded(child, &Failure::new("killed")));
    }
    play.pass(120_000);
    for message in play.heard().iter().filter(|message| message["method"].is_null()) {
        assert!(open.remove(&message["id"].as_u64().unwrap()), "{message}");
        answered += 1;
    }
    assert_eq!(open, BTreeSet::new());
    assert!(answered > 1000 && ended > 20, "{answered} {ended}");
}

#[test]
fn servers_come_and_go_while_others_work() {
    let mut play = Play::with_two_running();
    let path = play.path("one");
    play.scripts[1].manner = Manner::Silent;
    play.call(3, "a__read", &path);
    play.call(4, "b__read", &path);
    let settings = HubSettings::default();
    let (_, effects) = play.middle.hub.reconfigure(play.now, Vec::new(), &["a".to_owned()], settings);
    play.carry_out(effects);
    let heard = play.heard();
    let of = |id: u64| heard.iter().find(|message| message["id"] == id).unwrap_or_else(|| panic!("{heard:?}"));
    assert_eq!(of(3)["result"]["server"], "a");
    assert_eq!(of(4)["error"]["code"], -32603);
    assert!(heard.iter().any(|message| message["method"] == "notifications/tools/list_changed"), "{heard:?}");
    assert_eq!(play.running.len(), 1);
    play.ask(5, "tools/list", &json!({}));
    play.pass(3000);
    let listed = play.answer(5);
    assert_eq!(listed["result"]["tools"].as_array().unwrap().len(), 2, "{listed}");
    play.call(6, "b__read", &path);
    play.pass(3000);
    assert_eq!(play.answer(6)["error"]["code"], -32602);
    assert_eq!(play.starts, [1, 1]);
}
