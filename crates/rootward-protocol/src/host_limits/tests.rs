//! States as Codex sends them, and states that it should never send, checked on a real tree.

use std::ffi::OsStr;
use std::os::unix::fs::symlink;
use std::sync::Arc;

use rootward_core::{Access, Code, Guard, GuardOptions, Origin, Restrictions, Root, RootSet, Validation};
use serde_json::value::to_raw_value;
use serde_json::{Value, json};

use super::*;
use crate::frame::Message;

/// A directory `project` with some files, and a guard that allows all of it.
pub(super) struct Scene {
    directory: tempfile::TempDir,
    guard: Guard,
}

impl Scene {
    #[expect(clippy::disallowed_methods, reason = "builds a tree")]
    pub(super) fn new() -> Scene {
        let directory = tempfile::tempdir().unwrap();
        let project = directory.path().canonicalize().unwrap().join("project");
        for name in ["src/deep", "secret", ".git", "more"] {
            std::fs::create_dir_all(project.join(name)).unwrap();
        }
        for name in ["file.txt", "src/.env", "src/main.rs", "secret/key", ".git/HEAD"] {
            std::fs::write(project.join(name), "").unwrap();
        }
        let root = Root::from_path(&project, Origin::Flag).unwrap();
        let set = RootSet::place_ambient([root], &Validation::new(None));
        // No restrictions: these tests are about the limits.
        let options = GuardOptions { restrictions: Arc::new(Restrictions::none()), ..GuardOptions::default() };
        let guard = Guard::new(set, options);
        Scene { directory, guard }
    }

    #[expect(clippy::disallowed_methods, reason = "resolves a path of the test's own tree")]
    fn path(&self, name: &str) -> String {
        self.directory.path().canonicalize().unwrap().join(name).to_str().unwrap().to_owned()
    }

    /// The limits' answer for a path below the project, which the roots allow.
    pub(super) fn says(&self, state: &Value, path: &str, access: Access) -> Option<(Code, String)> {
        let limits = HostLimits::read(&to_raw_value(state).unwrap());
        let grant = self.guard.check(path, access).unwrap_or_else(|denial| panic!("{path}: {denial:?}"));
        let denial = limits.place_ambient(&self.guard).check(&grant, OsStr::new(path)).err()?;
        Some((denial.code(), denial.to_string()))
    }

    /// Checks the allowed access: `rwd` for reading, writing and deleting.
    #[track_caller]
    fn check(&self, state: &Value, path: &str, expect: &str) {
        let kinds = [("r", Access::READ), ("w", Access::WRITE), ("d", Access::DELETE)];
        let allowed = kinds.iter().filter(|(_, access)| self.says(state, path, *access).is_none());
        assert_eq!(allowed.map(|(letter, _)| *letter).collect::<String>(), expect, "{path}: {state}");
    }

    #[expect(clippy::disallowed_methods, reason = "builds a tree")]
    fn link(&self, name: &str, target: &str) -> String {
        let link = self.path(name);
        symlink(target, &link).unwrap();
        link
    }

    pub(super) fn state(&self, entries: &Value) -> Value {
        json!({
            "permissionProfile": {
                "type": "managed",
                "file_system": {"type": "restricted", "entries": entries, "glob_scan_max_depth": 3},
                "network": "restricted",
            },
            "codexLinuxSandboxExe": null,
            "sandboxCwd": format!("file://{}", self.path("project")),
            "useLegacyLandlock": false,
        })
    }

    fn policy(&self, policy: &Value) -> Value {
        json!({"sandboxPolicy": policy, "sandboxCwd": self.path("project"), "codexLinuxSandboxExe": null})
    }
}

pub(super) fn special(kind: &str, access: &str) -> Value {
    json!({"path": {"type": "special", "value": {"kind": kind}}, "access": access})
}

pub(super) fn below(subpath: &str, access: &str) -> Value {
    let value = json!({"kind": "project_roots", "subpath": subpath});
    json!({"path": {"type": "special", "value": value}, "access": access, "missing_path_behavior": "skip"})
}

fn at(path: &str, access: &str) -> Value {
    json!({"path": {"type": "path", "path": path}, "access": access})
}

pub(super) fn glob(pattern: &str, access: &str) -> Value {
    json!({"path": {"type": "glob_pattern", "pattern": pattern}, "access": access})
}

