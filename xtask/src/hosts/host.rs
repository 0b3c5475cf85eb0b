//! What a host is to these tests: how it is installed, how its user adds a server, and how its model comes to call a tool.

use std::path::{Path, PathBuf};

use anyhow::Result;

use super::model;
use super::stage::Stage;
use super::{claude_code, codex, copilot, fastmcp, gemini_cli, inspector, opencode};

/// All of them, in the order of the table.
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
    /// How often it is run.
    pub(super) turn: Turn,
    /// Who names the directory that servers may use.
    pub(super) roots: Roots,
    /// Installs it; gives back its command.
    pub(super) install: fn(&Path) -> Result<Vec<PathBuf>>,
    /// What makes it print its version.
    pub(super) version: &'static [&'static str],
    /// The variables that it is run with.
    pub(super) variables: fn(&Stage) -> Vec<(&'static str, String)>,
    /// Tells it of its model and of the servers, as its user would.
    pub(super) configure: fn(&Stage, &[Server]) -> Result<()>,
    pub(super) talk: Talk,
}

/// When a host is run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Turn {
    /// With every change.
    EveryCheck,
    /// In the long form of the check.
    LongCheck,
}

/// Who names the directory that servers may use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Roots {
    /// The host shares it.
    OfHost,
    /// The host shares none: its user writes `.` into the server's command, which every host starts in the project.
    OnCommandLine,
}

/// How a tool gets called.
#[derive(Debug)]
pub(super) enum Talk {
    /// By the host's model, in one conversation.
    Model {
        /// What makes it list all servers.
        list: &'static [&'static str],
        /// What stands in the line of a server that is well.
        well: &'static str,
        /// What makes it have a conversation.
        converse: &'static [&'static str],
    },
    /// By its user, with a command for each call, who sees what is printed.
    User {
        /// What makes it list, in a project, the tools of the server with this name.
        list: fn(&Stage, &str, &str) -> Vec<String>,
        /// What makes it call a tool.
        call: fn(&Stage, &str, &model::Call) -> Vec<String>,
    },
}

/// A server as it is written into a host's settings.
#[derive(Debug)]
pub(super) struct Server {
    pub(super) name: &'static str,
    pub(super) command: Vec<String>,
}
