//! A user's directories: two projects, and one configuration for all servers.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::five::CONFIG;
use crate::popular::install::Installed;

/// The two projects. While the client shares one, the other is outside.
pub(super) const PROJECTS: [&str; 2] = ["one", "two"];

/// What all cases of a run share: the registry that packages come from, and the cache that keeps them.
#[derive(Debug)]
pub(super) struct Supply {
    installed: Installed,
    /// The registry.
    url: String,
    cache: TempDir,
}

impl Supply {
    pub(super) fn new(installed: Installed) -> Result<Supply> {
        let url = installed.sources.serve()?.url;
        Ok(Supply { installed, url, cache: tempfile::Builder::new().prefix("hub-cache-").tempdir()? })
    }
}

/// The directories of a user.
#[derive(Debug)]
pub(super) struct Stage<'s> {
    supply: &'s Supply,
    directory: TempDir,
}

impl Stage<'_> {
    pub(super) fn new(supply: &Supply) -> Result<Stage<'_>> {
        let stage = Stage { supply, directory: tempfile::Builder::new().prefix("hub-").tempdir()? };
        fs::create_dir(stage.path("home"))?;
        fs::write(stage.config(), CONFIG)?;
        for name in PROJECTS {
            let project = stage.path(name);
            fs::create_dir(&project)?;
            fs::write(project.join("notes.txt"), format!("the notes of {name}"))?;
            let message = format!("the commit of {name}");
            let author = ["-c", "user.name=A", "-c", "user.email=a@b"];
            for words in [&["init", "-q"][..], &["add", "notes.txt"], &["commit", "-q", "-m", &message]] {
                let mut git = Command::new("git");
                git.args(author)
                    .args(words)
                    .current_dir(&project)
                    .env("HOME", stage.path("home"))
                    .env_remove("GIT_DIR");
                let status = git.status().context("cannot run `git`")?;
                ensure!(status.success(), "`git {}` ended with {status}", words.join(" "));
            }
        }
        Ok(stage)
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// The client's working directory. It is not shared.
    pub(super) fn top(&self) -> &Path {
        self.directory.path()
    }

    fn config(&self) -> PathBuf {
        self.path("home/servers.json")
    }

    /// How a client reaches the hub, for the scripts in `peers/`.
    pub(super) fn server(&self) -> Result<Value> {
        let environment: Result<serde_json::Map<String, Value>> = self
            .variables()?
            .into_iter()
            .map(|(name, value)| Ok((name.to_owned(), value.to_str().context("a variable is not UTF-8")?.into())))
            .collect();
        let config = self.config();
        Ok(json!({
            "command": self.supply.installed.rootward(),
            "arguments": ["hub", "--config", config],
            "environment": environment?,
        }))
    }

    fn variables(&self) -> Result<Vec<(&'static str, std::ffi::OsString)>> {
        let Supply { installed, url, cache } = self.supply;
        Ok(vec![
            ("HOME", self.path("home").into()),
            ("PATH", installed.path()?),
            ("XDG_CACHE_HOME", cache.path().into()),
            ("npm_config_registry", url.into()),
            ("UV_DEFAULT_INDEX", format!("{url}/simple").into()),
        ])
    }

    /// What `rootward hub --check` says.
    pub(super) fn check(&self) -> Result<Value> {
        let mut command = Command::new(self.supply.installed.rootward());
        command.args(["hub", "--check", "--json", "--config"]).arg(self.config());
        command.env_clear().envs(self.variables()?).current_dir(self.top());
        let output = command.output().context("cannot run `rootward hub --check`")?;
        let stderr = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "`rootward hub --check` ended with {}: {stderr}", output.status);
        Ok(serde_json::from_slice(&output.stdout)?)
    }

    /// Replaces the placeholders by directories and addresses, for a client in `project`.
    pub(super) fn fill(&self, text: &str, project: &str) -> String {
        let shown = |name: &str| self.path(name).display().to_string();
        let other = PROJECTS.into_iter().find(|other| *other != project).unwrap_or_default();
        text.replace("$PROJECT", &shown(project))
            .replace("$OTHER", &shown(other))
            .replace("$NAME", project)
            .replace("$URL", &self.supply.url)
    }
}
