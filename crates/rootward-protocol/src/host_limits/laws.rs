//! Laws for any state: denying more never allows more, and unknown entries allow nothing.

use proptest::prelude::*;
use proptest::sample::select;
use rootward_core::Access;
use serde_json::{Value, json};

use super::tests::{Scene, below, glob, special};

const KINDS: [Access; 3] = [Access::READ, Access::WRITE, Access::DELETE];
const PATHS: [&str; 8] = [".", "file.txt", "src", "src/main.rs", "src/.env", "src/deep/new", ".git/HEAD", "secret/key"];

/// An entry of any kind that Codex sends or may send in the future.
fn entry() -> impl Strategy<Value = Value> {
    let specials = ["root", "project_roots", "slash_tmp", "tmpdir", "minimal", "current_working_directory", "future"];
    let places = ["", "src", "src/deep", "secret", ".git", "./more", "../up", "/absolute"];
    let globs = ["**/.env", "src/*", "s*", "/**", "../x", "{a"];
    let access = || select(vec!["read", "write", "deny", "none", "append"]);
    prop_oneof![
        (select(specials.to_vec()), access()).prop_map(|(kind, access)| special(kind, access)),
        (select(places.to_vec()), access()).prop_map(|(place, access)| below(place, access)),
        (select(globs.to_vec()), access()).prop_map(|(pattern, access)| glob(pattern, access)),
    ]
}

/// What a state allows for each path.
fn allowed(scene: &Scene, state: &Value) -> Vec<bool> {
    let all = PATHS.iter().flat_map(|path| KINDS.map(|access| (path, access)));
    all.map(|(path, access)| scene.says(state, path, access).is_none()).collect()
}

fn is_within(fewer: &[bool], more: &[bool]) -> bool {
    fewer.iter().zip(more).all(|(fewer, more)| !fewer || *more)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn writable_places_are_readable(entries in prop::collection::vec(entry(), 0..6)) {
        let scene = Scene::new();
        for of_path in allowed(&scene, &scene.state(&json!(entries))).chunks(KINDS.len()) {
            prop_assert!(of_path[0] || (!of_path[1] && !of_path[2]), "{entries:?}");
        }
    }

    #[test]
    fn denials_and_unknown_entries_open_nothing(
        entries in prop::collection::vec(entry(), 0..6),
        more in entry(),
        access in select(vec!["deny", "none", "append"]),
        unknown in any::<bool>(),
    ) {
        let (scene, mut more) = (Scene::new(), more);
        if unknown {
            more["path"] = json!({"type": "future", "path": "/"});
        } else {
            more["access"] = json!(access);
        }
        let before = allowed(&scene, &scene.state(&json!(entries)));
        let with_more: Vec<&Value> = entries.iter().chain([&more]).collect();
        let after = allowed(&scene, &scene.state(&json!(with_more)));
        prop_assert!(is_within(&after, &before), "{entries:?} and {more}");
    }

    #[test]
    fn no_state_breaks_the_reader(text in r#"(\{|\}|\[|\]|,|:|null|7|"type"|"managed"|"path"|"access"|"entries"|"permissionProfile"|"/"){0,24}"#) {
        if let Ok(state) = serde_json::from_str(&text) {
            let _ = super::HostLimits::read(state);
        }
    }
}
