//! The flags that say how a command is confined, shared by all verbs that start one.

use std::path::PathBuf;

use anyhow::Result;
use clap::builder::{OsStringValueParser, TypedValueParser};
use clap::{Args, ValueEnum};
use rootward_sandbox::{Filesystem, Network, Options, OwnProc, PassedVariable, UnenforcedPolicy, UnixSockets};

use crate::ground::Ground;
use crate::message::Hinted;
use crate::settings::flag_help;

#[derive(Args, Debug)]
pub(crate) struct ConfinementFlags {
    /// How strongly to confine
    #[arg(long = "sandbox", value_name = "STRENGTH", value_enum, default_value_t = Wanted::Auto)]
    pub(crate) strength: Wanted,
    /// What to do if the kernel cannot enforce a rule: a root is too large to be searched for secret places, or a
    /// directory that contains one has too many entries. Places that are only closed for writing, such as
    /// `.git/hooks`, do not count: the kernel may leave them open in every repository, and `sandbox --explain` names them
    #[arg(long, value_name = "WHAT", value_enum, default_value_t = Unenforced::Refuse)]
    unenforced: Unenforced,
    #[arg(long, value_name = "STATE", value_enum, help = flag_help("--network"))]
    network: Option<Switch>,
    #[arg(long, value_name = "STATE", value_enum, help = flag_help("--unix-sockets"))]
    unix_sockets: Option<SocketSwitch>,
    #[arg(long = "allow-socket", value_name = "PATH", help = flag_help("--allow-socket"))]
    sockets: Vec<PathBuf>,
    #[arg(long, value_name = "PATH", help = flag_help("--allow-read"))]
    allow_read: Vec<PathBuf>,
    #[arg(long, value_name = "PATH", help = flag_help("--deny-read"))]
    deny_read: Vec<PathBuf>,
    #[arg(long, value_name = "PATH", help = flag_help("--allow-write"))]
    allow_write: Vec<PathBuf>,
    #[arg(long, value_name = "PATH", help = flag_help("--deny-write"))]
    deny_write: Vec<PathBuf>,
    /// Let every process of the command, not only the first, read its own files in `/proc` (its memory map, its
    /// threads, the numbers of its open files). Browsers and .NET need it. This slows down every opening of a file
    #[arg(long)]
    own_proc: bool,
    #[arg(long = "env", value_name = "NAME", value_parser = passed_variable(), help = flag_help("--env"))]
    variables: Vec<PassedVariable>,
}

/// `--sandbox`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Wanted {
    /// The strongest this machine allows; refuse to start below `landlock`
    Auto,
    /// Landlock and a filter of system calls
    Landlock,
    /// Not at all
    Off,
}

/// `--unenforced`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Unenforced {
    /// Do not start the command
    Refuse,
    /// Start it, and print what is open
    Allow,
}

/// On or off.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Switch {
    On,
    Off,
}

/// `--unix-sockets`, and `sandbox.unix_sockets` in the settings file.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
pub(crate) enum SocketSwitch {
    /// All; a command that reaches a container engine or an agent is not confined
    On,
    /// Those in places that it can write, and those that `--allow-socket` names
    #[default]
    Off,
    /// None
    None,
}

impl SocketSwitch {
    /// Adds the named sockets.
    pub(crate) fn with(self, named: Vec<PathBuf>) -> UnixSockets {
        match self {
            SocketSwitch::On => UnixSockets::Open,
            SocketSwitch::Off => UnixSockets::Named(named),
            SocketSwitch::None => UnixSockets::None,
        }
    }
}

fn passed_variable() -> impl TypedValueParser<Value = PassedVariable> {
    OsStringValueParser::new().try_map(PassedVariable::read)
}

impl ConfinementFlags {
    /// The combined options of flags and settings file.
    pub(crate) fn options(&self, ground: &Ground) -> Result<Options> {
        let placed = |paths: &[PathBuf]| {
            let path = |path: &PathBuf| ground.typed_root(path.as_os_str()).map(|named| named.root.path);
            paths.iter().map(path).collect::<Result<Vec<_>>>()
        };
        let set = ground.settings.sandbox.options();
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
                None => set.network,
            },
            // `--network off` is only about the server; the settings are about everything.
            fetch: if self.network == Some(Switch::On) { Network::On } else { set.fetch },
            unix_sockets: self.unix_sockets(ground)?,
            unenforced: match self.unenforced {
                Unenforced::Refuse => UnenforcedPolicy::Refuse,
                Unenforced::Allow => UnenforcedPolicy::Allow,
            },
            own_proc: if self.own_proc { OwnProc::EveryProcess } else { set.own_proc },
            filesystem: ground.settings.sandbox.filesystem(flags),
            variables: if self.variables.is_empty() { set.variables } else { self.variables.clone() },
            ..set
        })
    }

    /// A flag's list replaces the file's, as for paths.
    fn unix_sockets(&self, ground: &Ground) -> Result<UnixSockets> {
        let set = &ground.settings.sandbox;
        if self.sockets.is_empty() {
            return Ok(self.unix_sockets.unwrap_or(set.unix_sockets.value).with(set.sockets.value.clone()));
        }
        let switch = match (self.unix_sockets, set.unix_sockets.value) {
            (Some(SocketSwitch::None), _) => {
                let says = "`--allow-socket` and `--unix-sockets none` exclude each other".to_owned();
                let hint = "leave `--unix-sockets` out: no other socket outside is opened".to_owned();
                return Err(Hinted { says, hint }.into());
            }
            // The flag overrides the file.
            (None, SocketSwitch::None) => SocketSwitch::Off,
            (Some(switch), _) | (None, switch) => switch,
        };
        let named = self.sockets.iter().map(|path| ground.typed_path(path.as_os_str()));
        Ok(switch.with(named.collect::<Result<_>>()?))
    }
}
