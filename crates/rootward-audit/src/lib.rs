//! The record of every decision, written before the decision takes effect.
//!
//! [`AuditLog`] keeps the record in files that only the user can read. Its lines form a hash chain, so a changed or
//! removed line shows. [`files_ambient`] finds these files and [`verify_ambient`] checks them. [`AuditLines`] writes to
//! anything else.
//!
//! ```
//! use rootward_audit::{AuditLog, files_ambient, verify_ambient};
//! use rootward_core::{Access, Audit, AuditEvent, Code, Denial, Occasion};
//!
//! # let directory = tempfile::tempdir()?;
//! # let directory = directory.path();
//! let log = AuditLog::open_ambient(directory)?;
//! let denial = Denial::new(Code::OutsideRoots, "/etc/passwd", Access::READ);
//! let occasion = Occasion {
//!     time: std::time::SystemTime::now(),
//!     session: "1",
//!     principal: None,
//!     client: Some("my-editor 1.0"),
//!     server: Some("my-server"),
//!     process: Some(std::process::id()),
//!     requester: "tools/call read",
//!     generation: 1,
//! };
//! log.record(&AuditEvent::new(occasion, denial.path(), denial.access(), Err(&denial)))?;
//!
//! let verdict = verify_ambient(&files_ambient(directory)?)?;
//! assert!(verdict.breaks.is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod chain;
mod files;
mod lines;
mod log;
mod verify;

pub use chain::Broken;
pub use files::{Lines, LogFile, files_ambient};
pub use lines::AuditLines;
pub use log::AuditLog;
pub use verify::{Break, Unread, Verification, verify_ambient};
