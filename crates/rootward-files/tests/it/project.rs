//! The tools of the set `project`, with realistic and with hostile trees.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use rootward_files::{FileServer, Toolset};
use rootward_testkit::client::message;
use serde_json::{Value, json};

use crate::stage::{Stage, connect};

const TOOLS: [&str; 3] = ["analyze_project", "find_documentation", "build_configuration"];

/// Two roots: a Rust workspace with a web client, and a Python service.
fn two_projects() -> Stage {
    let stage = Stage::new();
    stage.file("root/Cargo.toml", "[workspace]\nmembers = ['core']\n[package]\nname = \"app\"\nversion = \"1.0.0\"\n");
    stage.file("root/src/main.rs", "fn main() {}\n");
    stage.file("root/core/Cargo.toml", "[package]\nname = \"core\"\n");
    stage.file("root/core/src/lib.rs", "pub fn one() -> u8 { 1 }\n");
    stage.file(
        "root/web/package.json",
        r#"{"name": "web", "main": "src/index.ts", "scripts": {"build": "tsc", "test": "jest"}}"#,
    );
    stage.file("root/web/pnpm-lock.yaml", "");
    stage.file("root/web/src/index.ts", "export {}\n");
    stage.file("root/web/node_modules/left/package.json", r#"{"name": "left", "scripts": {"build": "no"}}"#);
    stage.file("root/web/node_modules/left/README.md", "# Left\n");
    stage.file("root/README.md", "# App\n\nText.\n");
    stage.file("root/CHANGELOG.md", "# Changes\n");
    stage.file("root/docs/guide.rst", "Guide\n=====\n");
    stage.file("root/.gitignore", "/target\n");
    stage.file("root/target/debug/README.md", "# Built\n");
    stage.file("service/pyproject.toml", "[project]\nname = \"service\"\n[tool.pytest.ini_options]\n");
    stage.file("service/uv.lock", "");
    stage.file("service/main.py", "print()\n");
    stage.file("service/README.rst", "Service\n=======\n");
    stage
}

#[tokio::test]
async fn the_tools_are_offered_only_if_enabled() {
    let stage = two_projects();
    let mut plain = stage.connect(&["root"]).await;
    let list = plain.ask("tools/list", json!({})).await.to_string();
    let refused = plain.call("analyze_project", json!({})).await;
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
    let mut whole = stage.connect_whole(&["root"]).await;
    let all = whole.ask("tools/list", json!({})).await;
    for name in TOOLS {
        assert!(!list.contains(name));
        let tools = all["result"]["tools"].as_array().unwrap();
        let tool = tools.iter().find(|tool| tool["name"] == name).unwrap();
        assert_eq!(tool["annotations"]["readOnlyHint"], true);
    }
}

#[tokio::test]
async fn each_root_is_analyzed() {
    let stage = two_projects();
    let mut client = stage.connect_whole(&["root", "service"]).await;
    let told = client.result("analyze_project", json!({})).await;
    let projects = told.data()["projects"].as_array().unwrap().clone();
    let [app, service] = projects.as_slice() else { panic!("{told:?}") };
    // Without dependencies and files that `.gitignore` names.
    assert_eq!((&app["files"], &app["path"]), (&json!(11), &json!(stage.name("root"))));
    let languages: Vec<_> = app["languages"].as_array().unwrap().iter().map(|one| &one["language"]).collect();
    assert_eq!(languages, ["Rust", "TypeScript"]);
    let manifests: Vec<_> =
        app["manifests"].as_array().unwrap().iter().map(|one| (one["system"].clone(), one["name"].clone())).collect();
    assert_eq!(
        manifests,
        [("cargo", "app"), ("cargo", "core"), ("npm", "web")].map(|(system, name)| (json!(system), json!(name)))
    );
    let starts =
        ["root/src/main.rs", "root/core/src/lib.rs", "root/web/src/index.ts"].map(|path| json!(stage.name(path)));
    assert_eq!(app["entryPoints"], json!(starts));
    assert_eq!((&service["files"], &service["manifests"][0]["name"]), (&json!(4), &json!("service")));
    assert_eq!(told.data()["truncated"], false);
    assert!(told.text().contains("11 files in 6 directories") && told.text().contains("cargo: Cargo.toml app 1.0.0"));
    // A single directory.
    let told = client.result("analyze_project", json!({"path": "web"})).await;
    assert_eq!(told.data()["projects"][0]["files"], 3);
    let missing = client.text("analyze_project", json!({"path": "nowhere"})).await;
    assert!(missing.contains("does not exist"), "{missing}");
}

#[tokio::test]
async fn documents_are_listed_the_most_general_first() {
    let stage = two_projects();
    let mut client = stage.connect_whole(&["root", "service"]).await;
    let told = client.result("find_documentation", json!({})).await;
    let documents: Vec<_> = told.data()["documents"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["path"].as_str().unwrap().to_owned(), one["title"].as_str().unwrap_or_default().to_owned()))
        .collect();
    let expect = [
        ("root/README.md", "App"),
        ("service/README.rst", "Service"),
        ("root/CHANGELOG.md", "Changes"),
        ("root/docs/guide.rst", "Guide"),
    ];
    assert_eq!(documents, expect.map(|(path, title)| (stage.name(path), title.to_owned())));
    let told = client.result("find_documentation", json!({"limit": 1, "path": "."})).await;
    assert_eq!((told.data()["documents"].as_array().unwrap().len(), &told.data()["truncated"]), (1, &json!(true)));
    assert!(told.text().contains("2 more"), "{}", told.text());
}

