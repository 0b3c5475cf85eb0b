//! A user with two projects. A client in one of them starts a server behind `rootward wrap`.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use tempfile::TempDir;

use super::install::Installed;
use super::registry::Served;
use super::server::{Needs, Server};
use taskkit::conversation::{Conversation, Roots};

/// The user id of `nobody`.
const NOBODY: u32 = 65534;

/// How long a client waits for each message.
const PATIENCE: Duration = Duration::from_mins(3);

/// The same while a very large package is downloaded: Rootward's own limit for a download.
const PATIENCE_WITH_LARGE: Duration = Duration::from_mins(10);

/// The script of the server that is part of the project.
const SCRIPT: &str = include_str!("../../../peers/popular/server.py");

/// The user who runs the client and the server.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum User {
    /// The user who runs this program.
    This,
    /// `nobody`, if this program runs as root.
    Ordinary,
}

impl User {
    /// The user's part of a case name.
    pub(super) fn name(self) -> &'static str {
        match self {
            User::This => "",
            User::Ordinary => ", as an ordinary user",
        }
    }
}

/// Who chooses the directories that the server gets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Sharing {
    /// The client, by its roots.
    Client,
    /// The client, within what `--root` names.
    ClientWithinRoot,
    /// `--root` alone: the client does not support roots.
    Root,
    /// Nobody: the client does not support roots, and there is no `--root`.
    Nobody,
}

/// The directory that the client was started in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Project {
    One,
    Other,
}

/// Whether the server is behind `rootward wrap`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Wall {
    Wrapped,
    /// The control: the server without Rootward.
    Off,
}

/// Whether `--` is between `wrap` and the server's command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Dashes {
    Kept,
    Dropped,
}

/// Who passes the server's variables.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Keys {
    /// The recipe; the user passes those that the recipe does not know.
    Passed,
    /// The user, by the prefix up to the first `_`. No recipe is used.
    PassedByPrefix,
    /// Nobody. No recipe is used.
    Forgotten,
}

/// One start of a server.
#[derive(Clone, Copy, Debug)]
pub(super) struct Start {
    pub(super) server: &'static Server,
    pub(super) sharing: Sharing,
    pub(super) project: Project,
    pub(super) dashes: Dashes,
    pub(super) keys: Keys,
    pub(super) wall: Wall,
}

impl Start {
    /// A start as the documentation recommends it.
    pub(super) fn of(server: &'static Server, sharing: Sharing) -> Start {
        Start { server, sharing, project: Project::One, dashes: Dashes::Kept, keys: Keys::Passed, wall: Wall::Wrapped }
    }
}

/// The user's directories, and the registry.
#[derive(Debug)]
pub(super) struct Stage<'i> {
    installed: &'i Installed,
    directory: TempDir,
    user: User,
    pub(super) served: Served,
}

