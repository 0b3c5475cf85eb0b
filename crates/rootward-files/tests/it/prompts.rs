//! Prompts: what they contain, and what is refused.

use rootward_testkit::client::message;
use serde_json::{Value, json};

use crate::stage::Stage;

fn get(name: &str, arguments: &Value) -> Value {
    json!({"name": name, "arguments": arguments})
}

fn stage() -> Stage {
    let stage = Stage::new();
    stage.file("root/Cargo.toml", "[package]\nname = \"app\"\n");
    stage.file("root/src/main.rs", "fn main() {}\n");
    stage.file("root/README.md", "# App\n");
    stage
}

#[tokio::test]
async fn prompts_are_listed_with_their_arguments() {
    let mut client = stage().connect(&["root"]).await;
    let list = client.ask("prompts/list", json!({})).await;
    let prompts = list["result"]["prompts"].as_array().unwrap();
    let names: Vec<_> = prompts.iter().map(|prompt| prompt["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["summarize_project", "review_change"]);
    assert!(prompts.iter().all(|prompt| prompt["arguments"][0]["name"] == "path"));
}

#[tokio::test]
async fn a_summary_gets_the_overview_and_the_readme() {
    let stage = stage();
    let mut client = stage.connect(&["root"]).await;
    for arguments in [json!({}), json!({"path": ""}), json!({"path": "."}), json!({"path": stage.name("root")})] {
        let prompt = client.ask("prompts/get", get("summarize_project", &arguments)).await;
        let messages = prompt["result"]["messages"].as_array().unwrap_or_else(|| panic!("{prompt}"));
        let text = messages[0]["content"]["text"].as_str().unwrap();
        assert!(text.contains("cargo: Cargo.toml app") && text.contains("starts in src/main.rs"), "{text}");
        assert_eq!(messages[1]["content"]["resource"]["text"], "# App\n", "{prompt}");
    }
}

#[tokio::test]
async fn a_review_gets_the_file_and_how_it_is_tested() {
    let stage = stage();
    let mut client = stage.connect(&["root"]).await;
    let arguments = json!({"path": "src/main.rs", "intent": "start faster"});
    let prompt = client.ask("prompts/get", get("review_change", &arguments)).await;
    let messages = prompt["result"]["messages"].as_array().unwrap_or_else(|| panic!("{prompt}"));
    let text = messages[0]["content"]["text"].as_str().unwrap();
    assert!(text.contains("start faster") && text.contains("`cargo test`") && text.contains("src/main.rs"), "{text}");
    assert_eq!(messages[1]["content"]["resource"]["text"], "fn main() {}\n");
    // A removed file can be reviewed as well.
    let gone = client.ask("prompts/get", get("review_change", &json!({"path": "gone.rs"}))).await;
    assert!(gone.to_string().contains("not there now"), "{gone}");
}

#[tokio::test]
async fn a_path_that_is_not_shared_is_refused() {
    let stage = stage();
    stage.file("root/.env", "SECRET");
    stage.link("root/link", stage.path("outside/secret.txt"));
    let mut client = stage.connect(&["root"]).await;
    for name in ["summarize_project", "review_change"] {
        for path in ["../outside/secret.txt", "link", ".env", "/etc/passwd"] {
            let refused = client.ask("prompts/get", get(name, &json!({"path": path}))).await;
            assert_eq!(refused["error"]["code"], -32602, "{refused}");
            assert!(
                refused["error"]["data"]["code"].is_string() && !refused.to_string().contains("SECRET"),
                "{refused}"
            );
        }
    }
    for (name, arguments) in [("other", json!({})), ("review_change", json!({"path": 7}))] {
        let refused = client.ask("prompts/get", get(name, &arguments)).await;
        assert_eq!(refused["error"]["code"], -32602, "{refused}");
    }
    let missing = client.ask("prompts/get", get("summarize_project", &json!({"path": "nowhere"}))).await;
    assert!(missing["error"]["message"].as_str().unwrap().contains("does not exist"), "{missing}");
}

#[tokio::test]
async fn the_server_asks_modern_clients_for_their_roots_first() {
    let stage = stage();
    let mut client = stage.connect(&[]).await;
    let params = message::modern(&json!({"roots": {}}), get("summarize_project", &json!({})));
    let asked = client.ask("prompts/get", params.clone()).await;
    let list = message::roots([format!("file://{}", stage.name("root"))]);
    let told = client.ask("prompts/get", message::again(params, &asked["result"]["requestState"], &list)).await;
    assert!(told["result"]["messages"][0]["content"]["text"].as_str().unwrap().contains("Cargo.toml"), "{told}");
}
