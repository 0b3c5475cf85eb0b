//! A client for one server: starts it, says hello, calls tools. Any server that speaks over its standard streams will do.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};

use crate::spoken::Spoken;

/// A server that says nothing for so long hangs. The first start of a package may fetch it.
const LONGEST: Duration = Duration::from_mins(4);

/// What a tool said.
#[derive(PartialEq, Eq, Debug)]
pub(crate) enum Said {
    /// The text of its result.
    Result(String),
    /// The text of its refusal.
    Error(String),
}

/// What the client says of its roots.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Roots {
    /// It knows of none.
    Unknown,
    /// It names this directory when it is asked.
    Named(PathBuf),
}

/// A server that runs.
#[derive(Debug)]
pub(crate) struct Conversation {
    spoken: Spoken,
    roots: Roots,
    last_id: u64,
}

impl Conversation {
    /// Starts a server and waits until it is ready.
    pub(crate) fn start(command: Command, roots: Roots) -> Result<Conversation> {
        let capabilities = match roots {
            Roots::Unknown => json!({}),
            Roots::Named(_) => json!({ "roots": { "listChanged": true } }),
        };
        let mut conversation = Conversation { spoken: Spoken::start(command)?, roots, last_id: 0 };
        let client = json!({ "name": "rootward-xtask", "version": "0" });
        let hello = json!({ "protocolVersion": "2025-06-18", "capabilities": capabilities, "clientInfo": client });
        conversation.ask("initialize", &hello)?;
        conversation.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))?;
        Ok(conversation)
    }

    /// The names of its tools.
    pub(crate) fn tools(&mut self) -> Result<Vec<String>> {
        let answer = self.ask("tools/list", &json!({}))?;
        let tools = answer["result"]["tools"].as_array().context("`tools/list` was not answered by a list")?;
        Ok(tools.iter().filter_map(|tool| Some(tool["name"].as_str()?.to_owned())).collect())
    }

    /// Calls a tool.
    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) -> Result<Said> {
        let answer = self.ask("tools/call", &json!({ "name": tool, "arguments": arguments }))?;
        if let Some(error) = answer.get("error") {
            return Ok(Said::Error(error.to_string()));
        }
        let result = &answer["result"];
        let content = result["content"].as_array().context("a call was answered without content")?;
        let text: Vec<&str> = content.iter().filter_map(|part| part["text"].as_str()).collect();
        let text = text.join("\n");
        Ok(if result["isError"] == true { Said::Error(text) } else { Said::Result(text) })
    }

    /// Closes its input; it must end by itself, and well.
    pub(crate) fn end(mut self) -> Result<()> {
        self.spoken.close();
        let status = self.spoken.wait()?;
        ensure!(status.success(), "it ended with {status}: {}", self.spoken.complaint());
        Ok(())
    }

    /// The answer to a question, whole.
    pub(crate) fn ask(&mut self, method: &str, params: &Value) -> Result<Value> {
        self.last_id += 1;
        let id = self.last_id;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))?;
        loop {
            let Some(line) = self.spoken.hear(LONGEST) else {
                bail!("`{method}` was not answered: {}", self.spoken.complaint())
            };
            let message: Value =
                serde_json::from_str(&line).with_context(|| format!("it wrote `{line}`, which is not JSON"))?;
            if message["id"] == id && message.get("method").is_none() {
                return Ok(message);
            }
            // Whatever else it says meanwhile is none of a small client's business.
            if let (Some("roots/list"), Roots::Named(root)) = (message["method"].as_str(), &self.roots) {
                let roots = json!({ "roots": [{ "uri": format!("file://{}", root.display()) }] });
                self.send(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": roots }))?;
            }
        }
    }

    fn send(&mut self, message: &Value) -> Result<()> {
        self.spoken.say(&message.to_string())
    }
}
