//! `rootward status`: what every running `wrap` and `hub` may access.

use std::io::{self, Write};

use anyhow::{Result, anyhow};
use clap::Args;
use rootward_core::Shown;
use rootward_hub::status::{Kind, Running, RunningServer, StatusFiles, running_ambient};
use rootward_sandbox::Strength;
use serde::Serialize;

use crate::Outcome;
use crate::ground::Ground;
use crate::message;

/// Show which servers run now, and what each may access
///
/// Shows every running `rootward wrap` and `rootward hub` of this user, with their servers, the servers' directories
/// and how each server is confined.
#[derive(Args, Debug)]
#[command(after_help = "Exit codes: 0 a `wrap` or a `hub` runs, 1 none does, 2 wrong use or failure")]
pub(crate) struct Status {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The directory below the state directory that lists what runs.
pub(crate) const DIRECTORY: &str = "running";

impl Status {
    pub(crate) fn run(self) -> Result<Outcome> {
        let ground = Ground::load_ambient()?;
        let Some(state) = &ground.directories.state else {
            return Err(anyhow!("the state directory cannot be found: neither `HOME` nor `XDG_STATE_HOME` is set"));
        };
        let directory = state.join(DIRECTORY);
        let StatusFiles { running, of_other_versions } = running_ambient(&directory)
            .map_err(|error| anyhow!("`{}` cannot be read: {error}", Shown::new(&directory)))?;
        match of_other_versions {
            0 => {}
            1 => message::line("1 status file was written by another version of Rootward"),
            several => message::line(&format!("{several} status files were written by another version of Rootward")),
        }
        let is_none = running.is_empty() && of_other_versions == 0;
        let mut out = io::stdout().lock();
        if self.json {
            writeln!(out, "{}", serde_json::to_string_pretty(&running.iter().map(Told::new).collect::<Vec<_>>())?)?;
        } else if is_none {
            writeln!(out, "no `rootward wrap` or `rootward hub` is running")?;
        } else {
            for running in &running {
                write(running, &mut out)?;
            }
        }
        Ok(if is_none { Outcome::Denied } else { Outcome::Done })
    }
}

/// A running `wrap` or `hub`, for programs.
#[derive(Serialize)]
struct Told<'r> {
    process: u32,
    kind: Kind,
    servers: &'r [RunningServer],
}

impl<'r> Told<'r> {
    fn new(running: &'r Running) -> Told<'r> {
        Told { process: running.process, kind: running.kind, servers: &running.servers }
    }
}

fn write(running: &Running, out: &mut impl Write) -> io::Result<()> {
    let verb = match running.kind {
        Kind::Wrap => "wrap",
        Kind::Hub => "hub",
    };
    writeln!(out, "rootward {verb}, process {}", running.process)?;
    if running.servers.is_empty() {
        writeln!(out, "  no server is running")?;
    }
    for server in &running.servers {
        let confined = match server.strength {
            Strength::Off => "not confined".to_owned(),
            strength => format!("confined by {strength}"),
        };
        let network = if server.network { "network on" } else { "network off" };
        writeln!(out, "  {}, process {}: {confined}, {network}", Shown::new(&server.name), server.process)?;
        if server.roots.is_empty() {
            writeln!(out, "    no directory")?;
        }
        for root in &server.roots {
            let by = root.pattern.as_ref().map(|pattern| format!(", by `{}`", Shown::new(pattern))).unwrap_or_default();
            let access = if root.access.is_empty() { "none".to_owned() } else { root.access.join(", ") };
            writeln!(out, "    {} ({access}){by}", Shown::new(&root.path))?;
        }
    }
    Ok(())
}
