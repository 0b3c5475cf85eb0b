//! A configured server as a front has it: how it is started, what starts found out, what is remembered of it.

use std::collections::BTreeMap;
use std::time::Duration;

use super::fetching::Coming;
use super::keeping::Keeping;
use super::launch::{Knowledge, Launch};
use crate::engine::{ChildId, ServerId};

/// How often the memory of a server is written at the most: one that says something else each time must not keep the disk busy.
const KEEP_EVERY: Duration = Duration::from_secs(2);

/// A configured server.
#[derive(Debug)]
pub(crate) struct Backing {
    pub(super) launch: Launch,
    keeping: Keeping,
    /// What the first start found out about the command.
    pub(super) knowledge: Knowledge,
    /// The package that starts wait for.
    pub(super) coming: Option<Coming>,
    /// Whether its memory is to be written.
    pub(super) to_keep: bool,
    /// When it was last written.
    kept: Duration,
}

/// All of them.
pub(crate) type Backings = BTreeMap<ServerId, Backing>;

impl Backing {
    pub(crate) fn new(launch: Launch, keeping: Keeping) -> Backing {
        let knowledge = Knowledge::default();
        Backing { launch, keeping, knowledge, coming: None, to_keep: false, kept: Duration::ZERO }
    }

    /// When the memory is to be written.
    pub(super) fn keeps_at(&self) -> Option<Duration> {
        self.to_keep.then(|| self.kept + KEEP_EVERY)
    }

    /// Takes back a start that waits for the package; whether there was one. The fetch goes on: the next start needs it.
    pub(super) fn stops_waiting(&mut self, child: ChildId) -> bool {
        self.coming.as_mut().is_some_and(|coming| coming.drop_start(child))
    }

    /// Writes the memory, where `memory` has it.
    pub(super) fn keep_ambient(&mut self, now: Duration, memory: Option<&crate::engine::Memory>) {
        self.to_keep = false;
        self.kept = now;
        if let Some(memory) = memory {
            self.keeping.keep_ambient(memory);
        }
    }
}
