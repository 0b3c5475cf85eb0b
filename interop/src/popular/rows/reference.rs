//! The reference servers that do not use the project's files.

use crate::popular::server::{Extra, PLAIN, Server, Starts, call, fails};
use crate::popular::service::SENTENCE;
use taskkit::form::Form;

pub(super) const SERVERS: &[Server] = &[
    Server {
        name: "server-memory",
        recipe: Some("memory"),
        command: "npx -y @modelcontextprotocol/server-memory",
        tools: 9,
        calls: &[
            // The name of an entity may look like a path.
            call(
                "create_entities",
                r#"{"entities": [{"name": "/api/users", "entityType": "endpoint", "observations": ["lists"]}]}"#,
                "",
            ),
            call("open_nodes", r#"{"names": ["/api/users"]}"#, "endpoint"),
        ],
        form: Form::Short,
        starts: Starts::Often,
        also: &[Extra::Remembers {
            told: call(
                "create_entities",
                r#"{"entities": [{"name": "Ada", "entityType": "person", "observations": ["counts"]}]}"#,
                "Ada",
            ),
            recalled: call("read_graph", "{}", "Ada"),
        }],
        ..PLAIN
    },
    Server {
        name: "server-everything",
        recipe: Some("everything"),
        command: "npx -y @modelcontextprotocol/server-everything",
        // Not in the README: a key that the tool `get-env` can show.
        environment: &[("EXAMPLE_API_KEY", "the-key-of-the-user")],
        passed: &["EXAMPLE_API_KEY"],
        tools: 14,
        calls: &[
            call("get-env", "{}", "the-key-of-the-user"),
            // This ends after the server has requested the roots. Otherwise the server would still wait for them when its input closes.
            call("trigger-long-running-operation", r#"{"duration": 1, "steps": 1}"#, "completed"),
        ],
        starts: Starts::Often,
        also: &[Extra::KeysByPrefix],
        ..PLAIN
    },
    Server {
        name: "server-sequential-thinking",
        recipe: Some("sequential-thinking"),
        command: "npx -y @modelcontextprotocol/server-sequential-thinking",
        tools: 1,
        calls: &[call(
            "sequentialthinking",
            r#"{"thought": "one", "nextThoughtNeeded": false, "thoughtNumber": 1, "totalThoughts": 1}"#,
            "thoughtHistoryLength",
        )],
        starts: Starts::Often,
        ..PLAIN
    },
    Server {
        name: "mcp-server-fetch",
        recipe: Some("fetch"),
        command: "uvx mcp-server-fetch",
        tools: 1,
        calls: &[fails("fetch", r#"{"url": "$URL/page"}"#, "private")],
        starts: Starts::Often,
        ..PLAIN
    },
    Server {
        name: "mcp-server-fetch on this machine",
        recipe: Some("fetch"),
        command: "uvx mcp-server-fetch --allow-private-ips",
        tools: 1,
        // It must not try to install anything in order to read an HTML page.
        calls: &[call("fetch", r#"{"url": "$URL/page"}"#, SENTENCE)],
        ..PLAIN
    },
    Server {
        name: "mcp-server-time",
        recipe: Some("time"),
        command: "uvx mcp-server-time --local-timezone=America/New_York",
        tools: 2,
        calls: &[call("get_current_time", r#"{"timezone": "Europe/Berlin"}"#, "Europe/Berlin")],
        starts: Starts::Often,
        ..PLAIN
    },
];
