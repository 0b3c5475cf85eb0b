//! Five third-party servers in one configuration, each as its README configures it, and the calls that they get.

/// The configuration. `mcp-server-fetch` needs its option to fetch from this machine.
pub(super) const CONFIG: &str = r#"{
  // The entries of the READMEs.
  "mcpServers": {
    "files": {
      "command": "npx",
      "args": ["-y", "@modelcontextprotocol/server-filesystem", "${workspaceFolder}"]
    },
    "everything": {
      "command": "npx",
      "args": ["-y", "@modelcontextprotocol/server-everything"]
    },
    "memory": {
      "command": "npx",
      "args": ["-y", "@modelcontextprotocol/server-memory"]
    },
    "git": {
      "command": "uvx",
      "args": ["mcp-server-git"]
    },
    "fetch": {
      "command": "uvx",
      "args": ["mcp-server-fetch", "--allow-private-ips"],
    },
  }
}
"#;

/// The servers in the order of the configuration, and the number of tools in the locked version of each.
pub(super) const SERVERS: [(&str, usize); 5] =
    [("files", 14), ("everything", 14), ("memory", 9), ("git", 12), ("fetch", 1)];

/// The hub's own tool.
pub(super) const GET_ROOTS: &str = "get-roots";

/// A call of a tool, by the name that the hub gives it. `$PROJECT` and `$OTHER` are directories, `$NAME` is the name of `$PROJECT`, and
/// `$URL` is an address on this machine.
#[derive(Clone, Copy, Debug)]
pub(super) struct Act {
    pub(super) tool: &'static str,
    /// JSON.
    pub(super) arguments: &'static str,
    /// Text in the answer that proves the outcome: the result, or the path that is refused.
    pub(super) proof: &'static str,
}

const fn act(tool: &'static str, arguments: &'static str, proof: &'static str) -> Act {
    Act { tool, arguments, proof }
}

/// Calls that must succeed in the project. Each server is called at least once.
pub(super) const INSIDE: [Act; 7] = [
    act("files__read_text_file", r#"{"path": "$PROJECT/notes.txt"}"#, "the notes of $NAME"),
    act("files__list_allowed_directories", "{}", "$PROJECT"),
    act("everything__get-roots-list", "{}", "$PROJECT"),
    act(
        "memory__create_entities",
        r#"{"entities": [{"name": "Ada of $NAME", "entityType": "person", "observations": []}]}"#,
        "",
    ),
    act("memory__read_graph", "{}", "Ada of $NAME"),
    act("git__git_log", r#"{"repo_path": "$PROJECT", "max_count": 1}"#, "the commit of $NAME"),
    act("fetch__fetch", r#"{"url": "$URL/page"}"#, "a page on this machine"),
];

/// Calls that must be refused there, each because of its path.
pub(super) const OUTSIDE: [Act; 3] = [
    act("files__read_text_file", r#"{"path": "$OTHER/notes.txt"}"#, "$OTHER/notes.txt"),
    act("files__write_file", r#"{"path": "$OTHER/new.txt", "content": "new"}"#, "$OTHER/new.txt"),
    act("git__git_log", r#"{"repo_path": "$OTHER", "max_count": 1}"#, "$OTHER"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_server_is_configured_and_called() {
        for (name, _) in SERVERS {
            assert!(CONFIG.contains(&format!("\"{name}\": {{")), "{name}");
            assert!(INSIDE.iter().any(|act| act.tool.starts_with(&format!("{name}__"))), "{name}");
        }
        for act in INSIDE.iter().chain(&OUTSIDE) {
            assert!(serde_json::from_str::<serde_json::Value>(act.arguments).is_ok(), "{act:?}");
        }
    }
}
