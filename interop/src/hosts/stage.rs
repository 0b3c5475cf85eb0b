//! The surroundings of a host: an empty home, two projects, and the servers that it starts.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::host::{Host, Reached, RootsFrom, Server};
use super::model::ToolCall;
use super::remote::{self, EVERYTHING};

/// The two projects. A host works in one of them, and the other is outside its roots.
pub(super) const PROJECTS: [&str; 2] = ["one", "two"];

/// The names of the servers that a host starts, in its settings: `rootward serve`, two servers behind `rootward wrap`, and the same two
/// behind `rootward hub`.
pub(super) const LOCAL: [&str; 4] = ["serve", "npm", "python", HUB];

/// The names of the servers that a host reaches over HTTP: `rootward serve`, and the two servers behind `rootward hub`.
pub(super) const REMOTE: [&str; 2] = ["remote", "gateway"];

/// The environment variable with the token for the current project, for hosts whose settings refer to a variable.
pub(super) const PROJECT_TOKEN: &str = "PROJECT_TOKEN";

/// The name of the hub.
const HUB: &str = "hub";

/// A tool of a server, under the name that the host sees.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Tool {
    pub(super) server: &'static str,
    pub(super) name: &'static str,
    pub(super) does: Does,
}

/// What a tool does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Does {
    /// Reads a file.
    Reads,
    /// Returns the last commit of a repository.
    Logs,
}

/// The tools that hosts call. The hub prefixes a tool with the name of its server.
pub(super) const TOOLS: [Tool; 8] = [
    Tool { server: "serve", name: "read_text_file", does: Does::Reads },
    Tool { server: "npm", name: "read_text_file", does: Does::Reads },
    Tool { server: "python", name: "git_log", does: Does::Logs },
    Tool { server: HUB, name: "files__read_text_file", does: Does::Reads },
    Tool { server: HUB, name: "git__git_log", does: Does::Logs },
    Tool { server: REMOTE[0], name: "read_text_file", does: Does::Reads },
    Tool { server: REMOTE[1], name: "files__read_text_file", does: Does::Reads },
    Tool { server: REMOTE[1], name: "git__git_log", does: Does::Logs },
];

/// The hub's configuration, below the home.
const HUB_FILE: &str = "both.json";

/// Time limit for one run of a host, in seconds.
const LIMIT: u32 = 120;

/// Where the programs are. They are installed before the host loses its network.
#[derive(Clone, PartialEq, Eq, Debug)]
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

    /// The hub's configuration: the servers that are also behind `rootward wrap`.
    pub(super) fn behind_hub(&self) -> Value {
        let entry = |command: &[PathBuf]| {
            let (program, arguments) = (command.first(), command.get(1..));
            json!({"command": program, "args": arguments})
        };
        json!({"mcpServers": {"files": entry(&self.npm), "git": entry(&self.python)}})
    }
}

/// The surroundings of a host.
#[derive(Debug)]
pub(super) struct Stage {
    pub(super) home: PathBuf,
    pub(super) programs: Programs,
    /// The base URL of its model.
    pub(super) model: String,
    /// Time limit for one command, in seconds.
    pub(super) limit: u32,
    host: &'static Host,
    /// Contains the projects.
    directory: PathBuf,
}

/// Creates the projects.
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

/// The content of a project's file.
fn content(project: &str) -> String {
    format!("the file of project {project}")
}

