//! Roots below which something must stay closed: what is open, what is not, and what is reported.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;

use serde_json::{Value, json};

use crate::scene::{Run, Scene, finish, host, root, run};

/// A home in the shared directory: a project, notes, secrets, startup files.
fn home(scene: &Scene) -> std::path::PathBuf {
    let home = scene.path("inside");
    for directory in ["src/app/.git/hooks", ".ssh", ".config/git", ".config/htop", ".git/hooks", "tools/x/.aws"] {
        fs::create_dir_all(home.join(directory)).unwrap();
    }
    let files = ["notes.txt", ".bashrc", ".ssh/id_ed25519", ".config/git/config", ".config/htop/rc", "src/app/main.rs"];
    for file in files.into_iter().chain(["tools/x/.aws/credentials", "tools/x/tool", ".git/hooks/pre-commit"]) {
        fs::write(home.join(file), format!("text of {file}")).unwrap();
    }
    home
}

fn spec(home: &Path) -> Value {
    json!({"roots": [root(home, "rw")], "own": [home.join(".config/rootward")], "tell": true})
}

fn shell(spec: &Value, script: &str) -> Run {
    run(spec, ["sh", "-c", script])
}

fn enforcement(run: &Run) -> Value {
    // The command may have printed lines before the report.
    let report = run.out.lines().find_map(|line| serde_json::from_str(line).ok());
    report.unwrap_or_else(|| panic!("{run:?}"))
}

fn check(spec: &Value, script: &str, works: bool) {
    let run = shell(spec, script);
    assert_eq!(run.code == Some(0), works, "{script}: {run:?}");
}

#[test]
fn a_secret_below_a_root_is_neither_read_nor_listed() {
    let scene = Scene::new();
    let home = home(&scene);
    let spec = spec(&home);
    for script in
        ["cat notes.txt", "echo more >> notes.txt", "ls src/app", "cat .config/htop/rc", "echo x > .config/htop/rc"]
    {
        check(&spec, script, true);
    }
    let edit =
        "cd src/app && mkdir -p a/b && echo x > a/b/c && mv a/b/c d && ln d e && rm d && rm -r a && mv e main.rs";
    check(&spec, edit, true);
    check(&spec, "mv src/app/main.rs tools/x/tool", false);
    check(&spec, "echo x > src/new && mkdir -p src/later && mv src/new src/later/", true);
    for script in [
        "cat .ssh/id_ed25519",
        "ls .ssh",
        "ls .",
        "ls tools",
        "cat tools/x/.aws/credentials",
        "ls tools/x/.aws",
        "ln .ssh/id_ed25519 src/stolen",
        "mv .ssh src/stolen",
        "mv tools/x src/stolen && cat src/stolen/.aws/credentials",
        "mv tools src/stolen && cat src/stolen/x/.aws/credentials",
        "ln -s ../.ssh src/way && cat src/way/id_ed25519",
        "echo x > .ssh/authorized_keys",
        "echo x > new",
        "mkdir new",
        "rm notes.txt",
        "mv notes.txt src/",
    ] {
        check(&spec, script, false);
    }
    let report = enforcement(&shell(&spec, "true"));
    let split: Vec<_> =
        report["split"].as_array().unwrap().iter().map(|split| split["place"].as_str().unwrap()).collect();
    let expect =
        ["", ".config", "tools", "tools/x"].map(|place| home.join(place).components().collect::<std::path::PathBuf>());
    assert_eq!(split, expect.each_ref().map(|place| place.to_str().unwrap()), "{report}");
    assert_eq!(report["split"][0]["lost"], json!(["read", "write", "delete"]), "{report}");
    // Nothing below this one is secret, so it can be listed.
    assert_eq!(report["split"][1]["lost"], json!(["write", "delete"]), "{report}");
    check(&spec, "ls .config && cat .config/git/config", true);
    assert_eq!(fs::read_to_string(home.join("src/app/main.rs")).unwrap(), "x\n");
}

