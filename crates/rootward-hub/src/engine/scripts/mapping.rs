//! Servers that have their own names for directories of this machine.

use serde_json::{Value, json};

use super::{Change, Play};
use crate::config::PathPairs;
use crate::engine::rules::{Rules, Tells, TreatedBy};

/// A play whose server calls its first root `/projects` and has listed a tool.
fn play(adjust: impl FnOnce(&mut Rules)) -> Play {
    Play::with_tool("read", &["path", "target", "thing"], Change::NewChild, |rules| {
        rules.paths = PathPairs::new([("${root}".into(), "/projects".to_owned())]);
        adjust(rules);
    })
}

/// The refusal of a call; `None` if it reached the server.
fn call(play: &mut Play, arguments: &Value) -> Option<Value> {
    play.refusal("read", arguments)
}

#[test]
fn a_path_is_checked_under_the_servers_own_name() {
    let mut play = play(|_| {});
    for path in ["/projects", "/projects/a.txt", "/projects//src/./b", "file:///projects/a.txt"] {
        assert_eq!(call(&mut play, &json!({"path": path})), None, "{path}");
    }
}

#[test]
fn what_does_not_map_is_refused() {
    let mut play = play(|_| {});
    let of_host = play.path("project/a.txt");
    for path in [
        "/etc/passwd",
        "/projects-evil/a",
        "/projects/../etc/passwd",
        "/projects/%2e%2e/x",
        "file:///etc/passwd",
        "~/x",
        "$HOME/x",
        r"C:\\projects",
        &of_host,
    ] {
        let refused = call(&mut play, &json!({"path": path})).unwrap_or_else(|| panic!("{path}"));
        assert_eq!((refused["code"].as_str(), refused["path"].as_str()), (Some("outside_roots"), Some(path)));
        let hint = refused["hint"].as_str().unwrap();
        assert!(hint.starts_with("give the whole path as this server sees it") && hint.ends_with("is `/projects`"));
    }
}

#[test]
fn a_relative_path_does_not_map() {
    let mut play = play(|_| {});
    for arguments in [json!({"path": "a.txt"}), json!({"path": ""}), json!({"thing": "./a"}), json!({"target": "a/b"})]
    {
        assert!(call(&mut play, &arguments).is_some(), "{arguments}");
    }
    for arguments in [json!({"target": "es2020"}), json!({"thing": "a word"}), json!({"path": "/projects/a b"})] {
        assert_eq!(call(&mut play, &arguments), None, "{arguments}");
    }
}

/// A link that leads out of the root on this machine is an escape, whatever the server calls it.
#[test]
#[expect(clippy::disallowed_methods, reason = "tests build the trees that clients share")]
fn a_mapped_path_is_resolved_here() {
    let mut play = play(|_| {});
    std::os::unix::fs::symlink(play.path("other"), play.path("project/link")).unwrap();
    assert_eq!(call(&mut play, &json!({"path": "/projects/link/x"})).unwrap()["code"], "outside_roots");
    assert_eq!(call(&mut play, &json!({"path": "/projects/there/x"})), None);
}

#[test]
fn the_server_is_told_its_own_names() {
    let told = |mut play: Play| {
        play.child(1, &json!({"id": "r", "method": "roots/list"}));
        play.given(1).into_iter().find(|message| message["id"] == "r").unwrap()["result"]["roots"].clone()
    };
    assert_eq!(told(play(|_| {})), json!([{"uri": "file:///projects", "name": "projects"}]));
    let elsewhere = PathPairs::new([("/nowhere".into(), "/projects".to_owned())]);
    assert_eq!(told(play(|rules| rules.paths = elsewhere)), json!([]));
    assert_eq!(told(play(|rules| rules.tells = Tells::Nothing)), json!([]));
}

#[test]
fn the_hint_of_a_hub_names_its_configuration() {
    let mut play = play(|rules| {
        rules.paths = PathPairs::default();
        rules.treated_by = TreatedBy::Configuration;
    });
    let refused = call(&mut play, &json!({"path": "/etc/passwd"})).unwrap();
    let hint = r#"if this is not a path, add `{"rootward":{"arguments":{"read.path":"text"}}}` to the server in the hub's configuration"#;
    assert_eq!(refused["hint"], hint);
}
