//! The rounds of modern calls: roots, and questions from servers.

use super::modern::{modern, plain, reading, with_roots};
use super::*;

/// A client that can be asked everything.
fn capable() -> Value {
    json!({"roots": {}, "sampling": {}, "elicitation": {}})
}

/// A play whose server runs in `one` and holds a call of a client that can be asked. Returns the server's id of the
/// call.
fn holding() -> (Play, Value) {
    let mut play = Play::new(vec![script("a", &["read"])]);
    play.call_with(1, &capable(), &reading("a__read", &play.path("one")), &["one"]);
    play.pass(3000);
    play.answer(1);
    play.scripts[0].manner = Manner::Silent;
    play.asked.clear();
    let id = hold(&mut play, 2);
    (play, id)
}

/// One more call that the server holds.
fn hold(play: &mut Play, id: u64) -> Value {
    let params = reading("a__read", &play.path("one"));
    play.call_with(id, &capable(), &params, &["one"]);
    play.asked(0, "tools/call").remove(0)["id"].clone()
}

/// The same call again, with this state and these answers.
fn again(play: &mut Play, id: u64, state: &Value, responses: &Value) {
    let mut params = reading("a__read", &play.path("one"));
    params["requestState"] = state.clone();
    params["inputResponses"] = responses.clone();
    play.visit(id, "tools/call", &capable(), &params);
}

