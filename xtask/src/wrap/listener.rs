//! A client that says what it is told to and keeps every line it hears, as it came.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail, ensure};
use serde_json::Value;

/// A server that says nothing for so long hangs.
const LONGEST: Duration = Duration::from_mins(1);

/// What the client says when it is asked, by method: the result, as it is sent.
pub(super) type Answers = Vec<(&'static str, String)>;

/// A server that runs, or `rootward wrap` before one.
#[derive(Debug)]
pub(super) struct Listener {
    child: Child,
    lines: Receiver<String>,
    stderr: File,
    answers: Answers,
    /// Every line it heard.
    pub(super) heard: Vec<String>,
}

impl Listener {
    pub(super) fn start(mut command: Command, answers: Answers) -> Result<Listener> {
        let stderr = tempfile::tempfile()?;
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
        Ok(Listener { child, lines, stderr, answers, heard: Vec::new() })
    }

    /// Says a line.
    pub(super) fn say(&mut self, line: &str) -> Result<()> {
        let stdin = self.child.stdin.as_mut().context("its input is closed")?;
        let said = stdin.write_all(format!("{line}\n").as_bytes()).and_then(|()| stdin.flush());
        said.map_err(|error| anyhow!("{error}: {}", self.complaint()))
    }

    /// Puts a question and awaits its answer.
    pub(super) fn ask(&mut self, id: &str, method: &str, params: &str) -> Result<Value> {
        self.say(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#))?;
        let id: Value = serde_json::from_str(id)?;
        self.hear(&format!("an answer to `{method}`"), |message, _| {
            message.get("method").is_none() && message["id"] == id
        })
    }

    /// Listens until something fits; questions are answered meanwhile.
    pub(super) fn hear(&mut self, what: &str, fits: impl Fn(&Value, &str) -> bool) -> Result<Value> {
        loop {
            let line = self.lines.recv_timeout(LONGEST);
            let Ok(line) = line else { bail!("{what} did not come: {}", self.complaint()) };
            let message: Value = serde_json::from_str(&line).with_context(|| format!("`{line}` is not JSON"))?;
            if let (Some(method), Some(id)) = (message["method"].as_str(), message.get("id")) {
                let known = self.answers.iter().find(|(known, _)| *known == method);
                let (_, result) = known.with_context(|| format!("nobody knows what to say to `{line}`"))?;
                let answer = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#);
                self.say(&answer)?;
            }
            let fits = fits(&message, &line);
            self.heard.push(line);
            if fits {
                return Ok(message);
            }
        }
    }

    /// Closes its input and listens to the end.
    pub(super) fn end(mut self) -> Result<Vec<String>> {
        drop(self.child.stdin.take());
        while let Ok(line) = self.lines.recv_timeout(LONGEST) {
            self.heard.push(line);
        }
        let status = self.child.wait()?;
        // One that still waits for something is asked to end.
        ensure!(status.success() || status.code() == Some(143), "it ended with {status}: {}", self.complaint());
        Ok(std::mem::take(&mut self.heard))
    }

    /// What it wrote to its standard error.
    fn complaint(&mut self) -> String {
        let mut text = Vec::new();
        let read = self.stderr.rewind().and_then(|()| self.stderr.read_to_end(&mut text));
        read.map_or_else(|error| error.to_string(), |_| String::from_utf8_lossy(&text).trim().to_owned())
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        // Already gone where it was ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
