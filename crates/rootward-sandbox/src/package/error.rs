//! Why a package cannot be run.

use std::io;
use std::path::PathBuf;

use rootward_core::Shown;
use thiserror::Error;

/// Why a package cannot be run.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PackageError {
    /// The fetching program failed.
    #[error("package `{package}` could not be fetched: {reason}")]
    NotFetched {
        /// The package as requested.
        package: String,
        /// The program's last message.
        reason: String,
    },
    /// It took too long.
    #[error("package `{package}` could not be fetched within {minutes} minutes")]
    TooLong {
        /// The package as requested.
        package: String,
        /// The time limit.
        minutes: u64,
    },
    /// It is not installed, and the settings close the network for every command.
    #[error("package `{package}` is not fetched yet, and the settings close the network")]
    NetworkOff {
        /// The package as requested.
        package: String,
    },
    /// It has no program with this name.
    #[error("package `{package}` has no program `{program}`{}", others(.programs))]
    NoProgram {
        /// The package as requested.
        package: String,
        /// The program that was to run.
        program: String,
        /// The programs that it has.
        programs: Vec<String>,
    },
    /// Its program lies outside: the package contains a link.
    #[error("package `{package}` cannot be run: `{}` leads out of the package", Shown::new(.link))]
    Outside {
        /// The package as requested.
        package: String,
        /// The link.
        link: PathBuf,
    },
    /// The package store cannot be used.
    #[error("the package cache cannot be used: {0}")]
    Store(#[from] io::Error),
}

impl PackageError {
    /// Whether the package is intact and has other programs than the requested one.
    pub(super) fn names_others(&self) -> bool {
        matches!(self, PackageError::NoProgram { programs, .. } if !programs.is_empty())
    }
}

fn others(programs: &[String]) -> String {
    match programs {
        [] => ": it has none".to_owned(),
        programs => {
            let names: Vec<String> = programs.iter().map(|name| format!("`{}`", Shown::new(name))).collect();
            format!("; it has {}", names.join(", "))
        }
    }
}
