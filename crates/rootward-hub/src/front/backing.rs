//! The front's state for a configured server: how it is started, what earlier starts found out, and its cached
//! memory.

use std::collections::BTreeMap;
use std::time::Duration;

use super::fetching::PendingFetch;
use super::launch::{Knowledge, Launch};
use super::memory_file::MemoryFile;
use crate::engine::{ChildId, ServerId};

/// Minimum interval between writes of a server's memory, so that a server whose lists keep changing does not keep the
/// disk busy.
const KEEP_EVERY: Duration = Duration::from_secs(2);

/// A configured server.
#[derive(Debug)]
pub(crate) struct Backing {
    pub(super) launch: Launch,
    memory_file: MemoryFile,
    /// What the first start found out about the command.
    pub(super) knowledge: Knowledge,
    /// The package that starts are waiting for.
    pub(super) coming: Option<PendingFetch>,
    /// Whether its memory has to be written.
    pub(super) to_keep: bool,
    /// When it was last written.
    kept: Duration,
}

/// All configured servers.
pub(crate) type Backings = BTreeMap<ServerId, Backing>;

impl Backing {
    pub(crate) fn new(launch: Launch, memory_file: MemoryFile) -> Backing {
        let knowledge = Knowledge::default();
        Backing { launch, memory_file, knowledge, coming: None, to_keep: false, kept: Duration::ZERO }
    }

    /// When the memory has to be written.
    pub(super) fn keeps_at(&self) -> Option<Duration> {
        self.to_keep.then(|| self.kept + KEEP_EVERY)
    }

    /// Cancels a start that waits for the package; returns whether there was one. The fetch continues, because the
    /// next start needs it.
    pub(super) fn stops_waiting(&mut self, child: ChildId) -> bool {
        self.coming.as_mut().is_some_and(|coming| coming.drop_start(child))
    }

    /// Writes the memory, if there is one.
    pub(super) fn keep_ambient(&mut self, now: Duration, memory: Option<&crate::engine::Memory>) {
        self.to_keep = false;
        self.kept = now;
        if let Some(memory) = memory {
            self.memory_file.keep_ambient(memory);
        }
    }
}
