//! `rootward hub`, in front of scripted servers.

mod chaos;
#[cfg(feature = "http")]
mod http;
mod modern;
mod reloading;
#[cfg(feature = "connect")]
mod remote;

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use rootward_testkit::client::{Client, message};
use serde_json::{Value, json};

use crate::wrap::scene::Scene;

/// The configuration of a server that does what the test tells it, with these settings.
fn server(settings: &Value) -> Value {
    let server = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/wrap/server.py");
    json!({"command": "python3", "args": [server], "rootward": settings})
}

/// `rootward hub` with this configuration.
fn hub(scene: &Scene, config: &Value, words: &[&str]) -> Command {
    let file = scene.path("home/servers.json");
    std::fs::write(&file, config.to_string()).unwrap();
    let mut command = scene.rootward(&[&["hub", "--config", file.to_str().unwrap()], words].concat());
    command.current_dir(scene.path("outside"));
    command
}

/// A client with these roots, after the handshake.
fn begin(command: &mut Command, roots: &[String]) -> Client {
    let mut client = Client::start(command);
    client.reply("roots/list", Some(json!({"result": message::roots(roots)})));
    let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {"roots": {"listChanged": true}}});
    let answer = client.ask("initialize", hello);
    assert_eq!(answer["result"]["serverInfo"]["name"], "rootward-hub", "{answer}");
    client.notify("notifications/initialized", ());
    client
}

fn two(scene: &Scene) -> Value {
    json!({"mcpServers": {
        "a": server(&json!({})),
        "b": server(&json!({"roots": [scene.text("other") + ":ro"], "tools": {"deny": ["crash"]}})),
    }})
}

#[test]
fn two_servers_live_in_their_roots() {
    let scene = Scene::new();
    for _ in ["not remembered", "remembered"] {
        let mut client = begin(&mut hub(&scene, &two(&scene), &[]), &[scene.uri("project")]);
        let listed = client.ask("tools/list", json!({}));
        let names: Vec<&str> =
            listed["result"]["tools"].as_array().unwrap().iter().filter_map(|tool| tool["name"].as_str()).collect();
        assert!(names.contains(&"get-roots") && names.contains(&"a__read") && names.contains(&"a__crash"), "{names:?}");
        assert!(names.contains(&"b__read") && !names.contains(&"b__crash"), "{names:?}");
        assert_eq!(client.text("a__read", json!({"path": scene.path("project/file.txt")})), "project");
        assert_eq!(client.text("a__where", json!({})), scene.text("project"));
        assert_eq!(client.text("b__read", json!({"path": scene.path("other/file.txt")})), "other");
        for (tool, path) in
            [("a__read", "other/file.txt"), ("b__read", "project/file.txt"), ("a__read", "outside/file.txt")]
        {
            let refused = client.call(tool, json!({"path": scene.path(path)}));
            assert_eq!(refused["result"]["structuredContent"]["code"], "outside_roots", "{tool} {path}: {refused}");
        }
        let refused = client.call("b__write_file", json!({"path": scene.path("other/new.txt"), "content": "x"}));
        assert_eq!(refused["result"]["structuredContent"]["code"], "access_denied", "{refused}");
        let listed: Value = serde_json::from_str(&client.text("b__roots", json!({}))).unwrap();
        assert_eq!(listed["roots"][0]["uri"], scene.uri("other"), "{listed}");
        let told = client.call("get-roots", json!({}))["result"]["structuredContent"].clone();
        assert_eq!(told["filePaths"], json!([scene.text("project")]), "{told}");
        assert_eq!(told["servers"][1]["roots"], json!([scene.text("other")]), "{told}");
        assert!(told["servers"][0]["confinement"].as_str().unwrap().contains("kernel"), "{told}");
        assert_eq!(client.end(), Some(0));
    }
    let denied: Vec<Value> = scene.decisions().into_iter().filter(|line| line["decision"] == "deny").collect();
    assert_eq!(denied.len(), 8, "{denied:?}");
    assert!(denied.iter().any(|line| line["server"] == "a") && denied.iter().any(|line| line["server"] == "b"));
}

