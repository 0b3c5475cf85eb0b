//! Decides paths against roots, and opens what is allowed without a race between decision and use.
//!
//! A *root* is a directory or file that a user shares. A [`Guard`] is a set of roots with handles; it decides every
//! path that a peer names. If it allows the path, it returns a [`Grant`]: the resolved object, already pinned, and the
//! only way to read, write, list, rename or remove it. If it refuses, it returns a [`Denial`]: a stable code, one
//! sentence, and the cause for the operator.
//!
//! ```
//! use rootward_core::{Access, Guard, GuardOptions, Origin, Root, RootSet, Validation};
//!
//! # let directory = tempfile::tempdir()?;
//! # let project = directory.path();
//! // The user shares one directory, for reading.
//! let root = Root::from_path(project, Origin::Flag)?.with_access(Access::READ);
//! let set = RootSet::place_ambient([root], &Validation::new(None));
//! let guard = Guard::new(set, GuardOptions::default());
//!
//! // A peer names paths. A grant reads what was decided on, even if the name leads elsewhere meanwhile.
//! # std::os::unix::fs::symlink("/etc", project.join("innocent"))?;
//! # std::fs::write(project.join("notes.txt"), "hello")?;
//! let grant = guard.check("notes.txt", Access::READ)?;
//! assert_eq!(grant.read(1 << 20)?, b"hello");
//!
//! // A link that leads outside, a climb, a write: each is refused with its code.
//! let refused = |path, access| guard.check(path, access).unwrap_err().code().for_peer().as_str();
//! assert_eq!(refused("innocent/passwd", Access::READ), "outside_roots");
//! assert_eq!(refused("../../etc/passwd", Access::READ), "outside_roots");
//! assert_eq!(refused("notes.txt", Access::WRITE), "access_denied");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Layout
//!
//! What is shared:
//! - [`Root`], [`RootUri`], [`Access`], [`Origin`]: one root as it was named; [`Validation`]: who may name what.
//! - [`RootSet`]: roots found on disk; [`Mode`] combines the client's roots with the operator's; [`Difference`]
//!   compares two sets.
//! - [`Restrictions`]: places that stay closed in any root; [`places`] lists the standard ones.
//!
//! Deciding, in `guard/`, step by step in `guard/decide.rs`:
//! - [`Guard::check`] follows links; [`Guard::check_entry`] decides about the directory entry itself, to create, remove
//!   or rename it; [`Guard::open`] decides and opens for reading in one call; [`Guard::explain`] returns each step.
//! - [`text_contains`] only looks at text and decides nothing.
//! - `text.rs` parses a path, `tree.rs` finds its root, `resolve/` opens below a handle or guesses where links lead,
//!   `os.rs` makes the system calls: the only file that passes file names to the system.
//! - [`Denial`], [`Code`]: refusals. [`AuditEvent`], [`ChangeEvent`]: the record of a decision, and of a change.
//!   [`Shown`]: any text, safe to print.
//! - [`Resolver`]: `openat2`, or a walk over components if the kernel does not have it.
//! - [`TopNames`]: which names exist directly in `/`, to tell a path from another string.
//! - [`Guard::pin_root`], [`Guard::closed_places_below`], [`names_in`], [`pin_entry`]: the input for a kernel sandbox
//!   around a process.
//!
//! Acting, in `grant/`, one verb per file: [`Grant::read`], [`Grant::replace`], [`Grant::append`], [`Grant::create_new`],
//! [`Grant::list`], [`Grant::walk`], [`Grant::create_directory`], [`Grant::remove`], [`Grant::rename_to`],
//! [`Grant::copy_to`], [`Grant::open_executable`], [`Grant::metadata`].
//!
//! Over time: [`session`], the state machine that determines the current roots. [`mod@env`]: the settings in the
//! environment. [`cursor`]: paging through a list that may change. [`secrets`]: a command line without its secrets.
//! [`parser_message`]: what is wrong in a file, in plain words.
//!
//! No async, no logging, no MCP. Functions that access the user's files without a guard end in `_ambient`.

mod access;
mod audit;
mod containment;
pub mod cursor;
mod denial;
pub mod env;
mod grant;
mod guard;
mod lookout;
mod material;
mod os;
pub mod parser_message;
mod pattern;
mod pinned;
pub mod places;
mod placing;
mod private_directory;
mod resolve;
mod restriction;
mod root;
pub mod secrets;
pub mod session;
mod set;
mod shown;
mod style;
mod text;
mod top;
mod tree;
mod uri;
mod validate;
mod windows;

pub use access::Access;
pub use audit::{Audit, AuditEvent, ChangeEvent, Decision, Occasion, RootChange, Yes};
pub use containment::text_contains;
pub use denial::{Cause, Code, Denial};
pub use grant::{
    Entry, FileKind, Grant, GrantError, Ignore, Metadata, OpenFile, Replace, Version, Visit, WalkEntry, WalkOptions,
    WalkSummary,
};
pub use guard::{Base, ClosedPlace, ClosedPlaces, Extent, Guard, GuardOptions, Protects, Step, TextForm, WeakGuard};
pub use lookout::{Followed, follow_ambient, lookout_ambient, spellings_ambient};
pub use material::{Material, WritableRecord, WritableRecordError};
pub use pattern::{MOST_MATCHES, Pattern, PatternError};
pub use pinned::{names_in, pin_entry};
pub use private_directory::make_private_directory_ambient;
pub use resolve::Resolver;
pub use restriction::{Class, Closed, Restriction, RestrictionError, Restrictions};
pub use root::{FileId, Origin, PlacedRoot, Root, RootError, RootKind, Spelling};
pub use set::{ChangedRoot, Difference, Mode, OtherRoot, RefusedRoot, RootSet, UnknownMode, WhyRefused};
pub use shown::Shown;
pub use style::PathStyle;
pub use text::{PathText, TextError};
pub use top::TopNames;
pub use uri::{RootUri, UriError};
pub use validate::{Unshareable, Validation};
