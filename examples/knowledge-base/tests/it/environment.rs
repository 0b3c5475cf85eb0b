//! Environment variables that set the roots, and a machine without Prolog.

use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use crate::scene::{Scene, query};

/// The first root in `capabilities`, for a client that shares `project` or does not support roots.
fn first_root(scene: &Scene, variables: &[(&str, &str)], shares: bool) -> String {
    let mut client = scene.client_with(variables);
    client.shake_hands(if shares { json!({"roots": {}}) } else { json!({}) });
    client.name_roots([scene.uri("project")]);
    let result = client.result("capabilities", json!({}));
    result.data()["roots"]["filePaths"][0].as_str().unwrap_or("none").to_owned()
}

#[test]
fn variables_choose_the_roots() {
    let scene = Scene::new();
    let [project, other, fallback] =
        ["project", "other", "home/.swipl-mcp-server"].map(|name| scene.path(name).display().to_string());
    let check = |variables: &[(&str, &str)], shares: bool, expect: &str| {
        assert_eq!(first_root(&scene, variables, shares), expect, "{variables:?} {shares}");
    };
    check(&[], true, &project);
    check(&[], false, &fallback);
    check(&[("SWI_MCP_ALLOWED_ROOTS", &other)], true, &other);
    check(&[("SWI_MCP_ALLOWED_ROOTS", &other)], false, &other);
    check(&[("SWI_MCP_ALLOWED_ROOTS", &other), ("SWI_MCP_STRICT_ROOTS", "true")], true, &other);
    check(&[("SWI_MCP_STRICT_ROOTS", "true")], true, &project);
    check(&[("SWI_MCP_STRICT_ROOTS", "true")], false, "none");
    check(&[("SWI_MCP_USE_LEGACY_DIR", "true")], true, &fallback);
    check(&[("SWI_MCP_ROOTS_CACHE_TTL", "1")], true, &project);
}

#[test]
fn the_fallback_directory_is_loaded_from_and_dumped_to() {
    let scene = Scene::new();
    let mut client = scene.client_with(&[]);
    client.shake_hands(json!({}));
    // The server created it.
    let mode = std::fs::metadata(scene.path("home/.swipl-mcp-server")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    scene.write("home/.swipl-mcp-server/facts.pl", "fact(1).\n");
    client.says("knowledge_base_load", json!({"path": "~/.swipl-mcp-server/facts.pl"}));
    client.says("knowledge_base_load", json!({"path": "facts.pl"}));
    client.says("knowledge_base_dump", json!({"path": "dump.pl"}));
    assert_eq!(scene.read("home/.swipl-mcp-server/dump.pl"), "fact(1).\n");
    assert!(client.fails("knowledge_base_load", json!({"path": scene.path("project")})).contains("Security Error"));
}

#[test]
fn a_list_that_outlives_its_time_is_asked_for_again() {
    let scene = Scene::new();
    let mut client = scene.client_with(&[("SWI_MCP_ROOTS_CACHE_TTL", "1")]);
    client.shake_hands(json!({"roots": {}}));
    client.name_roots([scene.uri("project")]);
    scene.write("other/facts.pl", "fact(1).\n");
    query(&mut client, "sleep(0.01)");
    // Without `list_changed`: the server requests the list again only because it expired.
    client.name_roots([scene.uri("other")]);
    client.says("knowledge_base_load", json!({"path": "facts.pl"}));
}

#[test]
fn mistakes_keep_the_server_from_starting() {
    let scene = Scene::new();
    let check = |variables: &[(&str, &str)], says: &str| {
        let output =
            scene.command().envs(variables.iter().copied()).stderr(std::process::Stdio::piped()).output().unwrap();
        let errors = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && errors.contains(says), "{errors}");
    };
    check(&[("SWI_MCP_ALLOWED_ROOTS", "src")], "environment variable SWI_MCP_ALLOWED_ROOTS: not a usable root: `src`");
    check(
        &[("SWI_MCP_ALLOWED_ROOTS", "/etc")],
        "environment variable SWI_MCP_ALLOWED_ROOTS: `/etc` cannot be shared (in `/etc`, which belongs to the system)",
    );
    check(
        &[("SWI_MCP_STRICT_ROOTS", "perhaps")],
        "environment variable SWI_MCP_STRICT_ROOTS: `perhaps` (neither `true` nor `false`)",
    );
    check(&[("SWI_MCP_ROOTS_CACHE_TTL", "soon")], "environment variable SWI_MCP_ROOTS_CACHE_TTL: `soon`");
    check(
        &[("SWI_MCP_STRICT_ROOTS", "1"), ("SWI_MCP_USE_LEGACY_DIR", "1")],
        "settings contradict each other: SWI_MCP_STRICT_ROOTS, SWI_MCP_USE_LEGACY_DIR",
    );
}

#[test]
fn without_prolog_the_error_says_what_to_install() {
    let scene = Scene::new();
    let mut client = scene.client_with(&[("PATH", scene.path("home").to_str().unwrap())]);
    client.shake_hands(json!({"roots": {}}));
    client.name_roots([scene.uri("project")]);
    let said = client.fails("query", json!({"query": "true"}));
    assert!(said.starts_with("SWI-Prolog is not installed: there is no command `swipl` in `PATH`"), "{said}");
    assert!(said.contains("hint: install it (on Debian and Ubuntu `apt-get install swi-prolog-nox`"), "{said}");
    // Tools that do not need Prolog work.
    client.says("capabilities", json!({}));
}
