//! Roots: messages of refusals, and what happens to the knowledge base when roots change.

use serde_json::json;

use crate::scene::{Scene, fails, query};

#[test]
fn a_refusal_lists_the_roots_and_what_was_attempted() {
    let scene = Scene::new();
    let mut client = scene.client();
    scene.share(&mut client, &["project", "other"]);
    let result = client.result("knowledge_base_load", json!({"path": "/tmp/unsafe.pl"}));
    let expect = format!(
        "Security Error: File must be within allowed roots:\n- {} (My project)\n- {} (My other)\nAttempted: /tmp/unsafe.pl",
        scene.path("project").display(),
        scene.path("other").display()
    );
    assert_eq!(result.failure(), expect);
    assert_eq!((result.code(), &result.data()["path"]), (Some("outside_roots"), &json!("/tmp/unsafe.pl")));
    assert_eq!(client.fails("knowledge_base_dump", json!({"path": "/tmp/unsafe.pl"})), expect);
    assert!(fails(&mut client, "consult('/tmp/unsafe.pl')").contains(&expect));
}

#[test]
fn system_directories_are_never_roots() {
    let scene = Scene::new();
    let mut client = scene.client();
    client.share(["file:///etc", "file:///usr", "file:///proc", "file:///var/log", "file:///"]);
    for path in ["/etc/passwd", "/usr/lib/os-release", "/proc/self/status"] {
        let said = client.fails("knowledge_base_load", json!({"path": path}));
        assert!(said.starts_with("Security Error: File must be within allowed roots:\n(none: "), "{said}");
        assert!(said.ends_with(&format!("\nAttempted: {path}")), "{said}");
    }
}

#[test]
fn a_revoked_root_is_gone_for_the_next_call_and_what_was_loaded_stays() {
    let scene = Scene::new();
    scene.write("project/facts.pl", "fact(1).\n");
    scene.write("project/more.pl", "more(1).\n");
    scene.write("other/others.pl", "others(1).\n");
    let mut client = scene.client();
    client.says("knowledge_base_load", json!({"path": "facts.pl"}));
    let facts = scene.path("project/facts.pl");
    scene.share(&mut client, &["other"]);
    // The root is closed for the very next call.
    let goal = format!("consult('{}')", scene.path("project/more.pl").display());
    assert!(fails(&mut client, &goal).contains("Security Error"));
    assert!(client.fails("knowledge_base_load", json!({"path": facts})).contains("Security Error"));
    assert!(
        client.fails("knowledge_base_dump", json!({"path": scene.path("project/x.pl")})).contains("Security Error")
    );
    assert_eq!(query(&mut client, "fact(X)"), "X = 1");
    let result = client.result("capabilities", json!({}));
    assert_eq!(result.data()["loaded"], json!([{"path": facts, "inRoots": false}]));
    assert!(result.text().contains("facts.pl (no longer in an allowed root: its clauses stay"), "{}", result.text());
    client.says("knowledge_base_load", json!({"path": "others.pl"}));
    assert_eq!(query(&mut client, "others(X)"), "X = 1");
    // With no roots at all, loaded clauses still answer.
    scene.share(&mut client, &[]);
    assert_eq!(query(&mut client, "fact(X)"), "X = 1");
    assert!(client.fails("knowledge_base_load", json!({"path": "others.pl"})).contains("(none: "));
    scene.share(&mut client, &["project"]);
    client.says("knowledge_base_load", json!({"path": "more.pl"}));
}

#[test]
fn a_root_taken_back_while_a_goal_runs_is_gone_for_the_next_one() {
    let scene = Scene::new();
    scene.write("project/late.pl", "late(1).\n");
    let mut client = scene.client();
    query(&mut client, "true");
    let goal = format!("sleep(0.3), consult('{}'), late(X)", scene.path("project/late.pl").display());
    let call = client.begin_call("query", json!({"query": goal}));
    scene.share(&mut client, &["other"]);
    // A call uses one set of roots from start to end: either the old or the new one.
    let answer = client.answer_to(call);
    let said = answer["result"]["content"][0]["text"].as_str().unwrap();
    assert!(said == "X = 1" || said.contains("Security Error"), "{answer}");
    assert!(fails(&mut client, &goal).contains("Security Error"));
}

#[test]
fn capabilities_and_descriptions_name_the_roots() {
    let scene = Scene::new();
    let mut client = scene.client();
    let project = scene.path("project").display().to_string();
    let result = client.result("capabilities", json!({}));
    assert!(result.success().contains(&format!("- {project} (My project)")), "{}", result.text());
    assert_eq!(result.data()["roots"]["filePaths"], json!([project]));
    let tools = client.ask("tools/list", json!({}));
    let described = |name: &str| {
        let tools = tools["result"]["tools"].as_array().unwrap();
        let tool = tools.iter().find(|tool| tool["name"] == name).unwrap();
        tool["description"].as_str().unwrap().to_owned()
    };
    for name in ["knowledge_base_load", "knowledge_base_dump"] {
        assert!(described(name).contains(&format!("Allowed: `{project}`")), "{}", described(name));
    }
    let names: Vec<&str> =
        tools["result"]["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(
        names,
        [
            "capabilities",
            "knowledge_base_assert",
            "knowledge_base_dump",
            "knowledge_base_load",
            "knowledge_base_retract",
            "query",
            "symbols_list"
        ]
    );
    let resources = client.ask("resources/list", json!({}));
    let description = resources["result"]["resources"][0]["description"].as_str().unwrap();
    assert!(description.contains(&format!("- {project} (My project)")), "{description}");
    let read = client.ask("resources/read", json!({"uri": "knowledge-base://capabilities"}));
    assert!(read["result"]["contents"][0]["text"].as_str().unwrap().contains(&project), "{read}");
    // Other roots change the list.
    scene.share(&mut client, &["other"]);
    query(&mut client, "true");
    client.next_where(|message| message["method"] == "notifications/tools/list_changed");
}
