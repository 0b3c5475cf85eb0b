//! A root: a directory or file that the user shares.

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::access::Access;

/// Who supplied a root.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// The client, over the protocol.
    Client,
    /// A flag on the command line.
    Flag,
    /// An environment variable.
    Env,
    /// The settings file.
    Config,
    /// The user's saved choice.
    Store,
    /// The fallback directory.
    Fallback,
}

/// How a root was spelled by whoever supplied it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Spelling {
    /// As a `file:` URI.
    Uri,
    /// As a bare path. The protocol asks for URIs; some clients send paths all the same.
    Path,
}

/// A root as it was named: plain values, nothing looked up yet.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Root {
    /// The absolute path as named, without trailing separators.
    pub path: PathBuf,
    /// The name to show, if one was given.
    pub name: Option<String>,
    /// What may be done below it.
    pub access: Access,
    /// Who supplied it.
    pub origin: Origin,
    /// How it was spelled.
    pub spelling: Spelling,
}

/// Whether a root is a directory or a single file.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RootKind {
    /// Everything below it is shared.
    Directory,
    /// It alone is shared.
    File,
}

/// Which object on disk: device and inode.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct FileId {
    /// The device it lies on.
    pub device: u64,
    /// Its inode there.
    pub inode: u64,
}

/// A root that was found on disk: plain values, no handle.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct PlacedRoot {
    /// The root as it was named.
    pub root: Root,
    /// Where it really lies: absolute, without links or dot segments.
    pub place: PathBuf,
    /// A directory or a file.
    pub kind: RootKind,
    /// The object found there: the root itself for a directory, its parent for a file (programs replace files, and the
    /// name stays shared).
    pub id: FileId,
}

impl PlacedRoot {
    /// Whether `place` (resolved, absolute) is this root or lies below it.
    pub fn holds(&self, place: &Path) -> bool {
        match self.kind {
            RootKind::Directory => place.starts_with(&self.place),
            RootKind::File => place == self.place,
        }
    }
}
