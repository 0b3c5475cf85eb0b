//! The home directory that the pages describe, and what each page needs in addition.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use tempfile::TempDir;

use super::markdown::Page;

/// A server in a script, for pages that start one.
const SERVER: &str = include_str!("../../../../../peers/popular/server.py");

/// The files of every home.
const FILES: &[(&str, &str)] = &[
    ("src/app/.git/HEAD", "ref: refs/heads/main\n"),
    ("src/app/Cargo.toml", "[workspace]\nmembers = ['crates/*']\n"),
    ("src/app/crates/core/Cargo.toml", "[package]\nname = 'app-core'\n"),
    ("src/lib/a.txt", "a\n"),
    ("src/site/package.json", "{\"name\": \"@me/site\"}\n"),
    ("src/site/.idea/workspace.xml", "<project/>\n"),
    ("notes/today.md", "notes\n"),
    ("project/server.py", SERVER),
    ("rootward/README.md", "# Rootward\n"),
    ("rootward/docs/check.md", "# Check\n"),
];

/// What a page needs.
struct Needs {
    page: &'static str,
    /// Where its commands run, relative to the home.
    directory: &'static str,
    files: &'static [(&'static str, &'static str)],
    /// Commands before the first one of the page.
    before: &'static str,
    /// Texts that some command must print, for blocks that show no output.
    says: &'static [&'static str],
    /// Texts that the servers' answers must contain, in order.
    answers: &'static [&'static str],
}

const PLAIN: Needs = Needs { page: "", directory: "src/app", files: &[], before: "", says: &[], answers: &[] };

const NEEDS: &[Needs] = &[
    Needs {
        page: "README.md",
        files: &[(".cursor/mcp.json", r#"{"mcpServers": {"files": {"command": "filesystem-server"}}}"#)],
        says: &["files: will be wrapped", "files: works, with 1 tool"],
        ..PLAIN
    },
    Needs { page: "docs/check.md", directory: "rootward", ..PLAIN },
    Needs {
        page: "docs/http.md",
        says: &["ada: ~/team/web", "bob: ~/team/data:ro", "for `ada`", "for `bob`"],
        // Two people, two principals, two ceilings: from the file server, from the hub, and over TLS.
        answers: &[
            "a page by Ada",
            "outside_roots",
            "a table by Bob",
            "outside_roots",
            "a page by Ada",
            "outside_roots",
            "a table by Bob",
            "outside_roots",
            "a page by Ada",
        ],
        ..PLAIN
    },
    Needs {
        page: "docs/migrating.md",
        files: &[(
            "src/app/mcp.json",
            r#"{"mcpServers": {"filesystem": {"command": "filesystem-server", "args": ["--read-only"]}}}"#,
        )],
        ..PLAIN
    },
    Needs {
        page: "docs/roots.md",
        files: &[(
            ".config/Claude/claude_desktop_config.json",
            r#"{"mcpServers": {"files": {
                "command": "npx",
                "args": ["-y", "@modelcontextprotocol/server-filesystem", "/home/me/src"],
                "env": {"API_TOKEN": "a secret"}}}}"#,
        )],
        ..PLAIN
    },
    Needs { page: "docs/sandbox.md", directory: "project", ..PLAIN },
    Needs {
        page: "docs/troubleshooting.md",
        // A running server, for `rootward status` to show.
        before: r#"
            rm -r ~/src/site
            mkfifo ../client
            (cd ~ && exec rootward wrap --root '~/src/*:ro' bin/filesystem-server) < ../client > ../answers 2>&1 &
            exec 7> ../client
            echo '{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "docs", "version": "1"}}}' >&7
            echo '{"jsonrpc": "2.0", "method": "notifications/initialized"}' >&7
            echo '{"jsonrpc": "2.0", "id": 2, "method": "tools/list"}' >&7
            until grep -q '"tools"' ../answers && rootward status > /dev/null; do sleep 0.1; done"#,
        ..PLAIN
    },
];

/// A home, and the directory in it where the commands of a page run.
pub(super) struct World {
    pub(super) home: PathBuf,
    pub(super) project: PathBuf,
    _directory: TempDir,
}

fn needs(page: &Page) -> &'static Needs {
    NEEDS.iter().find(|needs| needs.page == page.path).unwrap_or(&PLAIN)
}

pub(super) fn build(page: &Page) -> World {
    let directory = tempfile::tempdir().unwrap();
    let home = directory.path().canonicalize().unwrap().join("me");
    let needs = needs(page);
    for (name, text) in FILES.iter().chain(needs.files) {
        let file = home.join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text.replace("/home/me", home.to_str().unwrap())).unwrap();
    }
    let server = home.join("bin/filesystem-server");
    fs::create_dir(home.join("bin")).unwrap();
    fs::write(&server, format!("#!/usr/bin/env python3\n{SERVER}")).unwrap();
    fs::set_permissions(server, fs::Permissions::from_mode(0o755)).unwrap();
    World { project: home.join(needs.directory), home, _directory: directory }
}

/// Commands before the first one of a page.
pub(super) fn preparation(page: &Page) -> &'static str {
    needs(page).before
}

/// Checks the output of a page's commands for texts that the page itself does not show.
pub(super) fn judge(page: &Page, said: &str) -> Result<(), String> {
    let Needs { says, answers, .. } = needs(page);
    if let Some(text) = says.iter().find(|text| !said.contains(**text)) {
        return Err(format!("{}: no command prints `{text}`:\n{said}", page.path));
    }
    let given: Vec<&str> = said.lines().filter(|line| line.starts_with("{\"jsonrpc\"")).collect();
    let fit = given.iter().zip(*answers).filter(|(answer, text)| answer.contains(**text)).count();
    if !answers.is_empty() && (given.len(), fit) != (answers.len(), answers.len()) {
        return Err(format!("{}: the answers are not {answers:?}:\n{said}", page.path));
    }
    Ok(())
}
