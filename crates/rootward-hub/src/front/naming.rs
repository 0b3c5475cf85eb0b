//! The name of a server in the audit log, derived from its command: the package that a runner fetches, the script
//! that an interpreter runs, the container image, or else the program.
//!
//! The name is only for people. For an unusual command, the program's own name is good enough.

use std::ffi::{OsStr, OsString};

use rootward_protocol::shown;
use rootward_sandbox::PackageCommand;

/// Maximum length of a name, in characters.
const LONGEST: usize = 200;

/// Programs that run their first argument.
const RUNNERS: [&str; 14] = [
    "npx", "bunx", "pnpx", "uvx", "tsx", "ts-node", "node", "nodejs", "python", "python3", "pythonw", "ruby", "java",
    "perl",
];

/// Programs that run the word after a subcommand such as `run`, with those subcommands.
const RUNNERS_BY_VERB: [(&str, &[&str]); 10] = [
    ("uv", &["run", "tool"]),
    ("npm", &["exec", "x"]),
    ("pnpm", &["dlx", "exec"]),
    ("yarn", &["dlx", "exec"]),
    ("bun", &["run", "x"]),
    ("deno", &["run"]),
    ("poetry", &["run"]),
    ("pipx", &["run"]),
    ("docker", &["run"]),
    ("podman", &["run"]),
];

/// Runner options that take a value. The value of the first two is what runs.
const WITH_VALUE: [&str; 34] = [
    "-m",
    "-jar",
    "-p",
    "--package",
    "-c",
    "--call",
    "--from",
    "--with",
    "--python",
    "--directory",
    "--project",
    "--env-file",
    "--index-url",
    "--registry",
    "-r",
    "--require",
    "--import",
    "--loader",
    "-v",
    "--volume",
    "--mount",
    "-e",
    "--env",
    "--name",
    "-w",
    "--workdir",
    "-u",
    "--user",
    "--network",
    "--entrypoint",
    "--platform",
    "--add-host",
    "--config",
    "-W",
];

/// Script names that say nothing about their package.
const PLAIN_SCRIPTS: [&str; 8] = ["index", "main", "server", "cli", "app", "run", "start", "__main__"];

/// Extensions of scripts.
const SCRIPTS: [&str; 7] = ["js", "mjs", "cjs", "ts", "py", "rb", "jar"];

/// Directories within a package that contain scripts.
const PARTS: [&str; 6] = ["dist", "build", "lib", "src", "bin", "out"];

/// The name of a server with this command.
pub(super) fn server_name(program: &OsStr, arguments: &[OsString]) -> String {
    let package = PackageCommand::read(program, arguments);
    let text = |word: &OsStr| word.to_string_lossy().into_owned();
    let (program, arguments) = (text(program), arguments.iter().map(|word| text(word)).collect::<Vec<String>>());
    let name = match &package {
        Some(package) => &package.name,
        None => name_of(&program, &arguments),
    };
    shown(if name.is_empty() { &program } else { name }, LONGEST)
}

fn name_of<'w>(program: &'w str, arguments: &'w [String]) -> &'w str {
    let base = last_part(program);
    let arguments = match RUNNERS_BY_VERB.iter().find(|(runner, _)| *runner == base) {
        Some((_, verbs)) => {
            let Some(verb) = arguments.iter().position(|word| verbs.contains(&word.as_str())) else { return base };
            // `uv tool run`
            let twice = arguments.get(verb + 1).is_some_and(|word| arguments[verb] == "tool" && word == "run");
            &arguments[verb + 1 + usize::from(twice)..]
        }
        None if RUNNERS.contains(&base) => arguments,
        None => return script_name(program),
    };
    let mut words = arguments.iter().map(String::as_str);
    while let Some(word) = words.next() {
        match word {
            "-m" | "-jar" | "--" => return words.next().map_or(base, script_name),
            _ if WITH_VALUE.contains(&word) => drop(words.next()),
            _ if word.starts_with('-') => {}
            _ => return script_name(word),
        }
    }
    base
}

/// The last component of a path.
fn last_part(path: &str) -> &str {
    path.trim_end_matches('/').rsplit('/').next().unwrap_or(path)
}

