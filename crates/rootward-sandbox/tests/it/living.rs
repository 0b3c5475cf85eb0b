//! Real programs run: a shell with git, Python, node, and a static binary, if this machine has them.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::json;

use crate::scene::{Scene, finish, host, root, run};

/// Runs a command in `inside`; it must succeed and print `prints`.
fn lives(command: &[&str], prints: &str) {
    let scene = Scene::new();
    fs::write(scene.path("inside/file.txt"), "hello").unwrap();
    let run = run(&json!({"roots": [root(&scene.path("inside"), "rw")]}), command);
    assert_eq!(run.code, Some(0), "{command:?}: {run:?}");
    assert!(run.out.contains(prints), "{command:?}: {run:?}");
}

#[test]
fn a_shell_with_git() {
    let script = "git init -q . && git add -A && git -c user.name=a -c user.email=b commit -qm first && git log --oneline && \
                  cp -p file.txt copy.txt && touch -d 2001-01-01 copy.txt && chmod 600 copy.txt && \
                  tar cf all.tar file.txt copy.txt && mkdir out && tar xf all.tar -C out && ls -l out && \
                  mktemp && cat <(echo substituted)";
    lives(&["bash", "-c", script], "substituted");
}

#[test]
fn python() {
    let script = "import json, os, shutil, socket, ssl, subprocess, tempfile, threading, time, urllib.request\n\
                  shutil.copy2('file.txt', 'copy.txt'); os.chmod('copy.txt', 0o600)\n\
                  with tempfile.NamedTemporaryFile() as f: f.write(b'x')\n\
                  t = threading.Thread(target=lambda: None); t.start(); t.join()\n\
                  ssl.create_default_context(); time.localtime()\n\
                  print(subprocess.run(['cat', 'copy.txt'], capture_output=True, text=True).stdout)\n";
    lives(&["python3", "-c", script], "hello");
}

/// Files without a name, created in a root or in the private temporary directory: programs may use them freely.
#[test]
fn python_with_files_without_a_name() {
    let script = "import mmap, os, sqlite3, tempfile\n\
                  def change(fd): os.fchmod(fd, 0o640); os.utime(fd, (1, 1)); os.fchown(fd, -1, -1); assert os.fstat(fd).st_mtime == 1\n\
                  for place in ['.', tempfile.gettempdir()]:\n\
                  \x20   fd = os.open(place, os.O_TMPFILE | os.O_RDWR, 0o600); os.write(fd, b'x'); change(fd)\n\
                  \x20   name = place + '/removed'; fd = os.open(name, os.O_CREAT | os.O_RDWR); os.unlink(name); change(fd)\n\
                  with tempfile.TemporaryFile() as f: f.write(b'x'); change(f.fileno())\n\
                  with tempfile.TemporaryFile(dir='.') as f: f.write(b'x'); change(f.fileno())\n\
                  fd = os.memfd_create('memory'); os.ftruncate(fd, 4096); change(fd); mmap.mmap(fd, 4096)[:1] = b'x'\n\
                  db = sqlite3.connect('data.db'); db.execute('pragma journal_mode = wal'); db.execute('create table t (x)')\n\
                  db.executemany('insert into t values (?)', [(str(n) * 1000,) for n in range(2000)]); db.commit()\n\
                  db.execute('pragma temp_store = file'); db.execute('create temp table s as select * from t order by x')\n\
                  print(db.execute('select count(*) from s').fetchone()[0], 'rows')\n";
    lives(&["python3", "-c", script], "2000 rows");
}

#[test]
fn node() {
    let script = "const fs = require('fs'), cp = require('child_process'), os = require('os');\
                  fs.copyFileSync('file.txt', 'copy.txt'); fs.chmodSync('copy.txt', 0o600);\
                  fs.mkdtempSync(os.tmpdir() + '/x'); os.cpus(); require('crypto').randomBytes(8); require('tls');\
                  const w = fs.watch('.'); w.close();\
                  console.log(cp.execFileSync('cat', ['copy.txt']).toString())";
    lives(&["node", "-e", script], "hello");
}

