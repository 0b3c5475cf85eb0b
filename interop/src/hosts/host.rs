//! What the tests need to know about a host: how to install it, how its user adds servers, and how its model calls a tool.

use std::path::{Path, PathBuf};

use anyhow::Result;

use super::model;
use super::stage::Stage;
use super::{claude_code, codex, copilot, fastmcp, gemini_cli, inspector, opencode};

/// All hosts, in the order of the table.
pub(super) static HOSTS: [&Host; 7] = [
    &claude_code::HOST,
    &codex::HOST,
    &gemini_cli::HOST,
    &opencode::HOST,
    &copilot::HOST,
    &inspector::HOST,
    &fastmcp::HOST,
];

/// A host.
#[derive(Debug)]
pub(super) struct Host {
    pub(super) name: &'static str,
    /// Which check runs it.
    pub(super) due: Due,
    /// Who names the directory that servers may use.
    pub(super) roots: RootsFrom,
    /// Installs it and returns its command.
    pub(super) install: fn(&Path) -> Result<Vec<PathBuf>>,
    /// Arguments that make it print its version.
    pub(super) version: &'static [&'static str],
    /// Environment variables for every run.
    pub(super) variables: fn(&Stage) -> Vec<(&'static str, String)>,
    /// Configures the model and the servers, as its user would.
    pub(super) configure: fn(&Stage, &[Server]) -> Result<()>,
    pub(super) talk: Talk,
}

/// Which check runs a host.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Due {
    /// Both forms.
    EveryCheck,
    /// The long form only.
    LongCheck,
}

/// Who names the directory that servers may use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum RootsFrom {
    /// The host shares it.
    Host,
    /// The host shares no roots. Hosts start servers in the project, so the user writes `.` into the server's command. Over HTTP, the user
    /// configures the token of a principal that can reach only the project.
    CommandLine,
}

/// Who calls a tool.
#[derive(Debug)]
pub(super) enum Talk {
    /// The host's model, in one conversation.
    Model {
        /// Arguments that list all servers.
        list: &'static [&'static str],
        /// The word that marks a usable server in its line of the list.
        healthy: &'static str,
        /// Arguments that start a conversation.
        converse: &'static [&'static str],
    },
    /// The user, with one command per call, whose output the user reads.
    User {
        /// Returns the arguments that list a server's tools, for the stage, the project and the server's name.
        list: fn(&Stage, &str, &str) -> Vec<String>,
        /// Returns the arguments that call a tool, for the stage, the project and the call.
        call: fn(&Stage, &str, &model::ToolCall) -> Vec<String>,
    },
}

/// A server in a host's settings.
#[derive(Debug)]
pub(super) struct Server {
    pub(super) name: &'static str,
    pub(super) reached: Reached,
}

/// How a host reaches a server.
#[derive(Debug)]
pub(super) enum Reached {
    /// The host runs this command.
    Command(Vec<String>),
    /// The host sends requests to this URL, with a token.
    Url(String),
}
