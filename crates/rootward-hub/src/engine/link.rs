//! A session's link to one server: the children that run for its client, and what they are known to offer.

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

/// What a change of roots requires.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Change {
    /// A new child: confinement, arguments or the working directory depend on the roots.
    NewChild,
    /// A notification to the current child.
    Told,
}

/// When a server's process is started.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Begin {
    /// As soon as the roots are known: a client's only server will be needed.
    #[default]
    AtOnce,
    /// When a message needs it. It is stopped after being idle for this long.
    WhenNeeded { idle: Duration },
}

/// Whether a process may be started to learn what the server offers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Learners {
    #[default]
    Allowed,
    /// Yes, but it may have to fetch the server first: `npx`, `uvx` and similar runners.
    Fetching,
    /// No: it would start a container, which is not stopped with it and may mount directories from the command line.
    Never,
}

#[derive(Debug)]
pub(super) struct Link {
    pub(super) server: ServerId,
    /// The server's name in the audit log.
    pub(super) name: Arc<str>,
    pub(super) rules: Arc<Rules>,
    pub(super) change: Change,
    pub(super) learners: Learners,
    pub(super) begin: Begin,
    /// When a message last needed the server.
    pub(super) needed: Duration,
    /// Whether the client has subscribed to a resource: only the child that got the subscription knows.
    pub(super) has_subscribers: bool,
    /// Whether the server refused `server/discover`, as a legacy server does.
    pub(super) refused_discovery: bool,
    /// What was known about the server when the client connected.
    pub(super) memory: Arc<Memory>,
    /// The part of it that applies to this client.
    pub(super) remembered: Option<Remembered>,
    pub(super) children: BTreeMap<u64, Child>,
    /// The child that gets the client's messages.
    pub(super) current: Option<u64>,
    /// The child that will take over.
    pub(super) coming: Option<u64>,
    last_child: u64,
    pub(super) tools: Tools,
    pub(super) backoff: Backoff,
    /// Why no child can be started with these roots.
    pub(super) impossible: Option<(Guard, Failure)>,
    /// How the last child ended, if it ended before it took calls.
    pub(super) failure: Option<Failure>,
    /// The running learner.
    pub(super) lesson: Option<Lesson>,
    /// Learners whose processes have not exited yet.
    pub(super) leaving: Vec<u64>,
    /// The server's last answer to `initialize`.
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

    /// Adds a child that will be started. Returns its number.
    pub(super) fn add(&mut self, guard: Guard, phase: Phase, now: Duration) -> u64 {
        self.last_child += 1;
        self.children.insert(self.last_child, Child::new(guard, phase, now));
        self.last_child
    }

    /// The child that gets the client's messages.
    pub(super) fn current(&self) -> Option<&Child> {
        self.children.get(&self.current?)
    }

    /// The current child, if it takes calls.
    pub(super) fn running(&mut self) -> Option<&mut Child> {
        let child = self.children.get_mut(&self.current?)?;
        (child.phase == Phase::Running).then_some(child)
    }

    /// Whether a child may be started now. A learner must be gone first.
    pub(super) fn may_start(&self, now: Duration) -> bool {
        !self.is_learning() && self.impossible.is_none() && self.backoff.not_before(now).is_none()
    }

    /// Whether a learner is running, or has not exited yet.
    pub(super) fn is_learning(&self) -> bool {
        self.lesson.is_some() || !self.leaving.is_empty()
    }

    /// Whether this child runs with these roots.
    pub(super) fn fits(&self, number: Option<u64>, guard: &Guard) -> bool {
        let child = number.and_then(|number| self.children.get(&number));
        child.is_some_and(|child| child.guard.decides_as(guard))
    }

    /// Whether a server is starting, or about to ask for its roots.
    pub(super) fn is_coming(&self, now: Duration) -> bool {
        self.is_learning()
            || self.children.values().any(|child| child.phase == Phase::Greeting || child.settles_at > now)
    }
}
