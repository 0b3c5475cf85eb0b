//! Determines the current roots of a session: pure logic with events in, effects out, and the time passed in.
//!
//! A session is one client's connection (legacy) or one request (modern). Its client may name roots late, never, or
//! repeatedly; the operator may have set a ceiling, and the user may have saved roots. [`SessionRoots`] tracks the
//! client's answers and determines the current roots. It sends nothing, waits for nothing and has no clock: a driver
//! does that.
//!
//! # States
//!
//! | client's state | when | current roots |
//! |---|---|---|
//! | unsupported | no `roots` capability, or the client is ignored | the ceiling; else the saved roots; else the fallback; else nothing |
//! | pending | not asked yet, or asked and not answered | calls that need roots wait, at most the timeout |
//! | ready | at least one usable root, judged before the ceiling | by [`Mode`](crate::Mode), which may leave nothing |
//! | empty | the list `[]` | as unsupported if the client never named a root; else nothing |
//! | unusable | a list without usable entries | nothing |
//! | failed | an error, or no answer in time | as unsupported if the client never named a root; else nothing |
//!
//! [`Follow`] changes the table: with `strict`, only `ready` gives access; `ignore-client` and `fallback-only` use one
//! source and never ask. [`NoRoots::AllowAll`] replaces "nothing" only if nobody (client, operator or user) ever named
//! a root.
//!
//! # Asking
//!
//! The client is asked when a call first needs roots, and again:
//!
//! - after `list_changed`, once it has been quiet (250 ms, at most 2 s in total). New calls wait from the notification
//!   on, so a revoked root is gone for the next call. A waiting call does not speed up the question: the rest of the
//!   burst would make its answer stale, and the call would wait for two round trips instead of a short delay;
//! - when a call arrives after the list has expired; the call waits;
//! - when a call arrives after a failure, at most once a second. That call does not wait. An unused session is not
//!   asked: clients that declare roots and answer every question with an error are common.
//!
//! There is one question at a time, however many calls need it. Only the answer to that question counts: an answer to
//! an older question, or one that a `list_changed` overtook, is ignored. The timeout ends a question; an answer after
//! it is ignored too.
//!
//! # Generations
//!
//! Each set of current roots has a generation. The generation increases when anything about the roots changes: places,
//! objects on disk, access, names, roots that are left out, and closed places below them. If the client sends the same
//! list again, the generation stays the same, unless a link has moved.
//!
//! # Driving it
//!
//! ```
//! use std::time::Duration;
//! use rootward_core::RootSet;
//! use rootward_core::session::{Effect, Event, Policy, SessionRoots, Sources, Standing, Support};
//!
//! let mut session = SessionRoots::new(Policy::default(), Sources::default(), Support::Announced);
//!
//! // A call that needs roots arrives. It sends the event, carries out the effects, and checks whether to wait.
//! let arrived = Duration::from_secs(3);
//! let effects = session.handle(arrived, Event::Needed { arrived });
//! let Effect::Ask { request } = effects[0] else { unreachable!() };
//! assert!(matches!(session.standing(arrived, arrived), Standing::Wait { .. }));
//!
//! // The client answers. The roots are looked up on disk, and the waiting calls check again.
//! let now = arrived + Duration::from_millis(20);
//! let effects = session.handle(now, Event::Answered { request, roots: RootSet::default() });
//! assert!(effects.contains(&Effect::Settled));
//! session.handle(now, Event::Needed { arrived });
//! assert!(matches!(session.standing(arrived, now), Standing::Proceed(_)));
//! ```

mod current;
mod machine;
#[cfg(test)]
mod model;
mod policy;
#[cfg(test)]
mod scripts;

use std::time::Duration;

use crate::set::RootSet;

pub use current::{CurrentRoots, Failure, Reach, State, Why};
pub use machine::SessionRoots;
pub use policy::{Follow, NoRoots, Policy, Sources, Support};

/// The number of a question to the client; later questions have larger numbers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct RequestNumber(pub(crate) u64);

impl RequestNumber {
    /// The plain number, from 1.
    pub const fn get(self) -> u64 {
        self.0
    }
}

/// An input of the state machine.
#[derive(Clone, Debug)]
pub enum Event {
    /// A call needs roots. Sent when it arrives, and again each time it checks its standing.
    Needed {
        /// When the call arrived. The call needs a list that had not expired by then.
        arrived: Duration,
    },
    /// The client says that its roots changed, whether or not it declared `listChanged`. Goose does not declare it.
    ListChanged,
    /// The client answered in time with a list that has entries, which are being looked up.
    Named {
        /// The question.
        request: RequestNumber,
    },
    /// The client answered.
    Answered {
        /// The question.
        request: RequestNumber,
        /// Its roots as found on disk. Every entry of the list is either a root or a refused root: dropping one could
        /// turn an unusable list into an empty one.
        roots: RootSet,
    },
    /// The client answered with an error, or with something that is not a list.
    Failed {
        /// The question.
        request: RequestNumber,
        /// The problem.
        reason: String,
    },
    /// The roots of an accepted answer were looked up on disk again, because a missing root may have appeared.
    LookedAgain {
        /// The question they answered.
        request: RequestNumber,
        /// The same entries as found on disk now.
        roots: RootSet,
    },
    /// The server's author no longer trusts the list: the next call asks again and waits.
    Invalidate,
    /// The operator's or the user's roots changed. If settings cannot be read, a driver keeps the previous sources,
    /// because losing a ceiling would widen access.
    SourcesChanged(Sources),
    /// The closed places below the roots changed. The roots stay the same but get a new guard.
    RestrictionsChanged,
    /// Time passed.
    Tick,
}

/// An action for the driver. Actions are carried out in order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    /// Ask the client for its roots.
    Ask {
        /// The number to send back with the answer.
        request: RequestNumber,
    },
    /// Tell the client that the answer is no longer needed.
    Cancel {
        /// The question.
        request: RequestNumber,
    },
    /// The current roots changed: build a guard from [`SessionRoots::current`].
    Changed {
        /// Their generation.
        generation: u64,
    },
    /// Waiting calls may check again.
    Settled,
    /// Send [`Event::Tick`] at this time. Replaces the previous time.
    WakeAt(Duration),
}

/// What a call that needs roots does now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Standing<'a> {
    /// Proceed with these roots.
    Proceed(&'a CurrentRoots),
    /// Wait for [`Effect::Settled`] or for this time, then check again.
    Wait {
        /// When the call stops waiting.
        until: Duration,
    },
    /// Refuse the call as `roots_pending`: it has waited long enough.
    Overdue,
}