#[test]
fn entries_closed_for_writing_are_read_only_where_a_split_arrives() {
    let scene = Scene::new();
    let home = home(&scene);
    let spec = spec(&home);
    for script in ["cat .bashrc", "cat .config/git/config", "cat .git/hooks/pre-commit"] {
        check(&spec, script, true);
    }
    for script in [
        "echo x >> .bashrc",
        "echo x >> .config/git/config",
        "echo x > .config/git/new",
        "echo x >> .git/hooks/pre-commit",
        "mkdir src/hooks && mv -T src/hooks .git/hooks",
        "mv .git src/old",
        "rm .bashrc",
        "chmod 600 .bashrc",
        "touch .bashrc",
    ] {
        check(&spec, script, false);
    }
    // Where the split does not reach, they stay open and are reported.
    check(&spec, "echo x > src/app/.git/hooks/pre-commit", true);
    let report = enforcement(&shell(&spec, "true"));
    let open: Vec<_> =
        report["open_for_writing"].as_array().unwrap().iter().map(|open| open["place"].as_str().unwrap()).collect();
    assert!(open.iter().all(|place| place.contains("src/app/.git")) && !open.is_empty(), "{open:?}");
    assert_eq!(report["unenforced"], json!([]));
}

#[test]
fn links_in_a_split_directory_open_nothing() {
    let scene = Scene::new();
    let home = home(&scene);
    symlink(scene.path("outside"), home.join("out")).unwrap();
    symlink(".ssh", home.join("keys")).unwrap();
    symlink("src/app", home.join("app")).unwrap();
    let spec = spec(&home);
    check(&spec, "cat out/secret.txt", false);
    check(&spec, "ls out", false);
    check(&spec, "cat keys/id_ed25519", false);
    check(&spec, "cat app/main.rs && echo x > app/new", true);
}

#[test]
fn a_root_inside_a_closed_place_stays_open() {
    let scene = Scene::new();
    let home = home(&scene);
    fs::create_dir_all(home.join(".ssh/shared")).unwrap();
    fs::write(home.join(".ssh/shared/known"), "text").unwrap();
    for access in ["ro", "rwx"] {
        let mut spec = json!({"roots": [root(&home, access)], "allow_read": [home.join(".ssh/shared")]});
        check(&spec, "cat .ssh/shared/known", true);
        check(&spec, "cat .ssh/id_ed25519", false);
        spec = json!({"roots": [root(&home, access), root(&home.join(".ssh/shared"), access)]});
        check(&spec, "cat .ssh/shared/known", true);
        check(&spec, "cat .ssh/id_ed25519", false);
    }
}

#[test]
fn the_package_cache_works_inside_a_root_and_shows_no_other() {
    let scene = Scene::new();
    let (home, tools) = (scene.path("inside"), scene.path("tools"));
    fs::create_dir(&tools).unwrap();
    fs::create_dir_all(home.join(".cache/other")).unwrap();
    let script = "#!/bin/sh\nmkdir -p $npm_config_cache && echo x > $npm_config_cache/x && echo kept\nls .cache\ncat .cache/rootward/file\n";
    fs::write(tools.join("npx"), script).unwrap();
    fs::set_permissions(tools.join("npx"), fs::Permissions::from_mode(0o755)).unwrap();
    for access in ["rw", "rwx"] {
        let spec = json!({"roots": [root(&home, access)], "own": [home.join(".cache/rootward")]});
        let mut command = host(&spec);
        command.env("XDG_CACHE_HOME", home.join(".cache")).arg(tools.join("npx")).args(["-y", access]);
        let run = finish(&mut command);
        assert_eq!(run.out, "kept\n", "{run:?}");
        fs::write(home.join(".cache/rootward/file"), "SECRET").unwrap();
    }
}

