//! A client that says what it is told to and keeps every line it hears, as it came.

use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use crate::spoken::Spoken;

/// A server that says nothing for so long hangs.
const LONGEST: Duration = Duration::from_mins(1);

/// What the client says when it is asked, by method: the result, as it is sent.
pub(super) type Answers = Vec<(&'static str, String)>;

/// A server that runs, or `rootward wrap` before one.
#[derive(Debug)]
pub(super) struct Listener {
    spoken: Spoken,
    answers: Answers,
    /// Every line it heard.
    pub(super) heard: Vec<String>,
}

impl Listener {
    pub(super) fn start(command: Command, answers: Answers) -> Result<Listener> {
        Ok(Listener { spoken: Spoken::start(command)?, answers, heard: Vec::new() })
    }

    /// Says a line.
    pub(super) fn say(&mut self, line: &str) -> Result<()> {
        self.spoken.say(line)
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
            let Some(line) = self.spoken.hear(LONGEST) else {
                bail!("{what} did not come: {}", self.spoken.complaint())
            };
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
        self.spoken.close();
        while let Some(line) = self.spoken.hear(LONGEST) {
            self.heard.push(line);
        }
        let status = self.spoken.wait()?;
        // One that still waits for something is asked to end.
        ensure!(status.success() || status.code() == Some(143), "it ended with {status}: {}", self.spoken.complaint());
        Ok(std::mem::take(&mut self.heard))
    }
}