/// What Codex 0.166 sends in its three modes.
#[test]
fn the_modes_of_codex() {
    let scene = Scene::new();
    let reading = scene.state(&json!([special("root", "read")]));
    scene.check(&reading, "file.txt", "r");
    scene.check(&reading, "new.txt", "r");
    scene.check(&reading, ".", "r");
    let workspace = scene.state(&json!([
        special("root", "read"),
        special("project_roots", "write"),
        special("slash_tmp", "write"),
        special("tmpdir", "write"),
        below(".git", "read"),
        below(".agents", "read"),
        below(".codex", "read"),
    ]));
    scene.check(&workspace, "file.txt", "rwd");
    scene.check(&workspace, "src", "rwd");
    scene.check(&workspace, "src/new/deep.txt", "rwd");
    scene.check(&workspace, ".git/HEAD", "r");
    scene.check(&workspace, ".codex/config.toml", "r");
    let elsewhere = scene.state(&json!([special("root", "read"), at(&scene.path("other"), "write")]));
    scene.check(&elsewhere, "file.txt", "r");
    for profile in [
        json!({"type": "disabled"}),
        json!({"type": "managed", "file_system": {"type": "unrestricted"}, "network": "enabled"}),
    ] {
        let everything = json!({"permissionProfile": profile, "sandboxCwd": "file:///"});
        scene.check(&everything, "src", "rwd");
        assert!(HostLimits::read(&to_raw_value(&everything).unwrap()).is_everything());
    }
    assert!(!HostLimits::read(&to_raw_value(&reading).unwrap()).is_everything());
}

#[test]
fn an_external_sandbox_is_read_only() {
    let scene = Scene::new();
    let profile = json!({"permissionProfile": {"type": "external", "network": "enabled"}, "sandboxCwd": "file:///"});
    scene.check(&profile, "file.txt", "r");
    scene.check(&scene.policy(&json!({"type": "external-sandbox", "network_access": "enabled"})), "file.txt", "r");
}

#[test]
fn entries_of_every_kind() {
    let scene = Scene::new();
    let project = scene.path("project");
    // The entry with the most components decides, in any order.
    for entries in [
        json!([at(&project, "write"), below("secret", "deny"), below("src", "read"), below("src/deep", "write")]),
        json!([below("src/deep", "write"), below("src", "read"), below("secret", "none"), at(&project, "write")]),
    ] {
        let state = scene.state(&entries);
        scene.check(&state, "file.txt", "rwd");
        scene.check(&state, "src/main.rs", "r");
        scene.check(&state, "src/deep/new.txt", "rwd");
        scene.check(&state, "secret/key", "");
        scene.check(&state, "secret", "");
    }
    // Of two entries for one place: denied, else writable.
    scene.check(&scene.state(&json!([at(&project, "read"), special("project_roots", "write")])), "file.txt", "rwd");
    scene.check(
        &scene.state(&json!([at(&project, "write"), at(&project, "deny"), at(&project, "read")])),
        "file.txt",
        "",
    );
    // Other spellings of the same place.
    scene.check(&scene.state(&json!([special("current_working_directory", "write")])), "file.txt", "rwd");
    scene.check(&scene.state(&json!([at(&format!("file://{project}"), "write")])), "file.txt", "rwd");
    scene.check(&scene.state(&json!([at(&format!("{project}//./src/"), "write")])), "src/main.rs", "rwd");
    // Nothing is allowed unless an entry names it.
    for entries in [json!([]), json!([special("minimal", "read")]), json!([below("more", "write")])] {
        scene.check(&scene.state(&entries), "file.txt", "");
    }
    // The project of this test may itself be in `/tmp`.
    let temporary = HostLimits::read(&to_raw_value(&scene.state(&json!([special("slash_tmp", "read")]))).unwrap());
    let entries = vec![Entry { path: "/tmp".into(), allowed: Allowed::Reading }];
    assert_eq!(temporary.layers, Ok(vec![Layer { entries, ..Layer::default() }]));
    // The form without types.
    let untyped = json!({"permissionProfile": {"network": {"enabled": false}, "file_system": {"entries": [special("project_roots", "read")]}}, "sandboxCwd": project});
    scene.check(&untyped, "file.txt", "r");
}

#[test]
fn directories_that_codex_keeps() {
    let scene = Scene::new();
    let project = scene.path("project");
    let open = scene.state(&json!([at(&project, "write")]));
    for kept in [".git/config", ".agents/new", ".codex/new", ".GIT/new", ".git"] {
        scene.check(&open, kept, "r");
    }
    scene.check(&open, "src/.git/config", "rwd");
    scene.check(&open, ".gitignore", "rwd");
    let opened = scene.state(&json!([at(&project, "write"), below(".git", "write")]));
    scene.check(&opened, ".git/config", "rwd");
    scene.check(&opened, ".codex/new", "r");
}

