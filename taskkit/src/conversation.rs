//! A client for one server: starts it, initializes the session, calls tools. Works with any stdio server.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};
use rootward_testkit::client::{Client, Line, Process, message};
use serde_json::{Value, json};

use crate::spoken;

/// A server that sends nothing for longer is stuck. The first start of a package may download it.
const LONGEST: Duration = Duration::from_mins(4);

/// The answer of a tool.
#[derive(PartialEq, Eq, Debug)]
pub enum Said {
    /// The text of a result.
    Result(String),
    /// The text of an error or a refusal.
    Error(String),
}

/// The client's roots.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Roots {
    /// The client does not support roots.
    Unknown,
    /// The client has this root.
    Named(PathBuf),
}

/// A session with a running server.
#[derive(Debug)]
pub struct Conversation(Client<Process>);

impl Conversation {
    /// Starts a server and waits until it is ready.
    pub fn start(command: Command, roots: Roots) -> Result<Conversation> {
        Conversation::start_with_patience(command, roots, LONGEST)
    }

    /// The same, but waits this long for each message.
    pub fn start_with_patience(command: Command, roots: Roots, patience: Duration) -> Result<Conversation> {
        let mut client = Client::over(spoken::start(command)?).with_patience(patience);
        let capabilities = match roots {
            Roots::Unknown => json!({}),
            Roots::Named(root) => {
                client.name_roots([format!("file://{}", root.display())]);
                json!({ "roots": { "listChanged": true } })
            }
        };
        let mut hello = message::hello(capabilities);
        hello["protocolVersion"] = "2025-06-18".into();
        let answer = client.try_ask("initialize", hello)?;
        if let Some(error) = answer.get("error") {
            return Err(client.failure(&format!("`initialize` failed: {error}")).into());
        }
        client.try_send_line(&message::notification("notifications/initialized", Value::Null).to_string())?;
        Ok(Conversation(client))
    }

    /// The names of the server's tools.
    pub fn tools(&mut self) -> Result<Vec<String>> {
        let answer = self.ask("tools/list", json!({}))?;
        let tools = answer["result"]["tools"].as_array().context("the answer to `tools/list` has no list")?;
        Ok(tools.iter().filter_map(|tool| Some(tool["name"].as_str()?.to_owned())).collect())
    }

    /// Calls a tool.
    pub fn call(&mut self, tool: &str, arguments: Value) -> Result<Said> {
        let answer = self.ask("tools/call", message::call(tool, arguments))?;
        if let Some(error) = answer.get("error") {
            return Ok(Said::Error(error.to_string()));
        }
        let result = &answer["result"];
        let content = result["content"].as_array().context("the answer to a call has no content")?;
        let text: Vec<&str> = content.iter().filter_map(|part| part["text"].as_str()).collect();
        let text = text.join("\n");
        Ok(if result["isError"] == true { Said::Error(text) } else { Said::Result(text) })
    }

    /// Sends a request. Returns the whole answer.
    pub fn ask(&mut self, method: &str, params: Value) -> Result<Value> {
        Ok(self.0.try_ask(method, params)?)
    }

    /// Waits for a notification. One that arrived earlier counts, but only once.
    pub fn wait_for(&mut self, method: &str) -> Result<()> {
        let is = |message: &Value| message["method"] == method;
        if let Some(position) = self.0.kept().iter().position(is) {
            self.0.kept().remove(position);
            return Ok(());
        }
        while let Some(message) = self.0.try_next()? {
            if is(&message) {
                return Ok(());
            }
            self.0.kept().push_back(message);
        }
        Err(self.0.failure(&format!("the server ended before it sent `{method}`")).into())
    }

    /// The server's standard error so far.
    pub fn complaint(&mut self) -> String {
        self.0.line.complaint()
    }

    /// Closes the server's input. The server must then exit with code 0.
    pub fn end(self) -> Result<()> {
        self.end_with(&[0])
    }

    /// The same, but the server may exit with any of these codes.
    pub fn end_with(mut self, codes: &[i32]) -> Result<()> {
        spoken::end(&mut self.0.line, codes)
    }
}
