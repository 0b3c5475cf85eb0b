//! The `[sandbox]` table of the settings file: what every confined command gets, or does not get, unless a flag says otherwise.

use std::path::{Path, PathBuf};

use rootward_sandbox::{Filesystem, Network, Options, PassedVariable};
use serde::Deserialize;
use toml::Spanned;

use super::Setting;
use super::file::{Mistake, directory};
use crate::confinement_flags::SocketSwitch;

/// What is set for confined commands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct SandboxSettings {
    pub(crate) network: Setting<Network>,
    pub(crate) unix_sockets: Setting<SocketSwitch>,
    /// The unix sockets that commands can connect to besides.
    pub(crate) sockets: Setting<Vec<PathBuf>>,
    /// Variables that are passed on, by name or by prefix.
    pub(crate) variables: Setting<Vec<PassedVariable>>,
    pub(crate) allow_read: Setting<Vec<PathBuf>>,
    pub(crate) deny_read: Setting<Vec<PathBuf>>,
    pub(crate) allow_write: Setting<Vec<PathBuf>>,
    pub(crate) deny_write: Setting<Vec<PathBuf>>,
}

/// The table as its keys have it.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
pub(super) struct SandboxKeys {
    network: Option<Spanned<String>>,
    unix_sockets: Option<Spanned<String>>,
    sockets: Option<Vec<Spanned<String>>>,
    env: Option<Vec<Spanned<String>>>,
    #[serde(default)]
    filesystem: FilesystemKeys,
}

/// In the words of VS Code's `sandbox.filesystem`.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct FilesystemKeys {
    allow_read: Option<Vec<Spanned<String>>>,
    deny_read: Option<Vec<Spanned<String>>>,
    allow_write: Option<Vec<Spanned<String>>>,
    deny_write: Option<Vec<Spanned<String>>>,
}

/// What the table says.
#[derive(Default, Debug)]
pub(super) struct WrittenSandbox {
    network: Option<Network>,
    unix_sockets: Option<SocketSwitch>,
    sockets: Option<Vec<PathBuf>>,
    variables: Option<Vec<PassedVariable>>,
    allow_read: Option<Vec<PathBuf>>,
    deny_read: Option<Vec<PathBuf>>,
    allow_write: Option<Vec<PathBuf>>,
    deny_write: Option<Vec<PathBuf>>,
}

impl SandboxKeys {
    pub(super) fn read(self, text: &str, home: Option<&Path>) -> Result<WrittenSandbox, Mistake> {
        let wrong = |spot: &Spanned<String>, reason: &str| Mistake::about(text, spot, reason);
        let is_on = |spot: Option<Spanned<String>>| match spot.as_ref().map(|spot| (spot, spot.get_ref().as_str())) {
            None => Ok(None),
            Some((_, "on")) => Ok(Some(true)),
            Some((_, "off")) => Ok(Some(false)),
            Some((spot, _)) => Err(wrong(spot, "expected `on` or `off`")),
        };
        let switch = |spot: Spanned<String>| match spot.get_ref().as_str() {
            "on" => Ok(SocketSwitch::On),
            "off" => Ok(SocketSwitch::Off),
            "none" => Ok(SocketSwitch::None),
            _ => Err(wrong(&spot, "expected `on`, `off` or `none`")),
        };
        let name = |spot: Spanned<String>| {
            PassedVariable::read(spot.get_ref()).map_err(|error| wrong(&spot, &error.to_string()))
        };
        let path = |spot: &Spanned<String>| directory(spot.get_ref(), home).map_err(|why| wrong(spot, &why));
        let paths = |spots: Option<Vec<Spanned<String>>>| {
            spots.map(|spots| spots.iter().map(path).collect::<Result<Vec<_>, _>>()).transpose()
        };
        Ok(WrittenSandbox {
            network: is_on(self.network)?.map(|on| if on { Network::On } else { Network::Off }),
            unix_sockets: self.unix_sockets.map(switch).transpose()?,
            sockets: paths(self.sockets)?,
            variables: self.env.map(|names| names.into_iter().map(name).collect::<Result<_, _>>()).transpose()?,
            allow_read: paths(self.filesystem.allow_read)?,
            deny_read: paths(self.filesystem.deny_read)?,
            allow_write: paths(self.filesystem.allow_write)?,
            deny_write: paths(self.filesystem.deny_write)?,
        })
    }
}