#[test]
fn unknown_entries_give_no_access() {
    let scene = Scene::new();
    let open = special("project_roots", "write");
    let future = json!({"path": {"type": "special", "value": {"kind": "future"}}, "access": "write"});
    scene.check(&scene.state(&json!([future])), "file.txt", "");
    scene.check(&scene.state(&json!([open, future])), "file.txt", "rwd");
    for unknown in [
        special("future", "read"),
        special("tmpdir", "read"),
        json!({"path": {"type": "special", "value": {"kind": "unknown", "path": ":future"}}, "access": "read"}),
        json!({"path": {"type": "inode", "number": 7}, "access": "read"}),
        at("relative", "read"),
        at("C:\\src", "read"),
        at("/a/../b", "read"),
        below("../up", "read"),
        below("/absolute", "read"),
    ] {
        scene.check(&scene.state(&json!([open, unknown])), "file.txt", "r");
        let mut closes = unknown.clone();
        closes["access"] = json!("deny");
        scene.check(&scene.state(&json!([open, closes])), "file.txt", "");
    }
    // An unknown kind of access closes the place, and nothing else.
    let state = scene.state(&json!([open, below("src", "append")]));
    scene.check(&state, "src/main.rs", "");
    scene.check(&state, "file.txt", "rwd");
    // Without a project, its location is unknown.
    let mut state = scene.state(&json!([special("root", "read"), open]));
    state["sandboxCwd"] = json!("file:///%00/bad/path/x");
    scene.check(&state, "file.txt", "r");
    // New members next to known ones change nothing.
    let mut entry = special("project_roots", "write");
    entry["since"] = json!("today");
    let mut state = scene.state(&json!([entry]));
    state["new"] = json!({"a": 1});
    scene.check(&state, "file.txt", "rwd");
}

#[test]
fn a_state_that_is_not_understood_refuses_every_path() {
    let scene = Scene::new();
    let managed = |file_system: Value| json!({"permissionProfile": {"type": "managed", "file_system": file_system}});
    for state in [
        json!(null),
        json!(7),
        json!([]),
        json!({}),
        json!({"sandboxCwd": "file:///"}),
        json!({"permissionProfile": null, "sandboxPolicy": null}),
        json!({"permissionProfile": "disabled"}),
        json!({"permissionProfile": {"type": "sandboxed"}}),
        json!({"permissionProfile": {"type": 7}}),
        json!({"permissionProfile": {}}),
        managed(json!(null)),
        managed(json!({"type": "unlimited"})),
        managed(json!({"type": "restricted"})),
        managed(json!({"type": "restricted", "entries": {}})),
        managed(json!({"type": "restricted", "entries": [7]})),
        managed(json!({"type": "restricted", "entries": [{"access": "write"}]})),
        managed(json!({"type": "restricted", "entries": [{"path": "/", "access": "write"}]})),
        managed(json!({"type": "restricted", "entries": [{"path": {"type": "path", "path": "/"}}]})),
        managed(json!({"type": "restricted", "entries": [{"path": {"type": "path", "path": "/"}, "access": 7}]})),
        managed(json!({"type": "restricted", "entries": [special("minimal", "deny"), special("root", "write")]})),
        managed(json!({"type": "restricted", "entries": vec![special("root", "write"); 1001]})),
        json!({"permissionProfile": {"type": "disabled"}, "sandboxPolicy": {"type": "future"}}),
        json!({"permissionProfile": {"type": "disabled"}, "padding": "x".repeat(1 << 18)}),
    ] {
        scene.check(&state, "file.txt", "");
        let (code, says) = scene.says(&state, "file.txt", Access::READ).unwrap();
        assert_eq!(code, Code::Restricted, "{state}");
        assert!(says.starts_with("path `file.txt` is refused: Codex's sandbox state is not understood: it"), "{says}");
        assert!(!HostLimits::read(&to_raw_value(&state).unwrap()).is_everything());
    }
    for twice in [
        r#"{"permissionProfile":{"type":"disabled"},"permissionProfile":{"type":"managed"}}"#,
        r#"{"permissionProfile":{"type":"disabled","type":"managed"}}"#,
        r#"{"permissionProfile":{"type":"managed","file_system":{"type":"restricted","entries":[{"access":"read","access":"write","path":{"type":"path","path":"/"}}]}}}"#,
    ] {
        let limits = HostLimits::read(serde_json::from_str(twice).unwrap());
        assert!(limits.layers.is_err(), "{twice}");
    }
}

