//! Servers that drive a browser: Debian's Chromium, and a page on this machine.

use crate::popular::server::{Needs, PLAIN, Server, call, outside};
use crate::popular::service::SENTENCE;

pub(super) const SERVERS: &[Server] = &[
    Server {
        name: "playwright",
        recipe: Some("playwright"),
        command: "npx @playwright/mcp@latest",
        tools: 25,
        calls: &[
            call("browser_navigate", r#"{"url": "$URL/page"}"#, "Page Title: local"),
            call("browser_snapshot", "{}", SENTENCE),
            // A key whose name looks like a path.
            call("browser_press_key", r#"{"key": "/"}"#, "Press"),
            call("browser_take_screenshot", r#"{"filename": "$PROJECT/picture.png", "scale": "css"}"#, "picture.png"),
        ],
        refused: &[outside("browser_take_screenshot", r#"{"filename": "$OUTSIDE/picture.png", "scale": "css"}"#)],
        makes: &["picture.png"],
        needs: Needs::Browser,
        ..PLAIN
    },
    Server {
        name: "chrome-devtools-mcp",
        recipe: Some("chrome-devtools"),
        command: "npx -y chrome-devtools-mcp@latest",
        // Otherwise it sends telemetry.
        environment: &[("CHROME_DEVTOOLS_MCP_NO_USAGE_STATISTICS", "1")],
        tools: 32,
        calls: &[
            call("new_page", r#"{"url": "$URL/page"}"#, "local"),
            call("take_snapshot", r#"{"pageId": 2}"#, SENTENCE),
            call("press_key", r#"{"pageId": 2, "key": "/"}"#, "/"),
            call("take_screenshot", r#"{"pageId": 2, "filePath": "$PROJECT/picture.png"}"#, "picture.png"),
        ],
        refused: &[outside("take_screenshot", r#"{"pageId": 2, "filePath": "$OUTSIDE/picture.png"}"#)],
        makes: &["picture.png"],
        needs: Needs::Browser,
        ..PLAIN
    },
    Server {
        name: "server-puppeteer",
        recipe: Some("puppeteer"),
        command: "npx -y @modelcontextprotocol/server-puppeteer",
        environment: &[("PUPPETEER_EXECUTABLE_PATH", "/usr/bin/chromium"), ("npm_config_ignore_scripts", "true")],
        tools: 7,
        calls: &[
            call("puppeteer_navigate", r#"{"url": "$URL/page"}"#, "Navigated"),
            call("puppeteer_evaluate", r#"{"script": "document.body.innerText"}"#, SENTENCE),
            call("puppeteer_screenshot", r#"{"name": "/pictures/one"}"#, "taken"),
        ],
        needs: Needs::Browser,
        ..PLAIN
    },
];