/// The example of the document that the hub grew from: an unknown command under a well-known name.
#[test]
fn a_server_called_filesystem_gets_its_directories_as_arguments() {
    let scene = Scene::new();
    let roots = [scene.uri("project"), scene.uri("other")];
    let given = json!([scene.text("project"), scene.text("other")]);
    let words = |name: &str, mut server: Value, more: &[&str]| -> Value {
        server["args"].as_array_mut().unwrap().extend(more.iter().map(|word| json!(word)));
        let mut client = begin(&mut hub(&scene, &json!({"mcpServers": {name: server}}), &[]), &roots);
        let words = serde_json::from_str(&client.text(&format!("{name}__words"), json!({}))).unwrap();
        assert_eq!(client.end(), Some(0));
        words
    };
    let plain = || server(&json!({}));
    assert_eq!(words("filesystem", plain(), &["--read-only"]), json!(["--read-only", given[0], given[1]]));
    assert_eq!(words("files", plain(), &["--read-only"]), json!(["--read-only"]));
    // If the arguments contain a placeholder for the roots, nothing is appended.
    assert_eq!(words("filesystem", plain(), &["--at=${root}"]), json!([format!("--at={}", scene.text("project"))]));
    // The configuration takes precedence over the name.
    let told = server(&json!({"directories": "arguments"}));
    assert_eq!(words("files", told, &["--read-only"]), json!(["--read-only", given[0], given[1]]));
    let told = server(&json!({"directories": "env:DIRECTORIES"}));
    assert_eq!(words("filesystem", told, &["--read-only"]), json!(["--read-only"]));
}

