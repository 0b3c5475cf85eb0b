//! `roots import` shows and offers the directories of other clients. It changes nothing without consent.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use super::consent::on_a_terminal;
use super::{STORE, TIMES, stored};
use crate::stage::{Stage, assert_told};

/// A home with config files of clients, and a project with its own. `PATH` finds the program.
fn stage() -> Stage {
    let stage = Stage::new().with_path();
    let top = stage.top().to_str().unwrap().to_owned();
    for (path, text) in [
        (
            "home/.claude.json",
            r#"{"numStartups": 3,
                "mcpServers": {"github": {"type": "http", "url": "https://api.example.com/mcp?key=abc123", "headers": {"Authorization": "Bearer abc123"}}},
                "projects": {"[STAGE]/project": {"hasTrustDialogAccepted": true, "disabledMcpServers": ["old"],
                  "mcpServers": {"old": {"command": "old-server", "args": ["--root", "${HOME}/old"]}}}}}"#,
        ),
        ("home/.claude/settings.json", r#"{"permissions": {"additionalDirectories": ["~/notes", "../elsewhere"]}}"#),
        (
            "home/.config/Claude/claude_desktop_config.json",
            r#"{"mcpServers": {
                "files": {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "[STAGE]/home/my src", "/etc"],
                          "env": {"API_TOKEN": "abc123", "EMPTY": ""}},
                "held": {"command": "rootward", "args": ["wrap", "--as", "held", "--", "server"]}}}"#,
        ),
        (
            "home/.cursor/mcp.json",
            r#"{"mcpServers": {"db": {"command": "uvx", "args": ["mcp-db", "--url", "postgres://me:abc123@db/x", "--password", "abc123"], "envFile": "~/.env"}}}"#,
        ),
        (
            "home/.config/Code/User/mcp.json",
            r#"{ // Mine.
                "inputs": [{"id": "key", "type": "promptString", "password": true}],
                "servers": {"box": {"type": "stdio", "command": "docker", "cwd": "${userHome}/my src",
                  "args": ["run", "-i", "--rm", "-e", "KEY=abc123", "--mount", "type=bind,src=${userHome}/notes,dst=/n,readonly", "-v", "${input:where}:/w", "mcp/box"]},
                  "wrong": {"command": "x", "args": "y"},}}"#,
        ),
        (
            "home/.codex/config.toml",
            "[mcp_servers.git]\ncommand = 'uvx'\nargs = ['mcp-server-git', '--repository', '[STAGE]/project']\n\
             [mcp_servers.off]\ncommand = 'off'\nargs = ['/srv/off']\nenabled = false\n\
             [sandbox_workspace_write]\nwritable_roots = ['[STAGE]/outside']\n\
             [projects.'[STAGE]/gone']\ntrust_level = 'trusted'\n",
        ),
        (
            "project/.mcp.json",
            r#"{"mcpServers": {"shared": {"command": "shared-server", "args": ["--dir", "[STAGE]/home"]}}}"#,
        ),
        (
            "project/.vscode/mcp.json",
            r#"{"servers": {"here": {"command": "here", "args": ["${workspaceFolder}/src"]}}}"#,
        ),
        ("project/.claude/settings.local.json", r#"{"permissions": {"additionalDirectories": ["docs"]}}"#),
    ] {
        stage.write(path, &text.replace("[STAGE]", &top));
    }
    for directory in ["home/my src", "home/notes"] {
        fs::create_dir_all(stage.path(directory)).unwrap();
    }
    stage
}

/// Every file with its contents. Links are not followed.
fn tree(top: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut open = vec![top.to_owned()];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let entry = entry.unwrap();
            let kind = entry.file_type().unwrap();
            let holds = match () {
                () if kind.is_file() => fs::read(entry.path()).unwrap(),
                () if kind.is_symlink() => fs::read_link(entry.path()).unwrap().into_os_string().into_encoded_bytes(),
                () => Vec::new(),
            };
            if kind.is_dir() {
                open.push(entry.path());
            }
            found.insert(entry.path().strip_prefix(top).unwrap().to_owned(), holds);
        }
    }
    found
}

