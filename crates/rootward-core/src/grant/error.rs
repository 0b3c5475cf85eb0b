//! What can go wrong with a granted path.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use crate::denial::Denial;
use crate::shown::Shown;

/// Why an operation on a grant did not happen.
#[derive(Error, Debug)]
pub enum GrantError {
    /// It is refused.
    #[error(transparent)]
    Denied(#[from] Denial),
    /// It is allowed, and the system could not do it.
    #[error("`{}`: {source}", Shown::new(path))]
    Io {
        /// The path it was about.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file is no longer what the caller has read.
    #[error("`{}` was changed by somebody else meanwhile", Shown::new(path))]
    Changed {
        /// The path it is about.
        path: PathBuf,
    },
    /// The file is larger than the caller takes.
    #[error("`{}` has {size} bytes, the limit is {limit}", Shown::new(path))]
    TooLarge {
        /// The path it is about.
        path: PathBuf,
        /// The size of the file.
        size: u64,
        /// The most the caller takes.
        limit: u64,
    },
}

impl GrantError {
    /// The kind of the system's error, if it is one.
    pub fn io_kind(&self) -> Option<io::ErrorKind> {
        match self {
            GrantError::Io { source, .. } => Some(source.kind()),
            _ => None,
        }
    }

    /// The refusal, if it is one.
    pub fn denial(&self) -> Option<&Denial> {
        match self {
            GrantError::Denied(denial) => Some(denial),
            _ => None,
        }
    }
}
