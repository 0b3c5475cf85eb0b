//! Which roots are in force for a session: pure logic, time passed in, events in, effects out.
//!
//! A session is one client's connection (legacy) or one request (modern). Its client may name roots, late, never, or
//! anew; the operator may have set a ceiling, the user saved a choice. [`SessionRoots`] keeps count of what the client
//! said and says what holds. It sends nothing, waits for nothing and has no clock: a driver does that.
//!
//! # States
//!
//! | client's state | when | in force |
//! |---|---|---|
//! | unsupported | no `roots` capability, or the client is not listened to | the ceiling; else the saved roots; else the fallback; else nothing |
//! | pending | not asked yet, or asked and not answered | calls that need roots wait, at most the timeout |
//! | ready | at least one usable root, judged before the ceiling | by [`Mode`](crate::Mode), which may leave nothing |
//! | empty | the list `[]` | as unsupported if the client never named a root; else nothing |
//! | unusable | a list, none of it usable | nothing |
//! | failed | an error, or no answer in time | as unsupported if the client never named a root; else nothing |
//!
//! [`Follow`] changes the table: `strict` gives access in `ready` alone, `ignore-client` and `fallback-only` look at one
//! source and never ask. [`NoRoots::AllowAll`] takes the place of a "nothing" that stands there because nobody, client,
//! operator or user, ever named a root; of no other.
//!
//! # Asking
//!
//! The client is asked when a call first needs roots, and again
//!
//! - after `list_changed`, once it has been quiet (250 ms, at most 2 s in all). New calls wait from the notification on,
//!   so a revoked root is gone for the next call. A waiting call does not bring the question forward: the rest of the
//!   burst would make its answer stale, and the call would pay for two round trips instead of a short wait;
//! - when a call comes after the list's lifetime, and waits;
//! - when a call comes after a failure, at most once a second. That call does not wait. A session nobody uses is not
//!   asked: clients that declare roots and answer every question with an error are common.
//!
//! One question is under way at a time, however many calls need it. Only the answer to that question counts: an answer
//! to an older one, or one that a `list_changed` overtook, is ignored. The timeout ends a question; an answer after it
//! is ignored too.
//!
//! # Generations
//!
//! What is in force is numbered. The number moves on when the roots do: places, objects on disk, access, names, those kept
//! out; and when what is closed below them does. The same list sent again keeps its number if every root was found where it was, and gets a new one if a link
//! has moved.
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
//! // A call that needs roots arrives. It says so, carries out the effects, and looks where it stands.
//! let arrived = Duration::from_secs(3);
//! let effects = session.handle(arrived, Event::Needed { arrived });
//! let Effect::Ask { request } = effects[0] else { unreachable!() };
//! assert!(matches!(session.standing(arrived, arrived), Standing::Wait { .. }));
//!
//! // The client answers. The roots are looked up on disk, and the calls that wait say and look again.
//! let now = arrived + Duration::from_millis(20);
//! let effects = session.handle(now, Event::Answered { request, roots: RootSet::default() });
//! assert!(effects.contains(&Effect::Settled));
//! session.handle(now, Event::Needed { arrived });
//! assert!(matches!(session.standing(arrived, now), Standing::InForce(_)));
//! ```

mod in_force;
mod machine;
#[cfg(test)]
mod model;
mod policy;
#[cfg(test)]
mod scripts;

use std::time::Duration;

use crate::set::RootSet;

pub use in_force::{Failure, InForce, Reach, State, Why};
pub use machine::SessionRoots;
pub use policy::{Follow, NoRoots, Policy, Sources, Support};

/// Which question to the client; later ones have greater numbers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct RequestNumber(pub(crate) u64);

impl RequestNumber {
    /// The plain number, from 1.
    pub const fn get(self) -> u64 {
        self.0
    }
}

/// Something happened.
#[derive(Clone, Debug)]
pub enum Event {
    /// A call needs roots: sent when it arrives, and again each time it looks where it stands.
    Needed {
        /// When the call arrived. A list older than its lifetime by then will not do for it; one that came later will.
        arrived: Duration,
    },
    /// The client says its roots changed, whether or not it declared that it would. goose does not declare it.
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
        /// Its roots as they lie on disk now. Every entry of the list is among the roots or among those kept out: an
        /// entry left away would turn a list that is unusable into one that is empty.
        roots: RootSet,
    },
    /// The client answered with an error, or with something that is no list.
    Failed {
        /// The question.
        request: RequestNumber,
        /// What was wrong.
        reason: String,
    },
    /// The roots of an accepted answer were looked up on disk again, because a missing one may have appeared.
    LookedAgain {
        /// The question they answered.
        request: RequestNumber,
        /// The same entries as they lie on disk now.
        roots: RootSet,
    },
    /// The server's author does not trust the list any more: the next call asks again, and waits.
    Invalidate,
    /// The operator's or the user's roots changed. Settings that cannot be read are no change: a driver keeps the
    /// sources it has, because losing a ceiling would widen what it holds down.
    SourcesChanged(Sources),
    /// What is closed below the roots changed. The roots are the same, and decided by another guard from now on.
    RestrictionsChanged,
    /// Time passed.
    Tick,
}

/// Something to be done, in the order given.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    /// Ask the client for its roots.
    Ask {
        /// What the answer is to be marked with.
        request: RequestNumber,
    },
    /// Tell the client that the answer is not awaited any more.
    Cancel {
        /// The question.
        request: RequestNumber,
    },
    /// Other roots are in force: build a guard from [`SessionRoots::in_force`].
    Changed {
        /// Their number.
        generation: u64,
    },
    /// Calls that wait may look again.
    Settled,
    /// Send [`Event::Tick`] at this time; replaces what was said before.
    WakeAt(Duration),
}

/// What a call that needs roots does now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Standing<'a> {
    /// It goes on with these.
    InForce(&'a InForce),
    /// It waits for [`Effect::Settled`], and looks again then or at this time.
    Wait {
        /// When its patience ends.
        until: Duration,
    },
    /// It has waited long enough, and is refused as `roots_pending`.
    Overdue,
}