/// What Codex sent up to 0.141.
#[test]
fn the_older_policy() {
    let scene = Scene::new();
    let project = scene.path("project");
    scene.check(&scene.policy(&json!({"type": "danger-full-access"})), "src", "rwd");
    scene.check(&scene.policy(&json!({"type": "read-only"})), "file.txt", "r");
    scene.check(&scene.policy(&json!({"type": "read-only", "access": {"type": "full-access"}})), "file.txt", "r");
    let some =
        json!({"type": "restricted", "include_platform_defaults": true, "readable_roots": [format!("{project}/src")]});
    scene.check(&scene.policy(&json!({"type": "read-only", "access": some})), "file.txt", "");
    scene.check(&scene.policy(&json!({"type": "read-only", "access": some})), "src/main.rs", "r");
    scene.check(&scene.policy(&json!({"type": "read-only", "access": {"type": "future"}})), "src/main.rs", "");
    let workspace = json!({"type": "workspace-write", "network_access": false, "exclude_slash_tmp": true});
    scene.check(&scene.policy(&workspace), "file.txt", "rwd");
    scene.check(&scene.policy(&workspace), ".git/HEAD", "r");
    let mut elsewhere = scene.policy(
        &json!({"type": "workspace-write", "exclude_slash_tmp": true, "writable_roots": [format!("{project}/src")]}),
    );
    elsewhere["sandboxCwd"] = json!("/nowhere");
    scene.check(&elsewhere, "src/main.rs", "rwd");
    scene.check(&elsewhere, "file.txt", "r");
    // If both are sent, both apply.
    let mut both = scene.state(&json!([special("project_roots", "write")]));
    both["sandboxPolicy"] = json!({"type": "read-only"});
    scene.check(&both, "file.txt", "r");
}

#[test]
fn patterns_close_what_they_match_and_what_is_in_it() {
    let scene = Scene::new();
    for pattern in ["src/**/.env", "./src/.ENV", "codex-project-roots://**/.env"] {
        let state = scene.state(&json!([special("project_roots", "write"), glob(pattern, "deny")]));
        scene.check(&state, "src/.env", "");
        scene.check(&state, "src/.env/below", "");
        scene.check(&state, "src/main.rs", "rwd");
        // Access to the directory would include its contents.
        scene.check(&state, "src", "");
    }
    let absolute = format!("{}/sec*", scene.path("project"));
    let state = scene.state(&json!([special("project_roots", "write"), glob(&absolute, "read")]));
    scene.check(&state, "secret/key", "");
    scene.check(&state, "file.txt", "rwd");
    scene.check(&scene.state(&json!([glob(&absolute, "write")])), "secret/key", "");
    for bad in ["src/{a", "../up/**"] {
        let state = scene.state(&json!([special("project_roots", "write"), glob(bad, "deny")]));
        scene.check(&state, "file.txt", "");
    }
}

#[test]
fn a_directory_with_a_closed_place_is_refused() {
    let scene = Scene::new();
    let state = scene.state(&json!([special("project_roots", "write"), below("secret", "deny")]));
    scene.check(&state, ".", "");
    scene.check(&state, "src", "rwd");
    let (code, says) = scene.says(&state, ".", Access::READ).unwrap();
    assert_eq!((code, says.contains("something below this directory")), (Code::Restricted, true), "{says}");
}

#[test]
fn a_directory_with_a_read_only_place_cannot_be_deleted() {
    let scene = Scene::new();
    let state =
        scene.state(&json!([special("root", "read"), special("project_roots", "write"), below("src/deep", "read")]));
    scene.check(&state, "src", "rw");
    scene.check(&state, "more", "rwd");
    // A writable place contains directories that Codex keeps read-only.
    scene.check(&scene.state(&json!([special("project_roots", "write"), below("more", "write")])), "more", "rw");
}

#[test]
fn a_closed_place_is_closed_by_either_name() {
    let scene = Scene::new();
    let link = scene.link("link", "project/secret");
    let state = scene.state(&json!([special("project_roots", "write"), at(&link, "deny")]));
    scene.check(&state, "secret/key", "");
    scene.check(&state, "file.txt", "rwd");
    let state = scene.state(&json!([special("project_roots", "write"), glob(&format!("{link}/k*"), "deny")]));
    scene.check(&state, "secret/key", "");
    // A link outside the roots can be trusted: the user created it.
    let other = scene.link("other-name", "project");
    scene.check(&scene.state(&json!([special("root", "read"), at(&other, "write")])), "file.txt", "rwd");
}

