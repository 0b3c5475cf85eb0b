//! The clients that have a command for adding servers.

use anyhow::Result;

use super::super::host::{Due, Host};
use super::super::stage::Stage;
use super::super::{PROMPT, claude_code, codex, gemini_cli, opencode};
use super::servers::{Entry, Fate};

/// A client, and how its user configures it.
#[derive(Debug)]
pub(super) struct Client {
    pub(super) host: &'static Host,
    /// Its name in the output of `rootward adopt`.
    pub(super) name: &'static str,
    pub(super) due: Due,
    /// The scopes in which it keeps servers. The last one is the project's file, if it has one. Empty if its command has no scopes.
    pub(super) scopes: &'static [&'static str],
    /// What its list says about a server.
    pub(super) list: List,
    /// The text that marks a usable server in that list.
    pub(super) healthy: &'static str,
    /// Arguments that start a conversation.
    pub(super) converse: &'static [&'static str],
    /// Arguments that add a server.
    pub(super) add: fn(&Entry) -> Vec<String>,
    /// Changes the settings before and after the servers are added.
    pub(super) before: fn(&Stage) -> Result<()>,
    pub(super) after: fn(&Stage, &[Entry]) -> Result<()>,
}

/// What a client's list says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum List {
    /// Whether the server connects.
    Connects,
    /// Only that the server is configured. A conversation shows which servers work.
    Configured,
}

/// All clients. The first one also runs with ten servers.
pub(super) static CLIENTS: [Client; 4] = [
    Client {
        host: &claude_code::HOST,
        name: "claude-code",
        due: Due::EveryCheck,
        scopes: &["user", "local", "project"],
        list: List::Connects,
        // Not `! Connected · tools fetch failed`.
        healthy: "✔ Connected",
        converse: &["-p", PROMPT, "--allowedTools", "mcp__files,mcp__git,mcp__everything,mcp__broken"],
        add: |entry| words(&["mcp", "add", "--scope", entry.scope, entry.name], entry, "-e", &["--"]),
        // Otherwise Claude Code waits for its user to approve the project's servers.
        before: |stage| stage.write(".claude/settings.json", "{\"enableAllProjectMcpServers\": true}\n"),
        after: |_, _| Ok(()),
    },
    Client {
        host: &codex::HOST,
        name: "codex",
        due: Due::LongCheck,
        scopes: &[],
        list: List::Configured,
        healthy: "enabled",
        converse: &["exec", "--skip-git-repo-check", PROMPT],
        add: |entry| words(&["mcp", "add", entry.name], entry, "--env", &["--"]),
        before: |_| Ok(()),
        after: |stage, entries| {
            let working = entries.iter().filter(|entry| entry.fate == Fate::Works);
            codex::wait_for(stage, &working.map(|entry| entry.name).collect::<Vec<_>>())
        },
    },
    Client {
        host: &gemini_cli::HOST,
        name: "gemini-cli",
        due: Due::EveryCheck,
        scopes: &["user", "project"],
        list: List::Connects,
        healthy: "- Connected",
        converse: &["-m", "gemini-2.5-flash", "--yolo", "-p", PROMPT],
        add: |entry| words(&["mcp", "add", "--scope", entry.scope], entry, "-e", &[entry.name]),
        before: |_| Ok(()),
        after: |_, _| Ok(()),
    },
    Client {
        host: &opencode::HOST,
        name: "opencode",
        due: Due::LongCheck,
        scopes: &[],
        list: List::Connects,
        healthy: "connected",
        converse: &["run", "--model", "scripted/scripted", PROMPT],
        add: |entry| words(&["mcp", "add", entry.name], entry, "--env", &["--"]),
        before: |_| Ok(()),
        after: |_, _| Ok(()),
    },
];

/// The arguments that add a server: `before`, the variables as `option` with `NAME=VALUE`, `after`, and the server's command.
fn words(before: &[&str], entry: &Entry, option: &str, after: &[&str]) -> Vec<String> {
    let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let variables = entry.variables.iter().flat_map(|(name, value)| [option.to_owned(), format!("{name}={value}")]);
    [owned(before), variables.collect(), owned(after), entry.command.clone()].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_added_as_each_client_documents() {
        let entry = Entry {
            name: "files",
            scope: "user",
            variables: vec![("A".to_owned(), "b c".to_owned())],
            command: vec!["node".to_owned(), "x.js".to_owned()],
            fate: Fate::Works,
            tools: None,
        };
        let added = CLIENTS.iter().map(|client| (client.add)(&entry).join(" "));
        let expect = [
            "mcp add --scope user files -e A=b c -- node x.js",
            "mcp add files --env A=b c -- node x.js",
            "mcp add --scope user -e A=b c files node x.js",
            "mcp add files --env A=b c -- node x.js",
        ];
        assert_eq!(added.collect::<Vec<_>>(), expect);
    }
}
