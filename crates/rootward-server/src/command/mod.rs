//! A command that the kernel confines to the roots of the call (feature `command`).
//!
//! `running.rs` runs it, `output.rs` keeps its output.

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

/// The default time limit of a command.
const USUAL: Duration = Duration::from_mins(2);

/// The longest argument of a program, without the zero byte at its end (`execve(2)`).
const MOST_BYTES: usize = (128 << 10) - 1;

/// A command that the kernel confines to the roots of the call.
///
/// The command and everything it starts can read and write only what the roots permit, and no other user files. It has
/// no input, an environment without secrets, and its own home and temporary directories. When it ends, these are
/// removed and its remaining processes are killed. Programs in a root run only if that root allows execution.
///
/// The kernel cannot block only writes to part of a directory. So in a writable root a command can change `.git/hooks`,
/// `.vscode` and so on, which a [`Grant`](rootward_core::Grant) refuses: files it leaves there may run later, outside
/// its confinement.
///
/// A program that runs commands must call [`rootward_sandbox::launcher`] first in its `main`: the program starts itself
/// again to apply the confinement.
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

/// The result of a command. Displays as the command's output, plus how it ended if it failed.
#[derive(Debug)]
pub struct CommandEnded {
    /// Its exit code, or 128 plus the signal that ended it; `None` if it timed out.
    pub code: Option<i32>,
    /// Its standard output.
    pub stdout: CommandOutput,
    /// Its standard error.
    pub stderr: CommandOutput,
}

/// Why a command did not run to its end. A tool may return it.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CommandError {
    /// Its directory was refused, or the roots are not known.
    #[error(transparent)]
    Path(#[from] PathError),
    /// An argument is too long for the system.
    #[error("the command has {0} bytes, the limit is {MOST_BYTES}: write it to a file and run that")]
    TooLong(usize),
    /// It was not started.
    #[error("the command was not run: {error}{hint}", error = .0, hint = way_out(.0))]
    NotStarted(#[source] StartError),
    /// It could not be monitored, so it was killed.
    #[error("the command could not be monitored, so it was killed: {0}")]
    Watch(#[source] io::Error),
    /// It was killed and did not end.
    #[error("the command did not end when it was killed")]
    NotEnded,
    /// The client cancelled the call.
    #[error("the call was cancelled")]
    Stopped,
}

fn way_out(error: &StartError) -> &'static str {
    match error {
        StartError::Confinement(ConfinementError::Unenforced(_)) => {
            "; only the user can change that, by sharing narrower directories; the other tools work"
        }
        StartError::Confinement(_) => "; only the user can change that; the other tools work",
        _ => "",
    }
}

impl ConfinedCommand {
    /// A program with its arguments. The program is looked up in `PATH` unless it is a path.
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

    /// Sets its working directory; the default is the first root that is a directory ([`Roots::working_directory`]).
    #[must_use]
    pub fn in_directory(self, directory: Grant) -> ConfinedCommand {
        ConfinedCommand { directory: Some(directory), ..self }
    }

    /// Sets the time after which it is killed with everything that it started; the default is two minutes.
    #[must_use]
    pub fn for_at_most(self, limit: Duration) -> ConfinedCommand {
        ConfinedCommand { limit, ..self }
    }

    /// Sets confinement options besides the roots, such as network access.
    #[must_use]
    pub fn with_options(self, options: Options) -> ConfinedCommand {
        ConfinedCommand { options, ..self }
    }

    /// Runs it on its own thread until it ends, times out, or `stopped` says that the client cancelled the call.
    pub async fn run(self, roots: &Roots, stopped: &CancellationToken) -> Result<CommandEnded, CommandError> {
        let (roots, stopped) = (roots.clone(), stopped.child_token());
        // Dropping this call also stops its command.
        let _stops = stopped.clone().drop_guard();
        let running = tokio::task::spawn_blocking(move || self.run_blocking(&roots, |_| !stopped.is_cancelled()));
        running.await.unwrap_or_else(|error| Err(CommandError::Watch(io::Error::other(error))))
    }

    /// Like [`ConfinedCommand::run`], on this thread. It calls `goes_on` several times a second with the number of new
    /// bytes; `false` means that nobody is waiting for the command.
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
        // SECURITY: a command can only be confined to the roots, so refuse it if the client allows less
        // (test: a_command_is_not_run_if_codex_allows_less)
        roots.check_unbounded(directory.named_path(), &directory)?;
        // SECURITY: start by handle; the name may lead elsewhere by the time the command starts
        // (test: a_command_starts_in_the_directory_of_the_handle)
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
        // SECURITY: use the roots of this call; if the kernel cannot enforce them, the command does not start
        // (test: a_command_reaches_only_what_the_roots_allow,
        // a_command_does_not_start_if_the_kernel_cannot_enforce_the_rules)
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
                f.write_str("[timed out: it was killed, with every process that it started]")
            }
        }
    }
}
