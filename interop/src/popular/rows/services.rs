//! Servers for web services. Those with a configurable address use a fake service on this machine; the others get calls that fail before
//! they reach the network.

use crate::popular::server::{Extra, PLAIN, Server, Starts, call, fails, outside};
use crate::popular::service;
use taskkit::form::Form;

pub(super) const SERVERS: &[Server] = &[
    Server {
        // Node starts a .NET program, which reads about itself from the kernel.
        name: "azure-mcp",
        recipe: Some("azure"),
        command: "npx -y @azure/mcp@latest server start",
        // Otherwise it sends telemetry.
        environment: &[("AZURE_MCP_COLLECT_TELEMETRY", "false")],
        tools: 61,
        calls: &[call(
            "azureterraformbestpractices",
            r#"{"intent": "what can be asked", "learn": true}"#,
            "azureterraformbestpractices_get",
        )],
        ..PLAIN
    },
    Server {
        name: "server-github",
        recipe: Some("github"),
        command: "npx -y @modelcontextprotocol/server-github",
        environment: &[("GITHUB_PERSONAL_ACCESS_TOKEN", "a-token")],
        tools: 26,
        // A path in a GitHub repository.
        calls: &[fails("get_file_contents", r#"{"owner": "o", "path": "/etc"}"#, "Invalid")],
        starts: Starts::Often,
        also: &[Extra::KeysForgotten],
        ..PLAIN
    },
    Server {
        name: "server-brave-search",
        recipe: Some("brave-search"),
        command: "npx -y @modelcontextprotocol/server-brave-search",
        // Without the key it exits immediately.
        environment: &[("BRAVE_API_KEY", "a-key")],
        tools: 2,
        calls: &[fails("brave_web_search", "{}", "Invalid")],
        form: Form::Short,
        starts: Starts::Often,
        also: &[Extra::KeysForgotten],
        ..PLAIN
    },
    Server {
        name: "brave-search-mcp-server",
        recipe: Some("brave-search"),
        command: "npx -y @brave/brave-search-mcp-server --transport stdio",
        environment: &[("BRAVE_API_KEY", "a-key")],
        tools: 8,
        calls: &[fails("brave_web_search", "{}", "Invalid")],
        starts: Starts::Often,
        also: &[Extra::KeysForgotten],
        ..PLAIN
    },
    Server {
        name: "context7",
        recipe: Some("context7"),
        command: "npx -y @upstash/context7-mcp --api-key YOUR_API_KEY",
        // Not in the README: it keeps the call on this machine.
        environment: &[("CONTEXT7_API_URL", "$URL")],
        tools: 2,
        calls: &[call(
            "query-docs",
            r#"{"libraryId": "/facebook/react", "query": "what a hook is"}"#,
            service::DOCUMENTATION,
        )],
        form: Form::Short,
        starts: Starts::Often,
        ..PLAIN
    },
    Server {
        name: "mcp-grafana",
        recipe: Some("grafana"),
        command: "uvx mcp-grafana",
        environment: &[
            ("GRAFANA_URL", "$URL"),
            ("GRAFANA_SERVICE_ACCOUNT_TOKEN", "a-token"),
            // Not in the README: otherwise it sends telemetry.
            ("GRAFANA_USAGE_STATS", "disabled"),
        ],
        tools: 79,
        calls: &[call("list_datasources", "{}", "the only source")],
        starts: Starts::Often,
        ..PLAIN
    },
    Server {
        name: "firecrawl",
        recipe: Some("firecrawl"),
        command: "npx -y firecrawl-mcp",
        environment: &[("FIRECRAWL_API_KEY", "fc-key"), ("FIRECRAWL_API_URL", "$URL")],
        tools: 26,
        calls: &[
            call("firecrawl_scrape", r#"{"url": "https://example.org/"}"#, "the text of a page"),
            // Paths of a web site. The fake service does not know this call.
            fails("firecrawl_crawl", r#"{"url": "https://example.org/", "includePaths": ["/etc"]}"#, "404"),
        ],
        refused: &[outside("firecrawl_parse", r#"{"filePath": "$OUTSIDE/secret.txt"}"#)],
        ..PLAIN
    },
    Server {
        name: "tavily",
        recipe: Some("tavily"),
        command: "npx -y tavily-mcp@latest",
        environment: &[("TAVILY_API_KEY", "tvly-key")],
        tools: 5,
        // Its error names the API, with or without a network.
        calls: &[fails("tavily_crawl", r#"{"url": "https://example.org/", "select_paths": ["/etc"]}"#, "API")],
        ..PLAIN
    },
    Server {
        name: "exa",
        recipe: Some("exa"),
        command: "npx -y exa-mcp-server",
        environment: &[("EXA_API_KEY", "a-key")],
        tools: 2,
        calls: &[fails("web_search_exa", "{}", "Invalid")],
        ..PLAIN
    },
    Server {
        name: "duckduckgo",
        recipe: Some("duckduckgo"),
        command: "uvx duckduckgo-mcp-server",
        // Not in the README: it lets the server read a page on this machine.
        environment: &[("DDG_ALLOW_PRIVATE_URLS", "1")],
        tools: 3,
        calls: &[call("fetch_content", r#"{"url": "$URL/page"}"#, service::SENTENCE)],
        ..PLAIN
    },
    Server {
        name: "aws-documentation",
        recipe: Some("aws-documentation"),
        command: "uvx awslabs.aws-documentation-mcp-server@latest",
        environment: &[("FASTMCP_LOG_LEVEL", "ERROR"), ("AWS_DOCUMENTATION_PARTITION", "aws")],
        tools: 5,
        calls: &[fails("read_documentation", r#"{"url": "https://example.org/"}"#, "supported domains")],
        ..PLAIN
    },
    Server {
        name: "notion",
        recipe: Some("notion"),
        command: "npx -y @notionhq/notion-mcp-server",
        // Not in the README: `BASE_URL` keeps the call on this machine.
        environment: &[("NOTION_TOKEN", "ntn_token"), ("BASE_URL", "$URL")],
        passed: &["BASE_URL"],
        tools: 24,
        calls: &[call("API-get-self", "{}", "the only robot")],
        ..PLAIN
    },
    Server {
        name: "supabase",
        recipe: Some("supabase"),
        // Not in the README: `--api-url` keeps the call on this machine, and `--features` leaves out the documentation, which the server
        // would download.
        command: "npx -y @supabase/mcp-server-supabase@latest --read-only --project-ref=abc \
                  --features=database,functions,debugging,development --api-url=$URL",
        environment: &[("SUPABASE_ACCESS_TOKEN", "a-token")],
        tools: 11,
        calls: &[call("execute_sql", r#"{"query": "SELECT 6 * 7 AS answer"}"#, "42")],
        ..PLAIN
    },
    Server {
        name: "figma",
        recipe: Some("figma"),
        command: "npx -y figma-developer-mcp --stdio",
        // `FRAMELINK_TELEMETRY` is not in the README: otherwise it sends telemetry.
        environment: &[("FIGMA_API_KEY", "a-key"), ("FRAMELINK_TELEMETRY", "off")],
        tools: 2,
        calls: &[
            fails("get_figma_data", "{}", "Invalid"),
            call("download_figma_images", r#"{"fileKey": "abc", "nodes": [], "localPath": "pictures"}"#, "0 images"),
        ],
        refused: &[outside("download_figma_images", r#"{"fileKey": "abc", "nodes": [], "localPath": "$OUTSIDE"}"#)],
        ..PLAIN
    },
    Server {
        name: "sentry",
        recipe: Some("sentry"),
        command: "npx @sentry/mcp-server",
        environment: &[("SENTRY_ACCESS_TOKEN", "a-token")],
        tools: 22,
        calls: &[fails("find_teams", "{}", "Invalid")],
        ..PLAIN
    },
    Server {
        name: "atlassian",
        recipe: Some("atlassian"),
        command: "uvx mcp-atlassian",
        environment: &[
            ("JIRA_URL", "$URL"),
            ("JIRA_USERNAME", "ada@example.org"),
            ("JIRA_API_TOKEN", "a-token"),
            ("CONFLUENCE_URL", "$URL/wiki"),
            ("CONFLUENCE_USERNAME", "ada@example.org"),
            ("CONFLUENCE_API_TOKEN", "a-token"),
        ],
        tools: 98,
        calls: &[call("jira_get_issue", r#"{"issue_key": "KEY-1"}"#, "the only issue")],
        refused: &[outside(
            "confluence_upload_attachment",
            r#"{"content_id": "1", "file_path": "$OUTSIDE/secret.txt"}"#,
        )],
        ..PLAIN
    },
    Server {
        name: "obsidian",
        recipe: Some("obsidian"),
        command: "uvx mcp-obsidian",
        environment: &[
            ("OBSIDIAN_API_KEY", "a-key"),
            ("OBSIDIAN_HOST", "127.0.0.1"),
            ("OBSIDIAN_PORT", "$PORT"),
            // Not in the README: the fake service has no certificate.
            ("OBSIDIAN_PROTOCOL", "http"),
        ],
        tools: 15,
        // `filepath` is a path in the vault.
        calls: &[
            call("obsidian_list_files_in_vault", "{}", "plan.md"),
            call("obsidian_get_file_contents", r#"{"filepath": "plans/plan.md"}"#, "the only plan"),
        ],
        ..PLAIN
    },
    Server {
        name: "server-slack",
        recipe: Some("slack"),
        command: "npx -y @modelcontextprotocol/server-slack",
        environment: &[("SLACK_BOT_TOKEN", "xoxb-token"), ("SLACK_TEAM_ID", "T0"), ("SLACK_CHANNEL_IDS", "C0, C1")],
        tools: 8,
        calls: &[call("slack_post_message", r#"{"text": "/etc"}"#, "Missing required arguments")],
        ..PLAIN
    },
    Server {
        name: "server-postgres",
        recipe: Some("postgres"),
        command: "npx -y @modelcontextprotocol/server-postgres postgresql://127.0.0.1:1/mydb",
        tools: 1,
        // Nothing listens on this port.
        calls: &[fails("query", r#"{"sql": "SELECT 1"}"#, "ECONNREFUSED")],
        ..PLAIN
    },
    Server {
        name: "mongodb",
        recipe: Some("mongodb"),
        command: "npx -y mongodb-mcp-server@latest --readOnly",
        environment: &[
            ("MDB_MCP_CONNECTION_STRING", "mongodb://127.0.0.1:1/?serverSelectionTimeoutMS=500"),
            // Not in the README: otherwise it sends telemetry.
            ("MDB_MCP_TELEMETRY", "disabled"),
        ],
        tools: 18,
        calls: &[
            call("list-connections", "{}", "preconfigured"),
            // A value in the database may look like a path.
            fails(
                "find",
                r#"{"connectionId": "none", "database": "d", "collection": "c", "filter": {"path": "/etc"}}"#,
                "does not exist",
            ),
        ],
        ..PLAIN
    },
    Server {
        name: "kubernetes",
        recipe: Some("kubernetes"),
        command: "npx mcp-server-kubernetes",
        tools: 23,
        calls: &[call("ping", "{}", "")],
        refused: &[outside("kubectl_apply", r#"{"filename": "$OUTSIDE/secret.txt"}"#)],
        ..PLAIN
    },
];
