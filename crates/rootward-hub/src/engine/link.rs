//! What a session has to do with one server: the children that run for its client, and what they are known to offer.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use rootward_core::Guard;
use serde_json::value::RawValue;

use super::backoff::Backoff;
use super::child::{Child, Phase};
use super::failure::Failure;
use super::learning::Lesson;
use super::memory::Remembered;
use super::rules::Rules;
use super::tools::Tools;
use super::{Memory, Server, ServerId};

/// What a change of roots takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Change {
    /// Another child: confinement, arguments or the working directory depend on them.
    NewChild,
    /// A word to the one there is.
    Told,
}

/// When a server's process is started.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Begin {
    /// As soon as the roots are known: the one server of a client will be needed.
    #[default]
    AtOnce,
    /// When a message needs it. It is let end when nothing has needed it for this long.
    WhenNeeded { idle: Duration },
}

/// Whether a process may be started to learn what the server offers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Learners {
    #[default]
    Allowed,
    /// And it may have to fetch the server first: `npx`, `uvx` and their like.
    Fetching,
    /// It would start a container, which is not ended with it, and may mount what was typed.
    Never,
}

/// A session's link to a server.
#[derive(Debug)]
pub(super) struct Link {
    pub(super) server: ServerId,
    /// The server's name on record.
    pub(super) name: Arc<str>,
    pub(super) rules: Arc<Rules>,
    pub(super) change: Change,
    pub(super) learners: Learners,
    pub(super) begin: Begin,
    /// When a message last needed the server.
    pub(super) needed: Duration,
    /// Whether the client wants to hear of changes to a resource: only the child that was told knows.
    pub(super) has_subscribers: bool,
    /// Whether the server refused `server/discover`, as one of the legacy era does.
    pub(super) refused_discovery: bool,
    /// What was known of the server when the client came.
    pub(super) memory: Arc<Memory>,
    /// The part of it that is of use with this client.
    pub(super) remembered: Option<Remembered>,
    pub(super) children: BTreeMap<u64, Child>,
    /// The child that gets the client's messages.
    pub(super) current: Option<u64>,
    /// The child that will.
    pub(super) coming: Option<u64>,
    last_child: u64,
    pub(super) tools: Tools,
    pub(super) backoff: Backoff,
    /// Why no child can be started in these roots.
    pub(super) impossible: Option<(Guard, Failure)>,
    /// How the last child ended, if it ended before it took calls.
    pub(super) failure: Option<Failure>,
    /// The learner that is at work.
    pub(super) lesson: Option<Lesson>,
    /// Learners whose processes are not gone yet.
    pub(super) leaving: Vec<u64>,
    /// What the server last answered to `initialize`.
    pub(super) handshake: Option<Box<RawValue>>,
}

impl Link {
    pub(super) fn new(id: ServerId, server: &Server, memory: Arc<Memory>) -> Link {
        Link {
            server: id,
            name: Arc::clone(&server.name),
            rules: Arc::clone(&server.rules),
            change: server.change,
            learners: server.learners,
            begin: server.begin,
            needed: Duration::ZERO,
            has_subscribers: false,
            refused_discovery: false,
            memory,
            remembered: None,
            children: BTreeMap::new(),
            current: None,
            coming: None,
            last_child: 0,
            tools: Tools::default(),
            backoff: Backoff::default(),
            impossible: None,
            failure: None,
            lesson: None,
            leaving: Vec::new(),
            handshake: None,
        }
    }

    /// Adds a child that is to be started; its number.
    pub(super) fn add(&mut self, guard: Guard, phase: Phase, now: Duration) -> u64 {
        self.last_child += 1;
        self.children.insert(self.last_child, Child::new(guard, phase, now));
        self.last_child
    }

    /// The child that gets the client's messages.
    pub(super) fn current(&self) -> Option<&Child> {
        self.children.get(&self.current?)
    }

    /// The same, where it takes calls.
    pub(super) fn running(&mut self) -> Option<&mut Child> {
        let child = self.children.get_mut(&self.current?)?;
        (child.phase == Phase::Running).then_some(child)
    }

    /// Whether a child may be started now: not beside a learner.
    pub(super) fn may_start(&self, now: Duration) -> bool {
        !self.is_learning() && self.impossible.is_none() && self.backoff.not_before(now).is_none()
    }

    /// Whether a learner is at work, or not gone yet.
    pub(super) fn is_learning(&self) -> bool {
        self.lesson.is_some() || !self.leaving.is_empty()
    }

    /// Whether this child runs in these roots.
    pub(super) fn fits(&self, number: Option<u64>, guard: &Guard) -> bool {
        let child = number.and_then(|number| self.children.get(&number));
        child.is_some_and(|child| child.guard.decides_as(guard))
    }

    /// Whether a server is being started, or about to ask for its roots.
    pub(super) fn is_coming(&self, now: Duration) -> bool {
        self.is_learning()
            || self.children.values().any(|child| child.phase == Phase::Greeting || child.settles_at > now)
    }
}
