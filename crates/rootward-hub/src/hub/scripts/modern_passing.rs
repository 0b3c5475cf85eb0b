//! Modern clients with modern servers: requests are forwarded, and servers start rounds themselves.

use super::modern::{plain, reading, with_roots};
use super::*;

const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// A client that can be asked everything and supports tasks.
fn capable() -> Value {
    json!({"roots": {}, "sampling": {}, "elicitation": {}, "extensions": {"io.modelcontextprotocol/tasks": {}}})
}

fn modern_script(name: &'static str, tools: &[&'static str]) -> Script {
    Script { modern: true, ..script(name, tools) }
}

/// The answers of a modern server. The names of its tools say what they do.
pub(super) fn reply(name: &str, message: &Value) -> Option<Value> {
    let (method, params) = (message["method"].as_str()?, &message["params"]);
    let answer = |result: Value| Some(json!({"jsonrpc": "2.0", "id": message["id"], "result": result}));
    let error = |code: i32| {
        let error = json!({"code": code, "message": "no", "data": {"requiredCapabilities": {}}});
        Some(json!({"jsonrpc": "2.0", "id": message["id"], "error": error}))
    };
    let (who, where_to) = (json!({"method": "elicitation/create", "params": {}}), json!({"method": "roots/list"}));
    let asks = |questions: Value| {
        let state = format!("state-of-{name}");
        answer(json!({"resultType": "input_required", "inputRequests": questions, "requestState": state}))
    };
    let is_answered = params.get("inputResponses").is_some();
    match (method, params["name"].as_str().unwrap_or_default()) {
        ("server/discover", _) => {
            let capabilities = json!({"tools": {"listChanged": true}, "resources": {}});
            answer(json!({"supportedVersions": ["2026-07-28"], "capabilities": capabilities, "resultType": "complete"}))
        }
        ("initialize", _) => error(-32601),
        ("subscriptions/listen", _) => None,
        ("prompts/list", _) => answer(json!({"prompts": []})),
        ("resources/list", _) => answer(json!({"resources": []})),
        ("resources/templates/list", _) => answer(json!({"resourceTemplates": []})),
        ("tools/call", "ask") if !is_answered => asks(json!({"who": who})),
        ("tools/call", "where") if !is_answered => asks(json!({"where": where_to})),
        ("tools/call", "both") if !is_answered => asks(json!({"who": who, "where": where_to})),
        ("tools/call", "needs") => error(-32021),
        ("tools/call", "later") => answer(json!({"resultType": "task", "taskId": "t", "status": "working"})),
        _ => {
            let told = json!({"resultType": "complete", "server": name, "method": method, "params": params});
            let mut told = told;
            if let Some(task) = params.get("taskId") {
                told["taskId"] = task.clone();
            }
            answer(told)
        }
    }
}

/// The call again, with the state of this answer and the client's answers.
fn again(play: &mut Play, id: u64, params: &Value, asked: &Value, responses: &Value) {
    let mut params = params.clone();
    params["requestState"] = asked["result"]["requestState"].clone();
    params["inputResponses"] = responses.clone();
    play.visit(id, "tools/call", &capable(), &params);
    play.pass(3000);
}

/// A call in `one` that its server answers with a question. Returns the params and the answer.
fn asked_by(play: &mut Play, id: u64, tool: &str) -> (Value, Value) {
    let params = reading(tool, &play.path("one"));
    play.call_with(id, &capable(), &params, &["one"]);
    play.pass(3000);
    let asked = play.answer(id);
    assert_eq!(asked["result"]["resultType"], "input_required", "{asked}");
    (params, asked)
}

fn accepted() -> Value {
    json!({"who": {"action": "accept", "content": {"name": "n"}}})
}

