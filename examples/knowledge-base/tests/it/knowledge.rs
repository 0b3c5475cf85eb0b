//! What the knowledge base is for: clauses in, answers out.

use serde_json::json;

use crate::scene::{Scene, fails, query};

#[test]
fn facts_and_rules_are_added_asked_for_and_removed() {
    let scene = Scene::new();
    let mut client = scene.client();
    let clauses = "parent(ann, bob). parent(bob, cid).\ngrand(X, Z) :- parent(X, Y), parent(Y, Z)";
    assert_eq!(client.says("knowledge_base_assert", json!({"clauses": clauses})), "clauses added: 3");
    assert_eq!(query(&mut client, "grand(Who, Whose)"), "Who = ann, Whose = cid");
    assert_eq!(query(&mut client, "parent(cid, _)"), "false");
    assert_eq!(query(&mut client, "?- parent(ann, bob)."), "true");
    assert_eq!(client.says("knowledge_base_retract", json!({"clause": "parent(ann, _)"})), "clauses removed: 1");
    assert_eq!(query(&mut client, "parent(X, Y)"), "X = bob, Y = cid");
    client.says("knowledge_base_assert", json!({"clauses": "n(1). n(2). n(3). greeting --> [hello], [world]."}));
    assert_eq!(client.says("knowledge_base_retract", json!({"clause": "n(_)", "all": true})), "clauses removed: 3");
    assert_eq!(query(&mut client, "phrase(greeting, X)"), "X = [hello, world]");
    assert_eq!(
        client.says("symbols_list", json!({})),
        "grand/2: dynamic, clauses: 1\ngreeting/2: dynamic, clauses: 1\nn/1: dynamic, clauses: 0\nparent/2: dynamic, clauses: 1"
    );
}

#[test]
fn answers_come_as_data_too() {
    let scene = Scene::new();
    let mut client = scene.client();
    let result =
        client.result("query", json!({"query": "member(X, [1, \"a\\n\", 'B c', f(Y)]), write(hi)", "limit": 3}));
    assert_eq!(result.success().lines().next(), Some("X = 1"));
    let data = result.data();
    assert_eq!(data["answers"][1]["bindings"]["X"], "\"a\\n\"");
    assert_eq!((&data["more"], &data["output"]), (&json!(true), &json!("hihihi")));
    let all = client.result("query", json!({"query": "member(X, [1, 2, 3])", "limit": 3}));
    assert_eq!(all.data()["more"], false);
    assert_eq!(query(&mut client, "use_module(library(clpfd))"), "true");
    let constrained = client.result("query", json!({"query": "X #> 3, X #< 6"}));
    assert_eq!(constrained.data()["answers"][0]["constraints"][0], "clpfd:(X in 4..5)", "{:?}", constrained.data());
    assert_eq!(query(&mut client, "X in 1..2, label([X])"), "X = 1\nX = 2");
    assert_eq!(query(&mut client, "X = é, Y = '\u{1F600}'"), "X = é, Y = \u{1F600}");
}

#[test]
fn texts_are_data_and_never_goals() {
    let scene = Scene::new();
    let mut client = scene.client();
    // Each would do something if its text were pasted into a goal.
    for clause in
        ["a). halt. x(", "a), halt, x(b", "\"", "x(1).\nend_of_file.\n:- halt.", ":- halt.", "?- halt.", "a :- b :- c"]
    {
        let said = client.text("knowledge_base_assert", json!({"clauses": clause}));
        assert!(!said.contains("is gone"), "{clause}: {said}");
        let said = client.text("knowledge_base_retract", json!({"clause": clause}));
        assert!(!said.contains("is gone"), "{clause}: {said}");
    }
    assert_eq!(
        client.fails("knowledge_base_assert", json!({"clauses": ":- true."})),
        "a directive is not a clause: use `query` to run a goal"
    );
    // All or nothing.
    assert!(client.fails("knowledge_base_assert", json!({"clauses": "good(1). bad("})).contains("Syntax error"));
    assert_eq!(fails(&mut client, "good(1)"), "Unknown procedure: good/1");
    assert!(
        client
            .fails("knowledge_base_assert", json!({"clauses": "append(1, 2, 3) :- true. member(1, 2, 3). atom(x)."}))
            .contains("No permission")
    );
}

#[test]
fn mistakes_are_explained() {
    let scene = Scene::new();
    let mut client = scene.client();
    assert!(fails(&mut client, "foo(").starts_with("Syntax error: "));
    assert_eq!(fails(&mut client, "nothing(1)"), "Unknown procedure: nothing/1");
    assert_eq!(fails(&mut client, "atom_length(_, _)"), "atom_length/2: Arguments are not sufficiently instantiated");
    assert_eq!(client.fails("query", json!({"query": "true", "limit": 0})), "`limit` must be between 1 and 1000");
    assert_eq!(
        client.fails("query", json!({"query": "true", "timeout_ms": 60001})),
        "`timeout_ms` must be at most 60000"
    );
    assert_eq!(client.text("symbols_list", json!({})), "the knowledge base is empty");
}
