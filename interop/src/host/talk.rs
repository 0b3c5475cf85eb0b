//! Talks to the host under test over its standard streams, and finds out which roots its servers know.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rootward_testkit::client::{Line, Process, Received};
use serde_json::{Value, json};

use taskkit::spoken;

/// Timeout for an answer of the host, and for a server to learn new roots.
const TIMEOUT: Duration = Duration::from_mins(1);
/// Pause between two polls of a server's roots.
const PAUSE: Duration = Duration::from_millis(50);

/// How to find out which roots a server knows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Report {
    /// Call the reference server's tool that lists directories.
    Allowed,
    /// Call the tool `known_roots` of the servers in `peers/`.
    Known,
    /// Try to read a file in each root.
    Reads,
}

/// The running host.
#[derive(Debug)]
pub(super) struct Host {
    process: Process,
    last: u64,
    /// The ids and servers of calls that have no answer yet.
    open: Vec<(u64, String)>,
}

impl Host {
    pub(super) fn start(program: &Path, servers: &str, variables: [(&str, String); 3]) -> Result<Host> {
        let mut command = Command::new(program);
        command.arg(servers).envs(variables).env("PYTHONDONTWRITEBYTECODE", "1");
        Ok(Host { process: spoken::start(command)?, last: 0, open: Vec::new() })
    }

    /// Waits until these servers are connected.
    pub(super) fn wait_until_connected(&mut self, mut names: BTreeSet<String>) -> Result<()> {
        while !names.is_empty() {
            let message = self.receive().with_context(|| format!("not connected: {names:?}"))?;
            let name = message["connected"].as_str().with_context(|| format!("the host sent {message}"))?;
            names.remove(name);
        }
        Ok(())
    }

    /// Makes the host call a tool, without waiting for the result. Returns the id of the call.
    pub(super) fn start_call(&mut self, server: &str, tool: &str, arguments: &Value) -> Result<u64> {
        self.last += 1;
        self.open.push((self.last, server.to_owned()));
        let call = json!({"id": self.last, "server": server, "tool": tool, "arguments": arguments});
        self.process.send(&call.to_string())?;
        Ok(self.last)
    }

    /// Makes the host call a tool; returns the text of the result.
    pub(super) fn call(&mut self, server: &str, tool: &str, arguments: &Value) -> Result<String> {
        let id = self.start_call(server, tool, arguments)?;
        loop {
            let message = self.receive()?;
            self.open.retain(|(open, _)| message["id"] != *open);
            if message["id"] == id {
                let text = message["result"]["content"][0]["text"].as_str();
                return text.map(str::to_owned).with_context(|| format!("`{tool}` of `{server}` ended with {message}"));
            }
        }
    }

    /// Whether a server has answered all calls so far.
    pub(super) fn has_answered(&self, server: &str) -> bool {
        !self.open.iter().any(|(_, open)| open == server)
    }

    /// Waits until a server knows exactly these roots.
    pub(super) fn wait_until_known(
        &mut self,
        server: &str,
        report: Report,
        expect: &[String],
        path: impl Fn(&str) -> Result<String>,
    ) -> Result<()> {
        let began = Instant::now();
        loop {
            let known = match report {
                Report::Allowed => allowed(&self.call(server, "list_allowed_directories", &json!({}))?),
                Report::Known => known(&self.call(server, "known_roots", &json!({}))?)?,
                Report::Reads => self.readable(server, &path)?,
            };
            let same = known.iter().collect::<BTreeSet<_>>() == expect.iter().collect();
            match (same, began.elapsed() < TIMEOUT) {
                (true, _) => return Ok(()),
                (false, true) => thread::sleep(PAUSE),
                (false, false) => bail!("it knows {known:?}, expected {expect:?}"),
            }
        }
    }

    /// The roots in which a server on `rootward-server` can read a file.
    fn readable(&mut self, server: &str, path: impl Fn(&str) -> Result<String>) -> Result<Vec<String>> {
        let mut roots = Vec::new();
        for name in ["home", "one", "two", "three"] {
            let said = self.call(server, "read_file", &json!({"path": path(&format!("{name}/file"))?}))?;
            if said == name {
                roots.push(path(name)?);
            }
        }
        Ok(roots)
    }

    fn receive(&mut self) -> Result<Value> {
        let Received::Frame(line) = self.process.receive(TIMEOUT)? else {
            bail!("the host sent nothing more: {}", self.process.complaint());
        };
        serde_json::from_str(&line).with_context(|| format!("the host printed `{line}`"))
    }

    /// Closes the host's stdin and waits until it exits.
    pub(super) fn end(mut self) -> Result<()> {
        spoken::end(&mut self.process, &[0])
    }
}

/// The directories in the reference server's answer. Its first line is a heading.
fn allowed(text: &str) -> Vec<String> {
    text.lines().skip(1).map(str::to_owned).collect()
}

/// The paths of the roots that a server of `peers/` knows.
fn known(text: &str) -> Result<Vec<String>> {
    let known: Value = serde_json::from_str(text)?;
    let uris = known["roots"].as_array().context("`roots` is not a list")?;
    let path = |uri: &Value| Some(uri.as_str()?.strip_prefix("file://")?.to_owned());
    uris.iter().map(path).collect::<Option<_>>().context("a root is not a `file:` URI")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_are_read_from_the_answers_of_servers() {
        assert_eq!(allowed("Allowed directories:\n/a\n/b"), ["/a", "/b"]);
        assert_eq!(known(r#"{"told":1,"roots":["file:///a"]}"#).unwrap(), ["/a"]);
        assert!(known(r#"{"told":0,"roots":null}"#).is_err());
    }
}
