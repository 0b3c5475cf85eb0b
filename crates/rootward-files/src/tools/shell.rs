//! `shell`: runs a command that the kernel confines to the roots.

use std::fmt::Write;
use std::time::Duration;

use rootward_core::{PlacedRoot, RootKind, Shown};
use rootward_server::{Access, CommandEnded, CommandError, ConfinedCommand, Execute, Roots, roots};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::answer::Answer;
use crate::call::Call;
use crate::failure::Failure;
use crate::path::FilePath;
use crate::schemas::or_null;
use crate::tool::{About, Effect, FileTool, Output};

/// The default time limit, in milliseconds.
const USUAL: u64 = 120_000;

/// The longest time limit, in milliseconds.
const LONGEST: u64 = 600_000;

pub(crate) struct Shell;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Arguments {
    /// Run by `/bin/sh -c`; its input is empty
    command: String,
    /// The directory it starts in
    cwd: Option<FilePath<Execute>>,
    /// Milliseconds until it is killed, with every process that it started: 120000 by default, at most 600000
    timeout_ms: Option<u64>,
}

impl FileTool for Shell {
    const ABOUT: About = About {
        name: "shell",
        title: "Run Command",
        description: "Run a shell command, confined by the kernel to the shared directories. It has its own home and no secrets \
                      in its environment. When it ends, its home is deleted and its background processes are killed.",
        effect: Effect::Runs,
        output: Output::Data(properties),
    };
    type Arguments = Arguments;

    /// Names the default working directory: the one that `Roots::working_directory` returns.
    fn about_roots(roots: Option<&Roots>) -> Option<String> {
        let runs =
            |placed: &&PlacedRoot| placed.kind == RootKind::Directory && placed.root.access.contains(Access::EXECUTE);
        let first = roots?.list().iter().find(runs)?;
        Some(format!("Without `cwd` it starts in `{}`.", Shown::new(&first.root.path)))
    }

    async fn call(Arguments { command, cwd, timeout_ms }: Arguments, call: &Call) -> Result<Answer, Failure> {
        let limit = limit(timeout_ms)?;
        let roots = roots().await.map_err(Failure::Path)?;
        let directory = match cwd {
            Some(cwd) => cwd.into_grant(),
            None => roots.working_directory(Access::EXECUTE)?,
        };
        let options = call.surroundings().confinement.clone();
        let ended = call.apart("bytes of output", move |work| {
            let command = ConfinedCommand::shell(command).in_directory(directory).for_at_most(limit);
            command.with_options(options).run_blocking(&roots, |bytes| work.did(bytes).is_ok()).map_err(failed)
        });
        Ok(answer(ended.await?, limit))
    }
}

fn failed(error: CommandError) -> Failure {
    match error {
        CommandError::Path(error) => error.into(),
        CommandError::Stopped => Failure::Stopped,
        other => Failure::said(other.to_string()),
    }
}

fn limit(milliseconds: Option<u64>) -> Result<Duration, Failure> {
    match milliseconds.unwrap_or(USUAL) {
        given @ 1..=LONGEST => Ok(Duration::from_millis(given)),
        given => Err(Failure::said(format!("`timeout_ms` is {given}; it must be between 1 and {LONGEST}"))),
    }
}

fn answer(ended: CommandEnded, limit: Duration) -> Answer {
    let CommandEnded { code, stdout, stderr } = ended;
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
    // Writing to a string cannot fail.
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
            write!(
                text,
                "[killed after {limit} ms, with every process that it started; `timeout_ms` can be up to {LONGEST}]"
            )
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
        "exitCode": or_null("integer"),
        "stdout": {"type": "string"},
        "stderr": {"type": "string"},
        "timedOut": {"type": "boolean"},
        "stdoutMissing": {"type": "integer"},
        "stderrMissing": {"type": "integer"},
    })
}