fn question(id: u64, method: &str) -> Value {
    let params = json!({"message": "m", "_meta": {"progressToken": 1}});
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

/// The answers that the server got: ids, and results or errors.
fn answers(play: &mut Play) -> Vec<(Value, Value)> {
    let answers = play.asked.extract_if(.., |(_, message)| message["method"].is_null());
    answers
        .map(|(_, message)| {
            (message["id"].clone(), message.get("result").cloned().unwrap_or(message["error"]["message"].clone()))
        })
        .collect()
}

#[test]
fn two_lists_at_once_reach_two_processes() {
    let mut play = Play::new(vec![script("a", &["read"])]);
    let [one, two] = ["one", "two"].map(|name| play.path(name) + "/file.txt");
    // Both are asked before either answers.
    let params = [reading("a__read", &one), reading("a__read", &two)];
    let mut questions = Vec::new();
    for (id, params) in [1, 2].into_iter().zip(&params) {
        play.visit(id, "tools/call", &with_roots(), params);
        questions.push(play.answer(id));
    }
    play.tell_roots(3, &with_roots(), &params[0], &questions[0], &["one"]);
    play.tell_roots(4, &with_roots(), &params[1], &questions[1], &["two"]);
    play.pass(3000);
    let heard = play.heard();
    for (id, path) in [(3, &one), (4, &two)] {
        let told = heard.iter().find(|message| message["id"] == id).unwrap_or_else(|| panic!("{heard:?}"));
        assert_eq!(told["result"]["params"]["arguments"]["path"], **path, "{told}");
    }
    assert_eq!(play.starts, [2]);
    let places: Vec<&Vec<PathBuf>> = play.running.values().map(|(_, places)| places).collect();
    assert!(
        places.contains(&&vec![place(&play.directory, "one")])
            && places.contains(&&vec![place(&play.directory, "two")])
    );
    // The same lists again reach the same processes; paths of the other list are refused.
    assert_eq!(play.called_in(5, &["one"], "a__read", &one)["result"]["server"], "a");
    assert_eq!(play.called_in(6, &["one"], "a__read", &two)["result"]["structuredContent"]["code"], "outside_roots");
    assert_eq!(play.starts, [2]);
}

#[test]
fn a_list_in_pages_is_asked_for_to_its_end() {
    let paging = json!({"roots": {}, "extensions": {"rootward.dev/roots-paging": {}}});
    for (capabilities, code) in [(&paging, Value::Null), (&with_roots(), json!("roots_failed"))] {
        let mut play = Play::new(vec![script("a", &["read"])]);
        let params = reading("a__read", &play.path("two"));
        play.visit(1, "tools/call", capabilities, &params);
        let mut answer = play.answer(1);
        let mut again = params.clone();
        again["requestState"] = answer["result"]["requestState"].clone();
        let page = json!({"roots": [{"uri": format!("file://{}", play.path("one"))}], "nextCursor": "c"});
        again["inputResponses"] = json!({"rootward.dev/roots": page});
        play.visit(2, "tools/call", capabilities, &again);
        play.pass(60_000);
        answer = play.answer(2);
        if code.is_null() {
            let asked = &answer["result"]["inputRequests"]["rootward.dev/roots"];
            assert_eq!(asked["params"]["_meta"]["rootward.dev/cursor"], "c", "{answer}");
            play.tell_roots(3, capabilities, &params, &answer, &["two"]);
            play.pass(3000);
            answer = play.answer(3);
            assert_eq!(answer["result"]["server"], "a", "{answer}");
        }
        assert_eq!(answer["result"]["structuredContent"]["code"], code, "{answer}");
    }
}

#[test]
fn a_state_belongs_to_one_call_for_ten_minutes() {
    let mut play = Play::new(vec![script("a", &["read"])]);
    let params = reading("a__read", &play.path("one"));
    play.visit(1, "tools/call", &with_roots(), &params);
    let asked = play.answer(1);
    for (id, params) in [(2, reading("a__read", &play.path("two"))), (3, json!({"name": "get-roots"}))] {
        play.tell_roots(id, &with_roots(), &params, &asked, &["one"]);
        assert_eq!(play.answer(id)["error"]["code"], -32602);
    }
    let made_up = json!({"result": {"requestState": "rootward-0000000000000000-1"}});
    play.tell_roots(4, &with_roots(), &params, &made_up, &["one"]);
    assert_eq!(play.answer(4)["error"]["code"], -32602);
    play.now += Duration::from_mins(10);
    play.tell_roots(5, &with_roots(), &params, &asked, &["one"]);
    play.pass(3000);
    assert_eq!(play.answer(5)["result"]["server"], "a");
    play.tell_roots(6, &with_roots(), &params, &asked, &["one"]);
    assert_eq!(play.answer(6)["error"]["code"], -32602);
}

#[test]
fn a_state_of_another_principal_is_refused() {
    let mut play = Play::with_principals(script("a", &["read"]));
    let params = reading("a__read", &play.path("one"));
    play.connect_as(0);
    play.visit(1, "tools/call", &with_roots(), &params);
    let asked = play.answer(1);
    play.connect_as(1);
    play.tell_roots(1, &with_roots(), &params, &asked, &["one"]);
    assert_eq!(play.answer(1)["error"]["code"], -32602);
    play.connect_as(0);
    play.tell_roots(1, &with_roots(), &params, &asked, &["one"]);
    play.pass(3000);
    assert_eq!(play.answer(1)["result"]["server"], "a");
    // A visit that waits for an answer also belongs to its principal.
    play.scripts[0].manner = Manner::Silent;
    play.connect_as(0);
    play.call_with(1, &capable(), &params, &["one"]);
    play.scripts[0].manner = Manner::Answers;
    play.pass(3000);
    play.answer(1);
    play.scripts[0].manner = Manner::Silent;
    play.asked.clear();
    hold(&mut play, 2);
    let child = *play.running.keys().next_back().unwrap();
    let effects = play.child_says(child, &question(7, "elicitation/create"));
    play.carry_out(effects);
    let asked = play.answer(2)["result"].clone();
    let name = asked["inputRequests"].as_object().unwrap().keys().next().unwrap().clone();
    for (principal, code) in [(1, json!(-32602)), (0, Value::Null)] {
        play.connect_as(principal);
        again(&mut play, 3, &asked["requestState"], &json!({&name: {"said": principal}}));
        let heard = play.heard();
        assert_eq!(heard.first().map_or(Value::Null, |message| message["error"]["code"].clone()), code);
    }
    assert_eq!(answers(&mut play), [(json!(7), json!({"said": 0}))]);
}

#[test]
fn visits_of_two_principals_share_nothing() {
    let mut play = Play::with_principals(script("a", &["read"]));
    let (inside, outside) = (play.path("one") + "/file.txt", play.path("two") + "/file.txt");
    for (principal, starts) in [(0, 1), (1, 2), (0, 2), (1, 2)] {
        play.connect_as(principal);
        assert_eq!(play.called_in(1, &["one", "two"], "a__read", &inside)["result"]["server"], "a");
        assert_eq!(play.starts, [starts], "principal {principal}");
        let refused = play.called_in(2, &["one", "two"], "a__read", &outside);
        assert_eq!(refused["result"]["structuredContent"]["code"], "outside_roots", "a ceiling holds: {refused}");
        let effects = play.middle.forget(play.now, play.client);
        play.carry_out(effects);
    }
    // Notifications from one principal's servers are not for the other.
    play.connect_as(1);
    play.visit(1, "subscriptions/listen", &with_roots(), &json!({"notifications": {"toolsListChanged": true}}));
    play.heard();
    let first = *play.running.keys().next().unwrap();
    let changed = json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"});
    let effects = play.child_says(first, &changed);
    play.carry_out(effects);
    assert_eq!(play.heard(), Vec::<Value>::new());
    let last = *play.running.keys().next_back().unwrap();
    let effects = play.child_says(last, &changed);
    play.carry_out(effects);
    assert_eq!(play.heard().len(), 1);
}

#[test]
fn a_servers_question_takes_another_round() {
    for method in ["sampling/createMessage", "elicitation/create"] {
        let (mut play, call) = holding();
        play.server(0, &question(7, method));
        let asked = play.answer(2)["result"].clone();
        let questions = asked["inputRequests"].as_object().unwrap().clone();
        let (name, told) = questions.iter().next().unwrap();
        assert_eq!((questions.len(), told), (1, &json!({"method": method, "params": {"message": "m"}})));
        // The answer comes on another connection.
        play.client = play.connect();
        again(&mut play, 3, &asked["requestState"], &json!({name: {"said": 1}}));
        assert_eq!(answers(&mut play), [(json!(7), json!({"said": 1}))]);
        assert_eq!(play.heard(), Vec::<Value>::new());
        play.server(0, &json!({"jsonrpc": "2.0", "id": call, "result": {"done": 1}}));
        assert_eq!(play.answer(3)["result"]["done"], 1);
        assert_eq!(play.asked(0, "tools/call").len(), 0, "the call was sent once");
    }
}

#[test]
fn a_missing_answer_is_asked_for_again() {
    let (mut play, call) = holding();
    play.server(0, &question(7, "elicitation/create"));
    let asked = play.answer(2)["result"].clone();
    // A second question comes between the rounds.
    play.server(0, &question(8, "sampling/createMessage"));
    let first = asked["inputRequests"].as_object().unwrap().keys().next().unwrap().clone();
    again(&mut play, 3, &asked["requestState"], &json!({&first: {"said": 1}}));
    let asked = play.answer(3)["result"].clone();
    let second = asked["inputRequests"].as_object().unwrap().keys().next().unwrap().clone();
    assert_eq!((asked["inputRequests"].as_object().unwrap().len(), second == first), (1, false));
    again(&mut play, 4, &asked["requestState"], &json!({"other": {}}));
    let asked = play.answer(4)["result"].clone();
    assert!(asked["inputRequests"].get(&second).is_some(), "{asked}");
    // The server cancels the question, and answers between the rounds.
    play.server(0, &json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 8}}));
    play.server(0, &json!({"jsonrpc": "2.0", "id": call, "result": {"done": 1}}));
    assert_eq!(play.heard(), Vec::<Value>::new());
    again(&mut play, 5, &asked["requestState"], &json!({}));
    assert_eq!(play.answer(5)["result"]["done"], 1);
}

