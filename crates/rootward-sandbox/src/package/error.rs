//! Why a package cannot be run.

use std::io;
use std::path::PathBuf;

use rootward_core::Shown;
use thiserror::Error;

/// Why a package cannot be run.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PackageError {
    /// The program that fetches it failed.
    #[error("package `{package}` could not be fetched: {reason}")]
    NotFetched {
        /// As it is asked for.
        package: String,
        /// What the program said last.
        reason: String,
    },
    /// It took too long.
    #[error("package `{package}` could not be fetched within {minutes} minutes")]
    TooLong {
        /// As it is asked for.
        package: String,
        /// How long it had.
        minutes: u64,
    },
    /// It is not there, and the settings close the network for every command.
    #[error("package `{package}` is not fetched yet, and the settings close the network")]
    NetworkOff {
        /// As it is asked for.
        package: String,
    },
    /// It has no program of this name.
    #[error("package `{package}` has no program `{program}`{}", others(.programs))]
    NoProgram {
        /// As it is asked for.
        package: String,
        /// The program that should run.
        program: String,
        /// The programs that it has.
        programs: Vec<String>,
    },
    /// Its program lies elsewhere: the package made a link.
    #[error("package `{package}` cannot be run: `{}` leads out of the package", Shown::new(.link))]
    Outside {
        /// As it is asked for.
        package: String,
        /// What leads there.
        link: PathBuf,
    },
    /// The place where packages are kept cannot be used.
    #[error("the package cache cannot be used: {0}")]
    Store(#[from] io::Error),
}

impl PackageError {
    /// Whether the package is whole and has other programs than the one that was asked for.
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
