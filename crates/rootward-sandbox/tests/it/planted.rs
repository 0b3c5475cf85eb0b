//! Nothing that a confined command can write adds to what a later start opens. Each attack is planted in a root, as a
//! server would between two starts; then the command is started again and tries to read what lies outside.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;

use crate::scene::{Run, Scene, finish, host, root};

/// A home with a secret, a project in it, and something outside.
struct Home {
    scene: Scene,
}

impl Home {
    fn new() -> Home {
        let home = Home { scene: Scene::new() };
        home.file("home/private/diary.txt", "SECRET");
        home.file("home/.ssh/id_rsa", "SECRET");
        home.file("home/elsewhere/lib/secret.txt", "SECRET");
        fs::create_dir_all(home.path("home/proj")).unwrap();
        home
    }

    fn path(&self, below: &str) -> PathBuf {
        self.scene.directory.path().canonicalize().unwrap().join(below)
    }

    fn file(&self, below: &str, text: &str) -> PathBuf {
        let path = self.path(below);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    fn program(&self, below: &str, text: &str) -> PathBuf {
        let path = self.file(below, text);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    fn link(&self, below: &str, target: impl AsRef<Path>) {
        let path = self.path(below);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        symlink(target, path).unwrap();
    }

    /// A host whose command has these roots and runs in the project.
    fn host(&self, roots: &[&str]) -> Command {
        self.host_with(&json!({"roots": roots.iter().map(|path| root(&self.path(path), "rw")).collect::<Vec<_>>()}))
    }

    fn host_with(&self, spec: &serde_json::Value) -> Command {
        let mut command = host(spec);
        command.env("HOME", self.path("home")).env_remove("XDG_CACHE_HOME").env("XDG_STATE_HOME", self.path("state"));
        // Hide the version managers of the person who runs the tests.
        for name in ["PYENV_ROOT", "NVM_DIR", "UV_PYTHON_INSTALL_DIR"] {
            command.env_remove(name);
        }
        command.current_dir(self.path("home/proj"));
        command
    }
}

/// Checks that a program ran, and read nothing outside.
fn reads_nothing(what: &str, command: &mut Command) {
    let run = finish(command);
    assert!(run.out.contains("ran"), "{what}: it did not run: {run:?}");
    assert!(!run.out.contains("SECRET"), "{what}: {run:?}");
}

fn refused(what: &str, run: &Run, place: &Path) {
    assert_eq!(run.code, Some(77), "{what}: {run:?}");
    assert!(run.out.contains("a confined server could have written"), "{what}: {run:?}");
    assert!(run.out.contains(place.to_str().unwrap()), "{what}: {run:?}");
}

/// Reports that it ran, and prints the files that it can read.
fn reader(first_line: &str, home: &Home, files: &[&str]) -> String {
    let files: Vec<String> = files.iter().map(|file| home.path(file).display().to_string()).collect();
    format!("{first_line}\necho ran\ncat {} 2>/dev/null\n:\n", files.join(" "))
}

#[test]
fn libraries_beside_a_program_are_not_links_to_elsewhere() {
    let home = Home::new();
    let text = reader("#!/bin/sh", &home, &["home/private/diary.txt", "home/.ssh/id_rsa"]);
    let program = home.program("home/proj/.venv/bin/x", &text);
    for part in ["libexec", "lib", "lib64"] {
        for target in ["home", "home/private", "home/.ssh"] {
            home.link(&format!("home/proj/.venv/{part}"), home.path(target));
            reads_nothing(&format!("{part} -> {target}"), home.host(&["home/proj"]).arg(&program));
            fs::remove_file(home.path(&format!("home/proj/.venv/{part}"))).unwrap();
        }
    }
}

#[test]
fn a_program_is_not_reached_by_a_planted_link() {
    let home = Home::new();
    let text = reader("#!/bin/sh", &home, &["home/elsewhere/lib/secret.txt"]);
    home.program("home/elsewhere/bin/x", &text);
    home.link("home/proj/.venv/bin", home.path("home/elsewhere/bin"));
    let run = finish(home.host(&["home/proj"]).arg(home.path("home/proj/.venv/bin/x")));
    refused("a directory", &run, &home.path("home/proj/.venv/bin"));
    home.link("home/proj/x", home.path("home/elsewhere/bin/x"));
    let run = finish(home.host(&["home/proj"]).arg(home.path("home/proj/x")));
    refused("the program", &run, &home.path("home/proj/x"));
    // If the target is open anyway, the link adds nothing.
    let spec = json!({"roots": [root(&home.path("home/proj"), "rw")], "allow_read": [home.path("home/elsewhere")]});
    let run = finish(home.host_with(&spec).arg(home.path("home/proj/x")));
    assert!(run.out.contains("ran") && run.out.contains("SECRET"), "{run:?}");
}

#[test]
fn a_planted_environment_cannot_name_a_python_elsewhere() {
    let home = Home::new();
    let text = reader("#!/bin/sh", &home, &["home/elsewhere/lib/secret.txt"]);
    let python = home.program("home/proj/.venv/bin/python", &text);
    fs::create_dir_all(home.path("home/proj/e/bin")).unwrap();
    home.link("home/proj/e/lib", home.path("home/elsewhere/lib"));
    for base in ["home/proj/e/bin", "home/elsewhere/bin"] {
        home.file("home/proj/.venv/pyvenv.cfg", &format!("home = {}\n", home.path(base).display()));
        reads_nothing(base, home.host(&["home/proj"]).arg(&python));
    }
}

#[test]
fn a_planted_script_cannot_choose_an_interpreter_elsewhere() {
    let home = Home::new();
    home.program("home/elsewhere/bin/sh", &reader("#!/bin/sh", &home, &["home/elsewhere/lib/secret.txt"]));
    let interpreter = home.path("home/elsewhere/bin/sh");
    for first_line in [format!("#!{}", interpreter.display()), format!("#!/usr/bin/env -S {}", interpreter.display())] {
        let script = home.program("home/proj/script", &format!("{first_line}\n"));
        refused(&first_line, &finish(home.host(&["home/proj"]).arg(script)), &home.path("home/proj/script"));
    }
}

#[test]
fn a_directory_called_shims_opens_nothing() {
    let home = Home::new();
    home.file("home/elsewhere/shims/x", "");
    let shim = home.path("home/elsewhere/shims/x");
    let text =
        reader(&format!("#!/usr/bin/env -S -u {} /bin/sh", shim.display()), &home, &["home/elsewhere/lib/secret.txt"]);
    let script = home.program("home/proj/script", &text);
    reads_nothing("an argument of an option", home.host(&["home/proj"]).arg(&script));
    // A requested shim that belongs to no version manager opens nothing either.
    let typed = home.program("home/tools/shims/x", &reader("#!/bin/sh", &home, &["home/tools/secret.txt"]));
    home.file("home/tools/secret.txt", "SECRET");
    reads_nothing("a directory of that name", home.host(&["home/proj"]).arg(typed));
}

/// A script whose first line names a place that could be mistaken for its interpreter: `env` parses the quotes, and
/// runs a shell.
fn naming(home: &Home, place: &str, files: &[&str]) -> String {
    let first_line = format!("#!/usr/bin/env -S X=\"a {} b\" /bin/sh", home.path(place).display());
    reader(&first_line, home, files)
}

#[test]
fn an_interpreter_in_the_home_does_not_make_a_runtime_of_it() {
    let home = Home::new();
    let script = home.program("home/proj/script", &naming(&home, "home/private", &["home/private/diary.txt"]));
    for (interpreter, entry) in [("home/bin/deno", "home/bin"), ("home/shims/x", "home/shims")] {
        let interpreter = home.program(interpreter, "#!/bin/sh\n");
        let path = format!("{}:/usr/bin:/bin", home.path(entry).display());
        let run = finish(home.host(&["home/proj"]).env("PATH", path).arg(&script));
        refused(entry, &run, &script);
        fs::remove_file(interpreter).unwrap();
    }
}

#[test]
fn naming_a_program_does_not_open_all_beside_it() {
    let home = Home::new();
    let program = home.program("home/bin/x", "#!/bin/sh\necho ran\n");
    let given = finish(home.host(&["home/bin"]).arg(&program));
    assert_eq!(given.out, "ran\n", "{given:?}");
    home.program("home/bin/x", &naming(&home, "home/private", &["home/private/diary.txt"]));
    refused("its first line", &finish(home.host(&["home/proj"]).arg(&program)), &program);
    home.program("home/elsewhere/bin/y", "#!/bin/sh\n");
    fs::remove_file(&program).unwrap();
    home.link("home/bin/x", home.path("home/elsewhere/bin/y"));
    refused("a link", &finish(home.host(&["home/proj"]).arg(&program)), &program);
}

#[test]
fn a_planted_environment_opens_nothing() {
    let home = Home::new();
    home.file("home/src/other/secret.txt", "SECRET");
    let code = "#!/usr/bin/env python3\nprint('ran')\ntry: print(open('[FILE]').read())\nexcept OSError: pass\n";
    let code = code.replace("[FILE]", home.path("home/src/other/secret.txt").to_str().unwrap());
    let programs = ["home/src/tool/server", "home/src/bin/server"].map(|place| home.program(place, &code));
    let given = finish(home.host(&["home/src"]).args(["sh", "-c", "echo ran"]));
    assert_eq!(given.out, "ran\n", "{given:?}");
    home.file("home/src/pyvenv.cfg", "home = /usr/bin\n");
    for program in programs {
        reads_nothing("what was a root", home.host(&["home/proj"]).arg(program));
    }
}

#[test]
fn an_environment_that_was_in_a_root_still_starts() {
    let home = Home::new();
    let venv = home.path("home/src/tool/.venv");
    let made = Command::new("python3").args(["-m", "venv", "--without-pip"]).arg(&venv).status().unwrap();
    assert!(made.success(), "this test needs Python with `venv`");
    let packages = home.path("home/src/tool/.venv/lib");
    let packages = fs::read_dir(packages).unwrap().next().unwrap().unwrap().path().join("site-packages");
    fs::write(packages.join("found.py"), "").unwrap();
    let first_line = format!("#!{}/bin/python", venv.display());
    let script = home.program("home/src/tool/.venv/bin/server", &format!("{first_line}\nimport found\nprint('ran')\n"));
    // `uv tool` and `pipx` install a link in the user's `PATH`.
    home.link("home/.local/bin/server", &script);
    let given = finish(home.host(&["home/src"]).args(["sh", "-c", "echo ran"]));
    assert_eq!(given.out, "ran\n", "{given:?}");
    let users_home = std::env::var_os("HOME").unwrap();
    for command in [script, home.path("home/.local/bin/server")] {
        // The base of the environment is among the versions of the user who runs the tests.
        let run = finish(home.host(&["home/proj"]).env("HOME", &users_home).arg(&command));
        assert_eq!(run.out, "ran\n", "{command:?} {run:?}");
    }
}

#[test]
fn a_script_without_its_package_gets_no_other() {
    let home = Home::new();
    home.file("home/work/package.json", "{}");
    home.file("home/work/secret.txt", "SECRET");
    home.file("home/work/node_modules/hoisted/index.js", "module.exports = 'SECRET'");
    let code = format!(
        "console.log('ran'); for (const read of [() => require('fs').readFileSync('{}', 'utf8'), () => require('hoisted')])\
         try {{ console.log(read()) }} catch {{}}",
        home.path("home/work/secret.txt").display()
    );
    let script = home.file("home/work/app/server.js", &code);
    let node = || {
        let mut command = home.host(&["home/work/app"]);
        command.arg("node").arg(&script);
        command
    };
    reads_nothing("the package above the root", &mut node());
    // The start reports which directory is withheld; the operator can allow it.
    let mut reported = home.host_with(&json!({"roots": [root(&home.path("home/work/app"), "rw")], "tell": true}));
    let reported = finish(reported.arg("node").arg(&script));
    let modules = home.path("home/work/node_modules");
    assert!(reported.out.contains("withheld") && reported.out.contains(modules.to_str().unwrap()), "{reported:?}");
    let spec = json!({"roots": [root(&home.path("home/work/app"), "rw")], "allow_read": [modules]});
    let run = finish(home.host_with(&spec).arg("node").arg(&script));
    assert!(run.out.contains("SECRET"), "{run:?}");
    // Its own package is found, and opens nothing outside the root.
    home.file("home/work/app/package.json", "{}");
    reads_nothing("with a package of its own", &mut node());
}

#[test]
fn open_places_are_not_reported_as_withheld() {
    let home = Home::new();
    home.file("home/tool/package.json", "{}");
    home.file("home/tool/node_modules/found/index.js", "module.exports = 'found'");
    let script = home.file("home/tool/dist/index.js", "console.log('ran', require('found'))");
    let given = finish(home.host(&["home/tool"]).args(["sh", "-c", "echo ran"]));
    assert_eq!(given.out, "ran\n", "{given:?}");
    let mut command = home.host_with(&json!({"roots": [root(&home.path("home/proj"), "rw")], "tell": true}));
    let run = finish(command.arg("node").arg(script));
    assert!(run.out.contains("ran found") && !run.out.contains("a confined server"), "{run:?}");
}

/// Write access next to a script must not decide how much around it is open.
#[test]
fn a_planted_package_opens_nothing_more() {
    let home = Home::new();
    home.file("home/work/deep/beside.txt", "beside");
    home.file("home/work/secret.txt", "SECRET");
    let read = |file: &str| {
        format!("try {{ console.log(fs.readFileSync('{}', 'utf8')) }} catch {{}}", home.path(file).display())
    };
    let code = format!(
        "const fs = require('fs'); console.log('ran'); {} {}",
        read("home/work/deep/beside.txt"),
        read("home/work/secret.txt")
    );
    let script = home.file("home/work/deep/server.js", &code);
    let given = finish(home.host(&["home/work"]).args(["sh", "-c", "echo ran"]));
    assert_eq!(given.out, "ran\n", "{given:?}");
    for planted in ["home/work/none", "home/work/package.json"] {
        home.file(planted, "{}");
        let run = finish(home.host(&["home/proj"]).arg("node").arg(&script));
        assert_eq!(run.out, "ran\nbeside\n", "{planted}: {run:?}");
    }
}

#[test]
fn a_cache_is_not_moved_by_a_link() {
    let home = Home::new();
    let npx = home.program("tools/npx", "#!/bin/sh\necho ran\ntouch \"$npm_config_cache/../planted\"\n");
    let mut command = home.host(&["home/proj"]);
    reads_nothing("the first start", command.arg(&npx).arg("package"));
    let packages = home.path("home/.cache/rootward/packages");
    let mut entries = fs::read_dir(&packages).unwrap().map(|entry| entry.unwrap().path());
    let cache = entries.find(|path| path.is_dir()).unwrap();
    for moved in [cache.as_path(), packages.as_path()] {
        fs::rename(moved, moved.with_extension("moved")).unwrap();
        symlink(home.path("home/private"), moved).unwrap();
        let run = finish(home.host(&["home/proj"]).arg(&npx).arg("package"));
        assert_eq!(run.code, Some(77), "{run:?}");
        assert_eq!(fs::read_dir(home.path("home/private")).unwrap().count(), 1, "nothing was created behind the link");
        fs::remove_file(moved).unwrap();
        fs::rename(moved.with_extension("moved"), moved).unwrap();
    }
    assert!(!home.path("home/private/planted").exists());
}

#[test]
fn an_addition_is_not_moved_by_a_link() {
    let home = Home::new();
    home.file("home/proj/data/file.txt", "harmless");
    let start = |key: &str| {
        let spec = json!({"roots": [root(&home.path("home/proj"), "rw")], key: [home.path("home/proj/data")]});
        finish(home.host_with(&spec).args(["sh", "-c", "echo ran; cat data/*"]))
    };
    assert_eq!(start("allow_read").out, "ran\nharmless");
    fs::rename(home.path("home/proj/data"), home.path("home/proj/moved")).unwrap();
    home.link("home/proj/data", home.path("home/private"));
    for key in ["allow_read", "allow_write"] {
        let run = start(key);
        assert!(run.code == Some(77) && run.out.contains("name its target"), "{key}: {run:?}");
    }
    // A link of the user's own is followed.
    home.link("home/data", home.path("home/private"));
    let spec = json!({"roots": [root(&home.path("home/proj"), "rw")], "allow_read": [home.path("home/data")]});
    let run =
        finish(home.host_with(&spec).args(["sh", "-c"]).arg(format!("cat {}/*", home.path("home/data").display())));
    assert_eq!(run.out, "SECRET", "{run:?}");
}

#[test]
fn secrets_below_what_a_program_needs_stay_closed() {
    let home = Home::new();
    home.file("home/tool/package.json", "{}");
    home.file("home/tool/vendor/.aws/credentials", "SECRET");
    home.file("home/tool/vendor/module.js", "module.exports = 'found'");
    let code = format!(
        "console.log('ran', require('./vendor/module.js')); try {{ console.log(require('fs').readFileSync('{}', 'utf8')) }} catch {{}}",
        home.path("home/tool/vendor/.aws/credentials").display()
    );
    let script = home.file("home/tool/server.js", &code);
    let run = finish(home.host(&["home/proj"]).arg("node").arg(script));
    assert_eq!(run.out, "ran found\n", "{run:?}");
}

#[test]
fn a_directory_that_was_once_writable_is_not_trusted_later() {
    let home = Home::new();
    let text = reader("#!/bin/sh", &home, &["home/private/diary.txt"]);
    let program = home.program("home/proj/tool/bin/x", &text);
    fs::create_dir(home.path("home/notes")).unwrap();
    // The user created this link: nobody else could write there.
    home.link("home/proj/tool/libexec", home.path("home/private"));
    let trusted = finish(home.host(&["home/notes"]).arg(&program));
    assert!(trusted.out.contains("SECRET"), "the link is the user's own: {trusted:?}");
    // Once a command could have created the link, it is not followed, whatever the roots are.
    reads_nothing("in a root", home.host(&["home/proj"]).arg(&program));
    reads_nothing("in what was a root", home.host(&["home/notes"]).arg(&program));
}

#[test]
fn writable_places_are_recorded_before_the_command_runs() {
    let home = Home::new();
    let record = home.path("state/rootward/given-for-writing");
    let spec = json!({"roots": [root(&home.path("home/proj"), "rw")], "allow_write": [home.path("outside")]});
    let run = finish(home.host_with(&spec).args(["sh", "-c", "echo ran"]));
    assert_eq!(run.out, "ran\n", "{run:?}");
    let text = fs::read_to_string(&record).unwrap();
    for place in ["home/proj", "outside"] {
        assert!(text.contains(&format!("\0{}\0", home.path(place).display())), "{text:?}");
    }
    assert!(!text.contains("/dev/") && !text.contains("rootward-"), "only what outlives the command: {text:?}");
    let memory = tempfile::tempdir_in("/dev/shm").unwrap();
    let run = finish(home.host_with(&json!({"roots": [root(memory.path(), "rw")]})).args(["sh", "-c", "echo ran"]));
    assert_eq!(run.out, "ran\n", "{run:?}");
    let text = fs::read_to_string(&record).unwrap();
    assert!(text.contains(memory.path().to_str().unwrap()), "{text:?}");
    // A command without write access starts even if no record can be written.
    let none = finish(home.host(&[]).env("XDG_STATE_HOME", "/proc/none").args(["sh", "-c", "echo ran"]));
    assert_eq!(none.out, "ran\n", "{none:?}");
    // A command with write access does not start if the record cannot be written, is damaged, or has no place.
    let start = |command: &mut Command| finish(command.args(["sh", "-c", "echo ran"]));
    fs::write(&record, "damaged").unwrap();
    let damaged = start(&mut home.host(&["home/proj"]));
    assert!(damaged.code == Some(77) && damaged.out.contains("damaged"), "{damaged:?}");
    fs::remove_file(&record).unwrap();
    fs::create_dir(&record).unwrap();
    assert_eq!(start(&mut home.host(&["home/proj"])).code, Some(77));
    let nowhere = start(home.host(&["home/proj"]).env_remove("HOME").env_remove("XDG_STATE_HOME"));
    assert!(nowhere.code == Some(77) && nowhere.out.contains("XDG_STATE_HOME"), "{nowhere:?}");
}

#[test]
fn a_fifo_or_device_beside_a_program_does_not_block_a_start() {
    let home = Home::new();
    let python = home.program("home/proj/.venv/bin/python", &reader("#!/bin/sh", &home, &[]));
    let settings = home.path("home/proj/.venv/pyvenv.cfg");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &settings,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
        0,
    )
    .unwrap();
    reads_nothing("a FIFO", home.host(&["home/proj"]).arg(&python));
    fs::remove_file(&settings).unwrap();
    symlink("/dev/zero", &settings).unwrap();
    reads_nothing("a device", home.host(&["home/proj"]).arg(&python));
}

/// A stand-in for an installed Python: prints what it finds among its libraries.
fn install_python(home: &Home, top: &str) -> PathBuf {
    home.file(&format!("{top}/lib/marker"), "its libraries");
    home.program(
        &format!("{top}/bin/python3.12"),
        &format!("#!/bin/sh\necho ran\ncat {}\n", home.path(&format!("{top}/lib/marker")).display()),
    )
}

#[test]
fn environments_in_a_root_start_with_every_known_runtime() {
    let home = Home::new();
    let check = |top: &str, expect: bool| {
        let python = install_python(&home, top);
        let bin = python.parent().unwrap().display().to_string();
        let _ = fs::remove_dir_all(home.path("home/proj/.venv"));
        home.file("home/proj/.venv/pyvenv.cfg", &format!("home = {bin}\n"));
        home.link("home/proj/.venv/bin/python", &python);
        let run = finish(home.host(&["home/proj"]).arg(home.path("home/proj/.venv/bin/python")));
        assert_eq!(run.out.contains("its libraries"), expect, "{top}: {run:?}");
    };
    check("home/.local/share/uv/python/cpython-3.12.1", true);
    check("home/.pyenv/versions/3.12.1", true);
    check("home/.local/share/mise/installs/python/3.12", true);
    check("home/.asdf/installs/python/3.12.1", true);
    check("home/miniconda3/envs/x", true);
    check("home/elsewhere/python", false);
    // A runtime that a command could have written does not count.
    let given = finish(home.host(&["home/.asdf"]).args(["sh", "-c", "echo ran"]));
    assert_eq!(given.out, "ran\n");
    check("home/.asdf/installs/python/3.12.1", false);
}

#[test]
fn a_real_environment_in_a_root_starts() {
    let home = Home::new();
    let venv = home.path("home/proj/.venv");
    let made = Command::new("python3").args(["-m", "venv", "--without-pip"]).arg(&venv).status().unwrap();
    assert!(made.success(), "this test needs Python with `venv`");
    let script = home.program(
        "home/proj/.venv/bin/server",
        &format!("#!{}/bin/python\nimport json, sys\nprint('ran', sys.prefix)\n", venv.display()),
    );
    // A client starts it with the user's `PATH` and home, which contains the installed versions.
    let users_home = std::env::var_os("HOME").unwrap();
    for command in [vec![script.clone()], vec![venv.join("bin/python"), script]] {
        let run = finish(home.host(&["home/proj"]).env("HOME", &users_home).args(&command));
        assert_eq!(run.out, format!("ran {}\n", venv.display()), "{command:?} {run:?}");
    }
}