#[test]
fn a_link_in_a_root_moves_no_limit() {
    let scene = Scene::new();
    scene.link("project/src/link", "../secret");
    let open = scene.state(&json!([special("root", "read"), below("src/link", "write")]));
    scene.check(&open, "secret/key", "r");
    let read = scene.state(&json!([below("src/link", "read")]));
    scene.check(&read, "secret/key", "");
}

#[test]
fn an_unbounded_tool_needs_an_unrestricted_state() {
    let scene = Scene::new();
    let grant = scene.guard.check("src", Access::READ).unwrap();
    let says = |state: Value| {
        let limits = HostLimits::read(&to_raw_value(&state).unwrap()).place_ambient(&scene.guard);
        limits.check_unbounded(&grant, OsStr::new("src")).map_err(|denial| denial.code())
    };
    assert_eq!(says(json!({"permissionProfile": {"type": "disabled"}})), Ok(()));
    assert_eq!(says(scene.state(&json!([special("root", "write")]))), Err(Code::Restricted));
    assert_eq!(says(json!(7)), Err(Code::Restricted));
}

#[test]
fn limits_are_taken_out_and_the_rest_keeps_its_bytes() {
    let check = |text: &str, expect: Option<&str>| {
        let Ok(Message::Single(envelope)) = Message::parse(text.as_bytes()) else { panic!("{text}") };
        assert_eq!(HostLimits::take(&envelope).map(|(_, rest)| rest).as_deref(), expect, "{text}");
    };
    check(
        r#"{"id":1,"method":"tools/call","params":{"name":"x", "_meta" : {"a":1.0,"codex/sandbox-state-meta":{"x":[1]},"b":"\/"},"arguments":{}}}"#,
        Some(r#"{"id":1,"method":"tools/call","params":{"name":"x", "_meta" : {"a":1.0,"b":"\/"},"arguments":{}}}"#),
    );
    check(
        r#"{"method":"m","params":{"_meta":{"codex\/sandbox-state-meta":7}}}"#,
        Some(r#"{"method":"m","params":{"_meta":{}}}"#),
    );
    check(
        r#"{"method":"m","params":{"\u005fmeta":{"codex/sandbox-\u0073tate-meta":7}}}"#,
        Some(r#"{"method":"m","params":{"\u005fmeta":{}}}"#),
    );
    // Everything that Codex 0.166 says about its sandbox.
    check(
        r#"{"method":"m","params":{"_meta":{"a":1, "codex/sandbox-state":{},"codex/sandbox-state-meta":{} ,"codex/sandbox-launcher":{"x":1}, "b":2}}}"#,
        Some(r#"{"method":"m","params":{"_meta":{"a":1, "b":2}}}"#),
    );
    for untouched in [
        r#"{"method":"m"}"#,
        r#"{"method":"m","params":["codex/sandbox-state-meta"]}"#,
        r#"{"method":"m","params":{"codex/sandbox-state-meta":7}}"#,
        r#"{"method":"m","params":{"arguments":{"_meta":{"codex/sandbox-state-meta":7}}}}"#,
        r#"{"method":"m","params":{"_meta":{"other":"codex/sandbox-state-meta"}}}"#,
        r#"{"method":"m","params":{"_meta":{"codex/sandbox-state-meta":7,"codex/sandbox-state-meta":8}}}"#,
        r#"{"id":1,"result":{"_meta":{"codex/sandbox-state-meta":7}}}"#,
    ] {
        check(untouched, None);
    }
}

#[test]
fn a_state_under_either_name_limits() {
    let scene = Scene::new();
    let (open, closed) = (json!({"permissionProfile": {"type": "disabled"}}), scene.state(&json!([])));
    let is_everything = |meta: Value| {
        let text = json!({"method": "m", "params": {"_meta": meta}}).to_string();
        let Ok(Message::Single(envelope)) = Message::parse(text.as_bytes()) else { panic!("{text}") };
        HostLimits::take(&envelope).unwrap().0.is_everything()
    };
    let [one, two] = keys::SANDBOX_STATES;
    for (meta, expect) in [
        (json!({one: open, two: open}), true),
        (json!({one: open, two: closed}), false),
        (json!({one: closed, two: open}), false),
        (json!({one: open, two: 7}), false),
        (json!({two: closed}), false),
        (json!({"codex/sandbox-launcher": {}}), true),
    ] {
        assert_eq!(is_everything(meta.clone()), expect, "{meta}");
    }
}

#[test]
fn clients_that_send_limits() {
    assert!(tells_limits("codex-mcp-client 0.166.0") && tells_limits("codex"));
    assert!(!tells_limits("editor") && !tells_limits("my-codex"));
}
