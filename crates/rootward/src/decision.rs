//! One decision, as the operator sees it: the guard's, and that what cannot be opened at all is refused, too.

use std::ffi::OsStr;
use std::path::PathBuf;

use rootward_core::{Access, Code, Denial, FileKind, Grant, Guard};

/// The kinds of access that open something.
const OPENS: Access = Access::ALL.without(Access::DELETE);

/// How a path was decided.
#[derive(Debug)]
pub(crate) enum Decision {
    /// It may be used.
    Allow(Grant),
    /// It may not.
    Deny(Refused),
}

/// A refusal with what is known about the place.
#[derive(Debug)]
pub(crate) struct Refused {
    pub(crate) denial: Denial,
    pub(crate) root: Option<PathBuf>,
    pub(crate) resolved: Option<PathBuf>,
}

impl Decision {
    pub(crate) fn of(guard: &Guard, path: &OsStr, access: Access) -> Decision {
        Decision::from_guard(guard.check(path, access), path)
    }

    /// A grant for a device, FIFO or socket lets nothing be done but remove it: opening it is refused. Who asks beforehand
    /// is told beforehand.
    pub(crate) fn from_guard(result: Result<Grant, Denial>, path: &OsStr) -> Decision {
        match result {
            Ok(grant) if !(grant.access() & OPENS).is_empty() && grant.kind() == Some(FileKind::Special) => {
                Decision::Deny(Refused {
                    denial: Denial::new(Code::SpecialFile, path, grant.access()),
                    root: Some(grant.root().root.path.clone()),
                    resolved: Some(grant.path()),
                })
            }
            Ok(grant) => Decision::Allow(grant),
            Err(denial) => Decision::Deny(Refused {
                root: denial.root().map(|root| root.path.clone()),
                resolved: denial.resolved().map(PathBuf::from),
                denial,
            }),
        }
    }
}
