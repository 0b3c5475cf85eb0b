//! A refusal: a stable code, what was asked for, and one fixed sentence for each reason.
//!
//! It has two readers. A peer sees the code and the path as it asked for it, never what lies outside. The operator also
//! sees the cause and where the path led.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use rustix::io::Errno;
use serde::{Serialize, Serializer};

use crate::access::Access;
use crate::grant::Grant;
use crate::root::Root;
use crate::shown::Shown;
use crate::text::TextError;

/// The maximum length of a path that is kept, in bytes: longer than a URI whose every byte is escaped.
const LONGEST_SHOWN: usize = 16 << 10;

/// The stable name of a kind of refusal.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Code {
    /// The path leads outside every root.
    OutsideRoots,
    /// There are no roots.
    NoRoots,
    /// The roots were requested and are not known yet.
    RootsPending,
    /// The client's roots could not be read.
    RootsFailed,
    /// Inside a root that does not give this access, or the system refuses.
    AccessDenied,
    /// A closed place below a root.
    Restricted,
    /// Text that is not a usable path.
    InvalidPath,
    /// A path of another operating system.
    ForeignPath,
    /// A URI with a scheme other than `file`.
    UnsupportedScheme,
    /// A device, FIFO or socket.
    SpecialFile,
    /// The decision could not be recorded.
    AuditUnavailable,
    /// A link inside a root that leads outside; a peer sees `outside_roots`.
    SymlinkEscape,
    /// A system directory or secret place that cannot be a root; a peer sees `outside_roots`.
    SystemPath,
}

impl Code {
    /// The code as a string.
    pub const fn as_str(self) -> &'static str {
        match self {
            Code::OutsideRoots => "outside_roots",
            Code::NoRoots => "no_roots",
            Code::RootsPending => "roots_pending",
            Code::RootsFailed => "roots_failed",
            Code::AccessDenied => "access_denied",
            Code::Restricted => "restricted",
            Code::InvalidPath => "invalid_path",
            Code::ForeignPath => "foreign_path",
            Code::UnsupportedScheme => "unsupported_scheme",
            Code::SpecialFile => "special_file",
            Code::AuditUnavailable => "audit_unavailable",
            Code::SymlinkEscape => "symlink_escape",
            Code::SystemPath => "system_path",
        }
    }

    /// The code that a peer may see.
    #[must_use]
    pub const fn for_peer(self) -> Code {
        match self {
            // SECURITY: a peer must not learn that something outside exists or where a link leads
            // (test: a_peer_learns_nothing_about_places_outside)
            Code::SymlinkEscape | Code::SystemPath => Code::OutsideRoots,
            code => code,
        }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// The reason in more detail than the code, for the operator.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Cause {
    /// The code says everything.
    Plain,
    /// The text is not a valid path.
    Text(TextError),
    /// The root does not give the requested access.
    Access,
    /// The root itself cannot be removed, renamed or replaced.
    RootItself,
    /// A restriction applies here.
    Restriction {
        /// Its pattern.
        pattern: String,
        /// The access that all restrictions together take away here.
        takes: Access,
    },
    /// Moving this would carry along a place that has its own rules.
    CarriesAlong(PathBuf),
    /// The system refused.
    System(ErrorKind),
    /// The path goes through a magic link of `/proc`, at this place.
    MagicLink(PathBuf),
    /// The path uses `..` to climb from this place outside every root. Any other answer would show whether the place
    /// exists.
    Climbs(PathBuf),
    /// The path kept changing while it was being resolved.
    Unsettled,
    /// The root was replaced or removed since the guard was made.
    RootChanged,
    /// A root gives the access, but the program's own rules do not. The string says what these rules allow.
    OwnRules(String),
}

/// A refusal.
#[derive(Clone, PartialEq, Eq)]
pub struct Denial(Box<Parts>);

#[derive(Clone, PartialEq, Eq)]
struct Parts {
    code: Code,
    path: OsString,
    access: Access,
    root: Option<Root>,
    resolved: Option<PathBuf>,
    cause: Cause,
}

impl Denial {
    /// A refusal of `path`, for the reason `code`.
    pub fn new(code: Code, path: impl Into<OsString>, access: Access) -> Denial {
        Denial(Box::new(Parts {
            code,
            path: shortened(path.into()),
            access,
            root: None,
            resolved: None,
            cause: Cause::Plain,
        }))
    }

    /// The same refusal for a place that a root gives but the program's own rules do not. `says` tells what these rules
    /// allow.
    #[must_use]
    pub fn by_own_rules(self, grant: &Grant, says: impl Into<String>) -> Denial {
        self.at(&grant.root().root, grant.path()).because(Cause::OwnRules(says.into()))
    }

    /// The same refusal, showing the path as the caller asked for it.
    #[must_use]
    pub fn asked_as(mut self, path: impl Into<OsString>) -> Denial {
        self.0.path = shortened(path.into());
        self
    }

    pub(crate) fn because(mut self, cause: Cause) -> Denial {
        self.0.cause = cause;
        self
    }

    pub(crate) fn at(mut self, root: &Root, resolved: PathBuf) -> Denial {
        self.0.root = Some(root.clone());
        self.0.resolved = Some(resolved);
        self
    }

    pub(crate) fn leading_to(mut self, resolved: PathBuf) -> Denial {
        self.0.resolved = Some(resolved);
        self
    }

    /// The code, as the operator sees it.
    pub fn code(&self) -> Code {
        self.0.code
    }

