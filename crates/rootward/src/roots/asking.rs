//! The question that the user must answer with yes before anything is shared.

use std::io::{self, IsTerminal, Write};

use anyhow::{Context, Result};
use clap::Args;

use crate::message::{self, Hinted};

/// Flags for scripts.
#[derive(Args, Debug)]
pub(super) struct Scripted {
    /// Answer yes to every question. Sharing less never asks
    #[arg(long)]
    pub(super) yes: bool,
    /// Print one JSON object: `roots`, those that changed
    #[arg(long)]
    pub(super) json: bool,
}

/// The user's answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Answer {
    Yes,
    No,
}

impl Scripted {
    /// Who requests a change, for the audit log: a verb, and whether `--yes` was given.
    pub(super) fn requester(&self, verb: &str) -> String {
        format!("rootward roots {verb}{}", if self.yes { " --yes" } else { "" })
    }

    /// Whether there is somebody to ask, or no need to.
    pub(super) fn ready(&self) -> Result<()> {
        if self.yes {
            return Ok(());
        }
        // SECURITY: only a person can consent: if nobody can be asked, nothing is shared
        // (test: nothing_is_shared_without_a_yes)
        if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
            return Err(Hinted {
                says: "nothing is shared without your consent, and there is no terminal to ask on".to_owned(),
                hint: "pass `--yes` to answer in advance".to_owned(),
            }
            .into());
        }
        Ok(())
    }

    /// Asks on the terminal, unless `--yes` was given.
    pub(super) fn ask(&self, about: &[String], question: &str) -> Result<Answer> {
        if self.yes {
            return Ok(Answer::Yes);
        }
        self.ready()?;
        for line in about {
            message::line(line);
        }
        let mut stderr = io::stderr().lock();
        write!(stderr, "{question} [y/N] ")?;
        stderr.flush()?;
        let mut said = String::new();
        io::stdin().read_line(&mut said).context("the answer cannot be read")?;
        let yes = ["y", "yes"].contains(&said.trim().to_lowercase().as_str());
        Ok(if yes { Answer::Yes } else { Answer::No })
    }
}
