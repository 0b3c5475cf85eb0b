//! `rootward sandbox`: any command, confined by the kernel to the roots.

mod told;

use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::Result;
use clap::{Args, ValueEnum};
use rootward_sandbox::{
    CommandLine, Confinement, Enforcement, Filesystem, Network, Options, PassedSignals, Prepared, StartError, Trace,
    UnheldPolicy, UnixSockets,
};

use crate::ground::Ground;
use crate::message::{self, Hinted};

/// Run a command that the kernel holds to the roots
///
/// The command reads, writes and lists what the roots give, and what a program needs to live: the system's libraries, its own
/// interpreter and packages, a home and a temporary directory of its own that are removed when it ends. Everything else on the
/// disk is closed to it, whatever it tries. Its environment is reduced to what holds no secrets.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Sandbox {
    /// A directory or file to share, with `:ro` (read), `:rw` (read, write, delete; the default), `:add` (read, write) or `:rwx` (all) at
    /// its end. Without any, the roots of `ROOTWARD_ROOTS`, else those of the settings file, else the fallback directory
    #[arg(value_name = "DIR")]
    roots: Vec<OsString>,
    /// How strongly to confine
    #[arg(long = "sandbox", value_name = "STRENGTH", value_enum, default_value_t = Wanted::Auto)]
    strength: Wanted,
    /// What to do where the kernel cannot hold a rule: a secret place below a root, a root of less access inside another
    #[arg(long, value_name = "WHAT", value_enum, default_value_t = Unheld::Refuse)]
    unheld: Unheld,
    /// Whether the command can reach the network; it can unless the settings file says otherwise
    #[arg(long, value_name = "STATE", value_enum)]
    network: Option<Switch>,
    /// Whether the command can make unix sockets, to any path, where the kernel cannot hold those (before Landlock ABI 9); it
    /// cannot unless the settings file says otherwise
    #[arg(long, value_name = "STATE", value_enum)]
    unix_sockets: Option<Switch>,
    /// Also readable, programs in it can be run; may be repeated (`sandbox.filesystem.allowRead`)
    #[arg(long, value_name = "PATH")]
    allow_read: Vec<PathBuf>,
    /// Not readable, whatever else says so; may be repeated (`sandbox.filesystem.denyRead`)
    #[arg(long, value_name = "PATH")]
    deny_read: Vec<PathBuf>,
    /// Also readable and writable; may be repeated (`sandbox.filesystem.allowWrite`)
    #[arg(long, value_name = "PATH")]
    allow_write: Vec<PathBuf>,
    /// Not writable, whatever else says so; may be repeated (`sandbox.filesystem.denyWrite`)
    #[arg(long, value_name = "PATH")]
    deny_write: Vec<PathBuf>,
    /// A variable of the environment to pass on; may be repeated
    #[arg(long = "env", value_name = "NAME")]
    variables: Vec<OsString>,
    /// Tell, when the command has ended, what it tried and was refused
    #[arg(long)]
    trace: bool,
    /// Before the command starts, write one JSON object to standard error that says how strongly it is confined
    #[arg(long)]
    json: bool,
    /// The command and its arguments
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

const AFTER_HELP: &str =
    "Exit codes: the command's own, 128 and the signal that ended it, or 2 where it was not started";

/// `--sandbox`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Wanted {
    /// The strongest this machine allows; refuse to start below `landlock`
    Auto,
    /// Landlock and a filter of system calls
    Landlock,
    /// Not at all
    Off,
}

/// `--unheld`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Unheld {
    /// Do not start the command
    Refuse,
    /// Start it, and say what is open
    Allow,
}

/// On or off.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Switch {
    On,
    Off,
}

impl Sandbox {
    pub(crate) fn run(self) -> Result<u8> {
        let Some((program, arguments)) = self.command.split_first() else {
            return Err(told::no_command(&self.roots));
        };
        if self.strength == Wanted::Off {
            return self.run_unconfined(program, arguments);
        }
        let ground = Ground::load_ambient()?;
        let in_force = ground.in_force(&self.roots)?;
        in_force.warn();
        if in_force.set.roots().is_empty() && !self.roots.is_empty() {
            let says = format!("command `{}` was not started: no root is left", rootward_core::Shown::new(program));
            return Err(hinted(
                says,
                "name a directory that exists; without any, the command has only a home of its own",
            ));
        }
        let guard = ground.guard(in_force.set.clone(), ground.base(None, None)?);
        let not_started = |error| told::not_started(program, error);
        let confinement = Confinement::new(guard, self.options(&ground)?);
        // Kept until the command has ended: taking it apart takes time that the command can use.
        let confinement = confinement.map_err(StartError::from).map_err(not_started)?;
        let line = CommandLine { program: program.clone(), arguments: arguments.to_vec(), directory: None };
        let signals = PassedSignals::hold()?;
        let confined = confinement.prepare_ambient(&line).and_then(Prepared::spawn);
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

    fn options(&self, ground: &Ground) -> Result<Options> {
        let placed = |paths: &[PathBuf]| {
            let path = |path: &PathBuf| ground.typed_root(path.as_os_str()).map(|named| named.root.path);
            paths.iter().map(path).collect::<Result<Vec<_>>>()
        };
        let set = &ground.settings.sandbox;
        let flags = Filesystem {
            allow_read: placed(&self.allow_read)?,
            deny_read: placed(&self.deny_read)?,
            allow_write: placed(&self.allow_write)?,
            deny_write: placed(&self.deny_write)?,
        };
        Ok(Options {
            network: match self.network {
                Some(Switch::On) => Network::On,
                Some(Switch::Off) => Network::Off,
                None => set.network.value,
            },
            unix_sockets: match self.unix_sockets {
                Some(Switch::On) => UnixSockets::Open,
                Some(Switch::Off) => UnixSockets::Closed,
                None => set.unix_sockets.value,
            },
            unheld: match self.unheld {
                Unheld::Refuse => UnheldPolicy::Refuse,
                Unheld::Allow => UnheldPolicy::Allow,
            },
            trace: if self.trace { Trace::On } else { Trace::Off },
            filesystem: set.filesystem(flags),
            variables: match self.variables.as_slice() {
                [] => set.variables.value.iter().map(OsString::from).collect(),
                named => named.to_vec(),
            },
            launcher: None,
        })
    }

    /// Says what holds, or what does not.
    fn tell(&self, enforcement: &Enforcement) -> Result<()> {
        if self.json {
            message::line(&serde_json::to_string(enforcement)?);
            return Ok(());
        }
        let (serious, rest): (Vec<_>, Vec<_>) = enforcement.unheld.iter().partition(|unheld| unheld.is_serious());
        for unheld in serious {
            message::warning(&unheld.to_string());
        }
        told::open_for_writing(&rest);
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

/// An error with its way out.
fn hinted(says: String, hint: &str) -> anyhow::Error {
    Hinted { says, hint: hint.to_owned() }.into()
}
