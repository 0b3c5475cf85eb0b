//! When saved roots are used: if neither client nor operator names any, and never beyond that.

use std::process::Stdio;

use rootward_testkit::client::Client;
use serde_json::json;

use super::{TIMES, stage_with};
use crate::stage::{Stage, assert_told};
use crate::wrap::scene::{Says, Scene, begin};

const TWO: &str = "version = 1\n[[root]]\npath = '[STAGE]/project/src'\naccess = 'ro'\n\
                   [[root]]\npath = '[STAGE]/project/docs'\nfor = ['git']\nrestrict = [{ pattern = 'closed' }]\n";

#[test]
fn saved_roots_are_used_without_other_roots() {
    let stage = stage_with(TWO).with("ROOTWARD_FALLBACK_DIR", "/tmp");
    assert_told!(
        "roots_in_force",
        stage,
        ["check", "src/main.rs"],
        ["check", "--access", "write", "src/main.rs"],
        ["check", "docs/x"],
        ["check", "--as", "git", "docs/x", "docs/closed/x"],
        ["check", "--root", "docs", "docs/x", "docs/closed/x", "src/main.rs"],
        ["explain", "src/main.rs"],
    );
    // The operator's roots take precedence. A program set to use only the client's roots or the fallback ignores
    // saved roots.
    let code = |stage: &Stage| stage.run(["check", "src/main.rs"]).code;
    let operator = stage.with("ROOTWARD_ROOTS", "/nowhere");
    assert_eq!(code(&operator), Some(1));
    let listed = operator.run(["roots", "list"]).stderr;
    assert!(listed.contains("not used: `roots` is set in the environment (ROOTWARD_ROOTS)"), "{listed}");
    for switch in ["ROOTWARD_STRICT", "ROOTWARD_IGNORE_CLIENT", "ROOTWARD_FALLBACK_ONLY"] {
        assert_eq!(code(&stage_with(TWO).with(switch, "1")), Some(1), "{switch}");
    }
}

#[test]
fn doctor_shows_them() {
    let told = |text: &str, from: &str| {
        let told = stage_with(text).told(&["doctor"]);
        told[told.find(from).unwrap()..].to_owned()
    };
    let whole = told(TWO, "\nsaved roots\n");
    let damaged = told("version = 1\n[[root]]\npath = 1", "\nsettings\n");
    insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => false, filters => TIMES.to_vec() }, {
        insta::assert_snapshot!("roots_doctor", whole + &damaged);
    });
}

#[test]
fn a_damaged_store_is_not_an_empty_store() {
    let stage = stage_with("version = 1\n[[root]]\npath = '[STAGE]/project/src'\n[[root]]\n");
    let fallback = stage.path("project");
    let stage = stage.with("ROOTWARD_FALLBACK_DIR", fallback);
    assert_told!(
        "roots_damaged",
        stage,
        ["check", "src/main.rs"],
        ["check", "--root", "docs", "docs/x"],
        ["serve", "docs"],
        ["wrap", "docs", "--", "true"],
        ["sandbox", "docs", "--", "true"],
        ["roots", "list"],
        ["roots", "add", "docs", "--yes"],
        ["roots", "remove", "src"],
    );
    let newer = stage_with("version = 2\n[[share]]\nwhat = 1\n");
    assert_told!("roots_newer", newer, ["check", "src/main.rs"], ["roots", "list"], ["roots", "add", "src", "--yes"]);
}

#[test]
fn served_without_any_arguments() {
    let stage = stage_with(TWO);
    let directories = |words: &[&str]| {
        let mut server = Client::start(stage.command([&["serve"], words].concat()).stderr(Stdio::null()));
        server.shake_hands(json!({}));
        let told = server.text("list_allowed_directories", json!({}));
        server.end();
        told
    };
    let (src, docs) = (stage.path("project/src"), stage.path("project/docs"));
    let (src, docs) = (src.to_str().unwrap(), docs.to_str().unwrap());
    let told = directories(&[]);
    assert!(told.contains(src) && !told.contains(docs), "{told}");
    let told = directories(&["--as", "git"]);
    assert!(told.contains(src) && told.contains(docs), "{told}");
    let told = directories(&["docs"]);
    assert!(!told.contains(src) && told.contains(docs), "{told}");
}

#[test]
fn wrapped_without_any_directory() {
    let scene = Scene::new();
    let store = scene.path("home/.config/rootward/roots.toml");
    std::fs::create_dir_all(store.parent().unwrap()).unwrap();
    let text = format!(
        "version = 1\n[[root]]\npath = '{}'\n[[root]]\npath = '{}'\nfor = ['git']\n",
        scene.text("project"),
        scene.text("other"),
    );
    std::fs::write(store, text).unwrap();
    let file = |name: &str| json!({"path": scene.path(name).join("file.txt")});
    let mut client = begin(&mut scene.wrap(&[]), Says::Nothing, &[]);
    assert_eq!(client.text("read", file("project")), "project");
    assert_eq!(client.call("read", file("other"))["result"]["structuredContent"]["code"], "outside_roots");
    assert_eq!(client.end(), Some(0));
    let mut client = begin(&mut scene.wrap(&["--as", "git"]), Says::Nothing, &[]);
    assert_eq!(client.text("read", file("other")), "other");
    assert_eq!(client.end(), Some(0));
    // Roots that the client names are used.
    let mut client = begin(&mut scene.wrap(&[]), Says::Roots, &[scene.uri("outside")]);
    assert_eq!(client.text("read", file("outside")), "outside");
    assert_eq!(client.call("read", file("project"))["result"]["structuredContent"]["code"], "outside_roots");
    assert_eq!(client.end(), Some(0));
}
