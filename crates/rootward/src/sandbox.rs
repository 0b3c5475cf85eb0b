//! `rootward sandbox`: any command, confined by the kernel to the roots.

mod explained;
pub(crate) mod told;

use std::ffi::OsString;

use anyhow::Result;
use clap::Args;
use rootward_sandbox::{
    CommandLine, Confinement, Enforcement, KnownCommand, Options, PassedSignals, Prepared, StartError, Supply, Trace,
};

use crate::command_words::{Verb, no_command};
use crate::confinement_flags::{ConfinementFlags, Wanted};
use crate::ground::Ground;
use crate::message::{self, Hinted};

/// Run a command that the kernel confines to the roots
///
/// The command can use the roots, and what every program needs: the system's libraries, its own interpreter and
/// packages, and a home and a temporary directory of its own, which are removed when it ends. The kernel denies it
/// everything else on the disk. Its environment is reduced to variables that hold no secrets.
#[derive(Args, Debug)]
#[command(override_usage = USAGE, after_help = AFTER_HELP)]
pub(crate) struct Sandbox {
    /// A directory or file to share, with `:ro` (read), `:rw` (read, write, delete; the default), `:rw-nodelete` (read, write) or `:rwx` (all) at
    /// its end; may be repeated. Without any, the roots of `ROOTWARD_ROOTS`, else those of the settings file, else the fallback directory
    #[arg(long = "root", value_name = "DIR")]
    roots: Vec<OsString>,
    #[command(flatten)]
    confinement: ConfinementFlags,
    /// When the command has ended, print what it tried and was refused
    #[arg(long)]
    trace: bool,
    /// Do not start the command; print each place that it would get, and why, and what it would not get
    #[arg(long, conflicts_with = "trace")]
    explain: bool,
    /// Before the command starts, write one JSON object to standard error that says how strongly it is confined. With `--explain`,
    /// print the places as JSON
    #[arg(long)]
    json: bool,
    /// The command. Everything after its first word belongs to it, even if it looks like an option of Rootward
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

const USAGE: &str = "rootward sandbox [--root DIR]... [OPTIONS] [--] COMMAND...
       rootward sandbox [OPTIONS] DIR... -- COMMAND...";

const AFTER_HELP: &str = "Exit codes: the command's own, 128 plus the signal that ended it, or 2 if it was not started";

impl Sandbox {
    pub(crate) fn run(self) -> Result<u8> {
        let Some((program, arguments)) = self.command.split_first() else {
            return Err(no_command(Verb::Sandbox));
        };
        if self.confinement.strength == Wanted::Off {
            return self.run_unconfined(program, arguments);
        }
        let ground = Ground::load_ambient()?;
        let roots = ground.roots(&self.roots, None)?;
        roots.warn();
        if roots.set.roots().is_empty() && !self.roots.is_empty() {
            let says = format!("command `{}` was not started: no root is left", rootward_core::Shown::new(program));
            return Err(hinted(
                says,
                "name a directory that exists; without a root, the command has only its own home",
            ));
        }
        let guard = ground.guard(roots.set.clone(), ground.base(None, None)?);
        let not_started = |error| told::not_started(program, error);
        let trace = if self.trace { Trace::On } else { Trace::Off };
        let options = Options { trace, ..self.confinement.options(&ground)? };
        let confinement = Confinement::new(guard, options);
        // Kept until the command has ended: dismantling it takes time that the command can use.
        let confinement = confinement.map_err(StartError::from).map_err(not_started)?;
        let line = CommandLine { program: program.clone(), arguments: arguments.to_vec(), ..CommandLine::default() };
        if self.explain {
            let explanation = confinement.explain_ambient(&line).map_err(not_started)?;
            explained::print(&explanation, self.json)?;
            return Ok(0);
        }
        // Also kept until the command has ended, so that its package is not removed meanwhile.
        let known = self.known_ambient(&confinement, &line).map_err(not_started)?;
        let signals = PassedSignals::hold()?;
        let confined = confinement.prepare_known_ambient(&line, &known).and_then(Prepared::spawn);
        let mut confined = confined.map_err(not_started)?;
        self.tell(confined.line.enforcement())?;
        if !self.trace {
            let code = signals.wait(&mut confined.child)?;
            return Ok(code.try_into().unwrap_or(u8::MAX));
        }
        let mut refused = Vec::new();
        while let Some(next) = confined.line.next_refused() {
            refused.push(next);
        }
        let code = signals.wait(&mut confined.child)?;
        refused.sort();
        told::refused(&refused, ground.home());
        Ok(code.try_into().unwrap_or(u8::MAX))
    }

    /// Resolves the command; a package is fetched first.
    fn known_ambient(&self, confinement: &Confinement, line: &CommandLine) -> Result<KnownCommand, StartError> {
        let Some(package) = confinement.package_ambient(line)? else { return Ok(KnownCommand::look_up_ambient(line)?) };
        let installed = Supply::new(package).wait_ambient(|note| {
            // With `--json`, the data goes to standard error.
            if !self.json {
                message::line(&format!("note: {note}"));
            }
        })?;
        Ok(KnownCommand::of_package_ambient(installed)?)
    }

    /// Prints how strongly the command is confined, or why it is not.
    fn tell(&self, enforcement: &Enforcement) -> Result<()> {
        if self.json {
            message::line(&serde_json::to_string(enforcement)?);
        } else {
            told::enforcement(enforcement);
        }
        Ok(())
    }

    fn run_unconfined(&self, program: &OsString, arguments: &[OsString]) -> Result<u8> {
        message::warning("the command is not confined (`--sandbox off`)");
        self.tell(&Enforcement::off())?;
        let child = std::process::Command::new(program).args(arguments).spawn();
        let mut child = child.map_err(|error| {
            let says = format!("command `{}` was not started", rootward_core::Shown::new(program));
            anyhow::Error::new(error).context(says)
        })?;
        let code = PassedSignals::hold()?.wait(&mut child)?;
        Ok(code.try_into().unwrap_or(u8::MAX))
    }
}

/// An error with a hint.
fn hinted(says: String, hint: &str) -> anyhow::Error {
    Hinted { says, hint: hint.to_owned() }.into()
}
