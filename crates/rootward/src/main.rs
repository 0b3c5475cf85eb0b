//! The `rootward` binary: reads the command line, hands over to one verb, and turns its outcome into an exit code.
//!
//! One file per verb. Standard output carries answers, standard error everything else.

#[cfg(feature = "adopt")]
mod adopt;
mod answer;
mod audit;
mod cache;
#[cfg(feature = "roots")]
mod calling;
mod check;
#[cfg(feature = "roots")]
mod client_files;
mod command_words;
#[cfg(feature = "completions")]
mod completions;
mod confinement_flags;
#[cfg(feature = "connect")]
mod connect;
mod decision;
mod doctor;
mod explain;
#[cfg(all(feature = "roots", any(feature = "serve", feature = "wrap")))]
mod following;
mod ground;
mod hint;
#[cfg(feature = "http")]
mod http;
#[cfg(feature = "wrap")]
mod hub;
#[cfg(feature = "wrap")]
mod known_server;
#[cfg(feature = "completions")]
mod man;
mod message;
#[cfg(any(feature = "wrap", all(feature = "roots", feature = "serve")))]
mod patterns;
#[cfg(feature = "wrap")]
mod recipe;
#[cfg(feature = "wrap")]
mod recipes;
#[cfg(any(feature = "serve", feature = "wrap"))]
mod recording;
#[cfg(feature = "roots")]
mod roots;
mod sandbox;
mod saved;
#[cfg(feature = "serve")]
mod serve;
mod settings;
#[cfg(feature = "wrap")]
mod status;
mod treat;
mod version;
#[cfg(feature = "wrap")]
mod withheld;
#[cfg(feature = "wrap")]
mod wrap;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

/// Confine MCP servers to the directories you choose
#[derive(Parser)]
#[command(
    name = "rootward",
    version,
    disable_version_flag = true,
    arg_required_else_help = true,
    args_conflicts_with_subcommands = true,
    override_usage = USAGE,
    max_term_width = 100,
    after_help = AFTER_HELP,
    after_long_help = after_long_help()
)]
struct CommandLine {
    #[command(flatten)]
    version: version::VersionFlags,
    #[command(subcommand)]
    verb: Option<Verb>,
}

const USAGE: &str = "rootward <COMMAND>\n       rootward --version [--verbose] [--json]";

const AFTER_HELP: &str = "Exit codes: 0 allowed or done, 1 denied, nothing found, or broken, 2 wrong use or failure";

/// The environment, which only `--help` lists.
fn after_long_help() -> String {
    format!("{}\n{AFTER_HELP}", settings::variables_help())
}

/// Only the requested verb sets up its arguments: servers start through this binary and keep in memory whatever they
/// touched once. These sentences are for the list of verbs; each verb repeats its sentence and adds details.
#[derive(Subcommand)]
#[command(defer = true)]
enum Verb {
    /// Put `rootward wrap` before the servers in your clients' config files, or replace them with one `rootward
    /// hub`
    #[cfg(feature = "adopt")]
    Adopt(adopt::Adopt),
    /// Run an MCP server confined to the roots
    #[cfg(feature = "wrap")]
    Wrap(wrap::Wrap),
    /// Run many MCP servers behind one endpoint, each confined to the roots
    #[cfg(feature = "wrap")]
    Hub(hub::Hub),
    /// Connect to a remote MCP server, on standard input and output
    #[cfg(feature = "connect")]
    #[command(hide = true)]
    Connect(connect::Connect),
    /// Serve files over MCP, on standard input and output or over HTTP
    #[cfg(feature = "serve")]
    Serve(serve::Serve),
    /// Decide whether paths may be used
    Check(check::Check),
    /// Show step by step how a path is decided
    Explain(explain::Explain),
    /// Run a command that the kernel confines to the roots
    Sandbox(sandbox::Sandbox),
    /// Choose and save the directories to share
    #[cfg(feature = "roots")]
    Roots(roots::RootsCommand),
    /// Show what a known server gets
    #[cfg(feature = "wrap")]
    Recipe(recipe::RecipeCommand),
    /// Show the audit log, follow it, or verify that it is intact
    Audit(audit::Audit),
    /// List or remove the packages that `npx`, `uvx` and similar commands run
    Cache(cache::Cache),
    /// Show which servers run now, and what each may access
    #[cfg(feature = "wrap")]
    Status(status::Status),
    /// Show what this machine can enforce, and each setting with its source
    Doctor(doctor::Doctor),
    /// Print a script that completes commands and options in a shell
    #[cfg(feature = "completions")]
    Completions(completions::Completions),
    /// Print the manual page, or write one for each command
    #[cfg(feature = "completions")]
    Man(man::Man),
}

