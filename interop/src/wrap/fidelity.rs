//! A client receives the same bytes through `rootward wrap` as directly, except for Rootward's own changes.
//!
//! Each script is played twice directly, then through `rootward wrap` for the first time, and again with a remembered handshake.
//! The two direct runs differ only in times of day. Those are replaced before the comparison, and nothing else is.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};

use crate::servers::install::Installed;

use super::listener::Listener;
use super::script::{Script, Step};

/// How a script is played.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Run {
    Direct,
    /// Through `rootward hub`, which does not know the server the first time.
    Hub,
    /// Through `rootward wrap`, for the first time: a first server answers `initialize`, a second one works in the roots.
    First,
    /// Through `rootward wrap`, which remembers the server's answer to `initialize`.
    Remembered,
}

/// The lines that a client received, sorted by kind, because Rootward changes these things besides refusals:
///
/// - Rootward asks the client for the roots, once. The server's own `roots/list` does not reach the client: Rootward answers it.
/// - A remembered answer, to `initialize` or with a list, is in Rootward's own envelope.
/// - The first time, the client also receives notifications of the first server: that its tools changed, and that it has no roots.
/// - Notifications that belong to no request keep their order, but not their position among the answers.
#[derive(Debug, Default)]
struct Heard {
    /// Answers, progress, and the server's requests, in order.
    ordered: Vec<String>,
    /// Other notifications, in order.
    aside: Vec<String>,
    /// Requests for roots.
    roots: Vec<String>,
}

