//! `rootward roots import`: shows the servers and directories of other clients, and how Rootward would confine them.
//! It only reads, and runs nothing.

mod adding;
mod lines;
mod told;
mod view;

use std::ffi::OsString;
use std::io::{self, Write};

use anyhow::Result;
use clap::{Args, ValueEnum};
use rootward_client::import::{Client, Import as Read, project, user_ambient};
use rootward_core::{Shown, Validation};

use self::view::{Values, View};
use super::desk::Desk;
use super::detect::grant;
use crate::Outcome;
use crate::calling::caller_ambient;
use crate::message;

/// Show the servers and directories of other clients
///
/// Reads the config files of Claude Code, Claude Desktop, Cursor, VS Code, Codex, Gemini CLI, opencode, Windsurf and
/// Zed, and shows every server with its whole command and the line that would confine it; `rootward adopt` writes
/// such lines. Nothing is run, and no client's file is changed. The directories in the files are suggestions:
/// `--add` offers to save each one.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub(super) struct Import {
    /// Read only the files of this client; may be repeated
    #[arg(long = "from", value_name = "CLIENT", value_enum)]
    clients: Vec<From>,
    /// Also read the files of this project: `.mcp.json`, `.claude`, `.cursor`, `.vscode`, `.codex`, `.gemini`,
    /// `opencode.json` and `.zed` in it
    #[arg(long, value_name = "DIR")]
    project: Option<OsString>,
    /// Do not hide values of variables and headers, or anything else that looks like a secret
    #[arg(long)]
    show_values: bool,
    #[command(flatten)]
    adding: adding::Adding,
    /// Print one JSON object: `files` (each with `client`, `file`, `servers`, `roots`, `not_understood`) and
    /// `unread`. With `--add`: `roots`, those that were saved
    #[arg(long)]
    json: bool,
}

const AFTER_HELP: &str = "Exit codes: 0 something found (with `--add`: shared), 1 nothing found or the answer was no, 2 wrong use, a \
                          file that cannot be read (the others are shown), or failure";

/// `--from`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum From {
    ClaudeCode,
    ClaudeDesktop,
    Cursor,
    #[value(name = "vscode")]
    VsCode,
    Codex,
    #[value(alias = "gemini")]
    GeminiCli,
    Opencode,
    Windsurf,
    Zed,
}

impl From {
    fn client(self) -> Client {
        match self {
            From::ClaudeCode => Client::ClaudeCode,
            From::ClaudeDesktop => Client::ClaudeDesktop,
            From::Cursor => Client::Cursor,
            From::VsCode => Client::VsCode,
            From::Codex => Client::Codex,
            From::GeminiCli => Client::GeminiCli,
            From::Opencode => Client::Opencode,
            From::Windsurf => Client::Windsurf,
            From::Zed => Client::Zed,
        }
    }
}

impl Import {
    pub(super) fn run(&self, desk: &Desk) -> Result<Outcome> {
        let clients: Vec<Client> = self.clients.iter().map(|from| from.client()).collect();
        let clients = if clients.is_empty() { &Client::ALL[..] } else { &clients };
        let mut read = user_ambient(clients, &desk.ground.environment);
        if let Some(directory) = &self.project {
            read.extend(project(clients, &grant(&desk.ground, directory)?, desk.ground.home()));
        }
        let outcome = if self.adding.add {
            tell_trouble(&read, desk);
            self.adding.run(&read, self.json, desk)?
        } else {
            self.show(&read, desk)?
        };
        Ok(outcome.and(if read.unread.is_empty() { Outcome::Done } else { Outcome::Failed }))
    }

    fn show(&self, read: &Read, desk: &Desk) -> Result<Outcome> {
        let view = View {
            values: if self.show_values { Values::Shown } else { Values::Hidden },
            validation: Validation::new(desk.ground.directories.home.clone()),
            caller: caller_ambient()?,
        };
        let found = read.files.iter().any(|file| !file.found.servers.is_empty() || !file.found.roots.is_empty());
        let mut out = io::stdout().lock();
        if self.json {
            told::write(&mut out, read, &view)?;
        } else {
            lines::write(&mut out, read, &view, desk)?;
        }
        out.flush()?;
        if !self.json {
            tell_trouble(read, desk);
            message::hints(&hints(read, &view, found));
        }
        Ok(if found { Outcome::Done } else { Outcome::Denied })
    }
}

/// Reports what could not be read or understood.
fn tell_trouble(read: &Read, desk: &Desk) {
    for file in &read.files {
        let path = desk.shown(&file.file);
        for mistake in &file.found.not_understood {
            message::warning(&format!("`{path}`: {mistake}"));
        }
    }
    for unread in &read.unread {
        let path = desk.shown(&unread.file);
        let why = match &unread.error {
            rootward_client::import::ImportError::System(error) => message::system_text(&error.to_string()),
            other => Shown::new(&other.to_string()).to_string(),
        };
        message::error(&format!("`{path}` cannot be read: {why}"));
    }
}

fn hints(read: &Read, view: &View, found: bool) -> Vec<String> {
    if !found {
        message::line("no servers or directories found in the files of other clients");
        return vec!["`--project DIR` reads those of a project, too".to_owned()];
    }
    let mut hints = Vec::new();
    let servers = || read.files.iter().flat_map(|file| &file.found.servers);
    if servers().any(|server| view.hides(server)) {
        hints.push(format!("`--show-values` shows what is hidden (`{}`)", rootward_core::secrets::HIDDEN));
    }
    let roots = read.files.iter().flat_map(|file| &file.found.roots).chain(servers().flat_map(|server| &server.roots));
    if roots.into_iter().any(|root| root.path.is_some()) {
        hints.push("`rootward roots import --add` offers the directories for saving".to_owned());
    }
    hints
}
