//! `roots`: saved roots, consent to them, and when they are used.

macro_rules! assert_roots_told {
    ($($arguments:tt)+) => { insta::with_settings!({ filters => TIMES.to_vec() }, { assert_told!($($arguments)+) }) };
}

pub(crate) mod consent;
mod detect;
mod hardship;
mod import;
mod in_force;
mod patterns;
mod pick;
mod watch;

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use crate::stage::{Stage, assert_told};

const STORE: &str = "home/.config/rootward/roots.toml";

/// Times differ between two runs.
const TIMES: [(&str, &str); 2] =
    [(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", "[MOMENT]"), (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", "[TIME]")];

fn stored(stage: &Stage) -> String {
    fs::read_to_string(stage.path(STORE)).unwrap()
}

/// A stage with this text as the store.
fn stage_with(text: &str) -> Stage {
    let stage = Stage::new();
    stage.write(STORE, &text.replace("[STAGE]", stage.top().to_str().unwrap()));
    stage
}

#[test]
fn the_life_of_a_saved_root() {
    let stage = Stage::new();
    assert_roots_told!(
        "roots_life",
        stage,
        ["roots", "list"],
        ["roots", "add", "src:ro", "--name", "source", "--close", "*.pem", "--read-only", "gen/out", "--yes"],
        ["roots", "add", "docs", "README.md", "--for", "git", "--for", "editor", "--yes", "--json"],
        ["roots", "list"],
        ["roots", "add", "./src/:ro", "--close", "*.pem", "--read-only", "gen/out", "--yes"],
        ["roots", "add", "src:rw", "--yes"],
        ["roots", "rename", "source", "code"],
        ["roots", "rename", "docs"],
        ["roots", "grant", "code", "rw", "--open", "*.pem", "--yes"],
        ["roots", "grant", "docs", "ro", "--for", "git"],
        ["roots", "list", "--json"],
        ["roots", "remove", "docs", "--for", "editor"],
        ["roots", "remove", "code", "docs", "README.md"],
        ["roots", "list", "--json"],
        ["audit", "show"],
        ["audit", "show", "--denied"],
        ["audit", "verify"],
    );
}

#[test]
fn places_that_cannot_be_shared() {
    let stage = Stage::new();
    fs::create_dir_all(stage.path("home/.config/rootward")).unwrap();
    assert_roots_told!(
        "roots_places",
        stage,
        ["roots", "add", "gone", "--yes"],
        ["roots", "add", "fifo", "--yes"],
        ["roots", "add", "/etc", "--yes"],
        ["roots", "add", ".ssh", "--yes"],
        ["roots", "add", "~/.config/rootward", "--force", "--yes"],
        ["roots", "add", "http://x", "--yes"],
        ["roots", "list"],
        ["roots", "add", "/etc:ro", "--force", "--yes"],
        ["roots", "add", "~", "--yes"],
        ["roots", "add", "leak/deep", "--yes"],
        ["roots", "list"],
        ["check", "/etc/passwd"],
        ["check", "../outside/deep/x"],
    );
}

#[test]
fn wrong_use() {
    let stage = stage_with(
        "version = 1\n[[root]]\npath = '[STAGE]/project/src'\nname = 'docs'\n[[root]]\npath = '[STAGE]/project/docs'\n",
    );
    assert_roots_told!(
        "roots_wrong_use",
        stage,
        ["roots"],
        ["roots", "add"],
        ["roots", "add", "src", "docs", "--name", "x", "--yes"],
        ["roots", "add", "src", "--name", " ", "--yes"],
        ["roots", "add", "leak", "--close", "a[", "--yes"],
        ["roots", "remove", "nothing"],
        ["roots", "rename", "src", "a\u{1b}"],
        ["roots", "grant", "src"],
        ["roots", "grant", "src", "fly"],
        ["roots", "grant", "src", "--open", "*.pem"],
        ["roots", "grant", "src", "ro", "--for", "git"],
        ["roots", "remove", "src", "--for", "git"],
    );
    let nowhere = stage.command(["roots", "list"]).env_remove("HOME").output().unwrap();
    assert_eq!(nowhere.status.code(), Some(2));
}

