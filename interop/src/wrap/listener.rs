//! A client that says what it is told to and keeps every line it hears, as it came.

use std::process::Command;

use anyhow::{Result, ensure};
use rootward_testkit::client::Client;
use serde_json::{Value, json};

use taskkit::spoken;

/// A server that runs, or `rootward wrap` before one.
#[derive(Debug)]
pub(super) struct Listener(Client);

impl Listener {
    /// Starts a server. The client answers questions with these results, by method.
    pub(super) fn start(command: Command, answers: [(&str, Value); 3]) -> Result<Listener> {
        let mut client = Client::over(spoken::start(command)?);
        client.heard = Some(Vec::new());
        for (method, result) in answers {
            client.reply(method, Some(json!({ "result": result })));
        }
        Ok(Listener(client))
    }

    /// Says a line.
    pub(super) fn say(&mut self, line: &str) -> Result<()> {
        Ok(self.0.try_send_line(line)?)
    }

    /// Puts a question and awaits its answer.
    pub(super) fn ask(&mut self, id: &str, method: &str, params: &str) -> Result<()> {
        self.say(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#))?;
        let id: Value = serde_json::from_str(id)?;
        self.hear(&format!("an answer to `{method}`"), |message| message.get("method").is_none() && message["id"] == id)
    }

    /// Listens until something fits; questions are answered meanwhile.
    pub(super) fn hear(&mut self, what: &str, fits: impl Fn(&Value) -> bool) -> Result<()> {
        loop {
            let message = self.0.try_next()?.ok_or_else(|| self.0.failure(&format!("{what} did not come")))?;
            let question = message.get("method").is_some() && message.get("id").is_some();
            ensure!(!question, "nobody knows what to say to `{message}`");
            if fits(&message) {
                return Ok(());
            }
        }
    }

    /// Closes its input and listens to the end.
    pub(super) fn end(mut self) -> Result<Vec<String>> {
        self.0.close();
        while self.0.try_next()?.is_some() {}
        // One that still waits for something is asked to end.
        spoken::end(&mut self.0.line, &[0, 143])?;
        Ok(self.0.heard.unwrap_or_default())
    }
}
