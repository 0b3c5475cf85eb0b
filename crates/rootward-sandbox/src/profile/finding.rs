//! What a command's surroundings say that it needs: places, each with everything that named it.
//!
//! The surroundings are read once for a command. Which of the findings a start may use is another question (`trust.rs`), asked
//! each time: what a confined command could have written names no place that is not open already.

use std::fmt;
use std::io::Read;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

use rootward_core::{Access, Material, follow_ambient};
use rustix::fs::{CWD, FileType, Mode, OFlags, fstat, openat};

use super::system;

/// Why a place is needed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Why {
    /// What is asked to run.
    Program,
    /// What runs a script.
    Interpreter,
    /// Libraries beside a program.
    Libraries,
    /// A virtual environment of Python.
    VirtualEnvironment,
    /// The Python that a virtual environment was made from.
    BasePython,
    /// Every version that a version manager installed: its shims choose among them.
    Versions,
    /// The package that a script belongs to.
    Package,
    /// Packages that find each other.
    NodeModules,
    /// The script that an interpreter runs.
    Script,
    /// Modules beside a script.
    BesideScript,
    /// Named by a variable of the environment.
    Variable,
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Why::Program => "the program",
            Why::Interpreter => "runs the script",
            Why::Libraries => "libraries beside the program",
            Why::VirtualEnvironment => "the virtual environment of the program",
            Why::BasePython => "the Python of the virtual environment",
            Why::Versions => "the versions that a shim chooses from",
            Why::Package => "the package of the script",
            Why::NodeModules => "packages that the script may use",
            Why::Script => "the script",
            Why::BesideScript => "modules beside the script",
            Why::Variable => "named by a variable",
        })
    }
}

/// A place that was found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Finding {
    /// Where it lies, without links.
    pub(crate) place: PathBuf,
    pub(crate) access: Access,
    pub(crate) why: Why,
    pub(crate) trail: Trail,
    /// What is taken where this one is not to be trusted.
    pub(crate) otherwise: Option<Box<Finding>>,
}

/// How a place was come upon.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Trail {
    /// The links that were followed and the files that were read on the way, where they lie. Each of them
    /// chose the place.
    pub(crate) named_in: Vec<PathBuf>,
    /// The directories that follow from the text of the command line, whatever they hold.
    pub(crate) own: Vec<Anchor>,
}

/// A directory, and the links that lead there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Anchor {
    /// Where it lies, without links.
    pub(crate) top: PathBuf,
    pub(crate) links: Vec<PathBuf>,
}

impl Anchor {
    pub(crate) fn find_ambient(path: &Path) -> Option<Anchor> {
        let followed = follow_ambient(path).filter(|followed| followed.exists)?;
        Some(Anchor { top: followed.place, links: followed.links })
    }

    /// Whether a place lies in it, and no confined command could have led it there.
    pub(crate) fn holds(&self, place: &Path, material: &Material) -> bool {
        place.starts_with(&self.top) && !self.links.iter().any(|link| material.holds(link))
    }
}

impl Trail {
    /// The same trail, past these links or files.
    pub(crate) fn past(&self, named_in: impl IntoIterator<Item = PathBuf>) -> Trail {
        let named_in = self.named_in.iter().cloned().chain(named_in).collect();
        Trail { named_in, own: self.own.clone() }
    }
}

/// All that was found.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Findings(pub(crate) Vec<Finding>);

impl Findings {
    /// Looks for a place; one that does not exist is not needed, nor is one that every command has.
    pub(crate) fn seek_ambient(&mut self, path: &Path, access: Access, why: Why, trail: &Trail) {
        self.add(Finding::seek_ambient(path, access, why, trail));
    }

    /// The same, with another that is taken where the first is not to be trusted.
    pub(crate) fn seek_or_ambient(&mut self, first: Option<Finding>, otherwise: Option<Finding>) {
        self.add(first.map(|first| Finding { otherwise: otherwise.map(Box::new), ..first }));
    }

    fn add(&mut self, finding: Option<Finding>) {
        self.0.extend(finding.filter(|finding| !self.0.contains(finding)));
    }
}

impl Finding {
    pub(crate) fn seek_ambient(path: &Path, access: Access, why: Why, trail: &Trail) -> Option<Finding> {
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

/// The beginning of a file that is read at a start. Only of a regular file: somebody may have put a FIFO or a device there.
// SECURITY: a start that waits for a planted FIFO, or reads a device without end, is no start
// (test: what_is_planted_beside_a_program_holds_up_no_start)
#[expect(clippy::disallowed_methods, reason = "the operator's own command: what its program and settings say")]
pub(crate) fn read_ambient(path: &Path, most: u64) -> Option<Vec<u8>> {
    // Pinned before it is opened: to open a device may have an effect by itself.
    let pinned = openat(CWD, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).ok()?;
    let mut start = Vec::new();
    if FileType::from_raw_mode(fstat(&pinned).ok()?.st_mode) == FileType::RegularFile {
        let file = std::fs::File::open(format!("/proc/self/fd/{}", pinned.as_raw_fd())).ok()?;
        file.take(most).read_to_end(&mut start).ok()?;
    }
    Some(start)
}