#[test]
fn a_root_is_found_by_its_name_or_the_last_part_of_its_path() {
    let roots =
        ["~/a/mono", "~/b/mono", "~/c/app", "~/d/other", "[STAGE]/project/src", "[STAGE]/project/docs", "~/e/*"];
    let names = [None, None, None, Some("web"), Some("docs"), None, None];
    let mut text = "version = 1\n".to_owned();
    for (root, name) in roots.iter().zip(names) {
        let key = if root.contains('*') { "pattern" } else { "path" };
        let name = name.map_or_else(String::new, |name| format!("name = '{name}'\n"));
        text += &["[[root]]\n", key, " = '", root, "'\naccess = 'rw'\n", &name].concat();
    }
    let stage = stage_with(&text);
    for path in ["a/mono", "b/mono", "c/app", "d/other"] {
        fs::create_dir_all(stage.path("home").join(path)).unwrap();
    }
    assert_roots_told!(
        "roots_by_name",
        stage,
        // By the last part of its path, by its name, and by the last part of a path whose root has another name.
        ["roots", "grant", "app", "ro"],
        ["roots", "grant", "web", "ro"],
        ["roots", "rename", "other", "shop"],
        // A directory in the working directory takes precedence over another root of that name.
        ["roots", "grant", "docs", "ro"],
        ["roots", "remove", "mono"],
        ["roots", "grant", "mono", "ro"],
        ["roots", "rename", "mono", "x"],
        ["roots", "remove", "~/a/mono"],
        ["roots", "remove", "mono"],
        ["roots", "remove", "*"],
        ["roots", "remove", "docs", "docs"],
        ["roots", "list"],
    );
}

#[test]
fn each_verb_says_what_it_did() {
    let stage = Stage::new();
    assert_roots_told!(
        "roots_said",
        stage,
        ["roots", "add", "docs", "--yes"],
        ["roots", "add", "docs", "--yes"],
        ["roots", "add", "src:rx", "--yes"],
        ["roots", "grant", "docs", "ro"],
        ["roots", "grant", "docs", "--close", "*.key"],
        ["roots", "grant", "docs", "none", "--for", "editor"],
        ["roots", "list"],
        // What is removed can still be shared by another root.
        ["roots", "add", ".:ro", "--yes"],
        ["roots", "remove", "docs", "--for", "git"],
        ["roots", "remove", "docs", "--yes"],
    );
}

#[test]
fn states_of_saved_roots() {
    let stage = stage_with(
        "version = 1\n[[root]]\npath = '[STAGE]/project/gone'\n[[root]]\npath = '[STAGE]/project/docs'\n\
         [[root]]\npath = '/etc'\naccess = 'ro'\n[[root]]\npath = '[STAGE]/project/fifo'\n[[root]]\npath = '~'\nfor = []\n",
    );
    fs::rename(stage.path("project/docs"), stage.path("project/moved")).unwrap();
    symlink(stage.path("outside"), stage.path("project/docs")).unwrap();
    assert_roots_told!("roots_states", stage, ["roots", "list"], ["check", "../outside/secret"]);
    let listed: Value = serde_json::from_str(&stage.run(["roots", "list", "--json"]).stdout).unwrap();
    let states: Vec<&Value> = listed["roots"].as_array().unwrap().iter().map(|root| &root["state"]).collect();
    assert_eq!(json!(states), json!(["missing", "replaced", "refused", "refused", "shared"]));
}

#[test]
fn hand_written_text_stays() {
    let by_hand =
        "# Mine.\nversion = 1\n\n# Work.\n[[root]]\npath = '[STAGE]/project/src' # code\naccess = \"ro\" # for now\n";
    let stage = stage_with(by_hand);
    assert_eq!(stage.run(["roots", "grant", "src", "rw", "--yes"]).code, Some(0));
    assert_eq!(stage.run(["roots", "add", "docs", "--yes"]).code, Some(0));
    let text = stored(&stage);
    for kept in ["# Mine.\nversion = 1\n\n# Work.\n[[root]]\n", "project/src' # code\n", "access = \"rw\" # for now\n"]
    {
        assert!(text.contains(kept), "{kept}: {text}");
    }
}