#[test]
fn a_server_begins_a_round_and_its_state_stays_in_the_hub() {
    let mut play = Play::new(vec![modern_script("a", &["ask"])]);
    let (params, asked) = asked_by(&mut play, 1, "a__ask");
    assert_eq!(asked["result"]["inputRequests"], json!({"who": {"method": "elicitation/create", "params": {}}}));
    assert!(asked["result"]["requestState"].as_str().unwrap().starts_with("rootward-"), "{asked}");
    assert!(!asked.to_string().contains("state-of-a"), "{asked}");
    let got = play.asked(0, "tools/call");
    assert_eq!(got.len(), 1, "the client names its roots before the server gets the call: {got:?}");
    assert_eq!(got[0]["params"]["name"], "ask");
    assert_eq!(got[0]["params"]["_meta"][CAPABILITIES], capable());
    again(&mut play, 2, &params, &asked, &accepted());
    assert_eq!(play.answer(2)["result"]["server"], "a");
    let got = play.asked(0, "tools/call");
    assert_eq!((got.len(), &got[0]["params"]["requestState"]), (1, &json!("state-of-a")));
    assert_eq!(got[0]["params"]["inputResponses"], accepted());
    // A forged state reaches nobody, not even the server's own state.
    for (id, state) in [(3, "state-of-a"), (4, "rootward-0000000000000000-1")] {
        again(&mut play, id, &params, &json!({"result": {"requestState": state}}), &accepted());
        assert_eq!(play.answer(id)["error"]["code"], -32602);
    }
    // The state of one call does not work for another.
    let other = reading("a__ask", &play.path("two"));
    again(&mut play, 5, &other, &asked, &accepted());
    assert_eq!(play.answer(5)["error"]["code"], -32602);
    assert_eq!((play.asked(0, "tools/call").len(), &*play.starts), (0, &[1][..]));
    assert_eq!(play.asked(0, "initialize").len(), 0);
}

#[test]
fn paths_and_errors_work_as_with_a_legacy_server() {
    let mut play = Play::new(vec![modern_script("a", &["read", "needs"])]);
    let (inside, outside) = (play.path("one") + "/file.txt", play.path("two") + "/file.txt");
    assert_eq!(play.called_in(1, &["one"], "a__read", &inside)["result"]["server"], "a");
    let refused = play.called_in(2, &["one"], "a__read", &outside);
    assert_eq!(refused["result"]["structuredContent"]["code"], "outside_roots", "{refused}");
    let error = play.called_in(3, &["one"], "a__needs", &inside)["error"].clone();
    assert_eq!((&error["code"], &error["data"]), (&json!(-32021), &json!({"requiredCapabilities": {}})));
    assert_eq!(play.asked(0, "tools/call").len(), 2);
    assert_eq!(play.starts, [1]);
    let two = play.called_in(4, &["two"], "a__read", &outside);
    assert_eq!((&two["result"]["server"], &*play.starts), (&json!("a"), &[2][..]));
}

#[test]
fn a_state_goes_to_the_server_that_gave_it() {
    let one = |name| Script { prefix: Some("x"), ceiling: Some("one"), ..modern_script(name, &["ask"]) };
    let mut play = Play::new(vec![one("a"), one("b")]);
    // The client has no roots, so only the hub seals the server's state.
    let without_roots = json!({"elicitation": {}});
    let mut params = reading("x__ask", &play.path("one"));
    let asked = play.visited(1, "tools/call", &without_roots, &params);
    assert_eq!(asked["result"]["resultType"], "input_required", "{asked}");
    assert!(!asked.to_string().contains("state-of-a"), "{asked}");
    let (_, effects) = play.middle.hub.reconfigure(play.now, Vec::new(), &["b".to_owned()], HubSettings::default());
    play.carry_out(effects);
    params["requestState"] = asked["result"]["requestState"].clone();
    params["inputResponses"] = accepted();
    assert_eq!(play.visited(2, "tools/call", &without_roots, &params)["error"]["code"], -32602);
    assert_eq!(play.asked(1, "tools/call").len(), 0);
    // Now the tool belongs to the other server.
    params.as_object_mut().unwrap().retain(|key, _| key != "requestState" && key != "inputResponses");
    let asked = play.visited(3, "tools/call", &without_roots, &params);
    params["requestState"] = asked["result"]["requestState"].clone();
    params["inputResponses"] = accepted();
    assert_eq!(play.visited(4, "tools/call", &without_roots, &params)["result"]["server"], "b");
}

#[test]
fn a_servers_round_of_another_principal_is_refused() {
    // For a client without roots, only the hub seals the server's state.
    for capabilities in [capable(), json!({"elicitation": {}})] {
        let mut play = Play::with_principals(modern_script("a", &["ask"]));
        let mut params = reading("a__ask", &play.path("one"));
        play.connect_as(0);
        let asked = if capabilities.get("roots").is_some() {
            asked_by(&mut play, 1, "a__ask").1
        } else {
            play.visited(1, "tools/call", &capabilities, &params)
        };
        play.asked.clear();
        params["requestState"] = asked["result"]["requestState"].clone();
        params["inputResponses"] = accepted();
        for (principal, code) in [(1, json!(-32602)), (0, Value::Null)] {
            play.connect_as(principal);
            assert_eq!(play.visited(2, "tools/call", &capabilities, &params)["error"]["code"], code);
        }
        assert_eq!(play.asked(0, "tools/call").len(), 1);
    }
}