/// A command reads about itself; its descendants cannot, because the rule applies to the command's own files only.
#[test]
fn a_command_reads_its_own_size_and_nothing_else_of_proc() {
    let script = "for file in maps stat statm status environ cmdline mountinfo cgroup; do \
                      read -r line < /proc/$$/$file && echo $file; \
                  done 2> /dev/null; \
                  sh -c 'read -r line < /proc/$$/stat; echo of a descendant: $line' 2> /dev/null; \
                  ls /proc/$$ /proc/$$/fd 2> /dev/null; echo end";
    let scene = Scene::new();
    let run = run(&json!({"roots": [root(&scene.path("inside"), "rw")]}), ["bash", "-c", script]);
    assert_eq!(run.out, "maps\nstat\nstatm\nstatus\nof a descendant:\nend\n", "{run:?}");
}

#[test]
fn a_command_that_is_one_process_starts_no_other() {
    let scene = Scene::new();
    let spec = json!({"roots": [root(&scene.path("inside"), "rw")], "processes": "one"});
    let forked = run(&spec, ["/bin/sh", "-c", "echo one; (echo two); echo three"]);
    assert!(forked.out == "one\n" && forked.err.to_lowercase().contains("fork"), "{forked:?}");
    // Threads are not processes.
    let script = "const cp = require('child_process'), { Worker } = require('worker_threads');\
                  console.log(cp.spawnSync('/bin/true').error.code);\
                  new Worker('', { eval: true }).on('exit', () => console.log('thread'))";
    let threads = run(&spec, ["node", "-e", script]);
    assert_eq!(threads.out, "EPERM\nthread\n", "{threads:?}");
}

#[test]
fn a_script_with_packages_outside_the_roots() {
    let scene = Scene::new();
    let package = scene.path("server");
    fs::create_dir_all(package.join("node_modules/dependency")).unwrap();
    fs::write(package.join("package.json"), "{}").unwrap();
    fs::write(package.join("node_modules/dependency/index.js"), "module.exports = 'found'").unwrap();
    fs::write(package.join("main.js"), "console.log(require('dependency'))").unwrap();
    let spec = json!({"roots": [root(&scene.path("inside"), "rw")]});
    let run = run(&spec, [Path::new("node"), &package.join("main.js")]);
    assert_eq!(run.out, "found\n", "{run:?}");
}

#[test]
fn a_static_binary() {
    let scene = Scene::new();
    let (source, program) = (scene.path("program.c"), scene.path("program"));
    fs::write(
        &source,
        "#include <stdio.h>\nint main(void) { puts(fopen(\"file.txt\", \"r\") ? \"opened\" : \"not\"); }",
    )
    .unwrap();
    let built = Command::new("cc").arg("-static").arg("-o").args([&program, &source]).status().unwrap();
    assert!(built.success(), "this test needs a C compiler with static libraries");
    fs::write(scene.path("inside/file.txt"), "").unwrap();
    let run = run(&json!({"roots": [root(&scene.path("inside"), "rw")]}), [&program]);
    assert_eq!(run.out, "opened\n", "{run:?}");
}

#[test]
fn a_program_beside_the_working_directory() {
    let scene = Scene::new();
    let script = scene.path("script");
    fs::write(&script, "#!/bin/sh\necho ran\n").unwrap();
    fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let spec = json!({"roots": [root(&scene.path("inside"), "rw")]});
    let run = finish(host(&spec).current_dir(scene.directory.path()).arg("./script"));
    assert_eq!(run.out, "ran\n", "{run:?}");
}

#[test]
fn the_private_directories_are_this_users_alone() {
    let scene = Scene::new();
    let spec = json!({"roots": [root(&scene.path("inside"), "rw")]});
    // The command can open its own home to others, but the parent directory keeps them out.
    let run = run(&spec, ["sh", "-c", "chmod 777 \"$HOME\"; stat -c %a \"$HOME/..\" \"$TMPDIR/..\""]);
    assert_eq!(run.out, "700\n700\n", "{run:?}");
}