#[test]
fn a_round_can_be_answered_only_once() {
    let (mut play, _) = holding();
    play.server(0, &question(7, "elicitation/create"));
    let asked = play.answer(2)["result"].clone();
    let name = asked["inputRequests"].as_object().unwrap().keys().next().unwrap().clone();
    for (id, code) in [(3, Value::Null), (4, json!(-32602))] {
        again(&mut play, id, &asked["requestState"], &json!({&name: {"said": id}}));
        let heard = play.heard();
        assert_eq!(heard.first().map_or(Value::Null, |message| message["error"]["code"].clone()), code);
    }
    assert_eq!(answers(&mut play), [(json!(7), json!({"said": 3}))]);
}

#[test]
fn a_question_that_may_belong_to_two_calls_is_refused() {
    let (mut play, _) = holding();
    hold(&mut play, 3);
    play.heard();
    play.server(0, &question(7, "elicitation/create"));
    assert_eq!(play.heard(), Vec::<Value>::new());
    let told = answers(&mut play);
    assert_eq!(told, [(json!(7), json!("it is not certain which call this question belongs to"))]);
}

#[test]
fn a_question_after_a_cancelled_call_is_refused() {
    let (mut play, _) = holding();
    play.client(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}}));
    hold(&mut play, 3);
    play.server(0, &question(7, "elicitation/create"));
    assert_eq!((play.heard(), answers(&mut play).len()), (Vec::new(), 1));
    play.pass(60_000);
    play.server(0, &question(8, "elicitation/create"));
    assert_eq!(play.answer(3)["result"]["resultType"], "input_required");
}

