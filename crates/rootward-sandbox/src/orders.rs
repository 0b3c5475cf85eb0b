//! The messages between host and launcher. They are passed through memory and a pipe that only the two have, never
//! through arguments or the environment, which every process of the user can read.

use std::ffi::OsString;
use std::io::{self, Read, Seek, Write};
use std::os::fd::{OwnedFd, RawFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
use serde::{Deserialize, Serialize};

use crate::error::Step;
use crate::options::{Network, OwnProc, Processes, Trace};
use crate::sockets::SocketKind;

/// The first argument that makes a program the launcher.
pub(crate) const VERB: &str = "__confine";

/// Bytes of a path or an argument, which need not be UTF-8.
pub(crate) type Bytes = Vec<u8>;

/// An open place, as the kernel gets it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct OpenPlace {
    /// Its resolved path.
    pub(crate) place: Bytes,
    /// The handle that the launcher inherits.
    pub(crate) handle: RawFd,
    /// The Landlock rights.
    pub(crate) rights: u64,
}

/// How the unix sockets of a command are controlled.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum UnixOrders {
    /// The filter only allows pairs.
    Closed,
    /// The supervisor makes the connections.
    Supervised {
        /// The sockets that the user named, resolved.
        named: Vec<Bytes>,
        /// The sockets of the user's session.
        session: Vec<(Bytes, SocketKind)>,
    },
    /// Not at all.
    Open,
}

/// Everything the launcher needs to know.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Orders {
    /// The Landlock version that the rules were made for.
    pub(crate) abi: i32,
    pub(crate) open: Vec<OpenPlace>,
    pub(crate) network: Network,
    pub(crate) unix_sockets: UnixOrders,
    pub(crate) trace: Trace,
    pub(crate) own_proc: OwnProc,
    pub(crate) processes: Processes,
    pub(crate) program: Bytes,
    pub(crate) name: Bytes,
    pub(crate) arguments: Vec<Bytes>,
    pub(crate) variables: Vec<(Bytes, Bytes)>,
    pub(crate) directory: Bytes,
    /// The start directory as a handle that the launcher inherits; it overrides the name.
    pub(crate) start: Option<RawFd>,
    /// The command's soft limit of open files, if it differs from the launcher's.
    pub(crate) open_files: Option<u64>,
    /// The directory to remove when the command has ended.
    pub(crate) private: Bytes,
    /// Its other end closes when the host ends.
    pub(crate) lifeline: RawFd,
    /// The pipe for reports.
    pub(crate) report: RawFd,
}

/// One line from the launcher.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum LauncherReport {
    /// Everything is enforced and the command runs.
    Confined {
        /// Its process id.
        process: i32,
    },
    /// It does not run.
    Failed { step: Step, reason: String },
    /// Something was refused; only while tracing.
    Refused {
        path: Bytes,
        access: String,
        /// The kind of the socket, for a refused connection.
        socket: Option<SocketKind>,
    },
}

impl Orders {
    /// Writes the orders into sealed memory.
    pub(crate) fn seal(&self) -> io::Result<OwnedFd> {
        let memory = memfd_create("rootward-orders", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
        let mut file = std::fs::File::from(memory);
        file.write_all(&serde_json::to_vec(self)?)?;
        let memory = OwnedFd::from(file);
        fcntl_add_seals(&memory, SealFlags::SEAL | SealFlags::SHRINK | SealFlags::GROW | SealFlags::WRITE)?;
        Ok(memory)
    }

    /// Reads the orders back.
    pub(crate) fn read(memory: OwnedFd) -> io::Result<Orders> {
        let mut file = std::fs::File::from(memory);
        file.rewind()?;
        let mut text = Vec::new();
        file.read_to_end(&mut text)?;
        Ok(serde_json::from_slice(&text)?)
    }

    /// The descriptors that come with the orders.
    pub(crate) fn descriptors(&self) -> impl Iterator<Item = RawFd> {
        self.open.iter().map(|open| open.handle).chain([self.lifeline, self.report]).chain(self.start)
    }
}

/// The bytes of an OS string.
pub(crate) fn bytes(text: impl AsRef<std::ffi::OsStr>) -> Bytes {
    text.as_ref().as_bytes().to_vec()
}

/// The reverse.
pub(crate) fn text(bytes: &[u8]) -> OsString {
    OsString::from_vec(bytes.to_vec())
}
