//! The host under test, spoken to over its standard streams, and what its servers know.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rootward_testkit::client::{Line, Process, Received};
use serde_json::{Value, json};

use taskkit::spoken;

/// What takes longer hangs.
const LONGEST: Duration = Duration::from_mins(1);
/// Between two questions for what is not so yet.
const PAUSE: Duration = Duration::from_millis(50);

/// How a server tells what it knows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Report {
    /// By the reference server's tool that lists directories.
    Allowed,
    /// By the tool of the servers in `peers/`.
    Known,
    /// By what it lets be read.
    Reads,
}

/// A host that runs.
#[derive(Debug)]
pub(super) struct Host {
    process: Process,
    last: u64,
    /// The numbers and servers of calls that were not answered.
    open: Vec<(u64, String)>,
}

impl Host {
    pub(super) fn start(program: &Path, servers: &str, variables: [(&str, String); 3]) -> Result<Host> {
        let mut command = Command::new(program);
        command.arg(servers).envs(variables).env("PYTHONDONTWRITEBYTECODE", "1");
        Ok(Host { process: spoken::start(command)?, last: 0, open: Vec::new() })
    }

    /// Waits until these are connected.
    pub(super) fn connected(&mut self, mut names: BTreeSet<String>) -> Result<()> {
        while !names.is_empty() {
            let message = self.hear().with_context(|| format!("not connected: {names:?}"))?;
            let name = message["connected"].as_str().with_context(|| format!("the host said {message}"))?;
            names.remove(name);
        }
        Ok(())
    }

    /// Has a tool called and does not wait for its end.
    pub(super) fn ask(&mut self, server: &str, tool: &str, arguments: &Value) -> Result<u64> {
        self.last += 1;
        self.open.push((self.last, server.to_owned()));
        let call = json!({"id": self.last, "server": server, "tool": tool, "arguments": arguments});
        self.process.send(&call.to_string())?;
        Ok(self.last)
    }

    /// Has a tool called; the text it says.
    pub(super) fn call(&mut self, server: &str, tool: &str, arguments: &Value) -> Result<String> {
        let id = self.ask(server, tool, arguments)?;
        loop {
            let message = self.hear()?;
            self.open.retain(|(open, _)| message["id"] != *open);
            if message["id"] == id {
                let text = message["result"]["content"][0]["text"].as_str();
                return text.map(str::to_owned).with_context(|| format!("`{tool}` of `{server}` ended with {message}"));
            }
        }
    }

    /// Whether a server has answered all that it was asked.
    pub(super) fn has_answered(&self, server: &str) -> bool {
        !self.open.iter().any(|(_, open)| open == server)
    }

    /// Waits until a server knows just these roots.
    pub(super) fn knows(
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
                Report::Known => told(&self.call(server, "known_roots", &json!({}))?)?,
                Report::Reads => self.readable(server, &path)?,
            };
            let same = known.iter().collect::<BTreeSet<_>>() == expect.iter().collect();
            match (same, began.elapsed() < LONGEST) {
                (true, _) => return Ok(()),
                (false, true) => thread::sleep(PAUSE),
                (false, false) => bail!("it knows {known:?}, not {expect:?}"),
            }
        }
    }

    /// The roots whose file a server on `rootward-server` reads.
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

    fn hear(&mut self) -> Result<Value> {
        let Received::Frame(line) = self.process.receive(LONGEST)? else {
            bail!("the host says nothing more: {}", self.process.complaint());
        };
        serde_json::from_str(&line).with_context(|| format!("the host printed `{line}`"))
    }

    /// Closes its input and waits for its end.
    pub(super) fn end(mut self) -> Result<()> {
        spoken::end(&mut self.process, &[0])
    }
}

/// The lines of the reference server's answer, but for the first.
fn allowed(text: &str) -> Vec<String> {
    text.lines().skip(1).map(str::to_owned).collect()
}

/// The paths that a server of `peers/` knows.
fn told(text: &str) -> Result<Vec<String>> {
    let known: Value = serde_json::from_str(text)?;
    let uris = known["roots"].as_array().context("no list of roots")?;
    let path = |uri: &Value| Some(uri.as_str()?.strip_prefix("file://")?.to_owned());
    uris.iter().map(path).collect::<Option<_>>().context("a root that is no `file:` URI")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_servers_know() {
        assert_eq!(allowed("Allowed directories:\n/a\n/b"), ["/a", "/b"]);
        assert_eq!(told(r#"{"told":1,"roots":["file:///a"]}"#).unwrap(), ["/a"]);
        assert!(told(r#"{"told":0,"roots":null}"#).is_err());
    }
}