#[test]
fn a_client_is_asked_only_what_it_declares() {
    let mut play = Play::new(vec![script("a", &["read"])]);
    play.called_in(1, &["one"], "a__read", &play.path("one"));
    play.scripts[0].manner = Manner::Silent;
    play.asked.clear();
    play.call_with(2, &with_roots(), &reading("a__read", &play.path("one")), &["one"]);
    play.server(0, &question(7, "sampling/createMessage"));
    play.server(0, &question(8, "tasks/list"));
    play.server(0, &json!({"jsonrpc": "2.0", "id": 9, "method": "ping"}));
    let told = answers(&mut play);
    assert_eq!(told[0], (json!(7), json!("this client does not declare `sampling`")));
    assert_eq!((&told[1].0, &told[2]), (&json!(8), &(json!(9), json!({}))));
    assert_eq!(play.heard(), Vec::<Value>::new());
}

#[test]
fn an_abandoned_call_is_cancelled() {
    let (mut play, call) = holding();
    play.server(0, &question(7, "elicitation/create"));
    let asked = play.answer(2)["result"].clone();
    play.pass(9 * 60_000);
    assert_eq!(play.asked(0, "notifications/cancelled").len(), 0);
    play.pass(60_000);
    assert_eq!(play.asked(0, "notifications/cancelled")[0]["params"]["requestId"], call);
    assert_eq!(answers(&mut play).len(), 1);
    again(&mut play, 3, &asked["requestState"], &json!({}));
    assert_eq!(play.answer(3)["error"]["code"], -32602);
}

#[test]
fn a_client_that_does_not_name_its_roots_has_none() {
    let mut play = Play::new(vec![script("a", &["read"])]);
    let params = reading("a__read", &play.path("one"));
    play.visit(1, "tools/call", &with_roots(), &params);
    let mut again = params.clone();
    again["requestState"] = play.answer(1)["result"]["requestState"].clone();
    let told = play.visited(2, "tools/call", &with_roots(), &again);
    assert_eq!(told["result"]["structuredContent"]["code"], "roots_failed", "{told}");
    // Unsolicited roots are ignored.
    let mut params = modern(&plain(), &reading("a__read", &play.path("two")));
    params["inputResponses"] =
        json!({"rootward.dev/roots": {"roots": [{"uri": format!("file://{}", play.path("two"))}]}});
    play.ask(3, "tools/call", &params);
    play.pass(3000);
    assert_eq!(play.answer(3)["result"]["structuredContent"]["code"], "no_roots");
    assert_eq!(play.asked(0, "tools/call").len(), 0);
}

#[test]
fn a_question_waits_while_others_call() {
    let (mut play, call) = holding();
    play.server(0, &question(7, "elicitation/create"));
    let asked = play.answer(2)["result"].clone();
    let name = asked["inputRequests"].as_object().unwrap().keys().next().unwrap().clone();
    for id in 0..1100 {
        play.visit(1000 + id, "tools/call", &with_roots(), &reading("a__read", &play.path("two")));
    }
    play.heard();
    again(&mut play, 3, &asked["requestState"], &json!({&name: {"said": 1}}));
    play.server(0, &json!({"jsonrpc": "2.0", "id": call, "result": {"done": 1}}));
    assert_eq!(play.answer(3)["result"]["done"], 1);
}
