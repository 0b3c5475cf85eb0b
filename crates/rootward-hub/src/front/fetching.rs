//! Starts that wait for their package: it is fetched by another process while this one goes on with its client.

use std::os::fd::BorrowedFd;
use std::time::Duration;

use rootward_core::Guard;
use rootward_sandbox::{StartError, Supply};

use super::middle::Middle;
use super::serving::Serving;
use crate::engine::{ChildId, Purpose, ServerId};

/// A package on its way, and who waits for it.
#[derive(Debug)]
pub(super) struct Coming {
    supply: Box<Supply>,
    waiting: Vec<(ChildId, Guard, Purpose)>,
}

impl Coming {
    pub(super) fn new(supply: Box<Supply>) -> Coming {
        Coming { supply, waiting: Vec::new() }
    }

    /// Has a start wait until the package is there.
    pub(super) fn add(&mut self, child: ChildId, guard: Guard, purpose: Purpose) {
        self.waiting.push((child, guard, purpose));
    }

    /// Takes back a start that waits; whether there was one.
    pub(super) fn drop_start(&mut self, child: ChildId) -> bool {
        self.waiting.extract_if(.., |(waiting, ..)| *waiting == child).count() > 0
    }

    /// What the fetch says.
    pub(super) fn output(&self) -> Option<BorrowedFd<'_>> {
        self.supply.output()
    }

    /// How long to wait at the most.
    pub(super) fn wakes_within(&self) -> Duration {
        self.supply.wakes_within()
    }
}

impl<M: Middle> Serving<'_, M> {
    /// Continues the fetches. When a package is there, or its fetch has failed, the starts that waited continue.
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
            // One that is not wanted any more is not started.
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
