//! A place to run the binary in: a home, a project, something outside, and no variables of the developer's environment.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Write;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

pub(crate) struct Stage {
    directory: TempDir,
    variables: Vec<(OsString, OsString)>,
}

/// The result of a run.
pub(crate) struct Run {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Stage {
    /// `home/`, `project/` (where the binary runs) and `outside/`, with one of each thing that a path can lead to.
    pub(crate) fn new() -> Stage {
        let stage = Stage { directory: tempfile::tempdir().unwrap(), variables: Vec::new() };
        for directory in ["home", "project/src", "project/docs", "project/.git/hooks", "project/.ssh", "outside/deep"] {
            fs::create_dir_all(stage.path(directory)).unwrap();
        }
        for file in ["project/src/main.rs", "project/README.md", "project/.ssh/key", "outside/secret", "outside/deep/x"]
        {
            fs::write(stage.path(file), "text").unwrap();
        }
        symlink(stage.path("project/README.md"), stage.path("project/absolute")).unwrap();
        symlink("../outside", stage.path("project/leak")).unwrap();
        symlink("../outside/deep", stage.path("project/linked")).unwrap();
        symlink("nowhere", stage.path("project/dangling")).unwrap();
        symlink("loop", stage.path("project/loop")).unwrap();
        assert!(Command::new("mkfifo").arg(stage.path("project/fifo")).status().unwrap().success());
        let home = stage.path("home");
        stage.with("HOME", home)
    }

    pub(crate) fn with(mut self, name: &str, value: impl Into<OsString>) -> Stage {
        self.variables.push((name.into(), value.into()));
        self
    }

    /// With a `PATH` that finds the program by its name, and the system's programs.
    pub(crate) fn with_path(self) -> Stage {
        let program = Path::new(env!("CARGO_BIN_EXE_rootward")).parent().unwrap();
        self.with("PATH", format!("{}:/usr/bin:/bin", program.display()))
    }

    /// With a settings file.
    pub(crate) fn with_settings(self, text: &str) -> Stage {
        self.write("home/.config/rootward/config.toml", &text.replace("[STAGE]", self.top().to_str().unwrap()));
        self
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        fs::create_dir_all(self.path(path).parent().unwrap()).unwrap();
        fs::write(self.path(path), text).unwrap();
    }

    pub(crate) fn top(&self) -> &Path {
        self.directory.path()
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.top().join(path)
    }

    pub(crate) fn command<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A>) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rootward"));
        command.args(arguments).current_dir(self.path("project")).env_clear();
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command
    }

    pub(crate) fn run<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A>) -> Run {
        self.command(arguments).stdin(Stdio::null()).output().unwrap().into()
    }

    /// Runs with these bytes on standard input.
    pub(crate) fn feed<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A>, input: &[u8]) -> Run {
        let mut command = self.command(arguments);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        std::thread::scope(|scope| {
            // Both pipes could fill up: one thread writes while this one reads.
            scope.spawn(move || stdin.write_all(input).unwrap());
            child.wait_with_output().unwrap().into()
        })
    }

    /// The command line, output and exit code of a run, without the parts that differ between runs.
    pub(crate) fn told(&self, arguments: &[&str]) -> String {
        let run = self.run(arguments);
        let stderr = if run.stderr.is_empty() { String::new() } else { format!("--- stderr\n{}", run.stderr) };
        let line: Vec<&str> = arguments.iter().map(|text| if text.is_empty() { "''" } else { text }).collect();
        let (line, code) = (line.join(" "), run.code.unwrap());
        let text = format!("$ rootward {line}\n{}{stderr}--- exit {code}\n", run.stdout);
        // `clap` leaves trailing spaces, which `cargo xtask tidy` forbids.
        let text: String = text.lines().map(|line| line.trim_end().to_owned() + "\n").collect();
        text.replace(self.top().to_str().unwrap(), "[STAGE]")
    }
}

impl From<Output> for Run {
    fn from(output: Output) -> Run {
        Run {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

/// Compares the output of several command lines with the snapshot of this name.
macro_rules! assert_told {
    ($name:expr, $stage:expr, $($arguments:expr),+ $(,)?) => {{
        let told: Vec<String> = vec![$($stage.told(&$arguments)),+];
        insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => false }, {
            insta::assert_snapshot!($name, told.join("\n"));
        });
    }};
}
pub(crate) use assert_told;
