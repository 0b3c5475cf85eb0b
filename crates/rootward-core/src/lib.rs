//! Decides paths against roots, and opens what is allowed so that no race slips past the decision.
//!
//! A *root* is a directory or file that a user shares. A [`Guard`] is a set of roots with handles; it decides every path
//! that comes from elsewhere. What it allows, it hands out as a [`Grant`]: the resolved object, already pinned, and the only
//! thing that reads, writes, lists, renames or removes. What it refuses, it refuses with a [`Denial`]: a stable code, one
//! sentence, and for the operator the cause.
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
//! // A peer names paths. A grant reads what was decided on, whatever becomes of the name meanwhile.
//! # std::os::unix::fs::symlink("/etc", project.join("innocent"))?;
//! # std::fs::write(project.join("notes.txt"), "hello")?;
//! let grant = guard.check("notes.txt", Access::READ)?;
//! assert_eq!(grant.read(1 << 20)?, b"hello");
//!
//! // A link that leads out, a climb, a write: refused, each with its code.
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
//! - [`RootSet`]: roots found on disk; [`Mode`] combines a client's with the operator's; [`Difference`] compares two.
//! - [`Restrictions`]: places that stay closed in any root; [`places`] lists the usual ones.
//!
//! Deciding, in `guard/`, step by step in `guard/decide.rs`:
//! - [`Guard::check`] follows links; [`Guard::check_entry`] means the directory entry itself, to be created, removed or
//!   renamed; [`Guard::open`] decides and opens for reading in one call; [`Guard::explain`] tells each step.
//! - [`Guard::would_contain`] and [`text_contains`] look at text alone and decide nothing.
//! - `text.rs` reads a path's text, `tree.rs` finds its root, `resolve/` opens below a handle or guesses where links lead,
//!   `os.rs` makes the system calls: the only file that names a file to the system.
//! - [`Denial`], [`Code`]: refusals. [`AuditEvent`], [`ChangeEvent`]: the record of a decision, and of a change. [`Shown`]: any text, safe to print.
//! - [`Resolver`]: by `openat2`, or by walking where there is none.
//! - [`TopNames`]: which names exist directly in `/`, to tell a path from another string.
//! - [`Guard::pin_root`], [`Guard::closed_places_below`], [`names_in`], [`pin_entry`]: what a kernel's own fence around a process is built from.
//!
//! Acting, in `grant/`, one verb per file: [`Grant::read`], [`Grant::replace`], [`Grant::append`], [`Grant::create_new`],
//! [`Grant::list`], [`Grant::walk`], [`Grant::create_directory`], [`Grant::remove`], [`Grant::rename_to`],
//! [`Grant::copy_to`], [`Grant::open_executable`], [`Grant::metadata`].
//!
//! Over time: [`session`], the state machine that says which roots are in force. [`mod@env`]: what the
//! environment says about it. [`cursor`]: paging through a list that may change.
//!
//! No async, no logging, no MCP. Functions that look up the user's files on their own account end in `_ambient`.

mod access;
mod audit;
mod containment;
pub mod cursor;
mod denial;
pub mod env;
mod grant;
mod guard;
mod lookout;
mod making;
mod material;
mod os;
mod pattern;
mod pinned;
pub mod places;
mod placing;
mod resolve;
mod restriction;
mod root;
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
pub use making::make_private_directory_ambient;
pub use material::{Material, WritableRecord, WritableRecordError};
pub use pattern::{MOST_MATCHES, Pattern, PatternError};
pub use pinned::{names_in, pin_entry};
pub use resolve::Resolver;
pub use restriction::{Class, Closed, Restriction, RestrictionError, Restrictions};
pub use root::{FileId, Origin, PlacedRoot, Root, RootError, RootKind, Spelling};
pub use set::{Change, Difference, Mode, OtherRoot, RefusedRoot, RootSet, UnknownMode, WhyRefused};
pub use shown::Shown;
pub use style::PathStyle;
pub use text::{PathText, TextError};
pub use top::TopNames;
pub use uri::{RootUri, UriError};
pub use validate::{Unshareable, Validation};
