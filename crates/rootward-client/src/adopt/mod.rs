//! Puts `rootward wrap` before the servers in your clients' config files, or replaces them with one `rootward hub`,
//! and undoes it.
//!
//! A file is edited in place: only the words of a server's command change, or servers are replaced by the entry of a
//! hub. Comments, order, white space and unknown keys stay as they are. Before a file is replaced, a backup and a
//! record of the change are written to Rootward's state directory.
//!
//! - [`judge`]: what happens to one server; [`Wrapping`]: the words that come before its command.
//! - [`plan`]: a file's text with every server wrapped that can be. [`recognise`]: which client a file belongs to.
//! - [`plan_hub`]: a file's text with one entry for the hub in place of the servers that the hub can run.
//! - [`ConfigFile`]: a file that is read safely and replaced only if it is still the same.
//! - [`Shelf`]: the records and backups; [`Shelf::adopt_ambient`] and [`Shelf::undo_ambient`] change files.
//! - [`masked`]: a file's text that is safe to show.
//! - [`fill`]: a text with the client's variables expanded; [`variables_ambient`]: those in a file that an entry
//!   names.
//!
//! ```
//! use rootward_client::adopt::{Called, Invocation, plan};
//! use rootward_client::import::{FileContext, Form, Holder};
//!
//! let text = r#"{"mcpServers": {"git": {"command": "uvx", "args": ["mcp-server-git"]}}}"#;
//! let caller = Invocation { path: "/usr/bin/rootward".to_owned(), called: Called::ByName };
//! let plan = plan(Form::ClaudeDesktop, text, &FileContext::default(), Holder::User, &caller)?;
//! assert_eq!(
//!     plan.text,
//!     r#"{"mcpServers": {"git": {"command": "rootward", "args": ["wrap", "--", "uvx", "mcp-server-git"]}}}"#
//! );
//! # Ok::<(), rootward_client::adopt::PlanError>(())
//! ```

mod config_file;
#[cfg(test)]
mod disk_tests;
mod edit;
mod filling;
mod hub;
mod hub_entry;
mod hub_file;
#[cfg(test)]
mod hub_tests;
mod masking;
mod plan;
mod recognise;
mod record;
mod shelf;
#[cfg(test)]
mod tests;
mod undo;
mod variables_file;
mod wrapping;

pub use config_file::{ConfigFile, FileError};
pub use edit::{Arguments, EditError};
pub use filling::{Unfilled, fill};
pub use hub::{AdoptedHub, HubTerms, PlannedHub, plan_hub};
pub use masking::masked;
pub use plan::{Plan, PlanError, Planned, plan, plan_found};
pub use recognise::recognise;
pub use record::{Adopted, Record, RecordError};
pub use shelf::{SavedRecord, Shelf, ShelfError};
pub use undo::{Left, Undone};
pub use variables_file::{VariablesFileError, variables_ambient};
pub use wrapping::{Called, Extras, Invocation, NotWrapped, Verdict, Wrapping, judge, usual_roots};
