//! Five servers of others in one configuration, each as its README has it, and what is asked of them.

/// The configuration. `mcp-server-fetch` fetches nothing from its own machine without its option.
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

/// The servers in the order of the configuration, and how many tools the locked version of each has.
pub(super) const SERVERS: [(&str, usize); 5] =
    [("files", 14), ("everything", 14), ("memory", 9), ("git", 12), ("fetch", 1)];

/// The tool of the hub itself.
pub(super) const GET_ROOTS: &str = "get-roots";

/// A call of a tool, under the name that the hub gives it. `$PROJECT` and `$OTHER` are directories, `$NAME` is the name of the first, `$URL`
/// is an address on this machine.
#[derive(Clone, Copy, Debug)]
pub(super) struct Act {
    pub(super) tool: &'static str,
    /// JSON.
    pub(super) arguments: &'static str,
    /// What its answer holds if it was done.
    pub(super) proof: &'static str,
}

const fn act(tool: &'static str, arguments: &'static str, proof: &'static str) -> Act {
    Act { tool, arguments, proof }
}

/// What must work in the project. Each server is called at least once.
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

/// What must be refused there, each for the path in it.
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
