//! The roots of a session, owned in one place: read from a client page by page, looked up on disk, published as a
//! guard.
//!
//! [`SessionGuard`] drives the core's state machine. It sends nothing, waits for nothing, opens nothing and has no
//! clock: events and times go in; [`Order`]s and a guard come out. The program that transports messages, with or
//! without an SDK, carries out the orders and reports back. A session is one client's connection (legacy) or one
//! request (modern).
//!
//! ```
//! use std::sync::Arc;
//! use std::time::Duration;
//!
//! use rootward_core::session::{Policy, Sources, Support};
//! use rootward_core::{Access, GuardOptions, Validation};
//! use rootward_protocol::session::{Given, Order, SessionGuard, Terms, Turn};
//! use serde_json::json;
//!
//! # let directory = tempfile::tempdir()?;
//! # let project = directory.path().display();
//! let guard = GuardOptions::default();
//! let given = Given { sources: Sources::default(), restrictions: guard.restrictions.clone() };
//! let terms = Arc::new(Terms::new_ambient(Policy::default(), guard, Validation::new(None)));
//! let mut session = SessionGuard::new(terms, Arc::new(given), Support::Announced);
//!
//! // A call needs roots: the client is asked, and the call waits.
//! let arrived = Duration::from_secs(3);
//! let orders = session.needed(arrived, arrived);
//! let [Order::Ask { question, cursor: None }] = orders.as_slice() else { unreachable!() };
//! assert!(matches!(session.turn(arrived, arrived), Turn::Wait { .. }));
//!
//! // It answers, and its roots are looked up.
//! let now = arrived + Duration::from_millis(20);
//! let answer = json!({"roots": [{"uri": format!("file://{project}")}]});
//! for order in session.answered(now, *question, Ok(answer)) {
//!     let Order::Place(placing) = order else { unreachable!() };
//!     session.placed(now, placing.run_ambient());
//! }
//! assert_eq!(session.turn(arrived, now), Turn::GoOn);
//! let guard = session.published().ok_or("no roots yet")?.guard();
//! assert!(guard.check("new.txt", Access::WRITE).is_ok());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod given;
mod left_out;
mod number;
mod owner;
mod placing;
mod published;
mod shared_guards;
mod terms;
#[cfg(test)]
mod tests;
mod weak_table;

pub use given::Given;
pub use left_out::{LeftOut, LeftOutKind, LeftOutNews};
pub use owner::{NoList, Order, SessionGuard, Turn};
pub use placing::{Placed, Placing};
pub use published::Published;
pub use terms::Terms;
pub use weak_table::{WeakTable, Weakly};