#[test]
fn a_task_of_another_principal_is_unknown() {
    let mut play = Play::with_principals(modern_script("a", &["later"]));
    play.connect_as(0);
    let params = reading("a__later", &play.path("one"));
    play.call_with(1, &capable(), &params, &["one"]);
    play.pass(3000);
    let begun = play.answer(1)["result"].clone();
    let named = json!({"taskId": begun["taskId"]});
    assert!(begun["taskId"] != "t" && begun["resultType"] == "task", "{begun}");
    for (principal, code) in [(1, json!(-32602)), (0, Value::Null)] {
        for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
            play.connect_as(principal);
            let told = play.visited(2, method, &capable(), &named);
            assert_eq!(told["error"]["code"], code, "{told}");
            if principal == 0 {
                assert_eq!(told["result"]["taskId"], named["taskId"], "{told}");
                assert_eq!(play.asked(0, method)[0]["params"]["taskId"], "t");
            }
        }
    }
    play.connect_as(0);
    for unknown in ["t", "rootward-task-1-0-t", "rootward-task-x", ""] {
        let told = play.visited(3, "tasks/get", &capable(), &json!({"taskId": unknown}));
        assert_eq!(told["error"]["code"], -32602, "{unknown}");
    }
    let told = play.visited(4, "tasks/get", &with_roots(), &named);
    assert_eq!(told["error"]["code"], -32021, "{told}");
    assert_eq!(play.asked(0, "tasks/get").len(), 0);
}

#[test]
fn a_task_stays_with_the_server_that_began_it() {
    let mut play = Play::new(["a", "b"].map(|name| modern_script(name, &["later"])).into());
    let tasks = ["a__later", "b__later"].map(|tool| {
        let params = reading(tool, &play.path("one"));
        play.call_with(1, &capable(), &params, &["one"]);
        play.pass(3000);
        play.answer(1)["result"]["taskId"].clone()
    });
    assert_ne!(tasks[0], tasks[1]);
    let told = play.visited(2, "tasks/get", &capable(), &json!({"taskId": tasks[0]}));
    assert_eq!(told["result"]["server"], "a");
    let told = play.visited(3, "tasks/get", &capable(), &json!({"taskId": tasks[1]}));
    assert_eq!(told["error"]["code"], -32602, "both servers use the same task id: {told}");
}

#[test]
fn a_server_that_asks_for_roots_gets_those_of_the_call() {
    let mut play = Play::new(vec![modern_script("a", &["where", "both"])]);
    let told = play.called_in(1, &["one"], "a__where", &play.path("one"));
    let one = json!([{"uri": format!("file://{}", play.path("one")), "name": "one"}]);
    let roots = |told: &Value| told["result"]["params"]["inputResponses"]["where"]["roots"].clone();
    assert_eq!(roots(&told)[0]["uri"], one[0]["uri"], "{told}");
    let (params, asked) = asked_by(&mut play, 2, "a__both");
    assert_eq!(asked["result"]["inputRequests"].as_object().unwrap().keys().collect::<Vec<_>>(), ["who"], "{asked}");
    // The client's roots come too late: it was not asked.
    let mut responses = accepted();
    responses["rootward.dev/roots"] = json!({"roots": [{"uri": format!("file://{}", play.path("two"))}]});
    responses["where"] = json!({"roots": []});
    again(&mut play, 3, &params, &asked, &responses);
    let told = play.answer(3);
    assert_eq!(roots(&told)[0]["uri"], one[0]["uri"], "{told}");
    assert_eq!(told["result"]["params"]["inputResponses"].get("rootward.dev/roots"), None);
    assert_eq!(play.starts, [2], "two clients");
}

#[test]
fn a_round_outlives_its_process_and_other_roots() {
    let mut play = Play::new(vec![modern_script("a", &["ask"])]);
    let (params, asked) = asked_by(&mut play, 1, "a__ask");
    // Another call of the same client, with other roots.
    play.call_with(2, &capable(), &reading("a__ask", &play.path("two")), &["two"]);
    play.pass(3000);
    play.answer(2);
    assert_eq!(play.starts, [2]);
    let children = play.running.iter().filter(|(_, (_, places))| *places == [place(&play.directory, "one")]);
    let child = children.map(|(child, _)| *child).next().unwrap();
    play.running.remove(&child);
    play.feed(Event::ChildEnded(child, &Failure::new("it died")));
    play.pass(60_000);
    again(&mut play, 3, &params, &asked, &accepted());
    assert_eq!(play.answer(3)["result"]["server"], "a");
    let got = play.asked(0, "tools/call").pop().unwrap();
    assert_eq!((&got["params"]["requestState"], &*play.starts), (&json!("state-of-a"), &[3][..]));
    let places: Vec<&Vec<PathBuf>> = play.running.values().map(|(_, places)| places).collect();
    assert!(places.contains(&&vec![place(&play.directory, "one")]), "{places:?}");
}

