//! Which rules are made, which cannot be enforced, and what is reported about them.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use crate::scene::{Scene, finish, host, root, run};

#[test]
fn each_access_gives_its_own() {
    let scene = Scene::new();
    let inside = scene.path("inside");
    fs::write(inside.join("file"), "text").unwrap();
    fs::write(inside.join("script"), "#!/bin/sh\n").unwrap();
    fs::set_permissions(inside.join("script"), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let check = |access: &str, script: &str, works: bool| {
        let run = run(&json!({"roots": [root(&inside, access)]}), ["sh", "-c", script]);
        assert_eq!(run.code == Some(0), works, "{access} {script}: {run:?}");
    };
    for access in ["ro", "rw-nodelete", "rw", "rwx"] {
        check(access, "cat file && ls .", true);
        check(access, "echo x >> file", access != "ro");
        check(access, "echo x > made-$$", access != "ro");
        check(access, "echo x > gone-$$ && rm gone-$$", ["rw", "rwx"].contains(&access));
        check(access, "mkdir -p d/e && mv d/e e-$$", ["rw", "rwx"].contains(&access));
        check(access, "./script", access == "rwx");
        // Unlike `mv`, `ln` has no fallback if the kernel treats two directories as two file systems.
        check(access, "mkdir -p f && ln file f/twin-$$", access != "ro");
    }
}

#[test]
fn places_closed_for_writing_are_reported_and_not_refused() {
    let scene = Scene::new();
    let inside = scene.path("inside");
    fs::create_dir_all(inside.join(".git/hooks")).unwrap();
    let run = run(&json!({"roots": [root(&inside, "rw")], "tell": true}), ["true"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    let enforcement: Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!(enforcement["unenforced"], json!([]), "nothing that `UnenforcedPolicy::Refuse` refuses");
    let open = enforcement["open_for_writing"].as_array().unwrap();
    assert!(open.iter().any(|open| open["rule"]["pattern"] == ".git/hooks"), "{enforcement}");
    assert!(open.iter().all(|open| open["open"] == json!(["write", "delete"])), "{enforcement}");
    assert_eq!(enforcement["strength"], "landlock");
}

#[test]
fn additions_and_denials() {
    let scene = Scene::new();
    let (inside, outside) = (scene.path("inside"), scene.path("outside"));
    fs::create_dir(inside.join("kept")).unwrap();
    let check = |more: Value, script: &str, code: i32| {
        let mut spec = json!({"roots": [root(&inside, "rw")]});
        for (key, value) in more.as_object().unwrap() {
            spec[key] = value.clone();
        }
        let run = run(&spec, ["sh", "-c", script]);
        assert_eq!(run.code, Some(code), "{more} {script}: {run:?}");
    };
    let check_not = |more: Value, script: &str| {
        let mut spec = json!({"roots": [root(&inside, "rw")]});
        for (key, value) in more.as_object().unwrap() {
            spec[key] = value.clone();
        }
        let run = run(&spec, ["sh", "-c", script]);
        assert!(run.code != Some(0) && run.code != Some(77), "{more} {script}: {run:?}");
    };
    let secret = format!("cat {}/secret.txt", outside.display());
    let append = format!("echo x >> {}/kept.txt", outside.display());
    check(json!({"allow_read": [outside]}), &secret, 0);
    check(json!({"allow_read": [outside]}), &append, 2);
    check(json!({"allow_write": [outside]}), &append, 0);
    check(json!({"allow_read": [outside.join("kept.txt")]}), &secret, 1);
    check(json!({"allow_read": [outside], "deny_read": [outside]}), &secret, 1);
    check(json!({"allow_write": [outside], "deny_write": [scene.directory.path()]}), &append, 2);
    check(json!({"deny_write": [inside]}), "echo x > new", 2);
    // Also below an open place, whether or not it exists; its parents cannot be moved away.
    fs::write(inside.join("kept/file"), "text").unwrap();
    fs::create_dir_all(inside.join("a/b")).unwrap();
    let kept = json!({"deny_write": [inside.join("kept")]});
    check(kept.clone(), "cat kept/file && ls . && echo x > a/b/new", 0);
    for script in ["echo x > kept/file", "mv kept a/", "mkdir new", "rm kept/file", "chmod 700 kept"] {
        check_not(kept.clone(), script);
    }
    let hidden = json!({"deny_read": [inside.join("kept")]});
    check(hidden.clone(), "cat a/b/new", 0);
    for script in ["cat kept/file", "ls kept", "ls .", "ln kept/file a/", "mv kept a/ && cat a/kept/file"] {
        check_not(hidden.clone(), script);
    }
    let later = json!({"deny_write": [inside.join("a/later/deep")]});
    check(later.clone(), "echo x > a/b/more && ls a", 0);
    for script in ["mkdir a/later", "mv a/b a/later", "mv a b && mkdir -p a/later/deep", "ln -s b a/later"] {
        check_not(later.clone(), script);
    }
    // Also in the system's places.
    check(json!({"deny_read": ["/usr/share/doc"]}), "true", 0);
    check_not(json!({"deny_read": ["/usr/share/doc"]}), "ls /usr/share/doc");
    check(json!({"allow_read": [scene.path("gone")]}), "true", 77);
}

#[test]
fn denials_hold_however_they_are_spelled() {
    let scene = Scene::new();
    let inside = scene.path("inside");
    symlink(&inside, scene.path("link")).unwrap();
    let check = |denied: &str, script: &str, code: i32| {
        let spec = json!({"roots": [root(&inside, "rw")], "deny_write": [scene.directory.path().join(denied)]});
        let run = run(&spec, ["sh", "-c", script]);
        assert_eq!(run.code, Some(code), "{denied} {script}: {run:?}");
    };
    check("outside", "echo x > new", 0);
    for spelling in ["inside", "outside/../inside", "./inside/.", "link"] {
        check(spelling, "echo x > new", 2);
    }
    // Below an open place, and not existing yet.
    for spelling in ["inside/later", "link/later", "outside/../inside/later"] {
        check(spelling, "mkdir later", 1);
    }
    check("gone/../inside", "true", 77);
    let relative = run(&json!({"roots": [root(&inside, "rw")], "deny_write": ["inside"]}), ["true"]);
    assert_eq!(relative.code, Some(77), "{relative:?}");
}

#[test]
fn the_whole_disk_is_not_accepted_as_a_root() {
    for spec in [json!({"roots": ["/:ro"]}), json!({"roots": [], "allow_read": ["/"]})] {
        let run = run(&spec, ["true"]);
        assert_eq!(run.code, Some(77), "{spec} {run:?}");
    }
    // Not through the profile either.
    let scene = Scene::new();
    symlink("/", scene.path("node_modules")).unwrap();
    let run = run(&json!({"roots": []}), [scene.path("node_modules/bin/ls").as_os_str(), "/root".as_ref()]);
    assert!(run.code == Some(2) && run.err.contains("Permission denied"), "{run:?}");
}

#[test]
fn the_profile_opens_no_secret_place() {
    let scene = Scene::new();
    let secret = scene.path("outside/.ssh");
    fs::create_dir(&secret).unwrap();
    fs::write(secret.join("certificate"), "SECRET").unwrap();
    symlink(secret.join("certificate"), scene.path("certificate")).unwrap();
    for name in ["harmless", "harmless.pem"] {
        fs::write(scene.path(name), "harmless").unwrap();
    }
    let spec = json!({"roots": [root(&scene.path("inside"), "rw")]});
    let read = |file: &str| {
        let path = scene.path(file);
        let mut command = host(&spec);
        command.env("SSL_CERT_FILE", &path).arg("cat").arg(&path);
        finish(&mut command)
    };
    assert_eq!(read("harmless").out, "harmless");
    assert_eq!(read("harmless.pem").out, "harmless", "processes may read guarded files");
    assert!(!read("certificate").out.contains("SECRET"));
}

#[test]
fn the_profile_opens_neither_the_home_nor_a_directory_that_all_share() {
    let scene = Scene::new();
    let home = scene.path("outside");
    let spec = json!({"roots": [root(&scene.path("inside"), "rw")]});
    symlink(&home, scene.path("link")).unwrap();
    for certificates in [home.clone(), scene.path("link"), scene.directory.path().to_owned()] {
        let mut command = host(&spec);
        command.env("HOME", &home).env("SSL_CERT_DIR", certificates).arg("cat").arg(home.join("secret.txt"));
        let run = finish(&mut command);
        assert!(run.code == Some(1) && !run.out.contains("SECRET"), "{run:?}");
    }
    // A Python environment that is the home itself.
    fs::create_dir(home.join("bin")).unwrap();
    fs::write(home.join("pyvenv.cfg"), "home = /usr/bin\n").unwrap();
    symlink("/usr/bin/python3", home.join("bin/python3")).unwrap();
    let code = "import sys; print(open(sys.argv[1]).read())";
    let mut command = host(&spec);
    command.env("HOME", &home).arg(home.join("bin/python3")).args(["-I", "-c", code]).arg(home.join("secret.txt"));
    let run = finish(&mut command);
    assert!(run.code == Some(1) && !run.out.contains("SECRET"), "{run:?}");
    // Like `/tmp`, where a script may lie next to other people's files.
    let shared = scene.path("shared");
    fs::create_dir(&shared).unwrap();
    fs::set_permissions(&shared, std::os::unix::fs::PermissionsExt::from_mode(0o1777)).unwrap();
    fs::write(shared.join("secret.txt"), "SECRET").unwrap();
    fs::write(shared.join("package.json"), "{}").unwrap();
    fs::write(shared.join("script.py"), "import sys; print('ran'); print(open(sys.path[0] + '/secret.txt').read())")
        .unwrap();
    let script = "console.log('ran'); console.log(require('fs').readFileSync(__dirname + '/secret.txt', 'utf8'))";
    fs::write(shared.join("script.cjs"), script).unwrap();
    for (program, script) in [("python3", "script.py"), ("node", "script.cjs")] {
        let run = finish(host(&spec).arg(program).arg(shared.join(script)));
        assert!(run.out.starts_with("ran\n") && !run.out.contains("SECRET"), "{program}: {run:?}");
    }
}

#[test]
fn secrets_in_the_environment_are_passed_only_when_named() {
    let scene = Scene::new();
    let seen = |spec: &Value| {
        let mut command = host(spec);
        command.env("https_proxy", "http://name:SECRET@proxy").env("http_proxy", "http://proxy");
        command
            .env("PIP_INDEX_URL", "https://dl.example.com/SECRET/simple")
            .env("UV_INDEX_URL", "https://index.example.com/simple");
        command.env("LC_TOKEN", "SECRET").env("LC_TIME", "SECRET-SECRET").env("LC_ALL", "C.UTF-8").arg("env");
        finish(&mut command).out
    };
    let mut spec = json!({"roots": [root(&scene.path("inside"), "rw")]});
    let out = seen(&spec);
    for passed in
        ["PATH=", "http_proxy=http://proxy\n", "UV_INDEX_URL=https://index.example.com/simple\n", "LC_ALL=C.UTF-8\n"]
    {
        assert!(out.contains(passed), "{passed} in {out}");
    }
    assert!(!out.contains("SECRET"), "{out}");
    let home = out.lines().find_map(|line| line.strip_prefix("HOME=")).unwrap();
    assert_ne!(Some(home.as_ref()), std::env::home_dir().as_deref().map(std::path::Path::as_os_str));
    spec["variables"] = json!(["TOKEN"]);
    assert!(seen(&spec).contains("TOKEN=SECRET"));
}

#[test]
fn code_on_the_command_line_opens_nothing() {
    let scene = Scene::new();
    let outside = scene.path("outside");
    fs::write(outside.join("package.json"), "{}").unwrap();
    let spec = json!({"roots": [root(&scene.path("inside"), "rw")]});
    let secret = outside.join("secret.txt");
    let secret = secret.to_str().unwrap();
    let code = "import sys; print(open(sys.argv[1]).read())";
    let script = "console.log(require('fs').readFileSync(process.argv[1], 'utf8'))";
    for command in [
        ["python3", "-c", code, secret].as_slice(),
        &["python3", "-W", "ignore", "-c", code, secret],
        &["node", "-e", script, secret],
        &["node", "-r", "fs", "-e", script, secret],
    ] {
        let mut host = host(&spec);
        let run = finish(host.current_dir(&outside).args(command));
        assert!(run.code == Some(1) && !run.out.contains("SECRET"), "{command:?}: {run:?}");
    }
}

#[test]
fn a_package_cache_belongs_to_one_command_and_directory() {
    let scene = Scene::new();
    let tools = scene.path("tools");
    fs::create_dir(&tools).unwrap();
    let script = "#!/bin/sh\necho \"$npm_config_cache\"; mkdir -p \"$npm_config_cache\" && echo mine > \"$npm_config_cache/x\"\n";
    fs::write(tools.join("npx"), script).unwrap();
    fs::set_permissions(tools.join("npx"), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let spec = json!({"roots": [root(&scene.path("inside"), "rw")]});
    let cache = |package: &str| {
        let mut command = host(&spec);
        command.env("XDG_CACHE_HOME", scene.path(".cache")).arg(tools.join("npx")).args(["-y", package]);
        let run = finish(&mut command);
        assert_eq!(run.code, Some(0), "{run:?}");
        run.out
    };
    let (one, other) = (cache("one"), cache("other"));
    assert_ne!(one, other);
    assert_eq!(one, cache("one"), "kept for the next start");
    let mut elsewhere = host(&spec);
    elsewhere.env("XDG_CACHE_HOME", scene.path(".cache")).current_dir(scene.path("inside"));
    assert_ne!(one, finish(elsewhere.arg(tools.join("npx")).args(["-y", "one"])).out, "another project has its own");
    assert!(one.starts_with(scene.path(".cache/rootward/packages").to_str().unwrap()), "{one}");
}

#[test]
fn the_sandbox_is_tried_before_the_command_runs() {
    // The enforcement lists everything a command gets, and is only reported after the sandbox was tested.
    let scene = Scene::new();
    let run = run(&json!({"roots": [root(&scene.path("inside"), "rw")], "tell": true}), ["ls", "/"]);
    assert_ne!(run.code, Some(0), "{run:?}");
    let enforcement: Value = serde_json::from_str(run.out.lines().next().unwrap()).unwrap();
    assert!(enforcement["landlock_abi"].as_i64().unwrap() >= 3);
}

#[test]
fn refusals_are_traced_each_place_once() {
    let scene = Scene::new();
    let spec = json!({"roots": [root(&scene.path("inside"), "rw")], "trace": true});
    let outside = scene.path("outside");
    let script = format!(
        "cd {0}; cat secret.txt; cat secret.txt; echo x > new; ls {0}/missing; chmod 600 kept.txt; ./program; echo end",
        outside.display()
    );
    let run = run(&spec, ["sh", "-c", &script]);
    let refused: Vec<&str> = run.out.lines().filter(|line| line.starts_with("refused")).collect();
    let expect = |access: &str, name: &str| format!("refused {access} {}", outside.join(name).display());
    for line in [expect("read", "secret.txt"), expect("write", "kept.txt"), expect("execute", "program")] {
        assert_eq!(refused.iter().filter(|seen| **seen == line).count(), 1, "{line}: {refused:#?}");
    }
    let above = format!("refused write {}", outside.display());
    assert!(refused.contains(&above.as_str()), "{refused:#?}");
    assert!(!refused.iter().any(|line| line.contains("missing")), "a missing file is not refused: {refused:#?}");
}

/// A path can lead elsewhere by the time it is used; a handle cannot.
#[test]
fn a_command_starts_in_the_directory_of_the_handle() {
    let scene = Scene::new();
    let inside = scene.path("inside");
    for threads in ["one", "two"] {
        let spec = json!({
            "roots": [root(&inside, "rw")], "threads": threads, "start": inside, "directory": scene.path("outside"),
        });
        let run = run(&spec, ["sh", "-c", "pwd -P; ls -l /proc/self/fd 2>&1 | grep -c inside"]);
        assert_eq!(run.out, format!("{}\n0\n", inside.display()), "{threads}: {run:?}");
        let named = json!({"roots": [root(&inside, "rw")], "threads": threads, "directory": scene.path("outside")});
        let run = crate::scene::run(&named, ["sh", "-c", "pwd -P"]);
        assert_eq!(run.out, format!("{}\n", scene.path("outside").display()), "the control: {run:?}");
    }
}
