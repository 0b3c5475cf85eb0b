//! One decision, as shown to the operator: the guard's, plus a refusal of anything that the grant would not allow
//! later.
//!
//! A grant for a device opens nothing, and a grant for a root itself removes nothing, so `check` denies these right
//! away.

use std::ffi::OsStr;
use std::path::PathBuf;

use rootward_core::{Access, Cause, Code, Denial, FileKind, Grant, Guard, Root, Shown};

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
    pub(crate) denial: Told,
    pub(crate) root: Option<PathBuf>,
    pub(crate) resolved: Option<PathBuf>,
}

/// A denial as shown to the operator.
#[derive(Debug)]
pub(crate) enum Told {
    /// The guard's own denial.
    ByGuard(Denial),
    /// A denial that the grant would give later: the denial, its cause and its root.
    ByGrant(Denial, Cause, Root),
}

impl Told {
    pub(crate) fn code(&self) -> Code {
        self.denial().code()
    }

    pub(crate) fn access(&self) -> Access {
        self.denial().access()
    }

    pub(crate) fn cause(&self) -> &Cause {
        match self {
            Told::ByGuard(denial) => denial.cause(),
            Told::ByGrant(_, cause, _) => cause,
        }
    }

    pub(crate) fn root(&self) -> Option<&Root> {
        match self {
            Told::ByGuard(denial) => denial.root(),
            Told::ByGrant(.., root) => Some(root),
        }
    }

    /// Whether a relative path was refused because there is no base.
    pub(crate) fn lacks_base(&self) -> bool {
        self.code() == Code::InvalidPath && *self.cause() == Cause::Plain
    }

    pub(crate) fn for_operator(&self) -> String {
        match self {
            Told::ByGrant(_, Cause::RootItself, root) => {
                format!("root `{}` itself cannot be changed", Shown::new(&root.path))
            }
            _ if self.lacks_base() => {
                let path = Shown::new(self.denial().path());
                format!("path `{path}` is relative, and the working directory cannot be found")
            }
            _ => self.denial().for_operator(),
        }
    }

    fn denial(&self) -> &Denial {
        match self {
            Told::ByGuard(denial) | Told::ByGrant(denial, ..) => denial,
        }
    }
}

impl Decision {
    pub(crate) fn of(guard: &Guard, path: &OsStr, access: Access) -> Decision {
        Decision::from_guard(guard.check(path, access), path)
    }

    pub(crate) fn from_guard(result: Result<Grant, Denial>, path: &OsStr) -> Decision {
        let denial = match result {
            Ok(grant) => return Decision::from_grant(grant, path),
            Err(denial) => denial,
        };
        Decision::Deny(Refused {
            root: denial.root().map(|root| root.path.clone()),
            resolved: denial.resolved().map(PathBuf::from),
            denial: Told::ByGuard(denial),
        })
    }

    fn from_grant(grant: Grant, path: &OsStr) -> Decision {
        let access = grant.access();
        let (code, cause) = if access.contains(Access::DELETE) && grant.relative().as_os_str().is_empty() {
            (Code::AccessDenied, Cause::RootItself)
        } else if !(access & OPENS).is_empty() && grant.kind() == Some(FileKind::Special) {
            (Code::SpecialFile, Cause::Plain)
        } else {
            return Decision::Allow(grant);
        };
        let root = grant.root().root.clone();
        Decision::Deny(Refused {
            root: Some(root.path.clone()),
            resolved: Some(grant.path()),
            denial: Told::ByGrant(Denial::new(code, path, access), cause, root),
        })
    }
}
