//! What the table `[sandbox]` means for a confined command.

use std::path::PathBuf;

use rootward_sandbox::{Filesystem, Options};

use super::{SandboxSettings, Setting};

impl SandboxSettings {
    /// The effective values with these flags: a flag's list replaces the file's.
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

    /// How a command is confined without flags.
    pub(crate) fn options(&self) -> Options {
        Options {
            network: self.network.value,
            // A setting that closes the network for every command also closes it for fetching.
            fetch: self.network.value,
            unix_sockets: self.unix_sockets.value.with(self.sockets.value.clone()),
            filesystem: self.filesystem(Filesystem::default()),
            variables: self.variables.value.clone(),
            ..Options::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::file::parse;
    use super::*;

    #[test]
    fn denials_of_flag_and_file_add_up() {
        let list = |names: &[&str]| names.iter().map(PathBuf::from).collect::<Vec<_>>();
        let text = "[sandbox.filesystem]\nallowRead = ['/file/a']\nallowWrite = ['/file/b']\n\
                    denyRead = ['/file/c']\ndenyWrite = ['/file/d']";
        let settings = parse(text, None).unwrap().sandbox;
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
