//! `--version`, short and long.

use serde_json::{Value, json};

use crate::stage::Stage;

#[test]
fn the_long_form_says_how_it_was_built_and_where_files_are() {
    let stage = Stage::new();
    let told = stage.run(["--version", "--verbose"]);
    assert_eq!((told.code, told.stderr.as_str()), (Some(0), ""));
    assert!(told.stdout.starts_with(concat!("rootward ", env!("CARGO_PKG_VERSION"), "\n\n")), "{}", told.stdout);
    for words in [["-V", "-v"], ["-v", "-V"], ["--verbose", "--version"]] {
        assert_eq!(stage.run(words).stdout, told.stdout);
    }
    assert_eq!(stage.run(["-Vv"]).stdout, told.stdout);
    let about: Value = serde_json::from_str(&stage.run(["--version", "--verbose", "--json"]).stdout).unwrap();
    let place = |path: &str| json!(stage.path(path).to_str().unwrap());
    assert_eq!(about["settings"], place("home/.config/rootward/config.toml"));
    assert_eq!(about["saved_roots"], place("home/.config/rootward/roots.toml"));
    assert_eq!(about["state"], place("home/.local/state/rootward"));
    assert_eq!(about["audit_log"], place("home/.local/state/rootward/audit"));
    assert_eq!(about["version"], env!("CARGO_PKG_VERSION"));
    assert!(about["protocol_revisions"].as_array().unwrap().contains(&json!("2025-06-18")), "{about}");
    assert_eq!(about["features"].as_array().unwrap().contains(&json!("wrap")), cfg!(feature = "wrap"));
    for known in ["target", "profile", "landlock"] {
        let text = about[known].as_str().unwrap();
        assert!(!text.is_empty() && told.stdout.contains(text), "{known}: {text}");
    }
}

#[test]
fn flags_of_the_version_are_for_the_version() {
    let stage = Stage::new();
    for words in [&["--verbose"][..], &["--json"], &["--version", "--json"], &["--version", "check", "x"], &[]] {
        assert_eq!(stage.run(words).code, Some(2), "{words:?}");
    }
}

#[test]
fn without_a_home_the_places_are_unknown() {
    let run = Stage::new().with("HOME", "rel").run(["-Vv", "--json"]);
    let about: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!((&about["settings"], &about["audit_log"]), (&Value::Null, &Value::Null));
}
