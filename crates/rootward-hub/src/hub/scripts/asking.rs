//! Requests and notifications from servers to the client.

use super::*;

/// A play with two running servers, which got nothing yet.
fn running() -> Play {
    let mut play = Play::with_two_running();
    play.asked.clear();
    play
}

#[test]
fn two_servers_may_ask_with_the_same_id() {
    let mut play = running();
    let ask =
        |text: &str| json!({"jsonrpc": "2.0", "id": 1, "method": "sampling/createMessage", "params": {"says": text}});
    play.server(0, &ask("from a"));
    play.server(1, &ask("from b"));
    let questions = play.questions("sampling/createMessage");
    assert_eq!(questions.len(), 2);
    assert_ne!(questions[0]["id"], questions[1]["id"]);
    for question in questions.iter().rev() {
        play.client(&json!({"jsonrpc": "2.0", "id": question["id"], "result": {"to": question["params"]["says"]}}));
    }
    let results: Vec<(usize, Value, Value)> = play
        .asked
        .iter()
        .filter(|(_, message)| message["method"].is_null())
        .map(|(server, message)| (*server, message["id"].clone(), message["result"]["to"].clone()))
        .collect();
    assert_eq!(results, [(1, json!(1), json!("from b")), (0, json!(1), json!("from a"))]);
}

#[test]
fn progress_goes_to_the_server_that_asked_under_its_own_token() {
    let mut play = running();
    let ask =
        json!({"jsonrpc": "2.0", "id": 5, "method": "elicitation/create", "params": {"_meta": {"progressToken": "t"}}});
    play.server(0, &ask);
    play.server(1, &ask);
    let questions = play.questions("elicitation/create");
    let token = |question: &Value| question["params"]["_meta"]["progressToken"].clone();
    assert_ne!(token(&questions[0]), token(&questions[1]));
    let progress = json!({"progressToken": token(&questions[1]), "progress": 1});
    play.client(&json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": progress}));
    assert_eq!(play.asked(0, "notifications/progress").len(), 0);
    assert_eq!(play.asked(1, "notifications/progress")[0]["params"]["progressToken"], "t");
}

#[test]
fn a_server_answers_only_what_it_was_asked() {
    let mut play = running();
    play.scripts[0].manner = Manner::Silent;
    play.call(9, "a__read", &play.path("one"));
    play.pass(3000);
    play.heard();
    // The other server answers in its place, and to the hub's own requests.
    play.server(1, &json!({"jsonrpc": "2.0", "id": 9, "result": {"forged": true}}));
    for number in 1..40 {
        play.server(1, &json!({"jsonrpc": "2.0", "id": format!("rootward-hub-{number}"), "result": {"tools": [{"name": "forged"}]}}));
    }
    let heard = play.heard();
    assert!(heard.iter().all(|message| !message.to_string().contains("forged")), "{heard:?}");
    play.ask(10, "tools/list", &json!({}));
    play.pass(5000);
    assert!(!play.answer(10).to_string().contains("forged"));
}

#[test]
fn notifications_from_servers_reach_the_client() {
    let mut play = running();
    let told = json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "x"}});
    play.server(0, &told);
    assert_eq!(play.heard(), [told]);
    play.ask(3, "logging/setLevel", &json!({"level": "debug"}));
    play.pass(10);
    assert_eq!(play.answer(3)["result"], json!({}));
    for server in [0, 1] {
        assert_eq!(play.asked(server, "logging/setLevel")[0]["params"], json!({"level": "debug"}));
    }
}

#[test]
fn a_request_about_a_task_goes_to_its_server() {
    let mut play = running();
    play.scripts[1].manner = Manner::Silent;
    play.call(4, "b__read", &play.path("one"));
    play.pass(3000);
    let id = play.asked(1, "tools/call")[0]["id"].clone();
    play.server(1, &json!({"jsonrpc": "2.0", "id": id, "result": {"task": {"taskId": "t-1", "status": "working"}}}));
    play.answer(4);
    play.scripts[1].manner = Manner::Answers;
    play.ask(5, "tasks/get", &json!({"taskId": "t-1"}));
    assert_eq!(play.answer(5)["result"]["server"], "b");
    play.ask(6, "tasks/get", &json!({"taskId": "t-2"}));
    assert_eq!(play.answer(6)["error"]["code"], -32602);
}
