//! Servers that end, are idle, or never start.

use super::*;

#[test]
fn a_server_is_started_when_it_is_needed_and_ends_when_it_is_not() {
    let mut play = Play::begun(vec![script("a", &["read"]), script("b", &["read"])]);
    play.ask(1, "tools/list", &json!({}));
    play.pass(3000);
    play.answer(1);
    assert_eq!(play.starts, [0, 0], "lists need learners only");
    let path = play.path("one");
    play.call(2, "a__read", &path);
    play.pass(3000);
    play.answer(2);
    assert_eq!(play.starts, [1, 0]);
    play.pass(1000 * (IDLE.as_secs() - 5));
    assert_eq!(play.running.len(), 1, "it may still be needed");
    play.pass(10_000);
    assert_eq!(play.running.len(), 0);
    play.call(3, "a__read", &path);
    play.pass(3000);
    assert_eq!(play.answer(3)["result"]["server"], "a");
    assert_eq!(play.starts, [2, 0]);
}

#[test]
fn a_server_with_a_subscription_keeps_running() {
    let mut play = Play::begun(vec![script("a", &["read"])]);
    play.ask(1, "resources/subscribe", &json!({"uri": "demo-a://x"}));
    play.pass(3000);
    play.answer(1);
    play.pass(1000 * IDLE.as_secs() * 2);
    assert_eq!(play.running.len(), 1);
}

#[test]
fn a_server_that_ends_fails_only_its_own_calls() {
    let mut play = Play::with_two_running();
    let path = play.path("one");
    play.scripts[0].manner = Manner::Silent;
    play.call(3, "a__read", &path);
    play.call(4, "b__read", &path);
    let child = play.child(0);
    play.running.remove(&child);
    play.feed(Event::ChildEnded(child, &Failure::new("exit code 1")));
    play.pass(10);
    let heard = play.heard();
    let of = |id: u64| heard.iter().find(|message| message["id"] == id).unwrap_or_else(|| panic!("{id}: {heard:?}"));
    assert_eq!(of(3)["error"]["code"], -32603);
    assert_eq!(of(4)["result"]["server"], "b");
    play.scripts[0].manner = Manner::Answers;
    play.call(5, "a__read", &path);
    play.pass(2000);
    assert_eq!(play.answer(5)["result"]["server"], "a");
}

#[test]
fn a_call_to_a_server_that_cannot_begin_says_why() {
    let missing = Script { manner: Manner::Missing, ..script("missing", &["x"]) };
    let mut play = Play::begun(vec![missing]);
    play.ask(1, "tools/list", &json!({}));
    play.pass(3000);
    play.answer(1);
    play.ask(2, "tools/call", &json!({"name": "missing__x"}));
    play.pass(3000);
    assert_eq!(play.answer(2)["error"]["code"], -32602, "its tools are unknown");
}

#[test]
fn no_server_gets_anything_before_the_client_begins() {
    let mut play = Play::new(vec![script("a", &["read"])]);
    play.ask(1, "tools/list", &json!({}));
    assert_eq!(play.answer(1)["error"]["code"], -32600);
    play.ask(2, "ping", &json!({}));
    assert_eq!(play.answer(2)["result"], json!({}));
    assert!(play.running.is_empty() && play.asked.is_empty());
}

#[test]
fn a_call_to_an_unreachable_server_gets_the_reason() {
    let mut play = Play::begun(vec![script("a", &["read"]), script("b", &["read"])]);
    let path = play.path("one");
    play.call(1, "a__read", &path);
    play.pass(3000);
    play.answer(1);
    let client = play.client;
    play.middle.hub.clients.get_mut(&client).unwrap().failed(0, "its disk is gone");
    play.pass(10);
    play.heard();
    play.call(2, "a__read", &path);
    play.pass(100);
    assert_eq!(play.answer(2)["error"]["message"], "server `a` cannot be reached: its disk is gone");
    play.ask(3, "tools/list", &json!({}));
    play.pass(5000);
    let listed = play.answer(3).to_string();
    assert!(listed.contains("a__read") && listed.contains("b__read"), "{listed}");
    // It is back, with another tool.
    play.grown.insert(0);
    play.call(4, "a__read", &path);
    play.pass(3000);
    let heard = play.heard();
    assert!(heard.iter().any(|message| message["id"] == 4 && message["result"]["server"] == "a"), "{heard:?}");
    assert!(heard.iter().any(|message| message["method"] == "notifications/tools/list_changed"), "{heard:?}");
    play.ask(5, "tools/list", &json!({}));
    play.pass(5000);
    assert!(play.answer(5).to_string().contains("a__more"));
}
