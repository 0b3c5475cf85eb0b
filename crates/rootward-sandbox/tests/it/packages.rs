//! Packages in two steps: fetched by a confined process without roots, then run read-only. Shell scripts play the
//! programs that fetch, and misbehave as a package's own scripts could.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::scene::{Run, finish, host, root};

/// Plays `npm install`: `$dir` is the directory of the install, `$name` the package.
const NPM: &str = r#"#!/bin/sh
while [ $# -gt 1 ]; do case "$1" in --prefix) dir="$2"; shift;; esac; shift; done
name="${1%%@*}"; top="$dir/node_modules/$name"
mkdir -p "$top" "$dir/node_modules/.bin"
printf '{"version": "1.0", "bin": {"%s": "cli.sh"}}' "$name" > "$top/package.json"
printf '#!/bin/sh\necho ran "$@"\n' > "$top/cli.sh"; chmod +x "$top/cli.sh"
ln -s "../$name/cli.sh" "$dir/node_modules/.bin/$name"
"#;

/// Plays `uv tool install`.
const UV: &str = r#"#!/bin/sh
for name; do :; done
top="$UV_TOOL_DIR/$name"
mkdir -p "$top/bin" "$UV_TOOL_BIN_DIR"
ln -s /usr/bin/python3 "$top/bin/python"
printf 'home = /usr/bin\n' > "$top/pyvenv.cfg"
printf '#!/bin/sh\necho ran "$@"\n' > "$top/bin/$name"; chmod +x "$top/bin/$name"
"#;

/// Plays `npx` and `uvx`; prints that the command ran as typed.
const RUNNER: &str = "#!/bin/sh\necho typed\n";

/// A user with two projects, and the programs that fetch.
struct User {
    directory: TempDir,
}

impl User {
    /// Appends `more` to the scripts that fetch.
    fn new(more: &str) -> User {
        let user = User { directory: tempfile::Builder::new().prefix("packages-").tempdir().unwrap() };
        for name in ["home/one", "home/other", "home/private"] {
            fs::create_dir_all(user.path(name)).unwrap();
        }
        fs::write(user.path("home/private/diary.txt"), "SECRET").unwrap();
        user.fetchers(more);
        for name in ["npx", "uvx"] {
            user.program(&format!("tools/{name}"), RUNNER);
        }
        user
    }

    fn fetchers(&self, more: &str) {
        self.program("tools/npm", &format!("{NPM}{more}\n"));
        self.program("tools/uv", &format!("{UV}{more}\n"));
    }

    fn path(&self, below: &str) -> PathBuf {
        self.directory.path().canonicalize().unwrap().join(below)
    }

    fn program(&self, below: &str, text: &str) {
        let path = self.path(below);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// Starts a command line in a project, which is its root.
    fn command(&self, project: &str, line: &str) -> Command {
        self.command_with(&json!({"packages": true, "roots": [root(&self.path(project), "rw")]}), project, line)
    }

    fn command_with(&self, spec: &Value, project: &str, line: &str) -> Command {
        let mut command = host(spec);
        command.env("HOME", self.path("home")).env_remove("XDG_CACHE_HOME").env("XDG_STATE_HOME", self.path("state"));
        let path = format!("{}:/usr/bin:/bin", self.path("tools").display());
        command.env("PATH", path).current_dir(self.path(project));
        for name in ["PYENV_ROOT", "NVM_DIR", "UV_PYTHON_INSTALL_DIR"] {
            command.env_remove(name);
        }
        command.args(line.split(' '));
        command
    }

    fn run(&self, project: &str, line: &str) -> Run {
        finish(&mut self.command(project, line))
    }

    /// The only entry of the store.
    fn entry(&self) -> PathBuf {
        let mut entries = self.entries();
        assert_eq!(entries.len(), 1, "{entries:?}");
        entries.remove(0)
    }

    /// The entries of the store; none if nothing was fetched yet.
    fn entries(&self) -> Vec<PathBuf> {
        let registries = fs::read_dir(self.path("home/.cache/rootward/packages")).into_iter().flatten();
        let entries = registries.flat_map(|registry| fs::read_dir(registry.unwrap().path()).unwrap());
        entries.map(|entry| entry.unwrap().path()).collect()
    }

    fn names(&self) -> Vec<String> {
        let names = fs::read_dir(self.entry()).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// Makes the good install this many days old.
    fn age(&self, days: u64) {
        let current = self.entry().join("current");
        let mut text: Value = serde_json::from_slice(&fs::read(&current).unwrap()).unwrap();
        text["fetched"] = json!(text["fetched"].as_u64().unwrap() - days * 24 * 3600);
        fs::write(&current, text.to_string()).unwrap();
    }
}

const FETCHING: &str = "fetching package `name`\n";

#[test]
fn a_package_is_fetched_once_for_all_projects() {
    let user = User::new("");
    for runner in ["npx -y", "uvx"] {
        let first = user.run("home/one", &format!("{runner} name a b"));
        assert_eq!(first.out, format!("{FETCHING}ran a b\n"), "{first:?}");
        let again = user.run("home/other", &format!("{runner} name {}", user.path("home/other").display()));
        assert_eq!(again.out, format!("ran {}\n", user.path("home/other").display()), "{again:?}");
    }
}

#[test]
fn the_program_of_a_line_is_the_one_that_runs() {
    let user = User::new("printf '#!/bin/sh\\necho the other\\n' > \"$top/bin/tool\"; chmod +x \"$top/bin/tool\"");
    let run = user.run("home/one", "uvx --from name tool");
    assert_eq!(run.out, format!("{FETCHING}the other\n"), "{run:?}");
    assert_eq!(user.run("home/one", "uvx name").out, "ran\n", "the same install");
    let run = user.run("home/one", "uvx --from name gone");
    assert!(run.code == Some(77) && run.out.contains("has no program `gone`"), "{run:?}");
}

#[test]
fn a_package_is_read_only_to_its_server() {
    let server = r#"cat > "$top/cli.sh" <<'X'
#!/bin/sh
here="$(dirname "$0")"; entry="${here%/1/*}"
for place in "$here/x" "$here/../name/cli.sh" "$here/../../x" "$entry/x" "$entry/current" "$entry/../x" "$entry/1.use"; do
    echo x 2>/dev/null >> "$place" && echo "WROTE $place"
done
rm "$here/name" 2>/dev/null && echo REMOVED
mv "$entry/1" "$entry/2" 2>/dev/null && echo MOVED
cat "$entry/current" 2>/dev/null
echo ran
X
"#;
    let user = User::new(server);
    let own = json!([user.path("home/.cache/rootward")]);
    for share in ["home/one", "home/.cache", "home"] {
        fs::create_dir_all(user.path(share)).unwrap();
        let roots = json!([root(&user.path(share), "rwx")]);
        let spec = json!({"packages": true, "roots": roots, "own": own});
        let run = finish(&mut user.command_with(&spec, "home/one", "npx name"));
        assert_eq!(run.out.trim_start_matches(FETCHING), "ran\n", "{share}: {run:?}");
    }
    let run = finish(&mut user.command_with(&json!({"packages": true, "own": own}), "home/one", "npx name"));
    assert_eq!(run.out, "ran\n", "the same without roots: {run:?}");
}

/// What a package's own script sees and does while it is fetched.
#[test]
fn a_fetch_sees_no_root_and_no_secret() {
    let more = r#"{ cat "$TEST_TOP/home/one/file.txt" "$TEST_TOP/home/private/diary.txt" "$TEST_TOP/allowed/file.txt"
echo x > "$TEST_TOP/home/one/new"; echo x > "$TEST_TOP/allowed/new"; echo x > "$dir/../planted"; ls "$dir/.."
env; pwd; ls -a; } > "$top/seen" 2>&1
printf '#!/bin/sh\ncat "$(dirname "$0")/../name/seen"\n' > "$top/cli.sh""#;
    let user = User::new("");
    let top = user.path("");
    user.program("tools/npm", &format!("{NPM}{}\n", more.replace("$TEST_TOP", top.to_str().unwrap())));
    for (file, text) in [("home/one/file.txt", "SECRET"), ("allowed/file.txt", "SECRET"), ("home/one/.npmrc", "")] {
        fs::create_dir_all(user.path(file).parent().unwrap()).unwrap();
        fs::write(user.path(file), text).unwrap();
    }
    let spec = json!({
        "packages": true, "roots": [root(&user.path("home/one"), "rw")], "allow_write": [user.path("allowed")],
        "variables": ["TOKEN", "npm_config_registry", "UV_*"],
    });
    let mut command = user.command_with(&spec, "home/one", "npx name");
    let run = finish(command.env("TOKEN", "SECRET").env("npm_config_registry", "http://me:password@127.0.0.1:1"));
    assert!(run.out.starts_with(FETCHING) && run.out.contains("PATH="), "{run:?}");
    assert!(!run.out.contains("SECRET"), "{run:?}");
    assert!(
        run.out.contains("npm_config_registry=http://me:password@"),
        "what is named for fetching is passed on: {run:?}"
    );
    for planted in ["home/one/new", "allowed/new"] {
        assert!(!user.path(planted).exists(), "{planted}");
    }
    assert!(!user.entry().join("planted").exists());
    assert!(!run.out.contains("\ncurrent\n") && !run.out.contains(".npmrc"), "{run:?}");
}

#[test]
fn a_fetch_is_not_decided_by_the_project() {
    let more = "cat install \"$TEST_ONE/install\" > \"$top/seen\" 2>&1
printf '#!/bin/sh\\ncat \"$(dirname \"$0\")/../name/seen\"\\n' > \"$top/cli.sh\"";
    let user = User::new("");
    let one = user.path("home/one");
    fs::write(one.join("install"), "INSIDE").unwrap();
    // With an interpreter named like node's, the first argument would be treated as a script.
    symlink("/bin/sh", user.path("tools/node")).unwrap();
    let npm = format!("{NPM}{}\n", more.replace("$TEST_ONE", one.to_str().unwrap()));
    user.program("tools/npm", &npm.replacen("#!/bin/sh", "#!/usr/bin/env node", 1));
    let run = user.run("home/one", "npx name");
    assert!(run.out.contains("denied") && !run.out.contains("INSIDE"), "{run:?}");
}

#[test]
fn a_package_opens_no_place_outside_it() {
    let diary = |user: &User| user.path("home/private/diary.txt").display().to_string();
    // A program that is a link to another place.
    let user = User::new("");
    user.program("home/private/tool", "#!/bin/sh\necho SECRET\n");
    let link = format!("ln -sf {} \"$dir/node_modules/.bin/$name\"", user.path("home/private/tool").display());
    user.program("tools/npm", &format!("{NPM}{link}\n"));
    let run = user.run("home/one", "npx name");
    assert!(run.code == Some(77) && run.out.contains("leads out of the package"), "{run:?}");
    assert_eq!(user.names(), ["key", "lock"], "nothing is kept");
    // A first line that names another place.
    let shebang = format!("printf '#!{}\\n' > \"$top/cli.sh\"", user.path("home/private/tool").display());
    user.program("tools/npm", &format!("{NPM}{shebang}\n"));
    let run = user.run("home/one", "npx name");
    assert!(run.code == Some(77) && run.out.contains("a confined server could have written"), "{run:?}");
    // The same if no record says that the package could write its own directory.
    let run = finish(user.command("home/one", "npx name").env("XDG_STATE_HOME", user.path("other-state")));
    assert!(run.code == Some(77) && run.out.contains("a confined server could have written"), "{run:?}");
    // Links next to the program, and an environment created from another place.
    for plant in [
        "rm -r \"$top/bin/../lib\" 2>/dev/null; ln -s PRIVATE \"$top/lib\"",
        "ln -s PRIVATE \"$top/lib64\"; ln -s PRIVATE \"$top/libexec\"",
        "mkdir PRIVATE 2>/dev/null; printf 'home = PRIVATE/bin\\n' > \"$top/pyvenv.cfg\"",
    ] {
        let user = User::new("");
        fs::create_dir_all(user.path("home/private/bin")).unwrap();
        fs::create_dir_all(user.path("home/private/lib")).unwrap();
        fs::write(user.path("home/private/lib/diary.txt"), "SECRET").unwrap();
        let private = user.path("home/private").display().to_string();
        let read =
            format!("printf '#!/bin/sh\\necho ran; cat {0} {private}/lib/*\\n' > \"$top/bin/$name\"", diary(&user));
        user.program("tools/uv", &format!("{UV}{}\n{read}\n", plant.replace("PRIVATE", &private)));
        let run = user.run("home/one", "uvx name");
        assert!(run.out.contains("ran") && !run.out.contains("SECRET"), "{plant}: {run:?}");
    }
}

#[test]
fn a_runner_that_a_server_could_write_does_not_fill_the_store() {
    let user = User::new("");
    // In the root of this start, and in one of an earlier start.
    for (project, first) in [("home/one", "home/one"), ("home/other", "home/one")] {
        for name in ["npx", "npm"] {
            user.program(&format!("home/one/bin/{name}"), if name == "npx" { RUNNER } else { NPM });
        }
        let mut command = user.command(project, "npx name");
        let path = format!("{}:/usr/bin:/bin", user.path(first).join("bin").display());
        let run = finish(command.env("PATH", path));
        assert!(!user.path("home/.cache/rootward/packages/npm").exists(), "{project}: {run:?}");
    }
}

#[test]
fn a_package_of_the_project_runs_as_it_was_typed() {
    let user = User::new("");
    fs::create_dir_all(user.path("home/one/node_modules/name")).unwrap();
    assert_eq!(user.run("home/one", "npx name").out, "typed\n");
    assert_eq!(user.run("home/other", "npx name").out, format!("{FETCHING}ran\n"));
    for line in ["npx -p name name", "npx ./name", "npx --registry http://127.0.0.1:1 name"] {
        assert_eq!(user.run("home/other", line).out, "typed\n", "{line}");
    }
}

#[test]
fn packages_with_similar_names_are_separate() {
    let user = User::new("");
    for package in ["name", "Name", "name-", "nam.e", "other"] {
        let run = user.run("home/one", &format!("npx {package}"));
        assert_eq!(run.out, format!("fetching package `{package}`\nran\n"), "{run:?}");
    }
}

#[test]
fn a_fetch_that_fails_says_why_and_leaves_nothing() {
    let user = User::new("echo 'npm error code E404'; echo 'npm error 404 no such package'; exit 1");
    let run = user.run("home/one", "npx name");
    assert_eq!(run.code, Some(77));
    assert!(run.out.ends_with("package `name` could not be fetched: 404 no such package\n"), "{run:?}");
    assert_eq!(user.names(), ["key", "lock"]);
    user.fetchers("kill -9 $$");
    let run = user.run("home/one", "npx name");
    assert!(run.code == Some(77) && run.out.contains("could not be fetched"), "{run:?}");
    assert_eq!(user.names(), ["key", "lock"]);
    user.fetchers("");
    assert_eq!(user.run("home/one", "npx name").out, format!("{FETCHING}ran\n"));
    assert_eq!(user.names(), ["1", "1.use", "current", "key", "lock"]);
}

/// Starts a command whose fetch does not end, and waits until it has started.
fn hanging(user: &User) -> Child {
    user.fetchers("sleep 1000");
    let child = user.command("home/one", "npx name").stdout(Stdio::null()).spawn().unwrap();
    until(|| user.entries().iter().any(|entry| entry.join("1/node_modules/.bin/name").exists()));
    child
}

fn until(mut condition: impl FnMut() -> bool) {
    let began = Instant::now();
    while !condition() {
        assert!(began.elapsed() < Duration::from_mins(1), "timeout");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn an_interrupted_fetch_is_started_again() {
    let user = User::new("");
    let mut cut_off = hanging(&user);
    // Kill the host itself: it has no time to clean up.
    cut_off.kill().unwrap();
    cut_off.wait().unwrap();
    assert!(user.entry().join("1").exists() && !user.entry().join("current").exists());
    user.fetchers("");
    let run = user.run("home/other", "npx name");
    assert_eq!(run.out, format!("{FETCHING}ran\n"), "{run:?}");
    assert_eq!(user.names(), ["1", "1.use", "current", "key", "lock"], "the leftovers are gone");
}

#[test]
fn two_starts_at_once_fetch_once() {
    let user = User::new("sleep 1");
    let commands: Vec<Child> = ["home/one", "home/other", "home/one"]
        .iter()
        .map(|project| user.command(project, "npx name").stdout(Stdio::piped()).spawn().unwrap())
        .collect();
    let outputs: Vec<String> = commands
        .into_iter()
        .map(|child| String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap())
        .collect();
    assert!(outputs.iter().all(|output| output.ends_with("ran\n")), "{outputs:?}");
    let fetched = outputs.iter().flat_map(|output| output.lines()).filter(|line| line.starts_with("fetching"));
    assert_eq!(fetched.count(), 1, "{outputs:?}");
}

#[test]
fn a_waiting_start_goes_on_when_the_other_is_killed() {
    let user = User::new("");
    let mut first = hanging(&user);
    user.fetchers("");
    let second = user.command("home/other", "npx name").stdout(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(500));
    first.kill().unwrap();
    first.wait().unwrap();
    let output = String::from_utf8(second.wait_with_output().unwrap().stdout).unwrap();
    assert!(
        output.starts_with("another process is fetching") && output.ends_with(&format!("{FETCHING}ran\n")),
        "{output}"
    );
}

#[test]
fn an_old_package_is_fetched_again_and_used_if_that_fails() {
    let user = User::new("");
    let fetching = "fetching package `name@latest`\n";
    assert_eq!(user.run("home/one", "npx name@latest").out, format!("{fetching}ran\n"));
    user.age(2);
    user.fetchers("echo 'npm error network is down'; exit 1");
    let run = user.run("home/one", "npx name@latest");
    let old = "package `name@latest` could not be fetched: network is down; the installed version 1.0 is used\n";
    assert_eq!(run.out, format!("{fetching}{old}ran\n"), "{run:?}");
    assert_eq!(user.run("home/one", "npx name@latest").out, "ran\n", "not tried again at once");
    assert_eq!(user.names(), ["1", "1.use", "current", "key", "lock"]);
    // Fetched again: the new install replaces the old one, which no server uses.
    let current = fs::read_to_string(user.entry().join("current")).unwrap();
    fs::write(user.entry().join("current"), current.replace("\"tried\":", "\"tried_\":")).unwrap();
    user.fetchers("printf '#!/bin/sh\\necho ran 2\\n' > \"$top/cli.sh\"");
    let mut run = user.command("home/one", "npx name@latest");
    assert_eq!(finish(&mut run).out, format!("{fetching}ran 2\n"));
    assert_eq!(user.names(), ["2", "2.use", "current", "key", "lock"]);
}

#[test]
fn a_fixed_version_is_never_fetched_again() {
    let user = User::new("");
    assert!(user.run("home/one", "npx name@1.2.3").out.contains("fetching"));
    user.age(4000);
    assert_eq!(user.run("home/one", "npx name@1.2.3").out, "ran\n");
}

#[test]
fn nothing_is_fetched_if_the_settings_close_the_network() {
    let user = User::new("");
    let spec = |fetch: &str| json!({"packages": true, "roots": [root(&user.path("home/one"), "rw")], "network": "off", "fetch": fetch});
    let run = finish(&mut user.command_with(&spec("off"), "home/one", "npx name"));
    assert!(run.code == Some(77) && run.out.contains("the settings close the network"), "{run:?}");
    let run = finish(&mut user.command_with(&spec("on"), "home/one", "npx name"));
    assert_eq!(run.out, format!("{FETCHING}ran\n"), "the server's network is a separate setting: {run:?}");
    let run = finish(&mut user.command_with(&spec("off"), "home/one", "npx name"));
    assert_eq!(run.out, "ran\n", "{run:?}");
}

#[test]
fn a_missing_python_causes_a_new_fetch() {
    let user = User::new("");
    assert!(user.run("home/one", "uvx name").out.contains("fetching"));
    let python = user.entry().join("1/tools/name/bin/python");
    fs::remove_file(&python).unwrap();
    symlink(Path::new("/nowhere/python3"), &python).unwrap();
    assert_eq!(user.run("home/one", "uvx name").out, format!("{FETCHING}ran\n"));
}

#[test]
fn a_store_in_a_place_that_was_shared_is_not_used() {
    let user = User::new("");
    let shared = json!({"roots": [root(&user.path("home"), "rw")]});
    let given = finish(&mut user.command_with(&shared, "home/one", "true"));
    assert_eq!(given.code, Some(0), "{given:?}");
    // If an earlier command could write where the cache is, it could have planted a package there.
    let run = finish(user.command("home/one", "npx name").env("XDG_CACHE_HOME", user.path("home/one/cache")));
    assert_eq!(run.out, "typed\n", "{run:?}");
    let run = finish(user.command("home/one", "npx name").env("XDG_CACHE_HOME", user.path("cache")));
    assert_eq!(run.out, format!("{FETCHING}ran\n"), "{run:?}");
}