#[tokio::test]
async fn build_commands_are_merged_over_all_roots() {
    let stage = two_projects();
    let mut client = stage.connect_whole(&["root", "service", "root/core"]).await;
    let told = client.result("build_configuration", json!({})).await;
    let run = &told.data()["run"];
    let step = |directory: &str, command: &str| json!({"directory": stage.name(directory), "command": command});
    assert_eq!(
        run["test"],
        json!([
            step("root", "cargo test --workspace"),
            step("root/web", "pnpm run test"),
            step("service", "uv run pytest"),
        ])
    );
    assert_eq!(run["build"], json!([step("root", "cargo build --workspace"), step("root/web", "pnpm run build")]));
    let builds = told.data()["builds"].as_array().unwrap();
    // A root inside another one is not listed twice.
    assert_eq!(builds.len(), 4, "{told:?}");
    let core = builds.iter().find(|build| build["name"] == "core").unwrap();
    assert_eq!((&core["member"], &core["commands"]), (&json!(true), &json!([])));
}

/// The tools follow no hostile link, block on no FIFO, and use no text of a manifest as a path.
#[tokio::test]
async fn hostile_trees_are_harmless() {
    let stage = Stage::new();
    stage.file("outside/package.json", r#"{"name": "SECRET-name", "scripts": {"build": "SECRET"}}"#);
    stage.file("outside/README.md", "# SECRET-title\n");
    stage.file("root/huge/package.json", format!("{{\"name\": \"{}\"}}", "x".repeat(300 << 10)));
    stage.file("root/broken/Cargo.toml", "= = =");
    stage.file("root/deep/package.json", "[".repeat(200_000));
    stage.file("root/bytes/pyproject.toml", b"\xff\xfe");
    stage.file("root/pom/pom.xml", "<a>".repeat(60_000));
    stage.directory("root/link");
    stage.link("root/link/package.json", stage.path("outside/package.json"));
    stage.link("root/link/README.md", stage.path("outside/README.md"));
    stage.link("root/linked", stage.path("outside"));
    stage.directory("root/fifo");
    for name in ["package.json", "Cargo.toml", "README.md", "Makefile"] {
        stage.fifo(&format!("root/fifo/{name}"));
    }
    stage.file("root/.env", "NAME=SECRET");
    stage.file("root/.ssh/README.md", "# SECRET-title\n");
    stage.file("root/.ssh/package.json", r#"{"name": "SECRET-name"}"#);
    std::fs::write(stage.path("root").join(OsStr::from_bytes(b"name\xff\n.md")), "# Odd\n").unwrap();
    let mut client = stage.connect_whole(&["root"]).await;
    for tool in TOOLS {
        let told = client.result(tool, json!({})).await;
        let shown = told.to_string();
        assert_eq!(told["isError"], false, "{shown}");
        assert!(!shown.contains("SECRET") && !shown.contains(".ssh") && !shown.contains("fifo"), "{tool}: {shown}");
        assert!(!shown.contains("outside") && !shown.contains("linked"), "{tool}: {shown}");
    }
    let told = client.result("build_configuration", json!({})).await;
    let problems: Vec<_> =
        told.data()["builds"].as_array().unwrap().iter().map(|one| one["problem"].as_str().unwrap()).collect();
    assert_eq!(problems.len(), 5, "{problems:?}");
    let documents = client.text("find_documentation", json!({})).await;
    assert!(documents.contains("name\\xff\\x0a.md"), "{documents}");
    // A link that leads out is refused if a call names it.
    for tool in TOOLS {
        let refused = client.result(tool, json!({"path": "linked"})).await;
        assert_eq!((refused.code(), &refused["isError"]), (Some("outside_roots"), &json!(true)), "{tool}");
        let refused = client.result(tool, json!({"path": ".ssh"})).await;
        assert_eq!(refused.code(), Some("restricted"), "{tool}");
    }
}

#[tokio::test]
async fn without_roots_the_tools_say_that_nothing_is_shared() {
    let stage = Stage::new();
    let mut client = stage.connect_whole(&[]).await;
    for tool in TOOLS {
        let told = client.result(tool, json!({})).await;
        assert_eq!(told["isError"], true);
        assert!(told.text().contains("nothing is shared"), "{}", told.text());
    }
}

/// A root that is a single file, and one that was removed after the start.
#[tokio::test]
async fn single_files_and_missing_roots_are_reported() {
    let stage = Stage::new();
    stage.file("notes.md", "# Notes\n");
    stage.directory("gone");
    let settings = stage.settings(&["notes.md", "gone"]);
    std::fs::remove_dir(stage.path("gone")).unwrap();
    let server = FileServer::default().with_tools([Toolset::Project].into_iter().collect());
    let mut client = connect(settings, server, json!({})).await;
    let told = client.result("analyze_project", json!({})).await;
    let [file, gone] = told.data()["projects"].as_array().unwrap().as_slice() else { panic!("{told:?}") };
    assert_eq!((&file["files"], &file["bytes"]), (&json!(1), &json!(8)));
    assert!(gone["problem"].is_string(), "{gone}");
    let told = client.result("find_documentation", json!({})).await;
    assert_eq!(told.data()["documents"][0]["title"], "Notes");
}

/// Results for a large tree are limited. The tree has 10,000 files, or 100,000 with `ROOTWARD_LONG=1`.
#[tokio::test]
async fn results_for_a_large_tree_are_limited() {
    let stage = Stage::new();
    let each = if std::env::var_os("ROOTWARD_LONG").is_some() { 1000 } else { 100 };
    for directory in 0..100 {
        stage.directory(&format!("root/{directory}"));
        for file in 0..each {
            std::fs::File::create(stage.path(&format!("root/{directory}/{file}.md"))).unwrap();
        }
    }
    let mut client = stage.connect_whole(&["root"]).await;
    let told = client.result("analyze_project", json!({})).await;
    assert_eq!(told.data()["projects"][0]["files"], 100 * each);
    let mut call = message::call("find_documentation", json!({"limit": 5000}));
    call["_meta"] = json!({"progressToken": "far"});
    let told = client.ask("tools/call", call).await;
    let documents = &told["result"]["structuredContent"];
    assert_eq!((documents["documents"].as_array().unwrap().len(), &documents["truncated"]), (2000, &json!(true)));
    assert!(told.to_string().len() < 1 << 20, "{}", told.to_string().len());
    // A cancelled call gets no answer, and the session continues.
    client.call_as("cancelled", "analyze_project", json!({})).await;
    client.notify("notifications/cancelled", json!({"requestId": "cancelled"})).await;
    assert_eq!(client.result("path_in_roots", json!({"path": "1"})).await.data()["inRoots"], true);
}

/// Modern era: the server answers the call with a request for roots, and the client sends the call again with its roots.
#[tokio::test]
async fn the_server_asks_modern_clients_for_their_roots_first() {
    let stage = two_projects();
    let server = FileServer::default().with_tools([Toolset::Project].into_iter().collect());
    let mut client = connect(stage.settings(&[]), server, json!({})).await;
    let capabilities = json!({"roots": {}});
    let params = message::modern(&capabilities, message::call("build_configuration", json!({})));
    let asked = client.ask("tools/call", params.clone()).await;
    let carried: &Value = &asked["result"]["requestState"];
    assert!(carried.is_string(), "{asked}");
    let list = message::roots([format!("file://{}", stage.name("service"))]);
    let told = client.ask("tools/call", message::again(params, carried, &list)).await;
    assert_eq!(told["result"]["structuredContent"]["builds"][0]["name"], "service", "{told}");
}