    /// The path as it was asked for.
    pub fn path(&self) -> &OsStr {
        &self.0.path
    }

    /// The access that was asked for.
    pub fn access(&self) -> Access {
        self.0.access
    }

    /// The root that contains the path, if any.
    pub fn root(&self) -> Option<&Root> {
        self.0.root.as_ref()
    }

    /// Where the path leads, if known. For the operator only.
    pub fn resolved(&self) -> Option<&Path> {
        self.0.resolved.as_deref()
    }

    /// The cause. For the operator only.
    pub fn cause(&self) -> &Cause {
        &self.0.cause
    }

    /// The message for the operator: it names the cause and where the path led.
    pub fn for_operator(&self) -> String {
        let path = Shown::new(&self.0.path);
        match (self.0.code, &self.0.cause, self.resolved()) {
            (_, Cause::MagicLink(link), _) => {
                let link = Shown::new(link);
                format!("path `{path}` goes through `{link}`, a magic link, which is never followed")
            }
            (_, Cause::Climbs(from), _) => {
                format!("path `{path}` climbs by `..` from `{}`, which is outside every root", Shown::new(from))
            }
            (_, Cause::Unsettled, _) => format!("path `{path}` kept changing while it was resolved"),
            (_, Cause::RootChanged, _) => format!("path `{path}` is in a root that is gone or was replaced"),
            (Code::SymlinkEscape, _, Some(resolved)) => {
                format!("path `{path}` leaves its root through a link: it leads to `{}`", Shown::new(resolved))
            }
            (Code::OutsideRoots, _, Some(resolved)) if resolved.as_os_str() != self.0.path => {
                format!("path `{path}` is outside every root: it leads to `{}`", Shown::new(resolved))
            }
            _ => self.to_string(),
        }
    }
}

/// The message for a peer.
impl fmt::Display for Denial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = Shown::new(&self.0.path);
        let access = self.0.access;
        if let Cause::OwnRules(says) = &self.0.cause {
            return write!(f, "path `{path}` is refused: {says}");
        }
        match self.0.code.for_peer() {
            Code::NoRoots => write!(f, "path `{path}` is refused: there are no roots"),
            Code::RootsPending => write!(f, "path `{path}` is refused: the roots are not known yet"),
            Code::RootsFailed => write!(f, "path `{path}` is refused: the client's roots could not be read"),
            Code::AccessDenied => match (&self.0.cause, &self.0.root) {
                (Cause::RootItself, Some(root)) => {
                    write!(f, "root `{}` itself cannot be changed", Shown::new(&root.path))
                }
                (Cause::Access, Some(root)) => write!(
                    f,
                    "root `{}` is shared for {}, path `{path}` needs {access}",
                    Shown::new(&root.path),
                    root.access
                ),
                (Cause::System(kind), _) => write!(f, "path `{path}` cannot be opened: {}", says(*kind)),
                _ => write!(f, "path `{path}` is not shared for {access}"),
            },
            Code::Restricted => match &self.0.cause {
                Cause::Restriction { pattern, takes: Access::ALL } => {
                    write!(f, "path `{path}` is in a closed place (`{pattern}`)")
                }
                Cause::Restriction { pattern, .. } => {
                    write!(f, "path `{path}` is in a place closed for writing (`{pattern}`)")
                }
                _ => write!(f, "path `{path}` cannot be moved: that would also move a closed place or another root"),
            },
            Code::InvalidPath | Code::ForeignPath | Code::UnsupportedScheme => match &self.0.cause {
                Cause::Text(reason) => write!(f, "path `{path}` is not usable ({reason})"),
                Cause::System(kind) => write!(f, "path `{path}` cannot be resolved: {}", says(*kind)),
                _ => write!(f, "path `{path}` is not usable"),
            },
            Code::SpecialFile => write!(f, "path `{path}` is a device, FIFO or socket"),
            Code::AuditUnavailable => write!(f, "path `{path}` is refused: the decision could not be recorded"),
            Code::OutsideRoots | Code::SymlinkEscape | Code::SystemPath => {
                write!(f, "path `{path}` is outside every root")
            }
        }
    }
}

/// Cuts off a path that is too long to be valid and is only shown.
fn shortened(path: OsString) -> OsString {
    if path.len() <= LONGEST_SHOWN {
        return path;
    }
    let mut bytes = path.into_vec();
    bytes.truncate(LONGEST_SHOWN);
    bytes.extend_from_slice("…".as_bytes());
    OsString::from_vec(bytes)
}

/// A system error in plain words.
pub(crate) fn says(kind: ErrorKind) -> String {
    match kind {
        ErrorKind::NotFound => "something on the way does not exist".to_owned(),
        ErrorKind::NotADirectory => "something on the way is not a directory".to_owned(),
        kind if kind == Errno::LOOP.kind() => "too many links, or links that form a loop".to_owned(),
        ErrorKind::InvalidFilename => "a name in it is too long".to_owned(),
        ErrorKind::PermissionDenied => "the system denied access".to_owned(),
        kind => kind.to_string(),
    }
}

impl fmt::Debug for Denial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Denial({}: {})", self.0.code, self.for_operator())
    }
}

impl std::error::Error for Denial {}

/// The code for a text error.
impl From<&TextError> for Code {
    fn from(error: &TextError) -> Code {
        match error {
            TextError::Scheme(_) => Code::UnsupportedScheme,
            TextError::Foreign => Code::ForeignPath,
            _ => Code::InvalidPath,
        }
    }
}
