//! Finds what could be shared: repositories, projects and workspaces below a directory, each with the reason.
//!
//! The results are only suggestions. They come from files in the directories, and a repository's content does not
//! say what its user wants: nothing is stored, nothing is run, no link is followed, and a place elsewhere is
//! reported as text without looking at it.
//!
//! ```
//! use rootward_client::detect::{Certainty, DetectOptions, Kind, detect_ambient};
//!
//! # let directory = tempfile::tempdir()?;
//! # let source = directory.path().canonicalize()?;
//! # std::fs::create_dir(source.join("app"))?;
//! # std::fs::write(source.join("app/Cargo.toml"), "[package]\nname = \"my-app\"")?;
//! let detection = detect_ambient(&[source], &DetectOptions::default(), &|_| {})?;
//! let app = &detection.suggestions[0];
//! assert_eq!((app.name.as_deref(), app.certainty), (Some("my-app"), Certainty::Certain));
//! assert_eq!(app.reasons[0].kind, Kind::CargoPackage);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Layout
//!
//! - [`detect`] looks below grants, [`detect_ambient`] below directories; [`DetectOptions`] and [`Limits`] say how far.
//! - [`Detection`], [`Suggestion`], [`Reason`], [`Kind`]: the results. [`Progress`]: how far a long scan has come.
//! - `scan.rs` is the walk; `detectors/` has a file for each kind of evidence, which parses one file's text and
//!   nothing else; `join.rs` turns their findings into suggestions.

mod detectors;
mod found;
mod join;
mod kind;
mod limits;
mod members;
mod passed_over;
mod scan;
mod suggestion;

use std::path::PathBuf;
use std::time::Duration;

use rootward_core::{
    Access, Denial, Grant, GrantError, Guard, GuardOptions, Origin, Root, RootError, RootSet, Shown, Validation,
    WhyRefused,
};
use thiserror::Error;

pub use kind::Kind;
pub use limits::{Bound, Limits};
pub use scan::Progress;
pub use suggestion::{Bond, Certainty, Detection, Presence, Reason, Suggestion, Unreadable, Within};

/// The options of a scan.
#[derive(Clone, Debug)]
pub struct DetectOptions {
    /// How far it goes.
    pub limits: Limits,
    /// How many threads; 0 for one per core.
    pub threads: usize,
    /// The minimum time between two progress reports.
    pub tell_every: Duration,
    /// Decides which places elsewhere are reported: those that a client could name.
    pub validation: Validation,
}

/// The default limits, a thread for each core, progress ten times a second, and no home: then no place elsewhere in
/// any home is reported.
impl Default for DetectOptions {
    fn default() -> DetectOptions {
        let tell_every = Duration::from_millis(100);
        DetectOptions { limits: Limits::default(), threads: 0, tell_every, validation: Validation::new(None) }
    }
}

/// Why a directory was not scanned.
#[derive(Error, Debug)]
pub enum DetectError {
    /// Not a valid path of a directory.
    #[error(transparent)]
    Root(#[from] RootError),
    /// It does not exist or is not reachable.
    #[error("`{}` {reason}", Shown::new(path))]
    Refused {
        /// The directory.
        path: PathBuf,
        /// Why not.
        reason: WhyRefused,
    },
    /// It is closed.
    #[error(transparent)]
    Denied(#[from] Denial),
    /// It cannot be read.
    #[error(transparent)]
    Read(#[from] GrantError),
}

/// Finds what could be shared below directories that may be read. `progress` is called occasionally, from several
/// threads.
pub fn detect(
    directories: &[Grant],
    options: &DetectOptions,
    progress: &(dyn Fn(&Progress<'_>) + Sync),
) -> Result<Detection, DetectError> {
    let scan = scan::Scan::new(options, progress);
    let walks = directories.iter().map(|directory| scan.walk(directory)).collect::<Result<Vec<_>, _>>()?;
    Ok(join::join(&scan, walks))
}

/// The name of a readable directory: the project's own name, else the last part of its git remote, else the
/// directory's name. `None` if none of these is usable as a name.
pub fn name(directory: &Grant) -> Option<String> {
    let limits = Limits { depth: 0, entries: NAMED_WITHIN, time: Duration::from_secs(1), ..Limits::default() };
    let options = DetectOptions { limits, threads: 1, ..DetectOptions::default() };
    let found = detect(std::slice::from_ref(directory), &options, &|_| {}).ok();
    let found = found.and_then(|found| found.suggestions.into_iter().find(|found| found.path == directory.path()));
    found.and_then(|found| found.name).or_else(|| found::usable_name(&directory.path().file_name()?.to_string_lossy()))
}

/// How many entries of a directory to search for its name.
const NAMED_WITHIN: u64 = 5000;

/// [`detect`] below directories given as absolute paths, with the standard closed places: for callers that act for
/// the user.
pub fn detect_ambient(
    directories: &[PathBuf],
    options: &DetectOptions,
    progress: &(dyn Fn(&Progress<'_>) + Sync),
) -> Result<Detection, DetectError> {
    let grant = |path: &PathBuf| -> Result<Grant, DetectError> {
        let root = Root::from_path(path, Origin::Flag)?.with_access(Access::READ);
        let set = RootSet::place_ambient([root], &options.validation);
        if let Some(refused) = set.refused().first() {
            return Err(DetectError::Refused { path: path.clone(), reason: refused.reason.clone() });
        }
        Ok(Guard::new(set, GuardOptions::default()).check(path, Access::READ)?)
    };
    detect(&directories.iter().map(grant).collect::<Result<Vec<_>, _>>()?, options, progress)
}
