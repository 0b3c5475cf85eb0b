//! Servers for files, repositories, databases and tables on this disk.

use crate::popular::server::{Extra, NOTHING_SHARED, PLAIN, Server, Starts, ToolCall, call, fails, outside};
use taskkit::form::Form;

const READ_NOTES: ToolCall = call("read_text_file", r#"{"path": "$PROJECT/notes.txt"}"#, "INSIDE");
const READ_SECRET: ToolCall = outside("read_text_file", r#"{"path": "$OUTSIDE/secret.txt"}"#);
const STATUS: ToolCall = call("git_status", r#"{"repo_path": "$PROJECT"}"#, "On branch");
const STATUS_OUTSIDE: ToolCall = outside("git_status", r#"{"repo_path": "$OUTSIDE"}"#);

const COMMIT: &[ToolCall] = &[
    call("git_add", r#"{"repo_path": "$PROJECT", "files": ["notes.txt"]}"#, "staged"),
    // A message may look like a path.
    call("git_commit", r#"{"repo_path": "$PROJECT", "message": "/etc"}"#, "committed"),
    // The name is in the user's own `.gitconfig`.
    call("git_show", r#"{"repo_path": "$PROJECT", "revision": "HEAD"}"#, "Ada Lovelace <ada@example.org>"),
];

pub(super) const SERVERS: &[Server] = &[
    Server {
        name: "server-filesystem",
        recipe: Some("filesystem"),
        command: "npx -y @modelcontextprotocol/server-filesystem",
        tools: 14,
        calls: &[READ_NOTES, call("list_allowed_directories", "{}", "$PROJECT")],
        refused: &[READ_SECRET],
        form: Form::Short,
        starts: Starts::Often,
        also: &[
            Extra::NoDashes,
            Extra::Codex { call: READ_NOTES, refused: READ_SECRET },
            Extra::NothingShared {
                refused: fails("read_text_file", r#"{"path": "$PROJECT/notes.txt"}"#, NOTHING_SHARED),
            },
        ],
        ..PLAIN
    },
    Server {
        name: "server-filesystem with arguments",
        recipe: Some("filesystem"),
        command: "npx -y @modelcontextprotocol/server-filesystem $PROJECT",
        tools: 14,
        calls: &[READ_NOTES],
        refused: &[READ_SECRET],
        starts: Starts::Often,
        ..PLAIN
    },
    Server {
        name: "mcp-server-git",
        recipe: Some("git"),
        command: "uvx mcp-server-git",
        tools: 12,
        calls: &[STATUS],
        refused: &[STATUS_OUTSIDE, outside("git_status", r#"{"repo_path": "$OTHER"}"#)],
        starts: Starts::Often,
        also: &[
            Extra::AcceptsByItself { calls: &[call("git_status", r#"{"repo_path": "$OTHER"}"#, "On branch")] },
            Extra::Codex { call: STATUS, refused: STATUS_OUTSIDE },
            Extra::NothingShared { refused: fails("git_status", r#"{"repo_path": "$PROJECT"}"#, NOTHING_SHARED) },
        ],
        ..PLAIN
    },
    Server {
        name: "mcp-server-git with a repository",
        recipe: Some("git"),
        command: "uvx mcp-server-git --repository $PROJECT",
        tools: 12,
        calls: &[STATUS],
        refused: &[STATUS_OUTSIDE],
        form: Form::Short,
        starts: Starts::Often,
        also: &[Extra::NoDashes, Extra::Once { name: "a commit", calls: COMMIT }],
        ..PLAIN
    },
    Server {
        name: "mcp-server-sqlite",
        recipe: Some("sqlite"),
        command: "uvx --with mcp<2 mcp-server-sqlite --db-path $PROJECT/test.db",
        tools: 6,
        calls: &[
            call("read_query", r#"{"query": "SELECT 6 * 7 AS answer"}"#, "42"),
            call("create_table", r#"{"query": "CREATE TABLE places (path TEXT)"}"#, "created"),
            call("append_insight", r#"{"insight": "/etc"}"#, "added"),
            // No argument is a path, so only the kernel can refuse.
            call("write_query", r#"{"query": "ATTACH DATABASE '$OUTSIDE/x.db' AS x"}"#, "unable to open database"),
        ],
        makes: &["test.db"],
        form: Form::Short,
        starts: Starts::Often,
        also: &[Extra::AcceptsByItself {
            calls: &[call("write_query", r#"{"query": "ATTACH DATABASE '$OUTSIDE/x.db' AS x"}"#, "[]")],
        }],
        ..PLAIN
    },
    Server {
        name: "excel-mcp-server",
        recipe: Some("excel"),
        command: "uvx excel-mcp-server stdio",
        tools: 46,
        calls: &[
            call("create_workbook", r#"{"path": "$PROJECT/book.xlsx", "overwrite": true}"#, "book.xlsx"),
            // A cell may contain text that looks like a path.
            call(
                "write_range",
                r#"{"path": "$PROJECT/book.xlsx", "sheet": "Sheet1", "at": "A1", "rows": [["/etc", 1]]}"#,
                "",
            ),
            call("read_range", r#"{"path": "$PROJECT/book.xlsx", "sheet": "Sheet1"}"#, "/etc"),
        ],
        refused: &[outside("create_workbook", r#"{"path": "$OUTSIDE/book.xlsx"}"#)],
        makes: &["book.xlsx"],
        also: &[Extra::AcceptsByItself {
            calls: &[call("create_workbook", r#"{"path": "$OUTSIDE/book.xlsx"}"#, "book.xlsx")],
        }],
        ..PLAIN
    },
    Server {
        name: "markitdown-mcp",
        command: "uvx markitdown-mcp",
        tools: 1,
        calls: &[call("convert_to_markdown", r#"{"uri": "file://$PROJECT/notes.txt"}"#, "INSIDE")],
        refused: &[outside("convert_to_markdown", r#"{"uri": "file://$OUTSIDE/secret.txt"}"#)],
        also: &[Extra::AcceptsByItself {
            calls: &[call("convert_to_markdown", r#"{"uri": "file://$OUTSIDE/secret.txt"}"#, "SECRET")],
        }],
        ..PLAIN
    },
    Server {
        name: "codegraphcontext",
        recipe: Some("codegraphcontext"),
        command: "uvx codegraphcontext mcp start",
        tools: 29,
        calls: &[
            call("list_indexed_repositories", "{}", "\"success\": true"),
            call("discover_codegraph_contexts", r#"{"repo_path": "$PROJECT"}"#, "no_contexts_found"),
        ],
        refused: &[outside("add_code_to_graph", r#"{"repo_path": "$OUTSIDE"}"#)],
        ..PLAIN
    },
    Server {
        name: "a relative script",
        command: "python3 server.py",
        tools: 1,
        calls: &[call("read", r#"{"name": "notes.txt"}"#, "INSIDE")],
        form: Form::Short,
        starts: Starts::Often,
        also: &[Extra::NoDashes],
        ..PLAIN
    },
];