/// How a verb ended; this becomes the exit code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Outcome {
    /// Done, or everything was allowed.
    Done,
    /// Something was denied or is damaged, or there is nothing to list.
    Denied,
    /// Something could not be decided at all; the reason was already printed.
    Failed,
}

impl Outcome {
    /// The worse of two.
    #[must_use]
    fn and(self, other: Outcome) -> Outcome {
        if u8::from(other) > u8::from(self) { other } else { self }
    }
}

impl From<Outcome> for u8 {
    fn from(outcome: Outcome) -> u8 {
        match outcome {
            Outcome::Done => 0,
            Outcome::Denied => 1,
            Outcome::Failed => 2,
        }
    }
}

fn main() -> ExitCode {
    // Confining a command needs a single-threaded process: this program, started again.
    rootward_sandbox::launcher();
    #[cfg(all(feature = "wrap", feature = "http"))]
    if let Some(front) = hub::FrontProcess::asked_for(std::env::args_os()) {
        return exit_code(front.run().map(u8::from));
    }
    let words = match command_words::arranged_ambient(std::env::args_os()) {
        Ok(words) => words,
        Err(mistake) => {
            message::failure(&mistake.into());
            return ExitCode::from(u8::from(Outcome::Failed));
        }
    };
    let CommandLine { version, verb } = CommandLine::parse_from(words);
    // `clap` guarantees that there is a verb or `--version`.
    exit_code(verb.map_or_else(|| version.run().map(u8::from), Verb::run))
}

/// Prints the error, if there is one.
fn exit_code(code: Result<u8>) -> ExitCode {
    ExitCode::from(code.unwrap_or_else(|error| {
        message::failure(&error);
        Outcome::Failed.into()
    }))
}

impl Verb {
    /// The exit code.
    fn run(self) -> Result<u8> {
        let outcome = match self {
            #[cfg(feature = "adopt")]
            Verb::Adopt(adopt) => adopt.run(),
            #[cfg(feature = "serve")]
            Verb::Serve(serve) => serve.run(),
            #[cfg(feature = "connect")]
            Verb::Connect(connect) => connect.run(),
            Verb::Check(check) => check.run(),
            Verb::Explain(explain) => explain.run(),
            #[cfg(feature = "roots")]
            Verb::Roots(roots) => roots.run(),
            #[cfg(feature = "wrap")]
            Verb::Recipe(recipe) => recipe.run(),
            Verb::Audit(audit) => audit.run(),
            Verb::Cache(cache) => cache.run(),
            #[cfg(feature = "wrap")]
            Verb::Status(status) => status.run(),
            Verb::Doctor(doctor) => doctor.run(),
            #[cfg(feature = "completions")]
            Verb::Completions(completions) => completions.run(),
            #[cfg(feature = "completions")]
            Verb::Man(man) => man.run(),
            // These exit with the command's own code.
            Verb::Sandbox(sandbox) => return sandbox.run(),
            #[cfg(feature = "wrap")]
            Verb::Hub(hub) => return hub.run(),
            #[cfg(feature = "wrap")]
            Verb::Wrap(wrap) => return wrap.run(),
        };
        outcome.map(u8::from)
    }
}
