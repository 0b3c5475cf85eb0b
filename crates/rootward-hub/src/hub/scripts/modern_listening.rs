//! Modern clients that listen.

use super::modern::{plain, with_roots};
use super::*;

const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

fn listen(play: &mut Play, id: u64, filter: &Value) -> Value {
    play.visit(id, "subscriptions/listen", &with_roots(), &json!({"notifications": filter}));
    let heard = play.heard();
    assert_eq!(
        (heard.len(), &heard[0]["method"]),
        (1, &json!("notifications/subscriptions/acknowledged")),
        "{heard:?}"
    );
    assert_eq!(heard[0]["params"]["_meta"], json!({SUBSCRIPTION: id}));
    heard[0]["params"]["notifications"].clone()
}

#[test]
fn a_listener_hears_of_changed_lists() {
    let mut play = Play::new(vec![script("a", &["read"])]);
    assert_eq!(listen(&mut play, 1, &json!({"toolsListChanged": true})), json!({"toolsListChanged": true}));
    assert_eq!(listen(&mut play, 2, &json!({"promptsListChanged": true, "x": 1})), json!({"promptsListChanged": true}));
    play.called_in(3, &["one"], "a__read", &play.path("one"));
    play.server(0, &json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}));
    let told =
        json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed", "params": {"_meta": {SUBSCRIPTION: 1}}});
    assert_eq!(play.heard(), [told]);
    play.client(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}));
    play.server(0, &json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}));
    assert_eq!(play.heard(), Vec::<Value>::new());
    play.visit(4, "subscriptions/listen", &plain(), &json!({"notifications": 7}));
    assert_eq!(play.answer(4)["error"]["code"], -32602);
}

#[test]
fn a_listener_hears_of_its_resources() {
    let mut play = Play::new(vec![Script { ceiling: Some("one"), ..script("a", &["read"]) }]);
    let filter = json!({"resourceSubscriptions": ["demo-a://x"]});
    assert_eq!(listen(&mut play, 1, &filter), filter);
    play.pass(3000);
    play.called_in(2, &["one"], "a__read", &play.path("one"));
    play.pass(3000);
    let asked = play.asked(0, "resources/subscribe");
    assert_eq!(asked.len(), 2, "with roots and without: {asked:?}");
    assert!(asked.iter().all(|asked| asked["params"] == json!({"uri": "demo-a://x"})));
    play.heard();
    for uri in ["demo-a://y", "demo-a://x"] {
        play.server(0, &json!({"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": uri}}));
    }
    let heard = play.heard();
    assert_eq!(heard.len(), 1, "{heard:?}");
    assert_eq!(heard[0]["params"], json!({"uri": "demo-a://x", "_meta": {SUBSCRIPTION: 1}}));
    // A listener is kept, and with it its subscriptions.
    play.pass(60 * 60_000);
    assert_eq!(play.middle.hub.modern.count(), 2);
    play.client(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}));
    assert_eq!(play.asked(0, "resources/unsubscribe").len(), 2);
    play.pass(60 * 60_000);
    assert_eq!(play.middle.hub.modern.count(), 0);
}

#[test]
fn a_listener_hears_of_a_new_configuration_and_of_the_end() {
    let mut play = Play::new(vec![script("a", &["read"]), script("b", &["read"])]);
    listen(&mut play, 1, &json!({"toolsListChanged": true}));
    let (_, effects) = play.middle.hub.reconfigure(play.now, Vec::new(), &["a".to_owned()], HubSettings::default());
    play.carry_out(effects);
    let heard = play.heard();
    assert!(heard.iter().any(|message| message["method"] == "notifications/tools/list_changed"), "{heard:?}");
    play.scripts[0].manner = Manner::Dead;
    play.visit(2, "tools/list", &plain(), &json!({}));
    let effects = play.middle.left(play.now, play.client);
    play.carry_out(effects);
    let heard = play.heard();
    let of = |id: u64| heard.iter().find(|message| message["id"] == id).unwrap_or_else(|| panic!("{heard:?}"));
    assert_eq!(of(1)["result"], json!({"resultType": "complete", "_meta": {SUBSCRIPTION: 1}}));
    assert_eq!(of(2)["error"]["code"], -32603);
}