#[test]
fn secrets_below_what_is_added_stay_closed() {
    let scene = Scene::new();
    fs::create_dir(scene.path("outside/.aws")).unwrap();
    fs::write(scene.path("outside/.aws/credentials"), "SECRET").unwrap();
    let outside = scene.path("outside");
    for key in ["allow_read", "allow_write"] {
        let spec = json!({"roots": [root(&scene.path("inside"), "rw")], key: [outside]});
        check(&spec, &format!("cat {}/secret.txt", outside.display()), true);
        check(&spec, &format!("cat {}/.aws/credentials", outside.display()), false);
    }
}

#[test]
fn directories_that_a_profile_opens_are_split_like_a_root() {
    let scene = Scene::new();
    let home = home(&scene);
    fs::write(home.join("server.py"), "import sys; print(open(sys.argv[1]).read())").unwrap();
    let read = |file: &str| {
        run(&json!({"roots": [root(&home, "rw")]}), ["python3".into(), home.join("server.py"), home.join(file)])
    };
    assert_eq!(read("notes.txt").out.trim(), "text of notes.txt");
    assert!(read(".ssh/id_ed25519").err.contains("PermissionError"), "{:?}", read(".ssh/id_ed25519"));
}

#[test]
fn a_root_of_less_access_in_another_is_enforced() {
    let scene = Scene::new();
    let inside = scene.path("inside");
    for directory in ["docs/deep", "src"] {
        fs::create_dir_all(inside.join(directory)).unwrap();
    }
    fs::write(inside.join("docs/page"), "text").unwrap();
    fs::write(inside.join("src/script"), "#!/bin/sh\n").unwrap();
    fs::set_permissions(inside.join("src/script"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::copy(inside.join("src/script"), inside.join("docs/script")).unwrap();
    let nested = |outer: &str, inner: &str| json!({"roots": [root(&inside, outer), root(&inside.join("docs"), inner)]});
    let spec = nested("rw", "ro");
    check(&spec, "cat docs/page && ls docs . && echo x > src/new", true);
    for script in
        ["echo x > docs/page", "rm docs/page", "mv docs src/", "mkdir docs/new", "chmod 700 docs", "touch docs/deep"]
    {
        check(&spec, script, false);
    }
    let spec = nested("rwx", "rw");
    check(&spec, "src/script && echo x >> docs/page", true);
    for script in ["docs/script", "mv docs src/", "mkdir new"] {
        check(&spec, script, false);
    }
    for spec in [nested("ro", "rw"), nested("rw", "rw")] {
        check(&spec, "echo x >> docs/page", true);
    }
    // One with more access inside the one with less.
    let mut spec = nested("rw", "ro");
    spec["roots"].as_array_mut().unwrap().push(root(&inside.join("docs/deep"), "rw").into());
    check(&spec, "echo x > docs/deep/new", true);
    check(&spec, "mv docs/deep docs/other", false);
}

#[test]
fn a_link_on_the_way_to_a_denied_place_stays() {
    let scene = Scene::new();
    let inside = scene.path("inside");
    fs::create_dir_all(inside.join("real/kept")).unwrap();
    fs::create_dir(inside.join("ways")).unwrap();
    symlink("../real", inside.join("ways/link")).unwrap();
    let spec = json!({"roots": [root(&inside, "rw")], "deny_write": [inside.join("ways/link/kept")]});
    for script in ["echo x > real/kept/new", "mv ways/link real/", "rm ways/link", "mv ways real/", "mv real other"] {
        check(&spec, script, false);
    }
}

#[test]
fn metadata_of_a_split_directory_stays_as_it_is() {
    let scene = Scene::new();
    let home = home(&scene);
    let before = fs::metadata(&home).unwrap();
    let spec = spec(&home);
    for script in ["chmod 777 .", "chmod 777 tools", "chmod 777 .ssh", "touch -d @0 .", "chmod 600 .ssh/id_ed25519"] {
        check(&spec, script, false);
    }
    for script in ["chmod 755 src", "chmod 600 notes.txt", "touch src", "chmod 755 src/app"] {
        check(&spec, script, true);
    }
    let after = fs::metadata(&home).unwrap();
    assert_eq!((before.mode(), before.mtime()), (after.mode(), after.mtime()));
}

#[test]
fn a_project_with_hooks_alone_is_not_split() {
    let scene = Scene::new();
    let inside = scene.path("inside");
    fs::create_dir_all(inside.join(".git/hooks")).unwrap();
    let spec = json!({"roots": [root(&inside, "rw")], "own": [scene.path("outside/rootward")], "tell": true});
    let run = shell(&spec, "echo x > new && ls .");
    assert_eq!(run.code, Some(0), "{run:?}");
    assert_eq!(enforcement(&run)["split"], json!([]));
}

#[test]
fn many_entries_need_no_higher_limit_of_open_files() {
    let scene = Scene::new();
    let inside = scene.path("inside");
    fs::create_dir(inside.join(".ssh")).unwrap();
    for number in 0..2_500 {
        fs::write(inside.join(format!("file-{number}")), "text").unwrap();
    }
    let spec = json!({"roots": [root(&inside, "rw")]}).to_string();
    let confined = "ulimit -Sn; cat file-0 file-2499; echo x > file-2000; ls .ssh; chmod 600 file-1 && echo chmod";
    let stage = crate::scene::stage();
    let mut command = std::process::Command::new("sh");
    command
        .args(["-c", "ulimit -Sn 1024 && exec \"$@\"", "sh"])
        .arg(&stage)
        .args(["host", &spec, "sh", "-c", confined]);
    let run = finish(command.stdin(std::process::Stdio::null()));
    assert_eq!(run.out, "1024\ntexttextchmod\n", "{run:?}");
    assert!(run.err.contains(".ssh"), "{run:?}");
    // A limit that cannot be raised is reported; no rule is silently missing.
    let mut command = std::process::Command::new("sh");
    command.args(["-c", "ulimit -n 1024 && exec \"$@\"", "sh"]).arg(&stage).args(["host", &spec, "true"]);
    let run = finish(&mut command);
    assert!(run.code == Some(77) && run.out.contains("too many entries"), "{run:?}");
}

#[test]
fn a_root_that_cannot_be_split_prevents_the_start() {
    let scene = Scene::new();
    let inside = scene.path("inside");
    fs::create_dir(inside.join(".ssh")).unwrap();
    for number in 0..8_192 {
        symlink("x", inside.join(format!("entry-{number}"))).unwrap();
    }
    let mut spec = json!({"roots": [root(&inside, "rw")], "own": [inside.join("own")], "tell": true});
    let refused = run(&spec, ["true"]);
    assert_eq!(refused.code, Some(77), "{refused:?}");
    assert!(refused.out.contains("too many entries") && refused.out.contains(".ssh"), "{refused:?}");
    spec["unenforced"] = json!("allow");
    let report = enforcement(&run(&spec, ["true"]));
    let rules: Vec<_> = report["unenforced"]
        .as_array()
        .unwrap()
        .iter()
        .map(|unenforced| unenforced["rule"]["rule"].as_str().unwrap())
        .collect();
    for rule in ["too_many_entries", "own", "restriction"] {
        assert!(rules.contains(&rule), "{report}");
    }
}

#[test]
fn a_secret_below_a_long_way_does_not_exhaust_the_stack() {
    let scene = Scene::new();
    let inside = scene.path("inside");
    let deep = inside.join("d/".repeat(1_500)).join(".ssh");
    fs::create_dir_all(&deep).unwrap();
    let spec = json!({"roots": [root(&inside, "rw")], "threads": "two"});
    let run = finish(host(&spec).args(["sh", "-c", "mkdir new"]));
    assert_eq!(run.code, Some(1), "{run:?}");
}