impl Stage<'_> {
    /// Creates the user's directories. Both projects contain the files that the server needs.
    pub(super) fn new<'i>(installed: &'i Installed, server: &Server, user: User) -> Result<Stage<'i>> {
        let directory = tempfile::Builder::new().prefix("popular-").tempdir()?;
        let stage = Stage { installed, directory, user, served: installed.registry.serve()? };
        stage.give(stage.directory.path())?;
        for (name, file, text) in [
            ("home", ".gitconfig", "[user]\n\tname = Ada Lovelace\n\temail = ada@example.org\n"),
            ("one", "notes.txt", "INSIDE"),
            ("other", "notes.txt", "INSIDE"),
            ("outside", "secret.txt", "SECRET"),
        ] {
            let directory = stage.path(name);
            fs::create_dir(&directory)?;
            fs::write(directory.join(file), text)?;
            stage.give(&directory)?;
        }
        for project in [Project::One, Project::Other] {
            let directory = stage.project(project);
            for (name, text) in server.files.iter().chain(&[("server.py", SCRIPT)]) {
                let file = directory.join(name);
                if let Some(folder) = file.parent() {
                    fs::create_dir_all(folder)?;
                }
                fs::write(file, text)?;
            }
            let status = stage.command("git").args(["init", "-q"]).current_dir(directory).status();
            ensure!(status.context("cannot run `git`")?.success(), "`git init` failed");
        }
        Ok(stage)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn project(&self, project: Project) -> PathBuf {
        self.path(match project {
            Project::One => "one",
            Project::Other => "other",
        })
    }

    /// Makes the user the owner of a directory.
    fn give(&self, directory: &Path) -> Result<()> {
        match self.user {
            User::This => Ok(()),
            User::Ordinary => {
                chown(directory, Some(NOBODY), Some(NOBODY)).context("cannot change the owner of a directory")
            }
        }
    }

    /// A program that the user runs, with a clean environment.
    fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command.env_clear().env("HOME", self.path("home")).envs(self.installed.path().map(|path| ("PATH", path)));
        if self.user == User::Ordinary {
            command.uid(NOBODY).gid(NOBODY);
        }
        command
    }

    /// Replaces the placeholders by directories and addresses.
    pub(super) fn fill(&self, text: &str, project: Project) -> String {
        let [project, outside] = [self.project(project), self.path("outside")].map(|path| path.display().to_string());
        let port = self.served.url.rsplit(':').next().unwrap_or_default();
        text.replace("$PROJECT", &project)
            .replace("$OTHER", &self.path("other").display().to_string())
            .replace("$OUTSIDE", &outside)
            .replace("$URL", &self.served.url)
            .replace("$PORT", port)
    }

    /// The files that a server's calls create must exist. Deletes them, so that the next start must create them again.
    pub(super) fn judge_made(&self, server: &Server, project: Project) -> Result<()> {
        for name in server.makes {
            let file = self.project(project).join(name);
            let length = fs::metadata(&file).with_context(|| format!("`{name}` was not created"))?.len();
            ensure!(length > 0, "`{name}` is empty");
            fs::remove_file(file)?;
        }
        Ok(())
    }

    /// Starts the server, and waits for the answer to `initialize`.
    pub(super) fn start(&self, start: Start) -> Result<Conversation> {
        let project = self.project(start.project);
        let mut words: Vec<OsString> = match start.wall {
            Wall::Wrapped => self.wrap(start),
            Wall::Off => Vec::new(),
        };
        words.extend(start.server.command.split(' ').map(|word| self.fill(word, start.project).into()));
        let mut words = words.into_iter();
        let mut command = self.command(words.next().context("the server has no command")?);
        command.args(words).current_dir(&project);
        command.env("npm_config_registry", &self.served.url);
        command.env("UV_DEFAULT_INDEX", format!("{}/simple", self.served.url));
        let environment = start.server.environment.iter();
        command.envs(environment.map(|(name, value)| (name, self.fill(value, start.project))));
        let roots = match start.sharing {
            Sharing::Client | Sharing::ClientWithinRoot => Roots::Named(project),
            Sharing::Root | Sharing::Nobody => Roots::Unknown,
        };
        let patience = if start.server.needs == Needs::Time { PATIENCE_WITH_LARGE } else { PATIENCE };
        Conversation::start_with_patience(command, roots, patience)
    }

    /// The words that the user puts before the server's command.
    fn wrap(&self, start: Start) -> Vec<OsString> {
        let mut words = vec![self.installed.rootward().into(), "wrap".into()];
        if start.keys != Keys::Passed {
            words.extend(["--recipe", "none"].map(OsString::from));
        }
        let passed: Vec<String> = match start.keys {
            Keys::Passed => start.server.passed.iter().map(|name| (*name).to_owned()).collect(),
            Keys::PassedByPrefix => {
                let prefix = |name: &str| format!("{}_*", name.split('_').next().unwrap_or(name));
                start.server.environment.iter().map(|(name, _)| prefix(name)).collect()
            }
            Keys::Forgotten => Vec::new(),
        };
        words.extend(passed.into_iter().flat_map(|name| ["--env".to_owned(), name]).map(OsString::from));
        if matches!(start.sharing, Sharing::ClientWithinRoot | Sharing::Root) {
            words.extend(["--root".into(), self.project(start.project).into()]);
        }
        if start.dashes == Dashes::Kept {
            words.push("--".into());
        }
        words
    }
}
