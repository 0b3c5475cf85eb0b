//! Runs a host and captures what it prints.

use std::fs::File;
use std::io::{Read, Seek};
use std::process::{Command, ExitStatus};

use anyhow::{Context, Result, ensure};

use super::host::{Reached, Server};
use super::stage::Stage;
use taskkit::scratch;

/// What a host printed, and its exit status.
#[derive(Debug)]
pub(super) struct Ran {
    pub(super) stdout: String,
    stderr: String,
    pub(super) status: ExitStatus,
}

impl Ran {
    /// Everything that the host printed: stdout, then stderr.
    pub(super) fn all(&self) -> String {
        format!("{}{}", self.stdout, self.stderr)
    }
}

/// Runs a command. The command itself sets a time limit, with `timeout`.
pub(super) fn run(mut command: Command) -> Result<Ran> {
    // Files, not pipes: a process that the host leaves behind would keep a pipe open.
    let (mut stdout, mut stderr) = (scratch::file()?, scratch::file()?);
    let status =
        command.stdout(stdout.try_clone()?).stderr(stderr.try_clone()?).status().context("cannot run the host")?;
    Ok(Ran { stdout: text(&mut stdout)?, stderr: text(&mut stderr)?, status })
}

/// Runs a command that must succeed; returns its stdout.
pub(super) fn succeed(command: Command) -> Result<String> {
    let shown = format!("{command:?}");
    let Ran { stdout, stderr, status } = run(command)?;
    ensure!(status.success(), "it ended with {status}: {shown}\n{stdout}{stderr}");
    Ok(stdout)
}

/// Adds servers with the host's own command. From a server's name, `local` makes the arguments that precede the server's command, and
/// `remote` makes all arguments that add a URL.
pub(super) fn add(
    stage: &Stage,
    servers: &[Server],
    local: impl Fn(&str) -> Vec<String>,
    remote: impl Fn(&str, &str) -> Vec<String>,
) -> Result<()> {
    for Server { name, reached } in servers {
        let words = match reached {
            Reached::Command(command) => [local(name), command.clone()].concat(),
            Reached::Url(url) => remote(name, url),
        };
        succeed(stage.command("one", words))?;
    }
    Ok(())
}

/// Copies the arguments for a host.
pub(super) fn words<const N: usize>(words: [&str; N]) -> Vec<String> {
    words.map(str::to_owned).to_vec()
}

fn text(file: &mut File) -> Result<String> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