impl From<WrittenSandbox> for SandboxSettings {
    fn from(written: WrittenSandbox) -> SandboxSettings {
        SandboxSettings {
            network: Setting::first(None, written.network, Network::default()),
            unix_sockets: Setting::first(None, written.unix_sockets, SocketSwitch::default()),
            sockets: Setting::first(None, written.sockets, Vec::new()),
            variables: Setting::first(None, written.variables, Vec::new()),
            allow_read: Setting::first(None, written.allow_read, Vec::new()),
            deny_read: Setting::first(None, written.deny_read, Vec::new()),
            allow_write: Setting::first(None, written.allow_write, Vec::new()),
            deny_write: Setting::first(None, written.deny_write, Vec::new()),
        }
    }
}

impl SandboxSettings {
    /// What is in force where the flags say `flags`: a flag's list stands in place of the file's.
    pub(crate) fn filesystem(&self, flags: Filesystem) -> Filesystem {
        let instead = |flags: Vec<PathBuf>, set: &Setting<Vec<PathBuf>>| {
            if flags.is_empty() { set.value.clone() } else { flags }
        };
        // SECURITY: a flag that denies more does not take away what the file denies
        // (test: denials_of_flag_and_file_add_up)
        let both = |flags: Vec<PathBuf>, set: &Setting<Vec<PathBuf>>| [flags, set.value.clone()].concat();
        Filesystem {
            allow_read: instead(flags.allow_read, &self.allow_read),
            allow_write: instead(flags.allow_write, &self.allow_write),
            deny_read: both(flags.deny_read, &self.deny_read),
            deny_write: both(flags.deny_write, &self.deny_write),
        }
    }

    /// How a command is confined where no flag says anything.
    pub(crate) fn options(&self) -> Options {
        Options {
            network: self.network.value,
            // A setting that closes the network for every command closes it for fetching, too.
            fetch: self.network.value,
            unix_sockets: self.unix_sockets.value.with(self.sockets.value.clone()),
            filesystem: self.filesystem(Filesystem::default()),
            variables: self.variables.value.clone(),
            ..Options::default()
        }
    }

    /// Each list of paths by its key.
    pub(crate) fn paths(&self) -> [(&'static str, &Setting<Vec<PathBuf>>); 5] {
        [
            ("sandbox.sockets", &self.sockets),
            ("sandbox.filesystem.allowRead", &self.allow_read),
            ("sandbox.filesystem.denyRead", &self.deny_read),
            ("sandbox.filesystem.allowWrite", &self.allow_write),
            ("sandbox.filesystem.denyWrite", &self.deny_write),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn denials_of_flag_and_file_add_up() {
        let list = |names: &[&str]| names.iter().map(PathBuf::from).collect::<Vec<_>>();
        let written = WrittenSandbox {
            allow_read: Some(list(&["/file/a"])),
            allow_write: Some(list(&["/file/b"])),
            deny_read: Some(list(&["/file/c"])),
            deny_write: Some(list(&["/file/d"])),
            ..WrittenSandbox::default()
        };
        let settings = SandboxSettings::from(written);
        let flags = Filesystem {
            allow_read: list(&["/flag/a"]),
            deny_read: list(&["/flag/c"]),
            deny_write: list(&["/flag/d"]),
            allow_write: Vec::new(),
        };
        let expect = Filesystem {
            allow_read: list(&["/flag/a"]),
            allow_write: list(&["/file/b"]),
            deny_read: list(&["/flag/c", "/file/c"]),
            deny_write: list(&["/flag/d", "/file/d"]),
        };
        assert_eq!(settings.filesystem(flags), expect);
    }
}
