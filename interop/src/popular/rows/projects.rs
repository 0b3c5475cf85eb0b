//! Servers for JavaScript projects.

use crate::popular::server::{Extra, Needs, PLAIN, Server, call, fails, outside};

const SCRIPT: (&str, &str) = ("app.js", "var unused = 1;\n");
const RULES: (&str, &str) = ("eslint.config.mjs", "export default [{ rules: { \"no-unused-vars\": \"error\" } }];\n");
const WORKSPACE: (&str, &str) = (
    "angular.json",
    r#"{"version": 1, "projects": {"shop": {"projectType": "application", "root": "", "sourceRoot": "src"}}}"#,
);

const TASKS: (&str, &str) = (
    ".taskmaster/tasks/tasks.json",
    r#"{"master": {"tasks": [{"id": 1, "title": "Count the sheep", "description": "For sleep", "status": "pending", "dependencies": [],
        "priority": "high", "details": "", "testStrategy": "", "subtasks": []}], "metadata": {"created": "2026-01-02T03:04:05Z"}}}"#,
);

pub(super) const SERVERS: &[Server] = &[
    Server {
        name: "eslint",
        recipe: Some("eslint"),
        command: "npx @eslint/mcp@latest",
        files: &[SCRIPT, RULES],
        tools: 1,
        calls: &[call("lint-files", r#"{"filePaths": ["$PROJECT/app.js"]}"#, "no-unused-vars")],
        refused: &[outside("lint-files", r#"{"filePaths": ["$OUTSIDE/secret.txt"]}"#)],
        ..PLAIN
    },
    Server {
        name: "angular",
        recipe: Some("angular"),
        command: "npx -y @angular/cli mcp",
        files: &[WORKSPACE],
        tools: 5,
        calls: &[call("list_projects", "{}", "shop"), call("get_best_practices", "{}", "Angular")],
        refused: &[outside("get_best_practices", r#"{"workspacePath": "$OTHER/angular.json"}"#)],
        also: &[Extra::AcceptsByItself {
            calls: &[call("get_best_practices", r#"{"workspacePath": "$OTHER/angular.json"}"#, "Angular")],
        }],
        ..PLAIN
    },
    Server {
        name: "task-master",
        recipe: Some("task-master"),
        command: "npx -y task-master-ai",
        environment: &[("ANTHROPIC_API_KEY", "none")],
        // Without settings in a repository, it prints a warning to standard output, which breaks a direct client.
        files: &[TASKS, (".taskmaster/config.json", "{}")],
        tools: 7,
        needs: Needs::Time,
        calls: &[call("get_tasks", r#"{"projectRoot": "$PROJECT"}"#, "Count the sheep")],
        refused: &[outside("get_tasks", r#"{"projectRoot": "$OTHER"}"#)],
        also: &[Extra::AcceptsByItself {
            calls: &[call("get_tasks", r#"{"projectRoot": "$OTHER"}"#, "Count the sheep")],
        }],
        ..PLAIN
    },
    Server {
        name: "shadcn",
        recipe: Some("shadcn"),
        command: "npx shadcn@latest mcp",
        tools: 7,
        calls: &[call("get_add_command_for_items", r#"{"items": ["@shadcn/button"]}"#, "add @shadcn/button")],
        ..PLAIN
    },
    Server {
        name: "nx",
        recipe: Some("nx"),
        command: "npx nx-mcp@latest",
        tools: 1,
        // Its only tool queries the documentation on the web.
        calls: &[fails("no_such_tool", "{}", "not found")],
        ends: &[0, 1, 143],
        ..PLAIN
    },
];
