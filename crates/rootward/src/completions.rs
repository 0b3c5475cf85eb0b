//! `rootward completions`: a script that completes commands and options in a shell.

use std::io::{self, Write};

use anyhow::Result;
use clap::{Args, Command, CommandFactory};
use clap_complete::Shell;

use crate::{CommandLine, Outcome};

/// Print a script that completes commands and options in a shell
///
/// Save it where the shell looks for completions; `docs/shell.md` names the place for each shell.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Completions {
    /// The shell
    #[arg(value_name = "SHELL", value_enum)]
    shell: Shell,
}

const AFTER_HELP: &str = "Example: rootward completions bash > ~/.local/share/bash-completion/completions/rootward";

impl Completions {
    pub(crate) fn run(self) -> Result<Outcome> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut without_hidden(&CommandLine::command()), "rootward", &mut script);
        let mut out = io::stdout().lock();
        out.write_all(&script)?;
        out.flush()?;
        Ok(Outcome::Done)
    }
}

/// Rootward starts some verbs itself; they are not for people, but the scripts would offer them.
fn without_hidden(command: &Command) -> Command {
    let offered = command.get_subcommands().filter(|verb| !verb.is_hide_set()).cloned();
    Command::new("rootward").args(command.get_arguments().cloned()).subcommands(offered)
}