/// The hub starts in `outside`. What lies there has the same name, but was not meant.
#[test]
fn a_relative_command_is_looked_up_in_the_servers_own_directory() {
    let scene = Scene::new();
    let program = format!("#!/usr/bin/python3\n{}", include_str!("wrap/server.py"));
    let place = |name: &str, text: &str| {
        let file = scene.path(name);
        std::fs::write(&file, text).unwrap();
        std::fs::set_permissions(file, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    };
    place("other/server", &program);
    place("outside/only_here", &program);
    let server = |command: &str, root: &str, sandbox: &str| {
        let settings = json!({"roots": [scene.text(root) + ":ro"], "sandbox": sandbox});
        let server =
            json!({"command": command, "args": ["./a", "b"], "cwd": scene.path("other"), "rootward": settings});
        json!({"mcpServers": {"a": server}})
    };
    let expect = json!([format!("{}/./a", scene.text("other")), "b"]);
    for (round, root) in ["other", "project", "other", "project"].into_iter().enumerate() {
        if round == 2 {
            place("outside/server", "#!/bin/sh\necho decoy >&2\n");
        }
        for sandbox in ["auto", "off"] {
            let config = server("./server", root, sandbox);
            let run = hub(&scene, &config, &["--check"]).output().unwrap();
            assert_eq!(run.status.code(), Some(0), "{root} {sandbox}: {run:?}");
            let mut client = begin(&mut hub(&scene, &config, &[]), &[]);
            let words: Value = serde_json::from_str(&client.text("a__words", json!({}))).unwrap();
            assert_eq!(words, expect, "{root} {sandbox} {round}");
            assert_eq!(client.text("a__where", json!({})), scene.text(root));
            assert_eq!(client.end(), Some(0));
            let run = hub(&scene, &server("./only_here", root, sandbox), &["--check"]).output().unwrap();
            assert_eq!(run.status.code(), Some(2), "{root} {sandbox}: {run:?}");
        }
    }
}

/// In the hub's own ceiling, in a server's, and among a server's fixed roots.
#[test]
fn patterns_of_the_hub_are_followed() {
    let scene = Scene::new();
    std::fs::create_dir_all(scene.path("clients/acme")).unwrap();
    std::fs::write(scene.path("clients/acme/file.txt"), "acme").unwrap();
    let pattern = scene.text("clients/*");
    let config = json!({"mcpServers": {
        "ceiling": server(&json!({"ceiling": [pattern]})),
        "fixed": server(&json!({"roots": [pattern]})),
        "plain": server(&json!({})),
    }});
    let mut client = begin(&mut hub(&scene, &config, &["--root", &pattern]), &[scene.uri("clients")]);
    let read = |client: &mut Client, server: &str, name: &str| {
        client.call(&format!("{server}__read"), json!({"path": scene.path(&format!("clients/{name}/file.txt"))}))
    };
    for server in ["ceiling", "fixed", "plain"] {
        assert_eq!(read(&mut client, server, "acme")["result"]["content"][0]["text"], "acme", "{server}");
    }
    let told = client.call("get-roots", json!({}))["result"]["structuredContent"].clone();
    assert_eq!(
        (&told["roots"][0]["pattern"], &told["filePaths"]),
        (&json!(pattern), &json!([scene.text("clients/acme")]))
    );
    std::fs::create_dir(scene.path("clients/later")).unwrap();
    std::fs::write(scene.path("clients/later/file.txt"), "later").unwrap();
    for server in ["ceiling", "fixed", "plain"] {
        let mut answer = Value::Null;
        for _ in 0..100 {
            answer = read(&mut client, server, "later");
            if answer["result"]["content"][0]["text"] == "later" {
                break;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        assert_eq!(answer["result"]["content"][0]["text"], "later", "{server}: {answer}");
    }
    assert_eq!(client.end(), Some(0));
}

#[test]
fn a_short_session_remembers_what_it_learned() {
    let scene = Scene::new();
    let config = json!({"mcpServers": {"a": server(&json!({}))}});
    let mut client = begin(&mut hub(&scene, &config, &[]), &[scene.uri("project")]);
    let listed = client.ask("tools/list", json!({})).to_string();
    assert!(listed.contains("a__read"), "{listed}");
    // When the session ends, no process is left to wait for.
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(client.end(), Some(0));
    let kept = std::fs::read_dir(scene.path("home/.local/state/rootward/handshakes")).unwrap().flatten();
    let kept: Vec<String> = kept.map(|file| std::fs::read_to_string(file.path()).unwrap()).collect();
    assert!(kept.len() == 1 && kept[0].contains("tools/list"), "{kept:?}");
}

#[test]
fn servers_follow_the_clients_roots_and_the_others_stay() {
    let scene = Scene::new();
    let mut client = begin(&mut hub(&scene, &two(&scene), &[]), &[scene.uri("project")]);
    assert_eq!(client.text("a__read", json!({"path": scene.path("project/file.txt")})), "project");
    let process = client.text("b__process", json!({}));
    client.share(&[scene.uri("other")]);
    let refused = client.call("a__read", json!({"path": scene.path("project/file.txt")}));
    assert_eq!(refused["result"]["structuredContent"]["code"], "outside_roots", "{refused}");
    assert_eq!(client.text("a__read", json!({"path": scene.path("other/file.txt")})), "other");
    assert_eq!(client.text("b__process", json!({})), process, "its roots did not change");
    assert_eq!(client.end(), Some(0));
}

#[test]
fn a_server_that_ends_does_not_affect_the_others() {
    let scene = Scene::new();
    let config = json!({"mcpServers": {
        "a": server(&json!({})),
        "gone": {"command": "/no/such/program"},
        "b": server(&json!({})),
    }});
    let mut client = begin(&mut hub(&scene, &config, &[]), &[scene.uri("project")]);
    let listed = client.ask("tools/list", json!({})).to_string();
    assert!(listed.contains("a__read") && listed.contains("b__read"), "{listed}");
    assert_eq!(client.text("b__where", json!({})), scene.text("project"));
    let died = client.call("a__crash", json!({}));
    assert_eq!(died["error"]["code"], -32603, "{died}");
    assert!(died["error"]["message"].as_str().unwrap().contains('7'), "{died}");
    assert_eq!(client.text("b__where", json!({})), scene.text("project"));
    assert_eq!(client.text("a__where", json!({})), scene.text("project"));
    let told = client.call("get-roots", json!({}))["result"]["structuredContent"]["servers"][2].clone();
    assert_eq!(told["state"], "failed", "{told}");
    assert!(told["error"].as_str().unwrap().contains("/no/such/program"), "{told}");
    assert_eq!(client.end(), Some(0));
}

#[test]
fn the_compact_form_holds_paths_as_well() {
    let scene = Scene::new();
    let mut config = two(&scene);
    config["rootward"] = json!({"catalog": "compact"});
    let mut client = begin(&mut hub(&scene, &config, &[]), &[scene.uri("project")]);
    let listed = client.ask("tools/list", json!({}));
    assert_eq!(listed["result"]["tools"].as_array().unwrap().len(), 5, "{listed}");
    let call = |server: &str, path: &str| json!({"serverName": server, "toolName": "read", "toolArgs": {"path": scene.path(path)}});
    assert_eq!(client.text("call-tool", call("a", "project/file.txt")), "project");
    let refused = client.call("call-tool", call("a", "outside/file.txt"));
    assert_eq!(refused["result"]["structuredContent"]["code"], "outside_roots", "{refused}");
    assert_eq!(client.end(), Some(0));
}

#[test]
fn a_configuration_is_checked_and_its_mistakes_are_reported() {
    let scene = Scene::new();
    let run = hub(&scene, &two(&scene), &["--check", "--json"]).output().unwrap();
    assert_eq!(run.status.code(), Some(0), "{run:?}");
    let told: Value = serde_json::from_slice(&run.stdout).unwrap();
    assert_eq!((&told[0]["name"], &told[0]["confined"]), (&json!("a"), &json!(true)), "{told}");
    assert!(told[1]["ceiling"][0].as_str().unwrap().starts_with(&scene.text("other")), "{told}");
    let wrong = json!({"mcpServers": {"a": {"command": "x", "rootward": {"isolaton": "all"}}}});
    let run = hub(&scene, &wrong, &["--check"]).output().unwrap();
    let says = String::from_utf8_lossy(&run.stderr).into_owned();
    assert_eq!(run.status.code(), Some(2), "{says}");
    assert!(says.contains("line 1, column") && says.contains("isolation"), "{says}");
}

#[test]
fn a_configuration_that_a_server_could_write_is_refused() {
    let scene = Scene::new();
    // Starting a server that may write the project records the project as writable.
    let mut client = begin(&mut hub(&scene, &two(&scene), &[]), &[scene.uri("project")]);
    assert_eq!(client.text("a__where", json!({})), scene.text("project"));
    assert_eq!(client.end(), Some(0));
    let refused = |name: &str| {
        let file = scene.path("project").join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, two(&scene).to_string()).unwrap();
        let run = scene.rootward(&["hub", "--check", "--config", file.to_str().unwrap()]).output().unwrap();
        let says = String::from_utf8_lossy(&run.stderr).into_owned();
        (run.status.code() == Some(2)).then_some(says)
    };
    let says = refused("servers.json").unwrap();
    assert!(says.contains("could have written it") && says.contains("mcp.json"), "{says}");
    // A link that the user made leads there.
    let link = scene.path("home/link.json");
    std::os::unix::fs::symlink(scene.path("project/servers.json"), &link).unwrap();
    let run = scene.rootward(&["hub", "--check", "--config", link.to_str().unwrap()]).output().unwrap();
    assert_eq!(run.status.code(), Some(2), "{run:?}");
    // Closed for writing in every root, but a server can create one if there was none.
    let mut client = begin(&mut hub(&scene, &two(&scene), &[]), &[scene.uri("project")]);
    let planted = json!({"path": ".mcp.json", "content": "{}"});
    assert_eq!(client.call("a__write_file", planted)["result"]["structuredContent"]["code"], "restricted");
    assert_eq!(client.end(), Some(0));
    let mut made =
        scene.rootward(&["sandbox", "--root", &scene.text("project"), "--", "touch", &scene.text("project/.mcp.json")]);
    assert!(made.status().unwrap().success(), "if the kernel can close it now, this refusal is no longer needed");
    assert!(refused(".mcp.json").unwrap().contains("could have written it"));
}

#[test]
fn an_env_file_that_a_server_could_write_is_refused() {
    let scene = Scene::new();
    let mut config = two(&scene);
    let mut client = begin(&mut hub(&scene, &config, &[]), &[scene.uri("project")]);
    assert_eq!(client.text("a__where", json!({})), scene.text("project"));
    assert_eq!(client.end(), Some(0));
    std::os::unix::fs::symlink(scene.path("project/variables"), scene.path("outside/link")).unwrap();
    for (name, expect) in [("project/variables", Some(2)), ("outside/link", Some(2)), ("outside/variables", Some(0))] {
        let file = scene.path(name);
        std::fs::write(&file, "GREETING=hello\n").unwrap();
        config["mcpServers"]["a"]["envFile"] = json!(file);
        let run = hub(&scene, &config, &["--check"]).output().unwrap();
        assert_eq!(run.status.code(), expect, "{name}: {run:?}");
    }
    let mut client = begin(&mut hub(&scene, &config, &[]), &[scene.uri("project")]);
    assert_eq!(client.text("a__variable", json!({"name": "GREETING"})), "\"hello\"");
    assert_eq!(client.end(), Some(0));
}

/// A server in its own mount namespace, as in a container: its first root is `/mnt` there.
#[test]
fn a_server_that_sees_other_paths_is_held_to_the_roots_by_its_own_names() {
    let scene = Scene::new();
    let python = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/wrap/server.py");
    let script = r#"mount --bind "$1" /mnt && shift && exec python3 "$@""#;
    let config = json!({"mcpServers": {"box": {
        "command": "unshare",
        "args": ["-rm", "sh", "-c", script, "sh", "${root}", python, "${roots}"],
        "rootward": {"sandbox": "off", "paths": [{"from": "${root}", "to": "/mnt"}]},
    }}});
    let mut client = begin(&mut hub(&scene, &config, &[]), &[scene.uri("project")]);
    let words: Vec<String> = serde_json::from_str(&client.text("box__words", json!({}))).unwrap();
    assert_eq!(words, ["/mnt"]);
    assert_eq!(client.text("box__read", json!({"path": "/mnt/file.txt"})), "project");
    let listed: Value = serde_json::from_str(&client.text("box__roots", json!({}))).unwrap();
    assert_eq!(listed["roots"][0]["uri"], "file:///mnt", "{listed}");
    for path in
        [scene.text("project/file.txt"), scene.text("other/file.txt"), "/etc/passwd".to_owned(), "file.txt".to_owned()]
    {
        let refused = client.call("box__read", json!({"path": path}))["result"]["structuredContent"].clone();
        assert_eq!((refused["code"].as_str(), refused["path"].as_str()), (Some("outside_roots"), Some(path.as_str())));
        assert!(refused["hint"].as_str().unwrap().ends_with("is `/mnt`"), "{refused}");
    }
    let told = client.call("get-roots", json!({}))["result"]["structuredContent"]["servers"][0].clone();
    assert_eq!(told["paths"], format!("`{}` is `/mnt`", scene.text("project")), "{told}");
    assert_eq!(client.end(), Some(0));
    let read: Vec<Value> = scene.decisions().into_iter().filter(|line| line["decision"] == "allow").collect();
    assert_eq!(read[0]["path"], "/mnt/file.txt", "{read:?}");
    assert_eq!(read[0]["resolved"], scene.text("project/file.txt"), "{read:?}");
}

#[test]
fn a_server_without_tell_roots_gets_no_roots() {
    let scene = Scene::new();
    let config = json!({"mcpServers": {"a": server(&json!({"tell_roots": false}))}});
    let mut client = begin(&mut hub(&scene, &config, &[]), &[scene.uri("project")]);
    let listed: Value = serde_json::from_str(&client.text("a__roots", json!({}))).unwrap();
    assert_eq!(listed["roots"], json!([]), "{listed}");
    assert_eq!(client.text("a__read", json!({"path": scene.path("project/file.txt")})), "project");
    assert_eq!(client.end(), Some(0));
}

#[test]
#[cfg(feature = "serve")]
fn without_a_configuration_the_hub_serves_files() {
    let scene = Scene::new();
    let mut command = scene.rootward(&["hub"]);
    command.current_dir(scene.path("outside")).stderr(Stdio::piped());
    let mut client = Client::start(&mut command);
    client.shake_hands(json!({"roots": {"listChanged": true}}));
    client.share([scene.uri("project")]);
    assert_eq!(client.says("read_text_file", json!({"path": scene.path("project/file.txt")})), "project");
    let refused = client.call("read_text_file", json!({"path": scene.path("other/file.txt")}));
    assert_eq!(refused["result"]["structuredContent"]["code"], "outside_roots", "{refused}");
    let told = client.call("get-roots", json!({}))["result"]["structuredContent"].clone();
    assert_eq!(told["filePaths"], json!([scene.text("project")]), "{told}");
    let (code, says) = client.end_with_errors();
    assert_eq!(code, Some(0), "{says}");
    assert!(says.contains("no server is configured") && says.contains("mcp.json"), "{says}");
    let run = scene.rootward(&["hub", "--config", "/no/such/file.json"]).output().unwrap();
    assert_eq!(run.status.code(), Some(2), "a file that is named must exist: {run:?}");
}

#[test]
fn wrap_offers_get_roots_if_a_setting_says_so() {
    let scene = Scene::new();
    let talk = |words: &[&str]| {
        let mut client = Client::start(&mut scene.wrap(words));
        client.shake_hands(json!({"roots": {"listChanged": true}}));
        client.share([scene.uri("project")]);
        let listed = client.ask("tools/list", json!({})).to_string();
        assert!(listed.contains("\"read\""), "{listed}");
        assert_eq!(client.text("read", json!({"path": scene.path("project/file.txt")})), "project");
        let told = listed.contains("get-roots").then(|| client.call("get-roots", json!({})));
        client.end();
        told.map(|told| told["result"]["structuredContent"].clone())
    };
    assert_eq!(talk(&[]), None);
    let told = talk(&["--get-roots"]).unwrap();
    assert_eq!(told["servers"][0]["roots"], json!([scene.text("project")]), "{told}");
    std::fs::create_dir_all(scene.path("home/.config/rootward")).unwrap();
    std::fs::write(scene.path("home/.config/rootward/config.toml"), "get_roots = true\n").unwrap();
    assert_eq!(talk(&[]).unwrap()["filePaths"], json!([scene.text("project")]));
}

#[test]
fn instructions_of_servers_are_passed_on_once_they_are_cached() {
    let scene = Scene::new();
    let mut config = two(&scene);
    config["mcpServers"]["a"]["env"] = json!({"INSTRUCTIONS": "Ask me about files."});
    let told = || {
        let mut client = Client::start(&mut hub(&scene, &config, &[]));
        let answer = client.ask("initialize", json!({"protocolVersion": "2025-06-18", "capabilities": {}}));
        client.notify("notifications/initialized", ());
        client.ask("tools/list", json!({}));
        client.end();
        answer["result"]["instructions"].as_str().unwrap().to_owned()
    };
    let first = told();
    assert!(first.contains("servers: a, b") && !first.contains("Ask me"), "{first}");
    let second = told();
    assert!(second.ends_with("\n\na: Ask me about files."), "{second}");
}
