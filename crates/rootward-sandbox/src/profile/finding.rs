//! What a command seems to need: places, each with everything that named it.
//!
//! The findings are collected once for a command. Which of them a start may use is decided each time (`trust.rs`): what
//! a confined command could have written must not open a place that is not open already.

use std::fmt;
use std::io::Read;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

use rootward_core::{Access, Material, follow_ambient};
use rustix::fs::{CWD, FileType, Mode, OFlags, fstat, openat};

use super::system;

/// Why a place is needed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum NeededAs {
    /// It is the program to run.
    Program,
    /// It runs a script.
    Interpreter,
    /// Libraries next to a program.
    Libraries,
    /// A Python virtual environment.
    VirtualEnvironment,
    /// The Python that a virtual environment was created from.
    BasePython,
    /// Every version that a version manager installed: its shims choose among them.
    Versions,
    /// The package that a script belongs to.
    Package,
    /// A directory of packages.
    NodeModules,
    /// The script that an interpreter runs.
    Script,
    /// Modules next to a script.
    BesideScript,
    /// Named by an environment variable.
    Variable,
}

impl fmt::Display for NeededAs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            NeededAs::Program => "the program",
            NeededAs::Interpreter => "runs the script",
            NeededAs::Libraries => "libraries beside the program",
            NeededAs::VirtualEnvironment => "the virtual environment of the program",
            NeededAs::BasePython => "the Python of the virtual environment",
            NeededAs::Versions => "the versions that a shim chooses from",
            NeededAs::Package => "the package of the script",
            NeededAs::NodeModules => "packages that the script may use",
            NeededAs::Script => "the script",
            NeededAs::BesideScript => "modules beside the script",
            NeededAs::Variable => "named by a variable",
        })
    }
}

/// A place that was found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Finding {
    /// Its resolved path.
    pub(crate) place: PathBuf,
    pub(crate) access: Access,
    pub(crate) why: NeededAs,
    pub(crate) trail: Trail,
    /// The finding to use if this one cannot be trusted.
    pub(crate) otherwise: Option<Box<Finding>>,
}

/// How a place was found.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Trail {
    /// The links that were followed and the files that were read on the way, resolved. Each of them influenced the
    /// result.
    pub(crate) named_in: Vec<PathBuf>,
    /// The directories that follow from the command line alone, whatever they contain.
    pub(crate) own: Vec<Anchor>,
}

/// A directory, and the links that lead to it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Anchor {
    /// Its resolved path.
    pub(crate) top: PathBuf,
    pub(crate) links: Vec<PathBuf>,
}

impl Anchor {
    pub(crate) fn find_ambient(path: &Path) -> Option<Anchor> {
        let followed = follow_ambient(path).filter(|followed| followed.exists)?;
        Some(Anchor { top: followed.place, links: followed.links })
    }

    /// Whether it contains a place, and no confined command could have redirected it.
    pub(crate) fn holds(&self, place: &Path, material: &Material) -> bool {
        place.starts_with(&self.top) && !self.links.iter().any(|link| material.holds(link))
    }
}

impl Trail {
    /// The same trail, extended by these links or files.
    pub(crate) fn past(&self, named_in: impl IntoIterator<Item = PathBuf>) -> Trail {
        let named_in = self.named_in.iter().cloned().chain(named_in).collect();
        Trail { named_in, own: self.own.clone() }
    }
}

/// All findings.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Findings(pub(crate) Vec<Finding>);

impl Findings {
    /// Adds a place, unless it does not exist or every command has it.
    pub(crate) fn seek_ambient(&mut self, path: &Path, access: Access, why: NeededAs, trail: &Trail) {
        self.add(Finding::seek_ambient(path, access, why, trail));
    }

    /// The same, with another that is used if the first cannot be trusted.
    pub(crate) fn seek_or_ambient(&mut self, first: Option<Finding>, otherwise: Option<Finding>) {
        self.add(first.map(|first| Finding { otherwise: otherwise.map(Box::new), ..first }));
    }

    fn add(&mut self, finding: Option<Finding>) {
        self.0.extend(finding.filter(|finding| !self.0.contains(finding)));
    }
}

impl Finding {
    pub(crate) fn seek_ambient(path: &Path, access: Access, why: NeededAs, trail: &Trail) -> Option<Finding> {
        let followed = follow_ambient(path).filter(|followed| followed.exists)?;
        let trail = trail.past(followed.links);
        (!system::gives(&followed.place, access)).then_some(Finding {
            place: followed.place,
            access,
            why,
            trail,
            otherwise: None,
        })
    }
}

/// The beginning of a file that is read at a start. Only of a regular file: somebody may have put a FIFO or a device
/// there.
// SECURITY: a planted FIFO or endless device must not block a start
// (test: a_fifo_or_device_beside_a_program_does_not_block_a_start)
#[expect(clippy::disallowed_methods, reason = "the operator's own command: its program and settings")]
pub(crate) fn read_ambient(path: &Path, most: u64) -> Option<Vec<u8>> {
    // Pin before opening: opening a device may have an effect.
    let pinned = openat(CWD, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).ok()?;
    let mut start = Vec::new();
    if FileType::from_raw_mode(fstat(&pinned).ok()?.st_mode) == FileType::RegularFile {
        let file = std::fs::File::open(format!("/proc/self/fd/{}", pinned.as_raw_fd())).ok()?;
        file.take(most).read_to_end(&mut start).ok()?;
    }
    Some(start)
}