/// The name of what a word of a command line runs: a package with or without a version, an image with or without a
/// tag, a script.
fn script_name(word: &str) -> &str {
    let extension = last_part(word).rsplit_once('.').map_or("", |(_, extension)| extension);
    let is_path = word.starts_with(['/', '.', '~']) || SCRIPTS.contains(&extension);
    if let Some((_, within)) = word.rsplit_once("node_modules/") {
        // An executable of a package.
        if within.starts_with('.') {
            return last_part(within);
        }
        let scope = if within.starts_with('@') { within.find('/').map_or(0, |slash| slash + 1) } else { 0 };
        let end = within[scope..].find('/').map_or(within.len(), |slash| scope + slash);
        return &within[..end];
    }
    if is_path {
        return package_of(word);
    }
    let word = match word.split_once("://") {
        // Drop the host part, which may contain a password.
        Some((scheme, address)) => address.split_once('/').map_or(scheme, |(_, path)| last_part(path)),
        None => word,
    };
    let version = |name: &str| name.find(['@', '=', '<', '>', '~', '[', ':', '?', '#']);
    let scope = usize::from(word.starts_with('@'));
    match version(&word[scope..]) {
        Some(end) if end > 0 => &word[..scope + end],
        _ => word,
    }
}

/// The name of a script, or of its package's directory if the script's name says nothing.
fn package_of(script: &str) -> &str {
    let name = last_part(script);
    let stem = name.split('.').next().unwrap_or(name);
    if !PLAIN_SCRIPTS.contains(&stem) {
        return name;
    }
    let mut above = script.trim_end_matches('/').rsplit('/').skip(1);
    above
        .find(|directory| !PARTS.contains(directory))
        .filter(|name| !matches!(*name, "" | "." | ".." | "~"))
        .unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_are_named_after_what_runs() {
        let check = |line: &str, expect: &str| {
            let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            assert_eq!(server_name(&words[0], &words[1..]), expect, "{line}");
        };
        check("npx -y @modelcontextprotocol/server-filesystem /srv", "@modelcontextprotocol/server-filesystem");
        check("npx @modelcontextprotocol/server-filesystem@2026.1.14", "@modelcontextprotocol/server-filesystem");
        check("/usr/bin/npx -p a -- mcp-thing@latest --x y", "mcp-thing");
        check("uvx mcp-server-git==1.0 --repository /srv", "mcp-server-git");
        check("uvx --from git+https://example.org/x mcp-server-git", "mcp-server-git");
        check("uvx mcp-server[extra]", "mcp-server");
        check("uvx --from mcp-suite==1 tool", "mcp-suite");
        check("pnpm dlx @scope/name@latest x", "@scope/name");
        check("uv --directory /srv/x run server.py", "server.py");
        check("uv tool run mcp-server-git", "mcp-server-git");
        check("python3 -u -m mcp_server_git --x", "mcp_server_git");
        check("python /srv/notes/server.py", "notes");
        check(
            "node /x/node_modules/@modelcontextprotocol/server-filesystem/dist/index.js /",
            "@modelcontextprotocol/server-filesystem",
        );
        check("node /x/node_modules/a/node_modules/thing/cli.js", "thing");
        check("node node_modules/.bin/mcp-thing", "mcp-thing");
        check("node /srv/my-server/dist/index.js", "my-server");
        check("node --import tsx ./index.js", "index.js");
        check("docker run -i --rm -v /a:/b --mount type=bind,src=/a,dst=/b mcp/filesystem:latest /b", "mcp/filesystem");
        check("java -jar /opt/server.jar", "opt");
        check("java -jar /opt/thing.jar", "thing.jar");
        check("/usr/local/bin/mcp-server-filesystem /srv", "mcp-server-filesystem");
        check("mcp-server", "mcp-server");
        check("./server", "server");
        check("uv --version", "uv");
        check("npx", "npx");
        check("npx -y", "npx");
        check("uvx git+https://token@example.org/o/mcp-thing.git@main", "mcp-thing.git");
        check("uvx https://token@example.org", "https");
        check("npx https://example.org/thing?token=x", "thing");
        check("/", "/");
    }

    #[test]
    fn a_name_is_one_line() {
        let name = server_name(OsStr::new("npx"), &[OsString::from("a\n\u{1b}b")]);
        assert_eq!(name, "a\\n\\u{1b}b");
        assert_eq!(server_name(OsStr::new(&"x".repeat(1 << 20)), &[]).chars().count(), LONGEST + 1);
    }
}