#[test]
fn what_people_see() {
    let stage = stage();
    assert_roots_told!(
        "roots_import",
        stage,
        ["roots", "import"],
        ["roots", "import", "--project", ".", "--from", "claude-code", "--from", "vscode"],
        ["roots", "import", "--from", "cursor", "--show-values"],
    );
}

#[test]
fn what_programs_see() {
    let stage = stage();
    assert_roots_told!(
        "roots_import_json",
        stage,
        ["roots", "import", "--json", "--from", "claude-desktop", "--from", "vscode"],
        ["roots", "import", "--json", "--show-values", "--from", "claude-desktop"],
    );
}

#[test]
fn secrets_are_not_shown() {
    let stage = stage();
    for words in [&["roots", "import"][..], &["roots", "import", "--json"], &["roots", "import", "--project", "."]] {
        let run = stage.run(words);
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        assert!(!run.stdout.contains("abc123") && !run.stderr.contains("abc123"), "{}{}", run.stdout, run.stderr);
    }
    let run = stage.run(["roots", "import", "--show-values"]);
    // The variable, three arguments, an address, a header, and those that appear again in the suggested command line.
    assert_eq!(run.stdout.matches("abc123").count(), 8, "{}", run.stdout);
}

#[test]
fn secrets_appear_nowhere_else() {
    let stage = Stage::new();
    let server = json!({ "command": "abc", "args": ["--dir", "token=abc123", "--repo", "https://abc123@host/x", "--root", "//me:abc123@x"],
                         "cwd": "https://me:abc123@host/x", "env": { "A": ["abc123"] } });
    let mut right = server.clone();
    right["env"] = json!({ "A": "abc123" });
    stage.write("home/.cursor/mcp.json", &json!({ "mcpServers": { "wrong": server, "right": right } }).to_string());
    for words in [&["roots", "import"][..], &["roots", "import", "--json"], &["roots", "import", "--add", "--yes"]] {
        let run = stage.run(words);
        let told = run.stdout + &run.stderr;
        assert!(told.contains("wrong") && told.contains("host/x"), "{told}");
        // This does not look like a secret.
        assert!(!told.replace("//me:abc123@x", "").contains("abc123"), "{told}");
    }
}

#[test]
fn nothing_is_written() {
    let stage = stage();
    let before = tree(stage.top());
    for words in [
        &["roots", "import"][..],
        &["roots", "import", "--json", "--show-values", "--project", "."],
        &["roots", "import", "--add"],
        &["roots", "import", "--add", "--yes", "--from", "cursor"],
    ] {
        stage.run(words);
        assert_eq!(tree(stage.top()), before, "{words:?}");
    }
    // Only Rootward's own files change.
    assert_eq!(stage.run(["roots", "import", "--add", "--yes"]).code, Some(0));
    let mut after = tree(stage.top());
    after.retain(|path, _| !path.iter().any(|name| name == "rootward" || name == ".local" || name == "state"));
    assert_eq!(after, before);
    assert!(fs::exists(stage.path(STORE)).unwrap());
}

#[test]
fn files_that_cannot_be_read() {
    let stage = stage();
    stage.write("home/.cursor/mcp.json", "{\n  \"mcpServers\": {,}\n}");
    fs::write(stage.path("home/.claude.json"), b"{\"\xff\": 1}").unwrap();
    fs::remove_file(stage.path("home/.config/Code/User/mcp.json")).unwrap();
    symlink("mcp.json", stage.path("home/.config/Code/User/mcp.json")).unwrap();
    fs::remove_file(stage.path("project/.mcp.json")).unwrap();
    symlink("../outside/secret", stage.path("project/.mcp.json")).unwrap();
    assert_roots_told!(
        "roots_import_damaged",
        stage,
        ["roots", "import", "--project", "."],
        ["roots", "import", "--from", "cursor", "--json"],
        ["roots", "import", "--from", "cursor", "--add", "--yes"],
    );
}