/// The message of a project's commit.
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
        Ok(Stage { host, home, programs, model, limit: LIMIT, directory: directory.to_owned() })
    }

    /// Writes the hub's configuration.
    pub(super) fn configure_hub(&self) -> Result<()> {
        self.write(HUB_FILE, &self.programs.behind_hub().to_string())
    }

    /// The token that the host sends over HTTP while it runs in a project. If the host shares no roots, the token allows only that project.
    pub(super) fn token(&self, project: &str) -> String {
        remote::token(match self.host.roots {
            RootsFrom::Host => EVERYTHING,
            RootsFrom::CommandLine => project,
        })
    }

    pub(super) fn project(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    /// The host's command in a project.
    pub(super) fn command<T: AsRef<OsStr>>(&self, project: &str, words: impl IntoIterator<Item = T>) -> Command {
        self.command_of(&self.programs.host, project, words)
    }

    /// A command that runs `program` in a project, with a time limit, a clean environment and no input.
    pub(super) fn command_of<T: AsRef<OsStr>>(
        &self,
        program: &[PathBuf],
        project: &str,
        words: impl IntoIterator<Item = T>,
    ) -> Command {
        let mut command = Command::new("timeout");
        command.args(["--kill-after=5", &self.limit.to_string()]).args(program).args(words);
        command.current_dir(self.project(project));
        command.env_clear().env("HOME", &self.home).envs(std::env::var_os("PATH").map(|path| ("PATH", path)));
        command.envs((self.host.variables)(self)).env(PROJECT_TOKEN, self.token(project));
        command.env("TERM", "dumb").env("LANG", "C.UTF-8").env("NO_COLOR", "1").stdin(Stdio::null());
        command
    }

    /// Writes a settings file of the host, below its home.
    pub(super) fn write(&self, name: &str, text: &str) -> Result<()> {
        let file = self.home.join(name);
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(&file, text).with_context(|| format!("cannot write `{}`", file.display()))
    }

    /// The servers that the host starts, for its settings.
    pub(super) fn servers(&self) -> Vec<Server> {
        let Programs { rootward, npm, python, .. } = &self.programs;
        let (directory, root): (&[&str], &[&str]) = match self.host.roots {
            RootsFrom::Host => (&[], &[]),
            RootsFrom::CommandLine => (&["."], &["--root", "."]),
        };
        let words = |verb: &str, options: &[&str], wrapped: &[PathBuf]| {
            let before = [rootward.display().to_string(), verb.to_owned()];
            let mut words: Vec<String> = before.into_iter().chain(options.iter().copied().map(str::to_owned)).collect();
            if !wrapped.is_empty() {
                words.push("--".to_owned());
            }
            words.extend(wrapped.iter().map(|word| word.display().to_string()));
            words
        };
        let mut hub = words("hub", root, &[]);
        hub.extend(["--config".to_owned(), self.home.join(HUB_FILE).display().to_string()]);
        let commands =
            [words("serve", directory, &[]), words("wrap", directory, npm), words("wrap", directory, python), hub];
        let servers = LOCAL.into_iter().zip(commands);
        servers.map(|(name, command)| Server { name, reached: Reached::Command(command) }).collect()
    }

    /// A call of a tool with a path in a project.
    pub(super) fn call(&self, tool: Tool, project: &str) -> ToolCall {
        let path = self.path_for(tool.does, project);
        let arguments = match tool.does {
            Does::Reads => json!({"path": path}),
            Does::Logs => json!({"repo_path": path, "max_count": 1}),
        };
        ToolCall { server: tool.server, tool: tool.name, arguments }
    }

    /// The path in that call.
    pub(super) fn path_for(&self, does: Does, project: &str) -> PathBuf {
        let project = self.project(project);
        match does {
            Does::Reads => project.join("file.txt"),
            Does::Logs => project,
        }
    }
}

/// Text that the answer contains if the server carried out that call.
pub(super) fn proof(does: Does, project: &str) -> String {
    match does {
        Does::Reads => content(project),
        Does::Logs => commit(project),
    }
}

#[cfg(test)]
mod tests {
    use super::super::host::HOSTS;
    use super::*;

    fn programs() -> Programs {
        let words = |words: &[&str]| words.iter().map(PathBuf::from).collect();
        Programs {
            host: words(&["host"]),
            rootward: "rootward".into(),
            npm: words(&["node", "a.js"]),
            python: words(&["python"]),
        }
    }

    #[test]
    fn programs_survive_a_round_trip_through_json() {
        assert_eq!(Programs::from_json(&programs().to_json()).unwrap(), programs());
        assert!(Programs::from_json(&json!({"host": []})).is_err());
    }

    #[test]
    fn a_host_that_shares_no_roots_names_the_project_in_its_commands() {
        let directory = tempfile::tempdir().unwrap();
        for host in HOSTS {
            let stage = Stage::new(host, directory.path(), host.name, &programs(), "http://127.0.0.1:1").unwrap();
            let commands = stage.servers().into_iter().map(|server| match server.reached {
                Reached::Command(command) => command.join(" ").replace(stage.home.to_str().unwrap(), "HOME"),
                Reached::Url(url) => url,
            });
            let commands: Vec<String> = commands.collect();
            let expect = match host.roots {
                RootsFrom::Host => [
                    "rootward serve",
                    "rootward wrap -- node a.js",
                    "rootward wrap -- python",
                    "rootward hub --config HOME/both.json",
                ],
                RootsFrom::CommandLine => [
                    "rootward serve .",
                    "rootward wrap . -- node a.js",
                    "rootward wrap . -- python",
                    "rootward hub --root . --config HOME/both.json",
                ],
            };
            assert_eq!(commands, expect, "{}", host.name);
            let behind = json!({"mcpServers": {
                "files": {"command": "node", "args": ["a.js"]},
                "git": {"command": "python", "args": []},
            }});
            assert_eq!(stage.programs.behind_hub(), behind);
        }
    }
}
