//! Parses the output of `rootward adopt --json`.

use std::path::PathBuf;

use anyhow::{Context, Result};
use serde_json::Value;

/// The output of one run.
#[derive(PartialEq, Debug)]
pub(super) struct Answer {
    pub(super) files: Vec<File>,
}

/// A config file.
#[derive(PartialEq, Debug)]
pub(super) struct File {
    pub(super) client: String,
    pub(super) path: PathBuf,
    pub(super) changed: bool,
    pub(super) servers: Vec<Server>,
}

/// A server in a config file.
#[derive(PartialEq, Debug)]
pub(super) struct Server {
    pub(super) name: String,
    pub(super) verdict: String,
    /// The command before and after wrapping, with secrets hidden.
    pub(super) commands: [Value; 2],
    /// `None` if the server was not started.
    pub(super) works: Option<bool>,
    pub(super) tools: Option<u64>,
    /// Why it does not work, or was not started.
    pub(super) why: Value,
}

impl Answer {
    pub(super) fn read(text: &str) -> Result<Answer> {
        let value: Value = serde_json::from_str(text).with_context(|| format!("not JSON: {text}"))?;
        let files = value["files"].as_array().with_context(|| format!("no `files` in {value}"))?;
        Ok(Answer { files: files.iter().map(file).collect::<Result<_>>()? })
    }

    /// The servers of all files.
    pub(super) fn servers(&self) -> impl Iterator<Item = &Server> {
        self.files.iter().flat_map(|file| &file.servers)
    }
}

fn file(value: &Value) -> Result<File> {
    // With `--undo`, the output has `restored` instead of `servers`.
    let servers = value["servers"].as_array().map_or(&[][..], Vec::as_slice);
    Ok(File {
        client: text(value, "client")?,
        path: text(value, "file")?.into(),
        changed: value["changed"].as_bool().with_context(|| format!("no `changed` in {value}"))?,
        servers: servers.iter().map(server).collect::<Result<_>>()?,
    })
}

fn server(value: &Value) -> Result<Server> {
    Ok(Server {
        name: text(value, "name")?,
        verdict: text(value, "verdict")?,
        commands: [value["was"].clone(), value["becomes"].clone()],
        works: value["works"].as_bool(),
        tools: value["tools"].as_u64(),
        why: value["why"].clone(),
    })
}

fn text(value: &Value, name: &str) -> Result<String> {
    value[name].as_str().map(str::to_owned).with_context(|| format!("no `{name}` in {value}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn answers_are_read() {
        let server = json!({"name": "a", "verdict": "wrap", "was": ["x"], "becomes": null, "works": true, "tools": 3});
        let file = json!({"client": "codex", "file": "/c", "changed": true, "servers": [server]});
        let answer = Answer::read(&json!({"files": [file]}).to_string()).unwrap();
        assert_eq!(
            answer.servers().map(|server| (server.works, server.tools)).collect::<Vec<_>>(),
            [(Some(true), Some(3))]
        );
        assert_eq!(answer.files[0].path, PathBuf::from("/c"));
        for text in ["", "{}", r#"{"files": [{}]}"#] {
            assert!(Answer::read(text).is_err(), "{text}");
        }
    }
}
