//! The errors of operations on a grant.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use crate::denial::Denial;
use crate::shown::Shown;

/// Why an operation on a grant failed.
#[derive(Error, Debug)]
pub enum GrantError {
    /// The guard refused it.
    #[error(transparent)]
    Denied(#[from] Denial),
    /// It is allowed, but the system could not do it.
    #[error("`{}`: {source}", Shown::new(path))]
    Io {
        /// The path concerned.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The file has changed since the caller read it.
    #[error("`{}` was changed in the meantime", Shown::new(path))]
    Changed {
        /// The path concerned.
        path: PathBuf,
    },
    /// The file is larger than the caller's limit.
    #[error("`{}` has {size} bytes, the limit is {limit}", Shown::new(path))]
    TooLarge {
        /// The path concerned.
        path: PathBuf,
        /// The size of the file.
        size: u64,
        /// The caller's limit.
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
