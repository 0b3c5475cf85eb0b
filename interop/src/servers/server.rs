//! The servers: how each is started, what it must be able to do in its root, and what it would do outside if it could.

use std::ffi::OsString;
use std::path::Path;

use anyhow::{Context, Result};

use super::install::Installed;

/// How a server is started.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Way {
    Node,
    Npx,
    Python,
    Uvx,
    /// A statically linked program.
    Fixed,
    /// A shell that runs system programs.
    Bash,
}

impl Way {
    pub(super) fn name(self) -> &'static str {
        match self {
            Way::Node => "node",
            Way::Npx => "npx",
            Way::Python => "python",
            Way::Uvx => "uvx",
            Way::Fixed => "static binary",
            Way::Bash => "bash",
        }
    }
}

/// A call of a tool. `$ROOT`, `$OUTSIDE` and `$URL` in its arguments are placeholders.
#[derive(Clone, Copy, Debug)]
pub(super) struct Act {
    pub(super) tool: &'static str,
    pub(super) arguments: &'static str,
    /// Text in the answer that proves that the call was carried out.
    pub(super) proof: &'static str,
}

/// How the check talks to a server.
#[derive(Clone, Copy, Debug)]
pub(super) enum Talk {
    /// With calls: those that must always work, and those that must work only if the server is not confined.
    Mcp { inside: &'static [Act], outside: &'static [Act] },
    /// With a script: what it must always print, and what it must print only if it is not confined.
    Script { text: &'static str, inside: &'static [&'static str], outside: &'static [&'static str] },
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Server {
    pub(super) name: &'static str,
    /// The npm or Python package.
    package: &'static str,
    arguments: &'static [&'static str],
    /// A variable that is passed with `--env`.
    pub(super) variable: Option<(&'static str, &'static str)>,
    pub(super) ways: &'static [Way],
    pub(super) talk: Talk,
}

const fn act(tool: &'static str, arguments: &'static str, proof: &'static str) -> Act {
    Act { tool, arguments, proof }
}

const MEMORY: &[Act] = &[
    act(
        "create_entities",
        r#"{"entities": [{"name": "Ada", "entityType": "person", "observations": ["counts"]}]}"#,
        "counts",
    ),
    act("read_graph", "{}", "Ada"),
];

pub(super) const SERVERS: &[Server] = &[
    Server {
        name: "server-filesystem",
        package: "@modelcontextprotocol/server-filesystem",
        // The server allows both directories, so only Rootward protects the second.
        arguments: &[".", "../outside"],
        variable: None,
        ways: &[Way::Node, Way::Npx],
        talk: Talk::Mcp {
            inside: &[
                act("read_text_file", r#"{"path": "$ROOT/in.txt"}"#, "INSIDE"),
                act("write_file", r#"{"path": "$ROOT/new.txt", "content": "new"}"#, "Successfully wrote"),
                act(
                    "edit_file",
                    r#"{"path": "$ROOT/new.txt", "edits": [{"oldText": "new", "newText": "newer"}]}"#,
                    "newer",
                ),
                act("move_file", r#"{"source": "$ROOT/new.txt", "destination": "$ROOT/moved.txt"}"#, "Successfully"),
                act("create_directory", r#"{"path": "$ROOT/directory"}"#, "Successfully"),
                act("list_directory", r#"{"path": "$ROOT"}"#, "moved.txt"),
                act("search_files", r#"{"path": "$ROOT", "pattern": "**/*.txt"}"#, "moved.txt"),
            ],
            outside: &[
                act("read_text_file", r#"{"path": "$OUTSIDE/secret.txt"}"#, "SECRET"),
                act("list_directory", r#"{"path": "$OUTSIDE"}"#, "secret.txt"),
                act("write_file", r#"{"path": "$OUTSIDE/new.txt", "content": "x"}"#, "Successfully"),
                act("create_directory", r#"{"path": "$OUTSIDE/directory"}"#, "Successfully"),
            ],
        },
    },
    Server {
        name: "server-everything",
        package: "@modelcontextprotocol/server-everything",
        arguments: &[],
        variable: None,
        ways: &[Way::Node, Way::Npx],
        talk: Talk::Mcp {
            inside: &[
                act("echo", r#"{"message": "hello"}"#, "hello"),
                act("get-sum", r#"{"a": 2, "b": 3}"#, "5"),
                act("get-env", "{}", "PATH"),
                // This ends after the server has requested the roots. Otherwise the server would still wait for them when its input closes.
                act("trigger-long-running-operation", r#"{"duration": 1, "steps": 1}"#, "completed"),
            ],
            outside: &[act("get-env", "{}", super::TOKEN)],
        },
    },
    Server {
        name: "server-memory",
        package: "@modelcontextprotocol/server-memory",
        arguments: &[],
        variable: Some(("MEMORY_FILE_PATH", "$ROOT/memory.jsonl")),
        ways: &[Way::Node, Way::Npx],
        talk: Talk::Mcp { inside: MEMORY, outside: &[] },
    },
    Server {
        name: "server-memory, kept outside",
        package: "@modelcontextprotocol/server-memory",
        arguments: &[],
        variable: Some(("MEMORY_FILE_PATH", "$OUTSIDE/memory.jsonl")),
        ways: &[Way::Node],
        talk: Talk::Mcp { inside: &[], outside: MEMORY },
    },
    Server {
        name: "mcp-server-time",
        package: "mcp-server-time",
        arguments: &[],
        variable: None,
        ways: &[Way::Python, Way::Uvx],
        talk: Talk::Mcp {
            inside: &[
                act("get_current_time", r#"{"timezone": "Europe/Berlin"}"#, "Europe/Berlin"),
                act(
                    "convert_time",
                    r#"{"source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo"}"#,
                    "21:00",
                ),
            ],
            outside: &[],
        },
    },
    Server {
        name: "mcp-server-git",
        package: "mcp-server-git",
        arguments: &[],
        variable: None,
        ways: &[Way::Python, Way::Uvx],
        talk: Talk::Mcp {
            inside: &[
                act("git_status", r#"{"repo_path": "$ROOT"}"#, "in.txt"),
                act("git_add", r#"{"repo_path": "$ROOT", "files": ["in.txt"]}"#, "staged"),
                act("git_commit", r#"{"repo_path": "$ROOT", "message": "inside"}"#, "committed"),
                act("git_create_branch", r#"{"repo_path": "$ROOT", "branch_name": "topic"}"#, "topic"),
                act("git_log", r#"{"repo_path": "$ROOT"}"#, "inside"),
            ],
            outside: &[
                act("git_status", r#"{"repo_path": "$OUTSIDE"}"#, "secret.txt"),
                act("git_add", r#"{"repo_path": "$OUTSIDE", "files": ["secret.txt"]}"#, "staged"),
            ],
        },
    },
    Server {
        name: "mcp-server-fetch",
        package: "mcp-server-fetch",
        // Otherwise it refuses addresses on this machine.
        arguments: &["--allow-private-ips"],
        variable: None,
        ways: &[Way::Python, Way::Uvx],
        talk: Talk::Mcp { inside: &[act("fetch", r#"{"url": "$URL"}"#, super::web::PAGE)], outside: &[] },
    },
    Server {
        name: "minimal-server",
        package: "",
        arguments: &[],
        variable: Some(("ROOTWARD_ROOTS", "$ROOT:$OUTSIDE")),
        ways: &[Way::Fixed],
        talk: Talk::Mcp {
            inside: &[act("read_file", r#"{"path": "in.txt"}"#, "INSIDE")],
            outside: &[act("read_file", r#"{"path": "$OUTSIDE/secret.txt"}"#, "SECRET")],
        },
    },
    Server {
        name: "git",
        package: "",
        arguments: &[],
        variable: None,
        ways: &[Way::Bash],
        talk: Talk::Script {
            text: r#"
                # git sends the output of a hook to standard error.
                inside() {
                    set -e
                    git init -q work && cd work
                    git config user.name Ada && git config user.email ada@example.org
                    printf '#!/bin/sh\necho a hook inside\n' > .git/hooks/pre-commit
                    chmod +x .git/hooks/pre-commit
                    echo one > file && git add file && git commit -qm first
                    git checkout -qb topic && echo two >> file && git commit -qam second
                    git status && git log --format=%s && git gc -q && git fsck
                    echo 'while read -r line; do echo "$line"; done < file | tac | head -1' > script.sh
                    bash script.sh
                    cd .. && rm -rf work && echo removed
                }
                (inside) 2>&1
                cat ../outside/secret.txt
                git -C ../outside status --short
                git clone -q ../outside copy && echo CLONED
                hook="-c core.hooksPath=../outside/hooks"
                git $hook commit -q --allow-empty -m x 2>&1 | grep '^A HOOK OUTSIDE'
                ../outside/hooks/pre-commit && echo RUN
                echo x > ../outside/new.txt && echo WRITTEN
                rm ../outside/secret.txt && echo REMOVED
                chmod 777 ../outside && echo CHANGED
                true
            "#,
            inside: &["a hook inside", "On branch topic", "second", "two", "removed"],
            outside: &["SECRET", "secret.txt", "CLONED", "A HOOK OUTSIDE", "RUN", "WRITTEN", "REMOVED", "CHANGED"],
        },
    },
];

impl Server {
    /// The command that starts the server.
    pub(super) fn command(&self, way: Way, installed: &Installed) -> Result<Vec<OsString>> {
        let mut words: Vec<OsString> = match way {
            Way::Node => vec![installed.node.clone().into(), script(&installed.modules.join(self.package))?],
            // The locked version. npx resolves its dependencies at the first download.
            Way::Npx => {
                let version = manifest(&installed.modules.join(self.package))?["version"].as_str().map(str::to_owned);
                let version = version.with_context(|| format!("`{}` has no version", self.package))?;
                vec!["npx".into(), "-y".into(), format!("{}@{version}", self.package).into()]
            }
            Way::Python => vec![installed.python.clone().into(), "-m".into(), self.package.replace('-', "_").into()],
            Way::Uvx => vec![installed.uvx.clone().into(), self.package.into()],
            Way::Fixed => vec![installed.fixed.clone().into()],
            Way::Bash => vec!["bash".into(), "-c".into()],
        };
        if let Talk::Script { text, .. } = self.talk {
            words.push(text.into());
        }
        words.extend(self.arguments.iter().map(OsString::from));
        Ok(words)
    }
}

fn manifest(package: &Path) -> Result<serde_json::Value> {
    let path = package.join("package.json");
    let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read `{}`", path.display()))?;
    Ok(serde_json::from_str(&text)?)
}

/// The script of a package's only command.
fn script(package: &Path) -> Result<OsString> {
    let manifest = manifest(package)?;
    let script = manifest["bin"].as_object().and_then(|commands| commands.values().next()?.as_str());
    Ok(package.join(script.with_context(|| format!("`{}` has no command", package.display()))?).into())
}
