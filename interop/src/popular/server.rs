//! A row of the check: a server, its calls and its expected answers.

use taskkit::form::Form;

/// A call of a tool.
#[derive(Clone, Copy, Debug)]
pub(super) struct ToolCall {
    pub(super) tool: &'static str,
    /// JSON; placeholders as in [`Server::command`].
    pub(super) arguments: &'static str,
    pub(super) answer: Answer,
}

/// The expected answer to a call. Its text must contain this string.
#[derive(Clone, Copy, Debug)]
pub(super) enum Answer {
    Result(&'static str),
    /// The server's own error. Some servers can do nothing else without the internet.
    Error(&'static str),
}

/// A server.
#[derive(Clone, Copy, Debug)]
pub(super) struct Server {
    pub(super) name: &'static str,
    /// The shipped recipe that the server must work with, if there is one.
    pub(super) recipe: Option<&'static str>,
    /// The README's command. `$PROJECT` is the user's project, `$OTHER` another project, which is not shared, `$OUTSIDE` a directory that
    /// is not shared, `$URL` and `$PORT` a service on this machine.
    pub(super) command: &'static str,
    /// The README's `env` block. The recipe passes these variables.
    pub(super) environment: &'static [(&'static str, &'static str)],
    /// The variables among them that the recipe does not pass, so the user names them with `--env`.
    pub(super) passed: &'static [&'static str],
    /// Files in the project before the server starts.
    pub(super) files: &'static [(&'static str, &'static str)],
    /// The number of tools in the locked version.
    pub(super) tools: usize,
    /// Calls that get the same answer every time.
    pub(super) calls: &'static [ToolCall],
    /// Calls with a path outside the roots.
    pub(super) refused: &'static [ToolCall],
    /// Files in the project that the calls create.
    pub(super) makes: &'static [&'static str],
    /// The possible exit codes after its input is closed.
    pub(super) ends: &'static [i32],
    /// What the server needs besides its package.
    pub(super) needs: Needs,
    /// The shortest form of the check that runs the server.
    pub(super) form: Form,
    /// How often the check starts the server.
    pub(super) starts: Starts,
    /// More checks.
    pub(super) also: &'static [Extra],
}

/// What a server needs besides its package.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Needs {
    Nothing,
    /// Debian's Chromium.
    Browser,
    /// Minutes to download its package.
    Time,
}

/// How often a server is started.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Starts {
    /// For each way of sharing directories: a first time, again, and in another project. Downloads are counted.
    Often,
    /// Once for each way of sharing directories.
    Once,
}

/// Problems that users had with servers that do start.
#[derive(Clone, Copy, Debug)]
pub(super) enum Extra {
    /// No recipe passes the variables, and the user forgot `--env`: standard error names each variable.
    KeysForgotten,
    /// The user passes the variables by prefix: `--env 'PREFIX_*'`.
    KeysByPrefix,
    /// The client drops the `--` before the command, as `gemini mcp add` and the MCP Inspector do.
    NoDashes,
    /// The client sends its own paths in `_meta` and shows its model only the structured data of a result, as Codex does.
    Codex { call: ToolCall, refused: ToolCall },
    /// The client shares nothing, and there is no `--root`: the refusal says so.
    NothingShared { refused: ToolCall },
    /// Without Rootward, the server carries out these calls, which name a path outside the roots. With Rootward it does not, as
    /// [`Server::refused`] or [`Server::calls`] shows.
    AcceptsByItself { calls: &'static [ToolCall] },
    /// Calls that work only once, so they have a separate case.
    Once { name: &'static str, calls: &'static [ToolCall] },
    /// The server remembers `told` at the next start in this project, and does not know it in another.
    Remembers { told: ToolCall, recalled: ToolCall },
}

pub(super) const fn call(tool: &'static str, arguments: &'static str, text: &'static str) -> ToolCall {
    ToolCall { tool, arguments, answer: Answer::Result(text) }
}

pub(super) const fn fails(tool: &'static str, arguments: &'static str, text: &'static str) -> ToolCall {
    ToolCall { tool, arguments, answer: Answer::Error(text) }
}

/// A call that Rootward refuses because of a path outside the roots.
pub(super) const fn outside(tool: &'static str, arguments: &'static str) -> ToolCall {
    fails(tool, arguments, OUTSIDE)
}

/// Part of the refusal of a path outside the roots.
const OUTSIDE: &str = "is outside every root";

/// Part of the refusal if nothing is shared.
pub(super) const NOTHING_SHARED: &str = "this client shared no directories";

/// The defaults. A session ends with the server's own exit code, or with 143 if Rootward has to send SIGTERM to a slow server.
pub(super) const PLAIN: Server = Server {
    name: "",
    recipe: None,
    command: "",
    environment: &[],
    passed: &[],
    files: &[],
    tools: 0,
    calls: &[],
    refused: &[],
    makes: &[],
    ends: &[0, 143],
    needs: Needs::Nothing,
    form: Form::Long,
    starts: Starts::Once,
    also: &[],
};

impl Server {
    /// The prefix of the file that the server's own package is downloaded as.
    pub(super) fn package(&self) -> Option<String> {
        let named = |word: &&str| word.starts_with('@') || word.starts_with("mcp-");
        let name = self.command.split(' ').find(named)?.trim_end_matches("@latest");
        Some(match name.strip_prefix('@') {
            Some(name) => name.replace('/', "-"),
            None => name.replace('-', "_"),
        })
    }

    /// Whether the command differs from project to project. If so, Rootward remembers each separately.
    pub(super) fn names_project(&self) -> bool {
        self.command.contains("$PROJECT")
    }
}