#[test]
fn a_listener_hears_the_notifications_of_a_modern_server() {
    let mut play = Play::new(vec![modern_script("a", &["read"])]);
    play.visit(1, "subscriptions/listen", &with_roots(), &json!({"notifications": {"toolsListChanged": true}}));
    play.called_in(2, &["one"], "a__read", &play.path("one"));
    let listened = play.asked(0, "subscriptions/listen");
    let filter = &listened.last().unwrap()["params"]["notifications"];
    assert_eq!(filter["toolsListChanged"], true, "{listened:?}");
    play.heard();
    let meta = json!({"io.modelcontextprotocol/subscriptionId": listened.last().unwrap()["id"]});
    let changed = json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed", "params": {"_meta": meta}});
    play.server(0, &changed);
    let heard = play.heard();
    assert_eq!(heard.len(), 1, "{heard:?}");
    assert_eq!(heard[0]["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], 1);
}

#[test]
fn a_silent_legacy_server_is_asked_for_its_era_once() {
    let mut play =
        Play::new(vec![Script { manner: Manner::SaysNothing, ceiling: Some("one"), ..script("a", &["read"]) }]);
    let told = play.visited(1, "tools/list", &plain(), &json!({}));
    assert!(told.to_string().contains("a__read"), "{told}");
    assert_eq!((play.asked(0, "server/discover").len(), play.asked(0, "initialize").len()), (1, 1));
    // Another client, another stand-in: the server's era is known by now.
    play.visit(2, "tools/list", &json!({"sampling": {}}), &json!({}));
    play.moment();
    let told = play.answer(2);
    assert!(told.to_string().contains("a__read"), "{told}");
    assert_eq!(play.asked(0, "server/discover").len(), 0);
}

#[test]
fn a_server_that_ends_on_discovery_is_greeted_as_legacy() {
    let mut play = Play::new(vec![Script { manner: Manner::Dead, ceiling: Some("one"), ..script("a", &["read"]) }]);
    play.visit(1, "tools/list", &plain(), &json!({}));
    let child = play.child(0);
    play.running.remove(&child);
    play.scripts[0].manner = Manner::Answers;
    play.feed(Event::ChildEnded(child, &Failure::new("it died")));
    play.pass(1000);
    let told = play.answer(1);
    assert!(told.to_string().contains("a__read"), "{told}");
    assert_eq!((play.asked(0, "server/discover").len(), play.asked(0, "initialize").len()), (1, 1));
}

#[test]
fn a_slow_modern_server_begins_again_in_its_own_era() {
    let mut play =
        Play::new(vec![Script { manner: Manner::Dead, ceiling: Some("one"), ..modern_script("a", &["ask"]) }]);
    play.visit(1, "tools/list", &plain(), &json!({}));
    play.pass(2500);
    let (discover, initialize) = (play.asked(0, "server/discover"), play.asked(0, "initialize"));
    assert_eq!((discover.len(), initialize.len()), (1, 1));
    play.scripts[0].manner = Manner::Answers;
    play.server(0, &reply("a", &discover[0]).unwrap());
    play.pass(1000);
    let told = play.answer(1);
    assert!(told.to_string().contains("a__ask"), "{told}");
    assert_eq!(play.asked(0, "initialize").len(), 0);
}

#[test]
fn a_modern_server_that_is_slow_at_every_start_begins_again_only_once() {
    let mut play =
        Play::new(vec![Script { manner: Manner::Dead, ceiling: Some("one"), ..modern_script("a", &["ask"]) }]);
    play.visit(1, "tools/list", &plain(), &json!({}));
    play.pass(2500);
    let (late, initialize) = (play.asked(0, "server/discover"), play.asked(0, "initialize"));
    assert_eq!((late.len(), initialize.len()), (1, 1));
    play.server(0, &reply("a", &late[0]).unwrap());
    play.pass(2500);
    // The second process is as slow as the first, and is not greeted as a legacy server in the meantime.
    let (discover, initialize) = (play.asked(0, "server/discover"), play.asked(0, "initialize"));
    assert_eq!((discover.len(), initialize.len()), (1, 0));
    play.scripts[0].manner = Manner::Answers;
    play.server(0, &reply("a", &discover[0]).unwrap());
    // The first list did not wait for it; the next one has its tools.
    let told = play.visited(2, "tools/list", &plain(), &json!({}));
    assert!(told.to_string().contains("a__ask"), "{told}");
    assert_eq!((play.asked(0, "server/discover").len(), play.asked(0, "initialize").len()), (0, 0));
}
