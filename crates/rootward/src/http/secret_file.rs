//! Files with secrets: read by name, once, and only if nobody else could have read or written them.

use std::fs::OpenOptions;
use std::io::Read;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use anyhow::{Result, anyhow};
use rootward_core::{Shown, Validation};

use crate::ground::Ground;
use crate::message::{Hinted, word_for_shell};

/// The largest file to read.
const LARGEST: u64 = 1 << 20;

/// What a file contains, and who else may access it.
#[derive(Clone, Copy, Debug)]
pub(super) struct SecretFile {
    what: &'static str,
    /// Permission bits of group and others that are refused.
    refused: u32,
    /// The mode that the hint suggests.
    mode: &'static str,
}

pub(super) const TOKEN: SecretFile = SecretFile { what: "token file", refused: 0o077, mode: "600" };
/// Group members may read it: on some systems, programs that speak TLS share a group.
pub(super) const KEY: SecretFile = SecretFile { what: "key", refused: 0o027, mode: "600" };
/// Everybody may read it.
pub(super) const CERTIFICATE: SecretFile = SecretFile { what: "certificate", refused: 0o022, mode: "644" };

impl SecretFile {
    /// The file's bytes.
    #[expect(clippy::disallowed_methods, reason = "the operator's own file")]
    pub(super) fn read_ambient(self, ground: &Ground, path: &Path) -> Result<Vec<u8>> {
        let shown = format!("{} `{}`", self.what, Shown::new(path));
        // SECURITY: a confined server that chose the token could connect as its principal
        // (test: a_token_file_that_a_server_could_write_is_refused)
        let material = Validation::of(&ground.directories).material_ambient();
        if material.may_be_planted_ambient(path) {
            let says = format!("{shown} is where a confined server could have written it");
            let hint = "make a new one outside of every directory that servers can write".to_owned();
            return Err(Hinted { says, hint }.into());
        }
        let failed = |error: std::io::Error| anyhow!("{shown} cannot be read: {error}");
        // Opening a FIFO would block until it has a writer (open(2)).
        let without_waiting = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
        let file = OpenOptions::new().read(true).custom_flags(without_waiting).open(path).map_err(failed)?;
        let about = file.metadata().map_err(failed)?;
        if !about.is_file() || about.len() > LARGEST {
            return Err(anyhow!("{shown} cannot be read: not a regular file of at most 1 MiB"));
        }
        let own = rustix::process::geteuid().as_raw();
        if about.uid() != own && about.uid() != 0 {
            return Err(anyhow!("{shown} belongs to another user"));
        }
        // SECURITY: check the file that was opened, not its path
        // (test: a_token_file_that_others_can_read_is_refused)
        if about.mode() & self.refused != 0 {
            let others = if about.mode() & 0o022 == 0 { "read" } else { "write" };
            let says = format!("{shown} can be {} by others (mode {:o})", participle(others), about.mode() & 0o777);
            let hint = format!("run `chmod {} {}`", self.mode, word_for_shell(&path.to_string_lossy()));
            return Err(Hinted { says, hint }.into());
        }
        let mut bytes = Vec::new();
        file.take(LARGEST).read_to_end(&mut bytes).map_err(failed)?;
        Ok(bytes)
    }
}

fn participle(verb: &str) -> &str {
    if verb == "write" { "written" } else { verb }
}
