//! `shell`: a command, held by the kernel to the roots.
//!
//! `running.rs` watches it, `output.rs` keeps what it writes.

mod output;
mod running;

use std::fmt::Write;
use std::process::Stdio;
use std::time::Duration;

use rootward_core::RootKind;
use rootward_sandbox::{CommandLine, Confined, Confinement, ConfinementError, Options, StartError};
use rootward_server::{Access, Execute, Grant, RootedPath, Roots, roots};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::answer::Answer;
use crate::call::Call;
use crate::failure::Failure;
use crate::schemas::or_null;
use crate::tool::{About, Effect, FileTool, Offered, Output};
use running::Ended;

/// How long a command may take where the call does not say.
const USUAL: u64 = 120_000;

/// How long it may take at most.
const LONGEST: u64 = 600_000;

/// The longest command: an argument of a program has 128 KiB, the zero byte at its end included (`execve(2)`).
const MOST_BYTES: usize = (128 << 10) - 1;

pub(crate) struct Shell;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Arguments {
    /// Run by `/bin/sh -c`; its input is empty
    command: String,
    /// The directory it starts in; without it, the first root in which commands may run
    cwd: Option<RootedPath<Execute>>,
    /// The milliseconds after which it is ended, with all that it started: 120000 unless given, 600000 at most
    timeout_ms: Option<u64>,
}

impl FileTool for Shell {
    const ABOUT: About = About {
        name: "shell",
        title: "Run Command",
        description: "Run a shell command. The kernel holds it to the roots: it reads and writes what they permit and nothing else of \
                      the user's. It has no input, an environment without secrets and a home of its own, which goes when it ends; \
                      so does whatever it left running in the background.",
        effect: Effect::Runs,
        output: Output::Data("timedOut", properties),
        offered: Offered::ToExecute,
    };
    type Arguments = Arguments;

    async fn call(Arguments { command, cwd, timeout_ms }: Arguments, call: &Call) -> Result<Answer, Failure> {
        let limit = limit(timeout_ms)?;
        if command.len() > MOST_BYTES {
            let length = command.len();
            return Err(Failure::said(format!(
                "the command has {length} bytes, {MOST_BYTES} are the most: write it to a file and run that"
            )));
        }
        let roots = roots().await.map_err(Failure::Path)?;
        let directory = match cwd {
            Some(cwd) => cwd.into_grant(),
            None => usual_directory(&roots)?,
        };
        // SECURITY: a command is held to the roots, and to nothing less (test: a_command_is_not_run_where_codex_allows_less)
        roots.check_unbounded(directory.named_path(), &directory)?;
        let options = call.surroundings().confinement.clone();
        let ended = call.apart("bytes of output", move |work| {
            let confined = start(&roots, options, &directory, command)?;
            running::run(confined, limit, work)
        });
        Ok(answer(ended.await?, limit))
    }
}

fn limit(milliseconds: Option<u64>) -> Result<Duration, Failure> {
    match milliseconds.unwrap_or(USUAL) {
        given @ 1..=LONGEST => Ok(Duration::from_millis(given)),
        given => Err(Failure::said(format!("`timeout_ms` is {given}; it must lie between 1 and {LONGEST}"))),
    }
}

/// Where a command starts that names no directory. Decided like any other path, on record.
fn usual_directory(roots: &Roots) -> Result<Grant, Failure> {
    let permits = |access: Access, kind| kind == RootKind::Directory && access.contains(Access::EXECUTE);
    let first = roots.list().iter().find(|placed| permits(placed.root.access, placed.kind));
    // Where there is none, the first root is refused in the usual words.
    let place = first.map_or_else(|| ".".into(), |placed| placed.root.path.clone().into_os_string());
    Ok(roots.check(place, Access::EXECUTE)?)
}

fn start(roots: &Roots, options: Options, directory: &Grant, command: String) -> Result<Confined, Failure> {
    // SECURITY: by handle; its name may lead elsewhere by the time the command starts
    // (test: a_command_starts_where_the_handle_is_whatever_the_name_says)
    let handle = directory.open_working_directory()?;
    let line = CommandLine {
        program: "/bin/sh".into(),
        arguments: vec!["-c".into(), command.into()],
        directory: Some(directory.path()),
        ..CommandLine::default()
    };
    // SECURITY: the roots of this very call, and what the kernel cannot hold keeps the command from starting
    // (test: a_command_reaches_what_the_roots_give_and_nothing_else, what_cannot_be_held_keeps_commands_from_starting)
    let confinement = Confinement::new(roots.guard().clone(), options).map_err(StartError::from);
    let confined = confinement.and_then(|confinement| {
        let mut prepared = confinement.prepare_ambient(&line)?;
        prepared.start_in(handle);
        prepared.command().stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        prepared.spawn()
    });
    confined.map_err(|error| not_started(&error))
}

fn not_started(error: &StartError) -> Failure {
    let way_out = match error {
        StartError::Confinement(ConfinementError::Unheld(_)) => {
            "; only the user can change that, by sharing narrower directories; the other tools work"
        }
        StartError::Confinement(_) => "; only the user can change that; the other tools work",
        _ => "",
    };
    Failure::said(format!("the command was not run: {error}{way_out}"))
}

fn answer(ended: Ended, limit: Duration) -> Answer {
    let Ended { code, stdout, stderr } = ended;
    let missing = (stdout.missing(), stderr.missing());
    let (stdout, stderr) = (stdout.into_text(), stderr.into_text());
    let mut text = stdout.clone();
    let separate = |text: &mut String| {
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
    };
    if !stderr.is_empty() {
        separate(&mut text);
        text.push_str("[stderr]\n");
        text.push_str(&stderr);
    }
    // Writing to a text cannot fail.
    let _ = match code {
        Some(0) if text.is_empty() => write!(text, "[no output]"),
        Some(0) => Ok(()),
        Some(code) => {
            separate(&mut text);
            write!(text, "[exit code {code}]")
        }
        None => {
            separate(&mut text);
            let limit = limit.as_millis();
            write!(text, "[ended after {limit} ms, with all that it started; `timeout_ms` gives it up to {LONGEST}]")
        }
    };
    let data = json!({
        "exitCode": code,
        "stdout": stdout,
        "stderr": stderr,
        "timedOut": code.is_none(),
        "stdoutMissing": missing.0,
        "stderrMissing": missing.1,
    });
    Answer::with_data(text, data)
}

fn properties() -> Value {
    json!({
        "exitCode": or_null("integer", "128 and the signal where a signal ended it; null where its time was over"),
        "stdout": {"type": "string"},
        "stderr": {"type": "string"},
        "timedOut": {"type": "boolean"},
        "stdoutMissing": {"type": "integer", "description": "How many bytes of its middle are not shown"},
        "stderrMissing": {"type": "integer", "description": "How many bytes of its middle are not shown"},
    })
}
