//! Patterns among the saved roots.

use std::fs;
use std::process::Stdio;
use std::time::{Duration, Instant};

use rootward_testkit::client::Client;
use serde_json::{Value, json};

use super::stored;
use crate::stage::Stage;

/// Long enough for a busy machine.
const PATIENCE: Duration = Duration::from_mins(1);

fn stage() -> Stage {
    let stage = Stage::new();
    for name in ["home/src/one/file", "home/src/two/file", "home/src/.hidden/file", "home/.ssh/keys/key"] {
        stage.write(name, name);
    }
    stage
}

fn matches(stage: &Stage) -> Vec<String> {
    let listed: Value = serde_json::from_str(&stage.run(["roots", "list", "--json"]).stdout).unwrap();
    let matches = listed["roots"][0]["matches"].as_array().unwrap().clone();
    matches.iter().map(|one| one["path"].as_str().unwrap().rsplit('/').next().unwrap().to_owned()).collect()
}

#[test]
fn the_life_of_a_saved_pattern() {
    let stage = stage();
    let done = |words: &[&str], says: &str| {
        let ran = stage.run([&["roots"], words].concat());
        assert_eq!(ran.code, Some(0), "{words:?} {}", ran.stderr);
        assert!(ran.stdout.contains(says), "{words:?} {}", ran.stdout);
    };
    done(&["add", "~/src/*:ro", "--yes"], "shared `~/src/*` (read), for all clients");
    assert!(stored(&stage).contains("\npattern = \"") && !stored(&stage).contains("\npath = "), "{}", stored(&stage));
    done(&["list"], "matches  ~/src/one\n  matches  ~/src/two\n");
    assert_eq!(matches(&stage), ["one", "two"]);
    stage.write("home/src/three/file", "later");
    fs::remove_dir_all(stage.path("home/src/one")).unwrap();
    assert_eq!(matches(&stage), ["three", "two"]);
    let check = |name: &str, access: &str| {
        stage.run(["check", "--access", access, stage.path("home/src").join(name).to_str().unwrap()]).code
    };
    assert_eq!((check("three/file", "read"), check("three/file", "write")), (Some(0), Some(1)));
    assert_eq!((check(".hidden/file", "read"), check("file", "read")), (Some(1), Some(1)));
    done(&["rename", "~/src/*", "work"], "renamed `~/src/*` (work; read)");
    // More takes a yes.
    let asked = stage.run(["roots", "grant", "work", "rw"]);
    assert!(asked.code == Some(2) && asked.stderr.contains("without your consent"), "{}", asked.stderr);
    done(&["grant", "~/src/*", "rw", "--yes"], "changed `~/src/*` to read, write and delete");
    assert_eq!(check("three/file", "write"), Some(0));
    done(&["remove", "~/src/*"], "removed `~/src/*`");
    assert_eq!(check("three/file", "read"), Some(1));
}

#[test]
fn a_pattern_cannot_be_forced() {
    let stage = stage();
    let check = |words: &[&str], says: &str| {
        let ran = stage.run([&["roots", "add", "--yes"], words].concat());
        assert!(ran.code == Some(2) && ran.stderr.contains(says), "{words:?} {}", ran.stderr);
        assert!(!stage.path(super::STORE).exists(), "{words:?}");
    };
    check(&["~/.ssh/*"], "which holds secrets");
    check(&["~/.ssh/*", "--force"], "a pattern cannot be forced");
    check(&["~/src/*", "--force"], "a pattern cannot be forced");
    check(&["~/src/**"], "`**` is not supported");
    check(&["~/gone/*"], "does not exist");
    check(&["~/src/*", "--close", "*.pem"], "nothing can be closed below the pattern");
}

#[test]
fn a_saved_pattern_is_followed_while_it_is_served() {
    let stage = stage();
    assert_eq!(stage.run(["roots", "add", "~/src/*:ro", "--yes"]).code, Some(0));
    let mut server = Client::start(stage.command(["serve"]).stderr(Stdio::null()));
    server.shake_hands(json!({}));
    let mut until = |name: &str, is_there: bool| {
        let begun = Instant::now();
        let place = stage.path("home/src").join(name);
        loop {
            let told = server.text("list_allowed_directories", json!({}));
            if told.contains(place.to_str().unwrap()) == is_there {
                return;
            }
            assert!(begun.elapsed() < PATIENCE, "{name}: {told}");
            std::thread::sleep(Duration::from_millis(100));
        }
    };
    until("one", true);
    until("three", false);
    stage.write("home/src/three/file", "later");
    until("three", true);
    fs::remove_dir_all(stage.path("home/src/one")).unwrap();
    until("one", false);
    until("three", true);
    server.end();
}
