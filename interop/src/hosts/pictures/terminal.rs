//! Runs a program in a tmux terminal, types into it, and reads the screen.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

use super::HOME;

/// How long to wait for a text on the screen, or for the program to exit.
const PATIENCE: Duration = Duration::from_mins(1);

/// A screen that has not changed for this long counts as settled.
const QUIET: Duration = Duration::from_secs(5);

/// Pause between two polls of the screen.
const PAUSE: Duration = Duration::from_millis(100);

/// A tmux server that runs one terminal at a time.
#[derive(Debug)]
pub(super) struct Terminal {
    socket: PathBuf,
    path: String,
    variables: Vec<(String, String)>,
}

impl Terminal {
    /// For programs on this `PATH`, with these environment variables. The programs inherit none from this process.
    pub(super) fn new(socket: &Path, path: &str, variables: &[(&str, &str)]) -> Terminal {
        let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Terminal { socket: socket.to_owned(), path: path.to_owned(), variables }
    }

    fn tmux(&self, words: &[&str]) -> Result<String> {
        let mut command = Command::new("tmux");
        command.arg("-S").arg(&self.socket).args(["-f", "/dev/null"]).args(words).env_clear();
        command.env("PATH", &self.path).env("HOME", HOME).env("TERM", "xterm-256color").env("LANG", "C.UTF-8");
        command.env("COLORTERM", "truecolor").envs(self.variables.iter().map(|(name, value)| (name, value)));
        let output = command.output().context("cannot run `tmux`")?;
        let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
        ensure!(output.status.success(), "`tmux {}`: {}", words.join(" "), String::from_utf8_lossy(&output.stderr));
        Ok(stdout)
    }

    /// Starts a program in a directory, in a terminal with these columns and lines.
    pub(super) fn start(&mut self, directory: &str, (columns, lines): (u16, u16), program: &[&str]) -> Result<()> {
        let (columns, lines) = (columns.to_string(), lines.to_string());
        let words = ["new-session", "-d", "-c", directory, "-x", &columns, "-y", &lines, "--"];
        self.tmux(&[&words[..], program].concat()).map(drop)
    }

    /// What the terminal shows, with colours.
    fn shown(&self) -> Result<String> {
        self.tmux(&["capture-pane", "-e", "-p"])
    }

    /// Waits until the terminal shows a text; returns the whole screen.
    pub(super) fn sees(&self, text: &str) -> Result<String> {
        let began = Instant::now();
        loop {
            let shown = self.shown()?;
            if super::screen::plain(&shown).contains(text) {
                return Ok(shown);
            }
            if began.elapsed() > PATIENCE {
                bail!("the terminal does not show `{text}`:\n{}", super::screen::plain(&shown));
            }
            sleep(PAUSE);
        }
    }

    /// Waits until the screen has settled.
    pub(super) fn settles(&self) -> Result<()> {
        let (mut last, mut since) = (self.shown()?, Instant::now());
        while since.elapsed() < QUIET {
            sleep(PAUSE);
            let shown = self.shown()?;
            if shown != last {
                (last, since) = (shown, Instant::now());
            }
        }
        Ok(())
    }

    /// Presses keys, given by their tmux names.
    pub(super) fn press(&self, keys: &[&str]) -> Result<()> {
        self.tmux(&[&["send-keys"], keys].concat()).map(drop)
    }

    pub(super) fn types(&self, text: &str) -> Result<()> {
        self.tmux(&["send-keys", "-l", text]).map(drop)
    }

    /// Waits until the program has exited, which also closes the terminal.
    pub(super) fn waits_until_ended(&self) -> Result<()> {
        let began = Instant::now();
        while self.tmux(&["has-session"]).is_ok() {
            ensure!(began.elapsed() < PATIENCE, "the program does not end: {}", self.shown()?);
            sleep(PAUSE);
        }
        Ok(())
    }

    /// Kills the program and the terminal.
    pub(super) fn end(&self) -> Result<()> {
        self.tmux(&["kill-server"])?;
        self.waits_until_ended()
    }
}
