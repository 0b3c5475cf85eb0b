//! A program in a terminal of tmux: typed into and looked at from outside.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

use super::HOME;

/// How long a program may take until it shows what is waited for.
const PATIENCE: Duration = Duration::from_mins(1);

/// How long nothing may change until a screen counts as settled.
const QUIET: Duration = Duration::from_secs(5);

const PAUSE: Duration = Duration::from_millis(100);

/// One terminal at a time.
#[derive(Debug)]
pub(super) struct Terminal {
    socket: PathBuf,
    path: String,
    variables: Vec<(String, String)>,
}

impl Terminal {
    /// For programs on this `PATH`, with these variables and no others of this process.
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
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        ensure!(output.status.success(), "`tmux {}`: {}", words.join(" "), String::from_utf8_lossy(&output.stderr));
        Ok(said)
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

    /// Waits until the terminal shows a text; returns all that it shows.
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

    /// Waits until the terminal has shown the same for a while.
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

    /// Presses keys, as tmux calls them.
    pub(super) fn press(&self, keys: &[&str]) -> Result<()> {
        self.tmux(&[&["send-keys"], keys].concat()).map(drop)
    }

    pub(super) fn types(&self, text: &str) -> Result<()> {
        self.tmux(&["send-keys", "-l", text]).map(drop)
    }

    /// Waits until the program has ended by itself, and the terminal with it.
    pub(super) fn waits_until_ended(&self) -> Result<()> {
        let began = Instant::now();
        while self.tmux(&["has-session"]).is_ok() {
            ensure!(began.elapsed() < PATIENCE, "the program does not end: {}", self.shown()?);
            sleep(PAUSE);
        }
        Ok(())
    }

    /// Ends the program and the terminal.
    pub(super) fn end(&self) -> Result<()> {
        self.tmux(&["kill-server"])?;
        self.waits_until_ended()
    }
}
