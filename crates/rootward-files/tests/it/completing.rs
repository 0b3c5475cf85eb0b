//! Completion of paths in templates and in arguments of prompts.

use rootward_testkit::client::{DuplexClient, message};
use serde_json::{Value, json};

use crate::stage::Stage;

fn prompt(value: &str) -> Value {
    json!({"ref": {"type": "ref/prompt", "name": "review_change"}, "argument": {"name": "path", "value": value}})
}

fn template(uri: &str, value: &str) -> Value {
    json!({"ref": {"type": "ref/resource", "uri": uri}, "argument": {"name": "path", "value": value}})
}

async fn values(client: &mut DuplexClient, params: Value) -> Vec<String> {
    let answer = client.ask("completion/complete", params).await;
    let values = answer["result"]["completion"]["values"].as_array().unwrap_or_else(|| panic!("{answer}"));
    values.iter().map(|value| value.as_str().unwrap().to_owned()).collect()
}

fn stage() -> Stage {
    let stage = Stage::new();
    stage.file("root/src/main.rs", "");
    stage.file("root/src/make it.rs", "");
    stage.file("root/src/.hidden", "");
    stage.file("root/.env", "SECRET");
    stage.file("root/.envoy", "");
    stage.file("root/.ssh/id_rsa", "SECRET");
    stage.file("second/other.txt", "");
    stage.link("root/srclink", stage.path("outside"));
    stage
}

#[tokio::test]
async fn arguments_of_prompts_are_completed() {
    let stage = stage();
    let mut client = stage.connect(&["root", "second"]).await;
    let (root, second) = (stage.name("root/"), stage.name("second/"));
    let cases: [(String, Vec<String>); 9] = [
        ("src/ma".into(), vec!["src/main.rs".into(), "src/make it.rs".into()]),
        ("s".into(), vec!["src/".into(), "srclink".into()]),
        (String::new(), vec!["src/".into(), "srclink".into(), root.clone(), second.clone()]),
        ("src/.".into(), vec!["src/.hidden".into()]),
        // Closed names are left out.
        (".".into(), vec![".envoy".into()]),
        (root.trim_end_matches("oot/").into(), vec![root.clone()]),
        ("/".into(), vec![root.clone(), second.clone()]),
        (format!("{second}o"), vec![format!("{second}other.txt")]),
        ("nowhere/x".into(), vec![]),
    ];
    for (value, expect) in cases {
        assert_eq!(values(&mut client, prompt(&value)).await, expect, "{value}");
    }
}

#[tokio::test]
async fn templates_are_completed() {
    let stage = stage();
    let mut client = stage.connect(&["root"]).await;
    let of_root = format!("file://{}/{{+path}}", stage.name("root"));
    let below = stage.name("root").trim_start_matches('/').to_owned();
    for (uri, value, expect) in [
        (of_root.as_str(), "src/m", vec!["src/main.rs".to_owned(), "src/make%20it.rs".to_owned()]),
        (of_root.as_str(), "src/make%20", vec!["src/make%20it.rs".to_owned()]),
        (of_root.as_str(), "", vec!["src/".to_owned(), "srclink".to_owned()]),
        ("file:///{+path}", "", vec![format!("{below}/")]),
        ("file:///{+path}", &format!("{below}/src/mai"), vec![format!("{below}/src/main.rs")]),
    ] {
        assert_eq!(values(&mut client, template(uri, value)).await, expect, "{uri} {value}");
    }
}

#[tokio::test]
async fn nothing_outside_the_roots_is_completed() {
    let stage = stage();
    let mut client = stage.connect(&["root"]).await;
    let outside = stage.name("outside/");
    let of_root = format!("file://{}/{{+path}}", stage.name("root"));
    let refused = [
        prompt(&format!("{outside}s")),
        prompt("../outside/"),
        prompt("srclink/"),
        prompt("/etc/pass"),
        prompt("~root/"),
        prompt(&format!("file://{outside}")),
        template(&of_root, "../outside/"),
        template(&of_root, "srclink/"),
        template("file:///{+path}", "etc/"),
        template("file:///etc/{+path}", "pass"),
    ];
    for params in refused {
        let answer = client.ask("completion/complete", params.clone()).await;
        assert_eq!(answer["error"]["code"], -32602, "{params} {answer}");
        assert!(answer["error"]["data"]["code"].is_string() && !answer.to_string().contains("secret"), "{answer}");
    }
    let closed = client.ask("completion/complete", prompt(".ssh/")).await;
    assert_eq!(closed["error"]["data"]["code"], "restricted", "{closed}");
    for params in [
        template("https://example.com/{+path}", ""),
        template("file:///{path}", ""),
        json!({"ref": {"type": "ref/prompt", "name": "other"}, "argument": {"name": "path", "value": ""}}),
        json!({"ref": {"type": "ref/prompt", "name": "review_change"}, "argument": {"name": "other", "value": ""}}),
    ] {
        let answer = client.ask("completion/complete", params.clone()).await;
        assert_eq!(answer["error"]["code"], -32602, "{params} {answer}");
    }
}

#[tokio::test]
async fn at_most_100_names_are_offered() {
    let stage = Stage::new();
    for number in 0..250 {
        stage.file(&format!("root/many/{number:03}"), "");
    }
    let mut client = stage.connect(&["root"]).await;
    let answer = client.ask("completion/complete", prompt("many/")).await;
    let completion = &answer["result"]["completion"];
    assert_eq!(completion["values"].as_array().unwrap().len(), 100);
    assert_eq!((&completion["total"], &completion["hasMore"]), (&json!(250), &json!(true)));
    assert_eq!(completion["values"][99], "many/099");
}

/// Completion cannot ask a modern client for its roots, so a client with roots gets nothing; one without gets names from the operator's.
#[tokio::test]
async fn modern_clients_get_names_from_known_roots() {
    let stage = stage();
    let mut client = stage.connect(&["root"]).await;
    let asked = message::modern(&json!({"roots": {}}), prompt("src/"));
    assert_eq!(values(&mut client, asked).await, Vec::<String>::new());
    let known = message::modern(&json!({}), prompt("src/mai"));
    assert_eq!(values(&mut client, known).await, ["src/main.rs"]);
}
