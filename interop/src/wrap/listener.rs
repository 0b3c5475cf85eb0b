//! A client that sends given lines and records every line that it receives, unchanged.

use std::process::Command;

use anyhow::{Result, ensure};
use rootward_testkit::client::Client;
use serde_json::{Value, json};

use taskkit::spoken;

/// A connection to a running server, directly or through Rootward.
#[derive(Debug)]
pub(super) struct Listener(Client);

impl Listener {
    /// Starts a server. The client answers the server's requests with these results, by method.
    pub(super) fn start(command: Command, answers: [(&str, Value); 3]) -> Result<Listener> {
        let mut client = Client::over(spoken::start(command)?);
        client.heard = Some(Vec::new());
        for (method, result) in answers {
            client.reply(method, Some(json!({ "result": result })));
        }
        Ok(Listener(client))
    }

    /// Sends a line.
    pub(super) fn say(&mut self, line: &str) -> Result<()> {
        Ok(self.0.try_send_line(line)?)
    }

    /// Sends a request and waits for its answer.
    pub(super) fn ask(&mut self, id: &str, method: &str, params: &str) -> Result<()> {
        self.say(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#))?;
        let id: Value = serde_json::from_str(id)?;
        self.hear(&format!("an answer to `{method}`"), |message| message.get("method").is_none() && message["id"] == id)
    }

    /// Reads until a message fits. Answers requests meanwhile.
    pub(super) fn hear(&mut self, what: &str, fits: impl Fn(&Value) -> bool) -> Result<()> {
        loop {
            let message = self.0.try_next()?.ok_or_else(|| self.0.failure(&format!("{what} did not arrive")))?;
            let is_request = message.get("method").is_some() && message.get("id").is_some();
            ensure!(!is_request, "the client has no answer to `{message}`");
            if fits(&message) {
                return Ok(());
            }
        }
    }

    /// Closes the server's input and reads to the end. Returns every line that was received.
    pub(super) fn end(mut self) -> Result<Vec<String>> {
        self.0.close();
        while self.0.try_next()?.is_some() {}
        // A server that is still waiting for something gets SIGTERM, so 143 is fine.
        spoken::end(&mut self.0.line, &[0, 143])?;
        Ok(self.0.heard.unwrap_or_default())
    }
}
