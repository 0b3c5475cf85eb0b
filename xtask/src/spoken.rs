//! A program that is spoken to line by line over its standard streams; what it writes to its standard error is kept for complaints.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, anyhow};

use crate::scratch;

/// A program that runs. It is killed where it is dropped before its end.
#[derive(Debug)]
pub(crate) struct Spoken {
    child: Child,
    lines: Receiver<String>,
    stderr: File,
}

impl Spoken {
    pub(crate) fn start(mut command: Command) -> Result<Spoken> {
        let stderr = scratch::file()?;
        let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(stderr.try_clone()?).spawn();
        let mut child = child.with_context(|| format!("cannot start {command:?}"))?;
        let stdout = child.stdout.take().context("no stdout")?;
        let (sender, lines) = mpsc::channel();
        thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Ok(Spoken { child, lines, stderr })
    }

    /// Says a line.
    pub(crate) fn say(&mut self, line: &str) -> Result<()> {
        let stdin = self.child.stdin.as_mut().context("its input is closed")?;
        let said = stdin.write_all(format!("{line}\n").as_bytes()).and_then(|()| stdin.flush());
        said.map_err(|error| anyhow!("{error}: {}", self.complaint()))
    }

    /// The next line; none where it ended, or said nothing for `longest`.
    pub(crate) fn hear(&self, longest: Duration) -> Option<String> {
        self.lines.recv_timeout(longest).ok()
    }

    /// Closes its input.
    pub(crate) fn close(&mut self) {
        drop(self.child.stdin.take());
    }

    /// Waits for its end.
    pub(crate) fn wait(&mut self) -> Result<ExitStatus> {
        Ok(self.child.wait()?)
    }

    /// What it wrote to its standard error.
    pub(crate) fn complaint(&mut self) -> String {
        let mut text = Vec::new();
        let read = self.stderr.rewind().and_then(|()| self.stderr.read_to_end(&mut text));
        read.map_or_else(|error| error.to_string(), |_| String::from_utf8_lossy(&text).trim().to_owned())
    }
}

impl Drop for Spoken {
    fn drop(&mut self) {
        // Already gone where it was ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
