//! What peers and the operator learn from a decision.

use std::time::{Duration, UNIX_EPOCH};

use rootward_core::{Access, AuditEvent, Base, Code, Guard, GuardOptions, Occasion, Origin, RootSet, Step};

use crate::yard::Yard;

#[test]
fn an_empty_guard_denies_everything() {
    let guard = Guard::new(RootSet::default(), GuardOptions::default());
    for path in ["/", "/etc/passwd", "relative", "~", "", "file:///tmp"] {
        assert_eq!(guard.check(path, Access::NONE).unwrap_err().code(), Code::NoRoots, "{path}");
    }
}

#[test]
fn a_peer_learns_nothing_about_places_outside() {
    let yard = Yard::new();
    yard.link("root/out", yard.path("outside"));
    yard.link("root/nowhere", yard.path("missing"));
    let guard = yard.guard(&["root"]);
    let mut answers = Vec::new();
    for path in ["out/secret.txt", "out/missing.txt", "out", "nowhere", "nowhere/x", "out/secret.txt/x", "out/"] {
        let denial = guard.check(path, Access::READ).unwrap_err();
        answers.push((denial.code().for_peer(), denial.to_string().replace(&format!("`{path}`"), "`PATH`")));
    }
    answers.dedup();
    assert_eq!(answers, [(Code::OutsideRoots, "path `PATH` is outside every root".to_owned())]);
}

#[test]
fn a_base_outside_the_roots_is_the_first_root() {
    let yard = Yard::new();
    yard.file("other/a/top.txt", "other");
    for (base, expect) in
        [("outside", "root"), ("", "root"), ("roots", "root"), ("other", "other"), ("other/a", "other/a")]
    {
        let set = yard.set(Origin::Flag, &["root", "other"]);
        let base = Base::Within(yard.path(base));
        let guard = Guard::new(set, GuardOptions { base: base.clone(), ..GuardOptions::default() });
        assert_eq!(guard.base(), Some(yard.path(expect).as_path()), "{base:?}");
        let up = "../".repeat(expect.split('/').count());
        let code = |text: &str| guard.check(format!("{up}{text}"), Access::READ).unwrap_err().code();
        assert_eq!((code("outside/secret.txt"), code("outside/gone.txt")), (Code::OutsideRoots, Code::OutsideRoots));
        let found = guard.check("top.txt", Access::READ).unwrap().exists();
        assert_eq!(found, expect != "other", "{base:?}");
    }
    let nothing = GuardOptions { base: Base::Within(yard.path("root")), ..GuardOptions::default() };
    assert_eq!(Guard::new(RootSet::default(), nothing).base(), None);
}

#[test]
fn the_operator_learns_where_a_link_leads() {
    let yard = Yard::new();
    yard.link("root/out", yard.path("outside"));
    let guard = yard.guard(&["root"]);
    let denial = guard.check("out/secret.txt", Access::READ).unwrap_err();
    assert_eq!(denial.code(), Code::SymlinkEscape);
    assert_eq!(denial.resolved(), Some(yard.path("outside/secret.txt").as_path()));
    assert!(denial.for_operator().contains("outside/secret.txt"));
    assert_eq!(guard.check(yard.path("outside"), Access::READ).unwrap_err().code(), Code::OutsideRoots);
}

#[test]
fn messages_cannot_move_the_cursor() {
    let guard = Yard::new().guard(&["root"]);
    let denial = guard.check("/a\n\x1b[2Jb", Access::READ).unwrap_err();
    assert_eq!(denial.to_string(), "path `/a\\n\\u{1b}[2Jb` is outside every root");
}

#[test]
fn the_object_decides_and_not_the_text() {
    let yard = Yard::new();
    yard.link("root/out", yard.path("outside"));
    let guard = yard.guard(&["root"]);
    assert!(guard.check(yard.path("root/out/secret.txt"), Access::READ).is_err());
    assert!(guard.check(yard.path("root/a/../top.txt"), Access::READ).is_ok());
    assert!(guard.check(yard.path("root-evil"), Access::READ).is_err());
}

#[test]
fn explaining_decides_the_same() {
    let yard = Yard::new();
    yard.link("root/in", yard.path("root/a"));
    yard.link("root/out", yard.path("outside"));
    let guard = yard.guard(&["root:ro"]);
    for path in ["top.txt", "in/b/file.txt", "out/secret.txt", "a/../top.txt", "new.txt", ".ssh/id", "", "http://x/y"] {
        for access in [Access::NONE, Access::READ, Access::WRITE] {
            let (steps, explained) = guard.explain(path, access);
            let checked = guard.check(path, access);
            assert_eq!(
                explained.as_ref().map(rootward_core::Grant::path).map_err(Clone::clone),
                checked.as_ref().map(rootward_core::Grant::path).map_err(Clone::clone),
                "{path}"
            );
            let readable = !path.is_empty() && !path.contains("://");
            assert_eq!(steps.iter().any(|step| matches!(step, Step::Text { .. })), readable, "{path}: {steps:?}");
        }
    }
    let (steps, _) = guard.explain("in/b/file.txt", Access::READ);
    assert!(steps.contains(&Step::Followed { place: yard.path("root/a/b/file.txt") }), "{steps:?}");
}

#[test]
fn an_audit_event_holds_the_whole_decision() {
    let yard = Yard::new();
    let guard = yard.guard(&["root"]);
    let occasion = Occasion {
        time: UNIX_EPOCH + Duration::from_millis(1500),
        session: "s1",
        principal: Some("ada"),
        client: Some("editor 1.0"),
        server: Some("files"),
        process: Some(7),
        requester: "read_file",
        generation: guard.generation(),
    };
    let event = |occasion, path: &str, access| {
        let decision = guard.check(path, access);
        let event = AuditEvent::new(occasion, path.as_ref(), access, decision.as_ref());
        let text = serde_json::to_string(&event).unwrap();
        text.replace(yard.path("").to_str().unwrap().trim_end_matches('/'), "T")
    };
    assert_eq!(
        event(occasion, "top.txt", Access::READ),
        r#"{"time":1500,"session":"s1","principal":"ada","client":"editor 1.0","server":"files","process":7,"requester":"read_file","path":"top.txt","resolved":"T/root/top.txt","access":["read"],"decision":"allow","code":null,"root":"T/root","generation":0}"#
    );
    assert_eq!(
        event(
            Occasion { principal: None, client: None, server: None, process: None, ..occasion },
            "../outside/secret.txt",
            Access::READ
        ),
        r#"{"time":1500,"session":"s1","requester":"read_file","path":"../outside/secret.txt","resolved":"T/outside/secret.txt","access":["read"],"decision":"deny","code":"outside_roots","root":null,"generation":0}"#
    );
    // A place that does not exist yet.
    let absent: serde_json::Value = serde_json::from_str(&event(occasion, "a/new.txt", Access::WRITE)).unwrap();
    assert_eq!((&absent["decision"], &absent["resolved"]), (&"allow".into(), &"T/root/a/new.txt".into()));
}
