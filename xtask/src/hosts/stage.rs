//! Where a host plays: its own home, two projects, and the servers that it is given.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::host::{Host, Roots, Server};
use super::model::Call;

/// The two projects. What lies in one is outside for whoever works in the other.
pub(super) const PROJECTS: [&str; 2] = ["one", "two"];

/// The servers, by the names that hosts know them by: `rootward serve`, and two behind `rootward wrap`.
pub(super) const SERVERS: [&str; 3] = ["serve", "npm", "python"];

/// Seconds that a run of a host may take.
const LIMIT: &str = "120";

/// Where the programs are, which are installed before a host is cut off from the network.
#[derive(Clone, Debug)]
pub(super) struct Programs {
    /// The host's own command.
    pub(super) host: Vec<PathBuf>,
    pub(super) rootward: PathBuf,
    /// The file server from npm.
    pub(super) npm: Vec<PathBuf>,
    /// The git server from `PyPI`.
    pub(super) python: Vec<PathBuf>,
}

impl Programs {
    pub(super) fn to_json(&self) -> Value {
        let Programs { host, rootward, npm, python } = self;
        json!({"host": host, "rootward": rootward, "npm": npm, "python": python})
    }

    pub(super) fn from_json(value: &Value) -> Result<Programs> {
        let path = |value: &Value| value.as_str().map(PathBuf::from).context("a path is missing");
        let paths = |value: &Value| -> Result<Vec<PathBuf>> {
            value.as_array().context("a command is missing")?.iter().map(path).collect()
        };
        Ok(Programs {
            host: paths(&value["host"])?,
            rootward: path(&value["rootward"])?,
            npm: paths(&value["npm"])?,
            python: paths(&value["python"])?,
        })
    }
}

/// Where a host plays.
#[derive(Debug)]
pub(super) struct Stage {
    pub(super) home: PathBuf,
    pub(super) programs: Programs,
    /// Where its model listens.
    pub(super) model: String,
    host: &'static Host,
    /// What holds the projects.
    directory: PathBuf,
}

/// Makes the projects.
pub(super) fn build(directory: &Path) -> Result<()> {
    for name in PROJECTS {
        let project = directory.join(name);
        fs::create_dir(&project)?;
        fs::write(project.join("file.txt"), content(name))?;
        let message = commit(name);
        let author = ["-c", "user.name=A", "-c", "user.email=a@b"];
        for words in [&["init", "-q"][..], &["add", "file.txt"], &["commit", "-q", "-m", &message]] {
            let mut git = Command::new("git");
            git.args(author).args(words).current_dir(&project).env("HOME", directory).env_remove("GIT_DIR");
            let status = git.status().context("cannot run `git`")?;
            ensure!(status.success(), "`git {}` ended with {status}", words.join(" "));
        }
    }
    Ok(())
}

/// What the file of a project says.
fn content(project: &str) -> String {
    format!("the file of project {project}")
}

/// What the commit of a project says.
fn commit(project: &str) -> String {
    format!("the commit of project {project}")
}

impl Stage {
    pub(super) fn new(
        host: &'static Host,
        directory: &Path,
        home: &str,
        programs: &Programs,
        model: &str,
    ) -> Result<Stage> {
        let home = directory.join(home);
        fs::create_dir(&home)?;
        let (programs, model) = (programs.clone(), model.to_owned());
        Ok(Stage { host, home, programs, model, directory: directory.to_owned() })
    }

    pub(super) fn project(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    /// The host's command in a project: it ends by itself, knows nothing of the user's own environment, and reads no input.
    pub(super) fn command<T: AsRef<OsStr>>(&self, project: &str, words: impl IntoIterator<Item = T>) -> Command {
        let mut command = Command::new("timeout");
        command
            .args(["--kill-after=5", LIMIT])
            .args(&self.programs.host)
            .args(words)
            .current_dir(self.project(project));
        command.env_clear().env("HOME", &self.home).envs(std::env::var_os("PATH").map(|path| ("PATH", path)));
        command.envs((self.host.variables)(self));
        command.env("TERM", "dumb").env("LANG", "C.UTF-8").env("NO_COLOR", "1").stdin(Stdio::null());
        command
    }

    /// Writes a file of the host's settings.
    pub(super) fn write(&self, name: &str, text: &str) -> Result<()> {
        let file = self.home.join(name);
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(&file, text).with_context(|| format!("cannot write `{}`", file.display()))
    }

    /// The servers as they are written into the settings of a host.
    pub(super) fn servers(&self) -> Vec<Server> {
        let Programs { rootward, npm, python, .. } = &self.programs;
        let directory: &[&str] = match self.host.roots {
            Roots::OfHost => &[],
            Roots::OnCommandLine => &["."],
        };
        let words = |verb: &str, wrapped: &[PathBuf]| {
            let before = [rootward.display().to_string(), verb.to_owned()];
            let mut words: Vec<String> =
                before.into_iter().chain(directory.iter().copied().map(str::to_owned)).collect();
            if !wrapped.is_empty() {
                words.push("--".to_owned());
            }
            words.extend(wrapped.iter().map(|word| word.display().to_string()));
            words
        };
        let commands = [words("serve", &[]), words("wrap", npm), words("wrap", python)];
        SERVERS.into_iter().zip(commands).map(|(name, command)| Server { name, command }).collect()
    }

    /// The call of a server's tool on what lies in a project.
    pub(super) fn call(&self, server: &'static str, project: &str) -> Call {
        let project = self.project(project);
        match server {
            "python" => Call { server, tool: "git_log", arguments: json!({"repo_path": project, "max_count": 1}) },
            _ => Call { server, tool: "read_text_file", arguments: json!({"path": project.join("file.txt")}) },
        }
    }

    /// The path that such a call names.
    pub(super) fn named(&self, server: &str, project: &str) -> PathBuf {
        let project = self.project(project);
        if server == "python" { project } else { project.join("file.txt") }
    }
}

/// What the answer to such a call holds, where it was carried out.
pub(super) fn proof(server: &str, project: &str) -> String {
    if server == "python" { commit(project) } else { content(project) }
}
