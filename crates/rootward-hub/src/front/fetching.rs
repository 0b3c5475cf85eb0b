//! Starts that wait for a package, which another process fetches in the meantime.

use std::os::fd::BorrowedFd;
use std::time::Duration;

use rootward_core::Guard;
use rootward_sandbox::{StartError, Supply};

use super::middle::Middle;
use super::serving::Serving;
use crate::engine::{ChildId, Purpose, ServerId};

/// A package that is being fetched, and the starts that wait for it.
#[derive(Debug)]
pub(super) struct PendingFetch {
    supply: Box<Supply>,
    waiting: Vec<(ChildId, Guard, Purpose)>,
}

impl PendingFetch {
    pub(super) fn new(supply: Box<Supply>) -> PendingFetch {
        PendingFetch { supply, waiting: Vec::new() }
    }

    /// Queues a start until the package has arrived.
    pub(super) fn add(&mut self, child: ChildId, guard: Guard, purpose: Purpose) {
        self.waiting.push((child, guard, purpose));
    }

    /// Cancels a queued start; returns whether there was one.
    pub(super) fn drop_start(&mut self, child: ChildId) -> bool {
        self.waiting.extract_if(.., |(waiting, ..)| *waiting == child).count() > 0
    }

    /// The output of the fetch.
    pub(super) fn output(&self) -> Option<BorrowedFd<'_>> {
        self.supply.output()
    }

    /// The longest time to wait before continuing.
    pub(super) fn wakes_within(&self) -> Duration {
        self.supply.wakes_within()
    }
}

impl<M: Middle> Serving<'_, M> {
    /// Continues the fetches. When a package has arrived or its fetch has failed, the queued starts continue.
    pub(super) fn go_on_fetching_ambient(&mut self, now: Duration) {
        let fetching = self.servers.iter().filter(|(_, server)| server.coming.is_some());
        for server in fetching.map(|(id, _)| *id).collect::<Vec<ServerId>>() {
            self.go_on_fetching_one_ambient(now, server);
        }
    }

    fn go_on_fetching_one_ambient(&mut self, now: Duration, server: ServerId) {
        let Some(server) = self.servers.get_mut(&server) else { return };
        let Some(coming) = &mut server.coming else { return };
        let progress = coming.supply.go_on_ambient();
        for note in coming.supply.take_notes() {
            self.operator.says(&note.to_string());
        }
        let added = match progress {
            Ok(None) => return,
            Ok(Some(installed)) => server.knowledge.add(installed),
            Err(error) => Err(StartError::from(error)),
        };
        let waiting = server.coming.take().map(|coming| coming.waiting).unwrap_or_default();
        match added {
            // A start that is no longer wanted is skipped there.
            Ok(()) => {
                for (number, guard, purpose) in waiting {
                    self.start(now, number, &guard, purpose);
                }
            }
            Err(error) => {
                let says = self.operator.not_started(&server.launch, error);
                for (number, ..) in waiting {
                    self.not_fetched(now, number, &says);
                }
            }
        }
    }
}