/// The notifications that the first server may add.
const OF_THE_FIRST: [&str; 2] = [r#""method":"notifications/tools/list_changed""#, "Roots updated: 0 root(s)"];

/// Plays a script in every way. Returns how many frames were compared.
pub(super) fn play(script: &Script, installed: &Installed) -> Result<usize> {
    let stage = tempfile::Builder::new().prefix("fidelity-").tempdir()?;
    let play = |run: Run| once(script, installed, stage.path(), run).with_context(|| format!("{run:?}"));
    let direct = Heard::sort(&play(Run::Direct)?)?;
    let again = Heard::sort(&play(Run::Direct)?)?;
    same("twice directly", &direct, &again)?;
    let mut compared = 0;
    for run in [Run::First, Run::Remembered] {
        let mut wrapped = Heard::sort(&play(run)?)?;
        wrapped.without_changes(run, &direct).with_context(|| format!("{run:?}"))?;
        same(&format!("{run:?}"), &direct, &wrapped)?;
        compared += wrapped.ordered.len() + wrapped.aside.len();
    }
    Ok(compared)
}

/// Plays a script once, in a fresh root. Returns every line that the client received.
pub(crate) fn once(script: &Script, installed: &Installed, stage: &Path, run: Run) -> Result<Vec<String>> {
    let root = stage.join("root");
    if root.exists() {
        fs::remove_dir_all(&root)?;
    }
    fs::create_dir(&root)?;
    fs::write(root.join("in.txt"), "inside\nin two lines\n")?;
    let filled = |text: &str| text.replace("$ROOT", &root.display().to_string());
    let program = installed.modules.join(script.program);
    let mut command = match run {
        Run::Direct => {
            let mut command = Command::new(&installed.node);
            command.arg(program).args(script.arguments.iter().map(|argument| filled(argument)));
            command
        }
        Run::Hub => {
            let variable = script.variable.map(|(name, value)| (name.to_owned(), Value::from(filled(value))));
            let config = json!({"mcpServers": {"server": {
                "command": installed.node,
                "args": [program],
                "env": variable.into_iter().collect::<serde_json::Map<_, _>>(),
                "rootward": {"prefix": ""},
            }}});
            let file = stage.join("servers.json");
            fs::write(&file, config.to_string())?;
            let mut command = Command::new(&installed.rootward);
            command.arg("hub").arg("--config").arg(file);
            command.env("XDG_STATE_HOME", stage.join("state")).env("XDG_CONFIG_HOME", stage.join("config"));
            command
        }
        Run::First | Run::Remembered => {
            let mut command = Command::new(&installed.rootward);
            command.arg("wrap").env("XDG_STATE_HOME", stage.join("state")).env("XDG_CONFIG_HOME", stage.join("config"));
            command.args(script.variable.iter().flat_map(|(name, _)| ["--env", name]));
            command.arg("--").arg(&installed.node).arg(program);
            command
        }
    };
    command.current_dir(&root).envs(script.variable.map(|(name, value)| (name, filled(value))));
    let mut client = Listener::start(command, answers(&root))?;
    client.ask("1", "initialize", HELLO)?;
    client.say(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#)?;
    for (number, step) in (2..).zip(script.steps) {
        let said = match *step {
            Step::Ask(method, params) => client.ask(&number.to_string(), method, &filled(params)),
            Step::AskAs(id, method, params) => client.ask(id, method, &filled(params)),
            Step::Call(tool, arguments) => {
                let params = format!(r#"{{"name":"{tool}","arguments":{}}}"#, filled(arguments));
                client.ask(&number.to_string(), "tools/call", &params)
            }
            // Behind the hub, a server starts at the first call, so it has no roots yet.
            Step::Hear(part) if run == Run::Hub && part.starts_with("Roots updated") => Ok(()),
            Step::Say(line) => client.say(line),
            Step::Hear(part) => client.hear(part, |message| message.to_string().contains(part)),
        };
        said.with_context(|| format!("{step:?}"))?;
    }
    client.end()
}

const HELLO: &str = r#"{"protocolVersion":"2025-06-18","capabilities":{"roots":{"listChanged":true},"sampling":{},"elicitation":{}},"clientInfo":{"name":"listener","version":"0"}}"#;

fn answers(root: &Path) -> [(&'static str, Value); 3] {
    let content = json!({"type": "text", "text": "an answer é"});
    let sampled = json!({"role": "assistant", "content": content, "model": "none", "stopReason": "endTurn"});
    let elicited = json!({"action": "accept", "content": {"name": "Ada", "check": true}});
    // With a name, as in most clients, because Rootward always gives servers a name.
    let name = root.file_name().unwrap_or_default().to_string_lossy();
    let roots = json!({"roots": [{"uri": format!("file://{}", root.display()), "name": name}]});
    [("roots/list", roots), ("sampling/createMessage", sampled), ("elicitation/create", elicited)]
}

impl Heard {
    fn sort(lines: &[String]) -> Result<Heard> {
        let mut heard = Heard::default();
        for line in lines {
            let message: Value = serde_json::from_str(line)?;
            let kind = match (message["method"].as_str(), message.get("id")) {
                (Some("roots/list"), Some(_)) => &mut heard.roots,
                (_, Some(_)) | (Some("notifications/progress"), None) => &mut heard.ordered,
                _ => &mut heard.aside,
            };
            kind.push(without_time(line));
        }
        Ok(heard)
    }

    /// Reverts Rootward's changes, and nothing else.
    fn without_changes(&mut self, run: Run, direct: &Heard) -> Result<()> {
        let own = matches!(self.roots.as_slice(), [question] if question.contains(r#""id":"rootward-"#));
        ensure!(own, "Rootward did not ask for the roots once: {:?}", self.roots);
        match run {
            Run::First => {
                let more = self.aside.len().saturating_sub(direct.aside.len());
                for line in self.aside.drain(..more) {
                    ensure!(OF_THE_FIRST.iter().any(|part| line.contains(part)), "unexpected notification: {line}");
                }
                // Rootward remembers the lists of the first server. The answer to `initialize` is the server's own, byte for byte.
                for line in self.ordered.iter_mut().skip(1) {
                    *line = in_servers_envelope(line).unwrap_or_else(|| line.clone());
                }
            }
            Run::Remembered => {
                let first = self.ordered.first().context("the client received nothing")?;
                ensure!(in_servers_envelope(first).is_some(), "not a remembered answer to `initialize`: {first}");
                for line in &mut self.ordered {
                    *line = in_servers_envelope(line).unwrap_or_else(|| line.clone());
                }
            }
            Run::Direct | Run::Hub => {}
        }
        Ok(())
    }
}

/// A remembered answer, in the envelope that the server would write. `None` if the line is not a remembered answer.
fn in_servers_envelope(line: &str) -> Option<String> {
    let (id, rest) = line.strip_prefix(r#"{"jsonrpc":"2.0","id":"#)?.split_once(r#","result":"#)?;
    let result = rest.strip_suffix('}').filter(|_| id.bytes().all(|byte| byte.is_ascii_digit()))?;
    Some(format!(r#"{{"result":{result},"jsonrpc":"2.0","id":{id}}}"#))
}

fn same(when: &str, direct: &Heard, other: &Heard) -> Result<()> {
    for (direct, other) in [(&direct.ordered, &other.ordered), (&direct.aside, &other.aside)] {
        for (position, line) in direct.iter().enumerate() {
            match other.get(position) {
                Some(heard) if heard == line => {}
                Some(heard) => bail!("{when}: the client received\n{heard}\ninstead of\n{line}"),
                None => bail!("{when}: the client did not receive\n{line}"),
            }
        }
        if let Some(more) = other.get(direct.len()) {
            bail!("{when}: the client also received\n{more}");
        }
    }
    Ok(())
}

/// Replaces every time of day, such as `2:05:09`, and the date before it by `TIME`.
pub(crate) fn without_time(line: &str) -> String {
    let mut text = String::new();
    let mut rest = line;
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        let (before, number) = rest.split_at(at);
        text.push_str(before);
        let length = number.find(|c: char| !(c.is_ascii_digit() || ":-.TZ".contains(c))).unwrap_or(number.len());
        let (number, after) = number.split_at(length);
        text.push_str(if number.matches(':').count() == 2 { "TIME" } else { number });
        rest = after;
    }
    text + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(lines: &[&str]) -> Heard {
        Heard::sort(&lines.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>()).unwrap()
    }

    const ROOTS: &str = r#"{"jsonrpc":"2.0","id":"rootward-roots-1","method":"roots/list"}"#;
    const HELLO: &str = r#"{"result":{"a":1.0},"jsonrpc":"2.0","id":1}"#;
    const REMEMBERED: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"a":1.0}}"#;
    const TOOLS: &str = r#"{"method":"notifications/tools/list_changed","jsonrpc":"2.0"}"#;
    const PONG: &str = r#"{"result":{},"jsonrpc":"2.0","id":2}"#;

    #[test]
    fn only_known_changes_are_allowed() {
        let direct = heard(&[HELLO, TOOLS, r#"{"method":"roots/list","jsonrpc":"2.0","id":0}"#, PONG]);
        let check = |run: Run, lines: &[&str], expect: bool| {
            let mut wrapped = heard(lines);
            let outcome = wrapped.without_changes(run, &direct).and_then(|()| same("", &direct, &wrapped));
            assert_eq!(outcome.is_ok(), expect, "{lines:?}: {outcome:?}");
        };
        check(Run::First, &[HELLO, ROOTS, TOOLS, PONG], true);
        check(Run::First, &[HELLO, TOOLS, ROOTS, PONG, TOOLS], true);
        check(Run::First, &[HELLO, TOOLS, r#"{"method":"notifications/new","jsonrpc":"2.0"}"#, ROOTS, PONG], false);
        check(Run::First, &[HELLO, ROOTS, PONG], false);
        check(Run::First, &[HELLO, TOOLS, PONG], false);
        check(Run::First, &[HELLO, ROOTS, ROOTS, TOOLS, PONG], false);
        check(Run::First, &[REMEMBERED, ROOTS, TOOLS, PONG], false);
        check(Run::First, &[HELLO, ROOTS, TOOLS, PONG, PONG], false);
        check(Run::First, &[HELLO, ROOTS, TOOLS, r#"{"result":{ },"jsonrpc":"2.0","id":2}"#], false);
        check(Run::Remembered, &[REMEMBERED, ROOTS, TOOLS, PONG], true);
        check(Run::Remembered, &[REMEMBERED, ROOTS, TOOLS, TOOLS, PONG], false);
        check(Run::Remembered, &[r#"{"jsonrpc":"2.0","id":1,"result":{"a":1}}"#, ROOTS, TOOLS, PONG], false);
    }

    #[test]
    fn times_are_replaced_and_other_numbers_are_not() {
        let check = |line: &str, expect: &str| assert_eq!(without_time(line), expect);
        check("at 2:05:09 AM, id 7", "at TIME AM, id 7");
        check("2026-11-16T02:05:09.123Z!", "TIME!");
        check(r#"{"id":12,"a":-1.5e3}"#, r#"{"id":12,"a":-1.5e3}"#);
    }
}
