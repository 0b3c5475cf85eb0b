//! A command that the kernel holds to the roots of the call (feature `command`).
//!
//! `running.rs` watches it, `output.rs` keeps what it writes.

mod output;
mod running;

use std::ffi::OsString;
use std::fmt;
use std::io;
use std::process::Stdio;
use std::time::Duration;

use rmcp::ErrorData;
use rmcp::handler::server::tool::IntoCallToolResult;
use rmcp::model::{CallToolResponse, CallToolResult, ContentBlock};
use rootward_core::{Access, Denial, Grant};
use rootward_sandbox::{CommandLine, Confined, Confinement, ConfinementError, Options, StartError};
use thiserror::Error;
use tokio_util::sync::CancellationToken;

use crate::error::PathError;
use crate::roots::Roots;

pub use output::CommandOutput;

/// How long a command may take unless it is said.
const USUAL: Duration = Duration::from_mins(2);

/// The longest argument of a program, the zero byte at its end excluded (`execve(2)`).
const MOST_BYTES: usize = (128 << 10) - 1;

/// A command that the kernel holds to the roots of the call.
///
/// It reads and writes what the roots permit, and nothing else of the user's: whatever it tries, and whatever it starts. It has no input, an
/// environment without secrets, and a home and a temporary directory of its own, which go when it ends; so does what it leaves
/// running. Programs in a root run only where that root may be executed in.
///
/// The kernel cannot close a part of a directory for writing only. So a command can change `.git/hooks`, `.vscode` and the like in a root that
/// it may write, which a [`Grant`](rootward_core::Grant) refuses: what it leaves there may run later, outside of its confinement.
///
/// A program that runs commands calls [`rootward_sandbox::launcher`] first thing in its `main`: it is started again to confine itself.
///
/// ```no_run
/// use rmcp::handler::server::wrapper::Parameters;
/// use rmcp::service::{RequestContext, RoleServer};
/// use rmcp::{tool, tool_router};
/// use rootward_server::{CommandError, ConfinedCommand, roots};
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Shell {
///     command: String,
/// }
///
/// struct Server;
///
/// #[tool_router(server_handler)]
/// impl Server {
///     #[tool(description = "Run a shell command in the first root")]
///     async fn shell(
///         &self,
///         Parameters(Shell { command }): Parameters<Shell>,
///         context: RequestContext<RoleServer>,
///     ) -> Result<String, CommandError> {
///         let ended = ConfinedCommand::shell(command).run(&roots().await?, &context.ct).await?;
///         Ok(ended.to_string())
///     }
/// }
///
/// fn main() {
///     rootward_server::sandbox::launcher();
///     // ... and serve.
/// }
/// ```
#[derive(Debug)]
pub struct ConfinedCommand {
    program: OsString,
    arguments: Vec<OsString>,
    directory: Option<Grant>,
    limit: Duration,
    options: Options,
}

/// What came of a command. Shown as text, it is what the command wrote, and how it ended where that was not well.
#[derive(Debug)]
pub struct CommandEnded {
    /// Its exit code, 128 and the signal where a signal ended it; none where its time was over.
    pub code: Option<i32>,
    /// What it wrote to its standard output.
    pub stdout: CommandOutput,
    /// What it wrote to its standard error.
    pub stderr: CommandOutput,
}

/// Why a command did not run to its end. A tool may return it.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CommandError {
    /// Its directory is refused, or the roots are not known.
    #[error(transparent)]
    Path(#[from] PathError),
    /// An argument is too long for the system.
    #[error("the command has {0} bytes, {MOST_BYTES} are the most: write it to a file and run that")]
    TooLong(usize),
    /// It was not started.
    #[error("the command was not run: {error}{hint}", error = .0, hint = way_out(.0))]
    NotStarted(#[source] StartError),
    /// It cannot be watched, so it was ended.
    #[error("the command cannot be watched, so it was ended: {0}")]
    Watch(#[source] io::Error),
    /// It was killed and did not end.
    #[error("the command did not end when it was killed")]
    NotEnded,
    /// The client took the call back.
    #[error("the call was stopped")]
    Stopped,
}

fn way_out(error: &StartError) -> &'static str {
    match error {
        StartError::Confinement(ConfinementError::Unheld(_)) => {
            "; only the user can change that, by sharing narrower directories; the other tools work"
        }
        StartError::Confinement(_) => "; only the user can change that; the other tools work",
        _ => "",
    }
}

impl ConfinedCommand {
    /// A program with its arguments, looked up in `PATH` unless it is a path.
    pub fn new(program: impl Into<OsString>, arguments: impl IntoIterator<Item = OsString>) -> ConfinedCommand {
        ConfinedCommand {
            program: program.into(),
            arguments: arguments.into_iter().collect(),
            directory: None,
            limit: USUAL,
            options: Options::default(),
        }
    }

    /// A command for `/bin/sh`.
    pub fn shell(command: impl Into<OsString>) -> ConfinedCommand {
        ConfinedCommand::new("/bin/sh", ["-c".into(), command.into()])
    }

    /// Where it starts; else in the first root that is a directory ([`Roots::working_directory`]).
    #[must_use]
    pub fn in_directory(self, directory: Grant) -> ConfinedCommand {
        ConfinedCommand { directory: Some(directory), ..self }
    }

    /// After this time it is ended with all that it started; else after two minutes.
    #[must_use]
    pub fn for_at_most(self, limit: Duration) -> ConfinedCommand {
        ConfinedCommand { limit, ..self }
    }

    /// How it is confined, besides the roots: its network, for example.
    #[must_use]
    pub fn with_options(self, options: Options) -> ConfinedCommand {
        ConfinedCommand { options, ..self }
    }

    /// Runs it in a thread of its own until it has ended, its time is over, or `stopped` says that the client took the call back.
    pub async fn run(self, roots: &Roots, stopped: &CancellationToken) -> Result<CommandEnded, CommandError> {
        let (roots, stopped) = (roots.clone(), stopped.child_token());
        // A call that is given up stops its command, too.
        let _stops = stopped.clone().drop_guard();
        let running = tokio::task::spawn_blocking(move || self.run_blocking(&roots, |_| !stopped.is_cancelled()));
        running.await.unwrap_or_else(|error| Err(CommandError::Watch(io::Error::other(error))))
    }

    /// The same in this thread. `goes_on` is asked several times a second, with the number of bytes that came since, whether anybody still
    /// waits for the command.
    pub fn run_blocking(
        self,
        roots: &Roots,
        mut goes_on: impl FnMut(u64) -> bool,
    ) -> Result<CommandEnded, CommandError> {
        if let Some(length) = self.arguments.iter().map(|argument| argument.len()).find(|length| *length > MOST_BYTES) {
            return Err(CommandError::TooLong(length));
        }
        let limit = self.limit;
        running::run(self.start(roots)?, limit, &mut goes_on)
    }

    fn start(self, roots: &Roots) -> Result<Confined, CommandError> {
        let directory = match self.directory {
            Some(directory) => directory,
            None => roots.working_directory(Access::READ)?,
        };
        // SECURITY: a command is held to the roots, and to nothing less (test: a_command_is_not_run_where_codex_allows_less)
        roots.check_unbounded(directory.named_path(), &directory)?;
        // SECURITY: by handle; its name may lead elsewhere by the time the command starts
        // (test: a_command_starts_where_the_handle_is_whatever_the_name_says)
        let handle = if directory.access().contains(Access::EXECUTE) {
            directory.open_working_directory()
        } else {
            directory.open_directory()
        };
        let handle = handle.map_err(PathError::from)?;
        let line = CommandLine {
            program: self.program,
            arguments: self.arguments,
            directory: Some(directory.path()),
            ..CommandLine::default()
        };
        // SECURITY: the roots of this very call, and what the kernel cannot hold keeps the command from starting
        // (test: a_command_reaches_what_the_roots_give_and_nothing_else, what_cannot_be_held_keeps_commands_from_starting)
        let confinement = Confinement::new(roots.guard().clone(), self.options).map_err(StartError::from);
        let confined = confinement.and_then(|confinement| {
            let mut prepared = confinement.prepare_ambient(&line)?;
            prepared.start_in(handle);
            prepared.command().stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
            prepared.spawn()
        });
        confined.map_err(CommandError::NotStarted)
    }
}

impl From<Denial> for CommandError {
    fn from(denial: Denial) -> CommandError {
        CommandError::Path(denial.into())
    }
}

impl IntoCallToolResult for CommandError {
    fn into_call_tool_result(self) -> Result<CallToolResponse, ErrorData> {
        match self {
            CommandError::Path(error) => error.into_call_tool_result(),
            other => Ok(CallToolResult::error(vec![ContentBlock::text(other.to_string())]).into()),
        }
    }
}

impl fmt::Display for CommandEnded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (stdout, stderr) = (self.stdout.text(), self.stderr.text());
        f.write_str(&stdout)?;
        let mut ends_line = stdout.is_empty() || stdout.ends_with('\n');
        let mut gap = |f: &mut fmt::Formatter<'_>, next: bool| {
            let gap = if std::mem::replace(&mut ends_line, next) { "" } else { "\n" };
            f.write_str(gap)
        };
        if !stderr.is_empty() {
            gap(f, stderr.ends_with('\n'))?;
            write!(f, "[stderr]\n{stderr}")?;
        }
        match self.code {
            Some(0) if stdout.is_empty() && stderr.is_empty() => f.write_str("[no output]"),
            Some(0) => Ok(()),
            Some(code) => {
                gap(f, true)?;
                write!(f, "[exit code {code}]")
            }
            None => {
                gap(f, true)?;
                f.write_str("[its time was over: it was ended, with all that it started]")
            }
        }
    }
}
