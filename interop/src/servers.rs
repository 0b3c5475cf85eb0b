//! `cargo xtask servers`: third-party MCP servers do real work, confined by `rootward sandbox` and behind `rootward wrap`.
//!
//! Each server believes that a directory outside its root is open, and gets calls that use it. Confined, it must do all of its work
//! inside the root and none outside. Not confined, it must do both, or the first result would prove nothing. Wrapped, its client names
//! the root, and Rootward refuses calls that name a path outside.

pub(crate) mod install;
mod server;
mod web;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use tempfile::TempDir;

use crate::cases::{all_at_once, chosen, judge, lay_out};

use install::Installed;
use server::{Act, SERVERS, Server, Talk, Way};
use taskkit::conversation::{Conversation, Roots, Said};

/// How many cases run in parallel.
const AT_ONCE: usize = 4;

/// The value of a variable that is not passed to the server.
const TOKEN: &str = "a-token-of-the-user";

/// How the server is confined.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Wall {
    Confined,
    /// Confined, and Rootward also refuses calls that name a path outside.
    Wrapped,
    /// The control.
    Off,
}

impl Wall {
    fn name(self) -> &'static str {
        match self {
            Wall::Confined => "",
            Wall::Wrapped => ", wrapped",
            Wall::Off => ", not confined",
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Case {
    server: &'static Server,
    way: Way,
    wall: Wall,
}

/// A root and a directory beside it, each with a file and a git repository.
#[derive(Debug)]
struct Stage {
    directory: TempDir,
    /// The address of a page on this machine.
    url: String,
}

impl Stage {
    fn new(url: &str) -> Result<Stage> {
        let directory = tempfile::Builder::new().prefix("servers-").tempdir()?;
        let stage = Stage { directory, url: url.to_owned() };
        for (name, file, text) in [("root", "in.txt", "INSIDE"), ("outside", "secret.txt", "SECRET")] {
            let directory = stage.path(name);
            fs::create_dir(&directory)?;
            fs::write(directory.join(file), text)?;
            for words in
                [["init", "-q", "."].as_slice(), &["config", "user.name", "A"], &["config", "user.email", "a@b"]]
            {
                let status =
                    Command::new("git").args(words).current_dir(&directory).status().context("cannot run `git`")?;
                ensure!(status.success(), "`git {}` ended with {status}", words.join(" "));
            }
        }
        let hook = stage.path("outside/hooks/pre-commit");
        fs::create_dir(stage.path("outside/hooks"))?;
        fs::write(&hook, "#!/bin/sh\necho A HOOK OUTSIDE\n")?;
        fs::set_permissions(hook, std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
        Ok(stage)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Replaces the placeholders by directories and the page's address.
    fn fill(&self, text: &str) -> String {
        let [root, outside] = ["root", "outside"].map(|name| self.path(name).display().to_string());
        text.replace("$ROOT", &root).replace("$OUTSIDE", &outside).replace("$URL", &self.url)
    }
}

impl Case {
    fn name(self) -> String {
        format!("{} by {}{}", self.server.name, self.way.name(), self.wall.name())
    }

    fn command(self, installed: &Installed, stage: &Stage) -> Result<Command> {
        let mut command = Command::new(&installed.rootward);
        match self.wall {
            Wall::Confined => command.arg("sandbox").current_dir(stage.path("root")),
            // The client's working directory must not matter.
            Wall::Wrapped => command.arg("wrap").current_dir(stage.directory.path()),
            Wall::Off => command.args(["sandbox", "--sandbox", "off"]).current_dir(stage.path("root")),
        };
        command.env("XDG_STATE_HOME", stage.path("state"));
        command.env("HOME", &installed.home).env_remove("XDG_CACHE_HOME").env_remove("XDG_CONFIG_HOME");
        command.env("npm_config_registry", &installed.registry).env("ROOTWARD_TEST_TOKEN", TOKEN);
        if self.way == Way::Uvx {
            command.env("UV_FIND_LINKS", &installed.wheels).env("UV_NO_INDEX", "1");
            command.args(["--env", "UV_FIND_LINKS", "--env", "UV_NO_INDEX", "--allow-read"]).arg(&installed.wheels);
        }
        if let Some((name, value)) = self.server.variable {
            command.env(name, stage.fill(value)).args(["--env", name]);
        }
        match (self.wall, self.way) {
            (Wall::Wrapped, _) => {}
            // Programs and scripts in a root run only with execute access.
            (_, Way::Bash) => drop(command.arg(".:rwx")),
            _ => drop(command.arg(".")),
        }
        command.arg("--").args(self.server.command(self.way, installed)?);
        Ok(command)
    }

    fn carry_out(self, installed: &Installed, url: &str) -> Result<()> {
        let stage = Stage::new(url)?;
        let command = self.command(installed, &stage)?;
        match self.server.talk {
            Talk::Mcp { inside, outside } => self.converse(command, &stage, inside, outside),
            Talk::Script { inside, outside, .. } => self.run_script(command, inside, outside),
        }
    }

    fn converse(self, command: Command, stage: &Stage, inside: &[Act], outside: &[Act]) -> Result<()> {
        let roots = match self.wall {
            Wall::Wrapped => Roots::Named(stage.path("root")),
            Wall::Confined | Wall::Off => Roots::Unknown,
        };
        let mut server = Conversation::start(command, roots)?;
        let mut tools = server.tools()?;
        // While a slow server starts, `wrap` lists no tools. It announces a change when the server is ready.
        if tools.is_empty() && self.wall == Wall::Wrapped {
            server.wait_for("notifications/tools/list_changed")?;
            tools = server.tools()?;
        }
        for act in inside.iter().chain(outside) {
            ensure!(tools.iter().any(|tool| tool == act.tool), "the server has no tool `{}`", act.tool);
        }
        let mut call = |act: &Act| server.call(act.tool, serde_json::from_str(&stage.fill(act.arguments))?);
        for act in inside {
            let said = call(act)?;
            let done = matches!(&said, Said::Result(text) if text.contains(act.proof));
            ensure!(done, "inside, `{}` said {said:?}", act.tool);
        }
        for act in outside {
            let said = call(act)?;
            let (Said::Result(text) | Said::Error(text)) = &said;
            let done = matches!(said, Said::Result(_)) && text.contains(act.proof);
            ensure!(done == (self.wall == Wall::Off), "outside, `{}` said {said:?}", act.tool);
            let refused = text.contains("is outside every root");
            let names_it = self.wall == Wall::Wrapped && act.arguments.contains("$OUTSIDE");
            ensure!(refused || !names_it, "outside, `{}` was not refused but said {said:?}", act.tool);
        }
        server.end()
    }

    fn run_script(self, mut command: Command, inside: &[&str], outside: &[&str]) -> Result<()> {
        let output = command.stdin(Stdio::null()).output().context("cannot run the script")?;
        ensure!(output.status.success(), "the script ended with {}", output.status);
        let (said, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        for proof in inside {
            ensure!(said.contains(proof), "the script did not print `{proof}`: {said}{stderr}");
        }
        for proof in outside {
            let done = said.contains(proof);
            ensure!(done == (self.wall == Wall::Off), "`{proof}`: the script printed {said}{stderr}");
        }
        Ok(())
    }
}

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for server in SERVERS {
        for way in server.ways {
            // One control for each server is enough: how the server is started makes no difference.
            let first = !cases.iter().any(|case: &Case| case.server.name == server.name);
            let wrapped = matches!(server.talk, Talk::Mcp { .. });
            let walls = [(Wall::Confined, true), (Wall::Wrapped, wrapped), (Wall::Off, first)]
                .into_iter()
                .filter(|(_, is)| *is);
            cases.extend(walls.map(|(wall, _)| Case { server, way: *way, wall }));
        }
    }
    cases
}

/// Runs the cases whose names contain all of `parts`. Returns a note for the table of steps.
pub(crate) fn run(top: &Path, parts: &[&str]) -> Result<String> {
    let cases = chosen(cases(), parts, Case::name)?;
    let installed = install::run(top)?;
    let url = web::serve()?;
    let mut outcomes = all_at_once(&cases, AT_ONCE, |case| case.carry_out(&installed, &url));
    lay_out(&mut outcomes, Case::name);
    judge(cases.len(), &outcomes, Case::name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_server_has_a_control() {
        let cases = cases();
        for server in SERVERS {
            let of = |wall| cases.iter().filter(|case| case.server.name == server.name && case.wall == wall).count();
            assert_eq!((of(Wall::Confined), of(Wall::Off)), (server.ways.len(), 1), "{}", server.name);
            let wrapped = if matches!(server.talk, Talk::Mcp { .. }) { server.ways.len() } else { 0 };
            assert_eq!(of(Wall::Wrapped), wrapped, "{}", server.name);
        }
    }
}
