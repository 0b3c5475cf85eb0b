//! The user's home as a root: servers start, secrets stay closed, and nobody can plant a file that Rootward obeys.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::Value;

use crate::stage::{Stage, assert_told};

fn stage() -> Stage {
    let stage = Stage::new().with("PATH", "/usr/local/bin:/usr/bin:/bin");
    let home = ["notes.txt", ".ssh/id_ed25519", ".bashrc", "src/app/main.rs", "src/app/.git/hooks/pre-commit"];
    for file in home {
        stage.write(&format!("home/{file}"), "text");
    }
    stage
}

/// Runs a script in the home. Returns the exit code and the output.
fn script(stage: &Stage, script: &str) -> (Option<i32>, String) {
    let mut command = stage.command(["sandbox", "~", "--", "sh", "-c", script]);
    let run = command.current_dir(stage.path("home")).output().unwrap();
    let told = [run.stdout, run.stderr].map(|told| String::from_utf8_lossy(&told).into_owned());
    (run.status.code(), told.concat())
}

fn check(stage: &Stage, text: &str, works: bool) {
    let (code, told) = script(stage, text);
    // A refusal must come from the script, not from a failed start.
    assert!(code == Some(0) || !works, "{text}: {code:?} {told}");
    assert!(code != Some(0) || works, "{text}: {code:?} {told}");
    assert!(!told.contains("was not started"), "{text}: {told}");
}

#[test]
fn the_home_as_a_root_starts_and_holds() {
    for exists in ["nothing", ".config", ".config/rootward"] {
        let stage = stage();
        if exists != "nothing" {
            fs::create_dir_all(stage.path("home").join(exists)).unwrap();
        }
        for works in [
            "cat notes.txt",
            "echo more >> notes.txt",
            "cd src/app && echo x > new && mkdir -p a/b && mv new a/b/ && mv a c && rm -r c && rm main.rs && echo x > main.rs",
            "echo x > src/app/.git/hooks/pre-commit",
        ] {
            check(&stage, works, true);
        }
        for refused in [
            "cat .ssh/id_ed25519",
            "ls .ssh",
            "ls .",
            "mv .ssh src/",
            "echo x > .bashrc",
            "echo x > new",
            "mv .config other",
        ] {
            check(&stage, refused, false);
        }
    }
}

#[test]
fn the_next_start_obeys_nothing_that_was_planted() {
    const PLANTED: &str = "[sandbox.filesystem]\nallowRead = ['[STAGE]/outside']\n";
    let routes = [
        "mkdir -p [OWN] && cp src/x/config.toml [OWN]/",
        "mkdir -p $(dirname [OWN]) && mv -T src/x [OWN]",
        "mkdir -p $(dirname [OWN]) && ln -s ~+/src/x [OWN]",
        "mkdir -p [OWN] && ln src/x/config.toml [OWN]/",
        "mv [TOP] src/old; mkdir -p src/top/$(basename [OWN]) && cp src/x/config.toml src/top/*/ && ln -s src/top [TOP]",
        "rm -rf [TOP]; mkdir -p [OWN] && cp src/x/config.toml [OWN]/",
        "chmod 777 . [TOP]; mkdir -p [OWN] && cp src/x/config.toml [OWN]/",
    ];
    for own in [".config/rootward", ".local/state/rootward", ".cache/rootward"] {
        for exists in ["src", own.split('/').next().unwrap(), own.rsplit_once('/').unwrap().0] {
            let stage = stage();
            fs::create_dir_all(stage.path("home").join(exists)).unwrap();
            stage.write("home/src/x/config.toml", &PLANTED.replace("[STAGE]", stage.top().to_str().unwrap()));
            for route in routes {
                check(&stage, &route.replace("[OWN]", own).replace("[TOP]", own.split('/').next().unwrap()), false);
                assert!(!stage.path("home").join(own).join("config.toml").exists(), "{own} {exists} {route}");
            }
            assert_ne!(script(&stage, &format!("cat {}", stage.path("outside/secret").display())).0, Some(0));
        }
    }
    // The control: a settings file that the user wrote there is obeyed.
    let stage = stage().with_settings(PLANTED);
    check(&stage, &format!("cat {}", stage.path("outside/secret").display()), true);
}

#[test]
fn the_usual_places_are_closed_even_if_a_variable_moves_them() {
    let stage = stage();
    let variables = ["XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"];
    let elsewhere = stage.path("elsewhere");
    let stage = variables.iter().fold(stage, |stage, name| stage.with(name, elsewhere.to_str().unwrap()));
    for own in [".config/rootward", ".local/state/rootward", ".cache/rootward"] {
        fs::create_dir_all(stage.path("home").join(own).parent().unwrap()).unwrap();
        check(&stage, &format!("mkdir {own}"), false);
    }
}

#[test]
fn a_link_on_the_way_to_rootwards_own_places_is_closed() {
    let stage = stage();
    fs::remove_dir_all(stage.path("project/.ssh")).unwrap();
    for directory in ["real", "project/ways", "project/free"] {
        fs::create_dir_all(stage.path(directory)).unwrap();
    }
    symlink(stage.path("project/ways/link"), stage.path("home/.cache")).unwrap();
    symlink(stage.path("real"), stage.path("project/ways/link")).unwrap();
    let run = |script: &str| stage.run(["sandbox", ".", "--", "sh", "-c", script]);
    for refused in ["mv ways/link free/", "rm ways/link", "mv ways free/", "ln -sfn free ways/link"] {
        assert_ne!(run(refused).code, Some(0), "{refused}");
    }
    assert_eq!(fs::read_link(stage.path("project/ways/link")).unwrap(), stage.path("real"));
    assert_eq!(run("echo x > free/new && mv free/new free/newer").code, Some(0));
}

#[test]
fn the_report_names_directories_that_are_split() {
    let stage = stage();
    fs::create_dir_all(stage.path("home/.local/state")).unwrap();
    assert_told!("sandbox_home", stage, ["sandbox", "~", "--", "true"], ["sandbox", "~:ro", "--", "true"]);
    let run = stage.run(["sandbox", "~", "--json", "--", "true"]);
    let enforcement: Value = serde_json::from_str(&run.stderr).unwrap();
    let places: Vec<_> =
        enforcement["split"].as_array().unwrap().iter().map(|split| split["place"].as_str().unwrap()).collect();
    let expect = ["home", "home/.local", "home/.local/state"].map(|place| stage.path(place).display().to_string());
    assert_eq!(places, expect, "{enforcement}");
}