#[test]
fn wrong_use_and_nothing_to_find() {
    let stage = Stage::new();
    assert_roots_told!(
        "roots_import_wrong_use",
        stage,
        ["roots", "import"],
        ["roots", "import", "--json"],
        ["roots", "import", "--add", "--yes"],
        ["roots", "import", "--project", "gone"],
        ["roots", "import", "--yes"],
        ["roots", "import", "--for", "git"],
        ["roots", "import", "--add", "--for", " "],
        ["roots", "import", "--from", "emacs"],
    );
}

#[test]
fn text_from_a_file_never_reaches_the_terminal_raw() {
    let stage = Stage::new();
    let evil = "\u{1b}[2J\u{202e}\r\n\u{7}";
    let server = json!({ "command": evil, "args": [evil, "--yes", "../../etc", "$(reboot)"], "env": { evil: evil }, "cwd": evil });
    let servers = json!({ "mcpServers": {
        evil: server, "--yes": server, "../x": server, "": server,
        "remote": { "url": format!("https://x/{evil}"), "headers": { evil: evil } },
        "wrong": { "command": "x", "env": { evil: 1 } },
        "other": { "type": evil, "command": "x" },
    }, "projects": { evil: { "hasTrustDialogAccepted": true, "mcpServers": { "in": server } } } });
    stage.write("home/.claude.json", &servers.to_string());
    for words in
        [&["roots", "import"][..], &["roots", "import", "--show-values"], &["roots", "import", "--add", "--yes"]]
    {
        let run = stage.run(words);
        for told in [&run.stdout, &run.stderr] {
            let odd = |letter: char| letter != '\n' && (letter.is_control() || letter == '\u{202e}');
            assert!(!told.contains(odd), "{words:?}: {told:?}");
        }
    }
    assert_eq!(stage.run(["roots", "import"]).code, Some(0));
    assert!(!fs::exists(stage.path(STORE)).unwrap());
}

