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
    pub(super) said: String,
    beside: String,
    pub(super) status: ExitStatus,
}

impl Ran {
    /// Everything that it printed.
    pub(super) fn all(&self) -> String {
        format!("{}{}", self.said, self.beside)
    }
}

/// Runs a command; `timeout` limits it.
pub(super) fn run(mut command: Command) -> Result<Ran> {
    // Files, not pipes: a process that the host leaves behind would keep a pipe open.
    let (mut said, mut beside) = (scratch::file()?, scratch::file()?);
    let status =
        command.stdout(said.try_clone()?).stderr(beside.try_clone()?).status().context("cannot run the host")?;
    Ok(Ran { said: text(&mut said)?, beside: text(&mut beside)?, status })
}

/// Runs a command that must succeed; returns what it printed.
pub(super) fn succeed(command: Command) -> Result<String> {
    let shown = format!("{command:?}");
    let Ran { said, beside, status } = run(command)?;
    ensure!(status.success(), "it ended with {status}: {shown}\n{said}{beside}");
    Ok(said)
}

/// Adds servers with the host's own command: `local` are the arguments before a server's command, `remote` all that add a URL. Both are
/// given the server's name.
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

/// Arguments of a host.
pub(super) fn words<const N: usize>(words: [&str; N]) -> Vec<String> {
    words.map(str::to_owned).to_vec()
}

fn text(file: &mut File) -> Result<String> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
