//! The servers, each as its README configures it.

use super::service;
use crate::check::Form;

/// A call of a tool.
#[derive(Clone, Copy, Debug)]
pub(super) struct ToolCall {
    pub(super) tool: &'static str,
    /// JSON; placeholders as in [`Server::command`].
    pub(super) arguments: &'static str,
    pub(super) answer: Answer,
}

/// What a call is answered with. The text is part of what is said.
#[derive(Clone, Copy, Debug)]
pub(super) enum Answer {
    Result(&'static str),
    /// The server's own error. Some servers can do nothing else without leaving this machine.
    Error(&'static str),
}

/// A server.
#[derive(Clone, Copy, Debug)]
pub(super) struct Server {
    pub(super) name: &'static str,
    /// The README's command. `$PROJECT` stands for the user's project, `$URL` for a service on this machine.
    pub(super) command: &'static str,
    /// The README's `env` block. A user passes each name on by `--env`.
    pub(super) environment: &'static [(&'static str, &'static str)],
    /// How many tools the locked version has.
    pub(super) tools: usize,
    /// Calls that are answered alike every time.
    pub(super) calls: &'static [ToolCall],
    /// The shortest form of the check that starts it.
    pub(super) form: Form,
    /// What is checked besides that it starts.
    pub(super) also: &'static [Extra],
}

/// What a person saw go wrong with a server that starts.
#[derive(Clone, Copy, Debug)]
pub(super) enum Extra {
    /// The user forgot `--env`: standard error names each variable.
    KeysForgotten,
    /// The user names what the variables begin with: `--env 'PREFIX_*'`.
    KeysByPrefix,
    /// The client drops the `--` before the command, as `gemini mcp add` and the MCP Inspector do.
    NoDashes,
    /// A client that sends paths of its own in `_meta` and shows its model only a result's data, as Codex does.
    Codex { call: ToolCall, refused: ToolCall },
    /// A client that shares nothing, and no `--root`: a refusal says so.
    NothingShared { refused: ToolCall },
}

const fn call(tool: &'static str, arguments: &'static str, text: &'static str) -> ToolCall {
    ToolCall { tool, arguments, answer: Answer::Result(text) }
}

const fn fails(tool: &'static str, arguments: &'static str, text: &'static str) -> ToolCall {
    ToolCall { tool, arguments, answer: Answer::Error(text) }
}

/// What a refusal of a path outside says.
const OUTSIDE: &str = "is outside every root";

/// What a refusal says where nothing is shared.
const NOTHING_SHARED: &str = "this client shared no directories";

/// What most servers have.
const PLAIN: Server =
    Server { name: "", command: "", environment: &[], tools: 0, calls: &[], form: Form::Long, also: &[] };

const READ_NOTES: ToolCall = call("read_text_file", r#"{"path": "$PROJECT/notes.txt"}"#, "INSIDE");
const STATUS: ToolCall = call("git_status", r#"{"repo_path": "$PROJECT"}"#, "On branch");

pub(super) const SERVERS: &[Server] = &[
    Server {
        name: "server-filesystem",
        command: "npx -y @modelcontextprotocol/server-filesystem",
        tools: 14,
        calls: &[READ_NOTES, call("list_allowed_directories", "{}", "$PROJECT")],
        form: Form::Short,
        also: &[
            Extra::NoDashes,
            Extra::Codex {
                call: READ_NOTES,
                refused: fails("read_text_file", r#"{"path": "$OUTSIDE/secret.txt"}"#, OUTSIDE),
            },
            Extra::NothingShared {
                refused: fails("read_text_file", r#"{"path": "$PROJECT/notes.txt"}"#, NOTHING_SHARED),
            },
        ],
        ..PLAIN
    },
    Server {
        name: "server-filesystem with arguments",
        command: "npx -y @modelcontextprotocol/server-filesystem $PROJECT",
        tools: 14,
        calls: &[READ_NOTES],
        ..PLAIN
    },
    Server {
        name: "server-memory",
        command: "npx -y @modelcontextprotocol/server-memory",
        tools: 9,
        calls: &[
            // An entity may be called like a path.
            call(
                "create_entities",
                r#"{"entities": [{"name": "/api/users", "entityType": "endpoint", "observations": ["lists"]}]}"#,
                "",
            ),
            call("open_nodes", r#"{"names": ["/api/users"]}"#, "endpoint"),
        ],
        form: Form::Short,
        ..PLAIN
    },
    Server {
        name: "server-everything",
        command: "npx -y @modelcontextprotocol/server-everything",
        // No README's: a key that the tool `get-env` can show.
        environment: &[("EXAMPLE_API_KEY", "the-key-of-the-user")],
        tools: 14,
        calls: &[
            call("get-env", "{}", "the-key-of-the-user"),
            // Its end comes after the server's question for roots, which it would wait for when it is left.
            call("trigger-long-running-operation", r#"{"duration": 1, "steps": 1}"#, "completed"),
        ],
        also: &[Extra::KeysByPrefix],
        ..PLAIN
    },
    Server {
        name: "server-sequential-thinking",
        command: "npx -y @modelcontextprotocol/server-sequential-thinking",
        tools: 1,
        calls: &[call(
            "sequentialthinking",
            r#"{"thought": "one", "nextThoughtNeeded": false, "thoughtNumber": 1, "totalThoughts": 1}"#,
            "thoughtHistoryLength",
        )],
        ..PLAIN
    },
    Server {
        name: "server-github",
        command: "npx -y @modelcontextprotocol/server-github",
        environment: &[("GITHUB_PERSONAL_ACCESS_TOKEN", "a-token")],
        tools: 26,
        calls: &[fails("get_issue", "{}", "Invalid")],
        also: &[Extra::KeysForgotten],
        ..PLAIN
    },
    Server {
        name: "server-brave-search",
        command: "npx -y @modelcontextprotocol/server-brave-search",
        // It ends at once without the key.
        environment: &[("BRAVE_API_KEY", "a-key")],
        tools: 2,
        calls: &[fails("brave_web_search", "{}", "Invalid")],
        form: Form::Short,
        also: &[Extra::KeysForgotten],
    },
    Server {
        name: "brave-search-mcp-server",
        command: "npx -y @brave/brave-search-mcp-server --transport stdio",
        environment: &[("BRAVE_API_KEY", "a-key")],
        tools: 8,
        calls: &[fails("brave_web_search", "{}", "Invalid")],
        also: &[Extra::KeysForgotten],
        ..PLAIN
    },
    Server {
        name: "playwright",
        command: "npx @playwright/mcp@latest",
        tools: 25,
        // Its tools start a browser.
        calls: &[fails("no_such_tool", "{}", "not found")],
        ..PLAIN
    },
    Server {
        name: "context7",
        command: "npx -y @upstash/context7-mcp --api-key YOUR_API_KEY",
        // No README's: it keeps the call on this machine.
        environment: &[("CONTEXT7_API_URL", "$URL")],
        tools: 2,
        calls: &[call(
            "query-docs",
            r#"{"libraryId": "/facebook/react", "query": "what a hook is"}"#,
            service::DOCUMENTATION,
        )],
        ..PLAIN
    },
    Server {
        name: "mcp-server-git",
        command: "uvx mcp-server-git",
        tools: 12,
        calls: &[STATUS],
        also: &[
            Extra::Codex { call: STATUS, refused: fails("git_status", r#"{"repo_path": "$OUTSIDE"}"#, OUTSIDE) },
            Extra::NothingShared { refused: fails("git_status", r#"{"repo_path": "$PROJECT"}"#, NOTHING_SHARED) },
        ],
        ..PLAIN
    },
    Server {
        name: "mcp-server-git with a repository",
        command: "uvx mcp-server-git --repository $PROJECT",
        tools: 12,
        calls: &[STATUS],
        form: Form::Short,
        also: &[Extra::NoDashes],
        ..PLAIN
    },
    Server {
        name: "mcp-server-fetch",
        command: "uvx mcp-server-fetch",
        tools: 1,
        calls: &[fails("fetch", r#"{"url": "$URL/page"}"#, "private")],
        ..PLAIN
    },
    Server {
        name: "mcp-server-time",
        command: "uvx mcp-server-time",
        tools: 2,
        calls: &[call("get_current_time", r#"{"timezone": "Europe/Berlin"}"#, "Europe/Berlin")],
        ..PLAIN
    },
    Server {
        name: "mcp-server-sqlite",
        command: "uvx --with mcp<2 mcp-server-sqlite --db-path $PROJECT/test.db",
        tools: 6,
        calls: &[call("read_query", r#"{"query": "SELECT 6 * 7 AS answer"}"#, "42")],
        form: Form::Short,
        ..PLAIN
    },
    Server {
        name: "mcp-grafana",
        command: "uvx mcp-grafana",
        environment: &[
            ("GRAFANA_URL", "$URL"),
            ("GRAFANA_SERVICE_ACCOUNT_TOKEN", "a-token"),
            // No README's: it would report its use to its makers.
            ("GRAFANA_USAGE_STATS", "disabled"),
        ],
        tools: 79,
        calls: &[call("list_datasources", "{}", "the only source")],
        ..PLAIN
    },
    Server {
        name: "a relative script",
        command: "python3 server.py",
        tools: 1,
        calls: &[call("read", r#"{"name": "notes.txt"}"#, "INSIDE")],
        form: Form::Short,
        also: &[Extra::NoDashes],
        ..PLAIN
    },
];

impl Server {
    /// What the name of the file begins with that its own package is downloaded as.
    pub(super) fn package(&self) -> Option<String> {
        let named = |word: &&str| word.starts_with('@') || word.starts_with("mcp-");
        let name = self.command.split(' ').find(named)?.trim_end_matches("@latest");
        Some(match name.strip_prefix('@') {
            Some(name) => name.replace('/', "-"),
            None => name.replace('-', "_"),
        })
    }

    /// Whether the command differs from project to project: then it is another memory.
    pub(super) fn names_project(&self) -> bool {
        self.command.contains("$PROJECT")
    }
}