/// A shell parses the printed lines into exactly the words in the file.
#[test]
fn lines_can_be_pasted() {
    let stage = Stage::new().with_path();
    let arguments = [
        "a b",
        "$(touch broken)",
        "it's",
        "`touch broken`",
        "",
        "=ls",
        "\u{1b}[2J",
        "~",
        "*",
        "a\nb",
        "\\",
        "ä",
        "--",
        "!x",
        "#y",
    ];
    let server = json!({ "command": "printf", "args": ([&["%s\\0"], &arguments[..]].concat()) });
    let evil = "it's; touch broken";
    stage.write("home/.cursor/mcp.json", &json!({ "mcpServers": { evil: server, "-n": server } }).to_string());
    let shown = stage.run(["roots", "import", "--show-values"]).stdout;
    let told: Value = serde_json::from_str(&stage.run(["roots", "import", "--show-values", "--json"]).stdout).unwrap();
    let bash = |line: &str| {
        let script = format!("rootward() {{ printf '%s\\0' \"$@\"; }}\n{line}");
        let output = Command::new("bash").args(["-c", &script]).current_dir(stage.top()).output().unwrap();
        assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
        let text = String::from_utf8(output.stdout).unwrap();
        text.split_terminator('\0').map(str::to_owned).collect::<Vec<_>>()
    };
    let rows = |name: &str| {
        let rows = shown.lines().filter_map(|line| line.trim_start().strip_prefix(name));
        rows.map(|row| row.trim_start().to_owned()).collect::<Vec<_>>()
    };
    let commands = rows("command ");
    assert_eq!(commands.len(), 2);
    for command in commands {
        assert_eq!(bash(&command), arguments);
    }
    let lines = rows("wrap with ");
    assert_eq!(lines.len(), 2);
    for (row, server) in lines.iter().zip(told["files"][0]["servers"].as_array().unwrap()) {
        let held: Vec<&str> =
            server["wrap_with"]["args"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
        assert_eq!(bash(row), held);
        assert!(held.ends_with(&arguments) && held.starts_with(&["wrap"]));
    }
    assert!(shown.contains("--as=-n") && !fs::exists(stage.path("broken")).unwrap());
}

#[test]
fn a_project_names_nothing_in_a_line() {
    let stage = stage();
    let told: Value = serde_json::from_str(&stage.run(["roots", "import", "--json", "--project", "."]).stdout).unwrap();
    let held: Vec<String> = told["files"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|file| file["servers"].as_array().unwrap())
        .filter_map(|server| server["wrap_with"]["args"].as_array())
        .map(|words| words.iter().map(|word| word.as_str().unwrap()).collect::<Vec<_>>().join(" "))
        .collect();
    for line in ["wrap --as shared -- shared-server ", "wrap --as here -- here "] {
        assert!(held.iter().any(|held| held.starts_with(line)), "{line}: {held:?}");
    }
    // The user's own files do, except for places that cannot be shared.
    let files = held.iter().find(|held| held.contains("--as files")).unwrap();
    assert!(files.contains("my src:rw --env API_TOKEN --env EMPTY -- npx"), "{files}");
}

#[test]
fn directories_are_offered_one_by_one() {
    let stage = stage();
    let run = stage.run(["roots", "import", "--add"]);
    assert_eq!(run.code, Some(2), "{}", run.stderr);
    assert!(run.stderr.contains("there is no terminal to ask on"), "{}", run.stderr);
    let run = on_a_terminal(&stage, "roots import --add --from claude-desktop", "n\n");
    assert_eq!(run.code, Some(1), "{}", run.stdout);
    assert!(run.stdout.contains("nothing was shared"), "{}", run.stdout);
    assert!(!fs::exists(stage.path(STORE)).unwrap());
    let run = on_a_terminal(&stage, "roots import --add --from claude-desktop", "y\n");
    assert_eq!(run.code, Some(0), "{}", run.stdout);
    for line in [
        "warning: `/etc` (read, write, delete), passed to the file server (server `files` of Claude Desktop, `~/.config/Claude/claude_desktop_config.json`) is not offered: ",
        "directory [STAGE]/home/my src\n",
        "  for      `files`, until it is removed\n",
        "shared `~/my src` (read, write, delete), for `files`\n",
    ] {
        assert!(run.stdout.contains(line), "{line}: {}", run.stdout);
    }
    assert!(stored(&stage).contains("by = \"rootward roots import\"\n"), "{}", stored(&stage));
    // The root applies to that server only.
    assert_eq!(stage.run(["check", "--as", "files", "~/my src/x"]).code, Some(0));
    assert_eq!(stage.run(["check", "--as", "git", "~/my src/x"]).code, Some(1));
    // Two questions, two answers.
    let run = on_a_terminal(&stage, "roots import --add --from codex", "n\ny\n");
    assert_eq!(run.code, Some(0), "{}", run.stdout);
    assert!(!run.stdout.contains("for `codex`\n") && run.stdout.contains("for `git`\n"), "{}", run.stdout);
}

#[test]
fn the_yes_flag_answers_the_questions() {
    let stage = stage();
    assert_roots_told!(
        "roots_import_add",
        stage,
        ["roots", "import", "--add", "--yes"],
        ["roots", "import", "--add", "--yes", "--from", "cursor"],
        ["roots", "import", "--add", "--yes", "--from", "codex", "--for", "editor", "--json"],
        ["audit", "show"],
    );
}

#[test]
fn the_yes_flag_does_not_cover_a_project() {
    let stage = stage();
    let run =
        stage.run(["roots", "import", "--project", ".", "--add", "--yes", "--from", "vscode", "--from", "claude-code"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let text = stored(&stage);
    for name in ["shared", "here"] {
        assert!(!text.contains(&format!("[\"{name}\"]")), "{text}");
    }
    assert!(run.stderr.contains("a project names it"), "{}", run.stderr);
    // On a terminal, the user may say yes.
    let run = on_a_terminal(&stage, "roots import --project . --add --from cursor --from codex", "n\nn\n");
    assert_eq!(run.code, Some(1), "{}", run.stdout);
    for name in ["home/.claude.json", "home/.config/Code/User/mcp.json", "home/.claude/settings.json"] {
        fs::remove_file(stage.path(name)).unwrap();
    }
    let run = on_a_terminal(&stage, "roots import --project . --add --from vscode", "y\n");
    assert_eq!(run.code, Some(0), "{}", run.stdout);
    assert!(stored(&stage).contains("for = [\"here\"]"), "{}", stored(&stage));
}
