//! Clients of both eras.

use serde_json::json;

use crate::scene::{Scene, query};

#[test]
fn a_modern_client_sends_its_roots_with_each_call() {
    let scene = Scene::new();
    scene.write("project/facts.pl", ":- ensure_loaded(more).\nfact(1).\n");
    scene.write("project/more.pl", "more(2).\n");
    let mut client = scene.client_with(&[]);
    let project = [scene.uri("project")];
    let said = client.modern_result("knowledge_base_load", json!({"path": "facts.pl"}), &project);
    assert!(said.success().starts_with("loaded "), "{said:?}");
    let said = client.modern_result("query", json!({"query": "fact(X), more(Y)"}), &project);
    assert_eq!(said.success(), "X = 1, Y = 2");
    let said = client.modern_result("knowledge_base_assert", json!({"clauses": "fact(3)."}), &project);
    assert_eq!(said.success(), "clauses added: 1");
    let path = scene.path("project/facts.pl");
    let said = client.modern_result("knowledge_base_load", json!({"path": path}), &[scene.uri("other")]);
    assert_eq!(said.code(), Some("outside_roots"), "{said:?}");
    let said = client.modern_result("capabilities", json!({}), &project);
    assert_eq!(said.data()["roots"]["filePaths"], json!([scene.path("project")]));
    let said = client.modern_result("query", json!({"query": "fact(X)"}), &project);
    assert_eq!(said.success(), "X = 1\nX = 3");
}

#[test]
fn sessions_share_nothing() {
    let scene = Scene::new();
    let (mut one, mut other) = (scene.client(), scene.client());
    one.says("knowledge_base_assert", json!({"clauses": "mine(1)."}));
    assert_eq!(query(&mut one, "mine(X)"), "X = 1");
    assert_eq!(query(&mut other, "mine(X)"), "Unknown procedure: mine/1");
}
