//! What a row of the check says about a server.

use taskkit::form::Form;

/// A call of a tool.
#[derive(Clone, Copy, Debug)]
pub(super) struct ToolCall {
    pub(super) tool: &'static str,
    /// JSON; placeholders as in [`Server::command`].
    pub(super) arguments: &'static str,
    pub(super) answer: Answer,
}

/// What a call is answered with. The text is part of what is said.
#[derive(Clone, Copy, Debug)]
pub(super) enum Answer {
    Result(&'static str),
    /// The server's own error. Some servers can do nothing else without leaving this machine.
    Error(&'static str),
}

/// A server.
#[derive(Clone, Copy, Debug)]
pub(super) struct Server {
    pub(super) name: &'static str,
    /// The shipped recipe that it must work with, if there is one.
    pub(super) recipe: Option<&'static str>,
    /// The README's command. `$PROJECT` is the user's project, `$OTHER` another one that is not shared, `$OUTSIDE` a directory that is not
    /// shared, `$URL` and `$PORT` a service on this machine.
    pub(super) command: &'static str,
    /// The README's `env` block. The recipe passes each variable on.
    pub(super) environment: &'static [(&'static str, &'static str)],
    /// Variables of it that no recipe passes: the user names them by `--env`.
    pub(super) passed: &'static [&'static str],
    /// Files in the project before the server starts.
    pub(super) files: &'static [(&'static str, &'static str)],
    /// How many tools the locked version has.
    pub(super) tools: usize,
    /// Calls that are answered alike every time.
    pub(super) calls: &'static [ToolCall],
    /// Calls with a path outside.
    pub(super) refused: &'static [ToolCall],
    /// Files in the project that the calls make.
    pub(super) makes: &'static [&'static str],
    /// How it ends when its input does.
    pub(super) ends: &'static [i32],
    /// What is needed besides its package.
    pub(super) needs: Needs,
    /// The shortest form of the check that starts it.
    pub(super) form: Form,
    /// How often it is started.
    pub(super) starts: Starts,
    /// What is checked besides that it starts.
    pub(super) also: &'static [Extra],
}

/// What a server needs besides its package.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Needs {
    Nothing,
    /// Debian's Chromium.
    Browser,
    /// Minutes for the download of its package.
    Time,
}

/// How often a server is started.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Starts {
    /// For each way of sharing directories: a first time, again, and in another project; downloads are counted.
    Often,
    /// Once for each way of sharing directories.
    Once,
}

/// What a person saw go wrong with a server that starts.
#[derive(Clone, Copy, Debug)]
pub(super) enum Extra {
    /// No recipe passes the variables, and the user forgot `--env`: standard error names each variable.
    KeysForgotten,
    /// The user names what the variables begin with: `--env 'PREFIX_*'`.
    KeysByPrefix,
    /// The client drops the `--` before the command, as `gemini mcp add` and the MCP Inspector do.
    NoDashes,
    /// A client that sends paths of its own in `_meta` and shows its model only a result's data, as Codex does.
    Codex { call: ToolCall, refused: ToolCall },
    /// A client that shares nothing, and no `--root`: a refusal says so.
    NothingShared { refused: ToolCall },
    /// Without Rootward, the server carries these calls out, with a path outside the roots. Behind Rootward, [`Server::refused`] or
    /// [`Server::calls`] shows that it does not.
    AcceptsByItself { calls: &'static [ToolCall] },
    /// Calls that do something once, in one start.
    Once { name: &'static str, calls: &'static [ToolCall] },
    /// What it is told, it knows at the next start in this project, and not in another.
    Remembers { told: ToolCall, recalled: ToolCall },
}

pub(super) const fn call(tool: &'static str, arguments: &'static str, text: &'static str) -> ToolCall {
    ToolCall { tool, arguments, answer: Answer::Result(text) }
}

pub(super) const fn fails(tool: &'static str, arguments: &'static str, text: &'static str) -> ToolCall {
    ToolCall { tool, arguments, answer: Answer::Error(text) }
}

/// A call that is refused because of a path outside.
pub(super) const fn outside(tool: &'static str, arguments: &'static str) -> ToolCall {
    fails(tool, arguments, OUTSIDE)
}

/// What a refusal of a path outside says.
const OUTSIDE: &str = "is outside every root";

/// What a refusal says where nothing is shared.
pub(super) const NOTHING_SHARED: &str = "this client shared no directories";

/// What most servers have. A session ends with the server's own code, or by the signal that Rootward sends to a server that takes its time.
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
    /// What the name of the file begins with that its own package is downloaded as.
    pub(super) fn package(&self) -> Option<String> {
        let named = |word: &&str| word.starts_with('@') || word.starts_with("mcp-");
        let name = self.command.split(' ').find(named)?.trim_end_matches("@latest");
        Some(match name.strip_prefix('@') {
            Some(name) => name.replace('/', "-"),
            None => name.replace('-', "_"),
        })
    }

    /// Whether the command differs from project to project: then it is another memory.
    pub(super) fn names_project(&self) -> bool {
        self.command.contains("$PROJECT")
    }
}
