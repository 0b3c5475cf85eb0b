//! Starts that wait for their package: it is fetched by another process while this one goes on with its client.

use std::os::fd::BorrowedFd;
use std::time::Duration;

use rootward_core::Guard;
use rootward_sandbox::{StartError, Supply};

use super::stdio::Stdio;
use crate::engine::{ChildId, Purpose};

/// A package on its way, and who waits for it.
#[derive(Debug)]
pub(super) struct Coming {
    supply: Box<Supply>,
    waiting: Vec<(ChildId, Guard, Purpose)>,
}

impl Coming {
    /// What the fetch says.
    pub(super) fn output(&self) -> Option<BorrowedFd<'_>> {
        self.supply.output()
    }

    /// How long to wait at the most.
    pub(super) fn wakes_within(&self) -> Duration {
        self.supply.wakes_within()
    }
}

impl Stdio<'_> {
    /// Has a start wait until the package is there. All starts of this process want the same one.
    pub(super) fn wait_for(&mut self, supply: Box<Supply>, start: (ChildId, Guard, Purpose)) {
        self.coming.get_or_insert_with(|| Coming { supply, waiting: Vec::new() }).waiting.push(start);
    }

    /// Takes back a start that waits; whether there was one. The fetch goes on: the next start needs it.
    pub(super) fn stops_waiting(&mut self, number: ChildId) -> bool {
        let waiting = self.coming.as_mut().map(|coming| &mut coming.waiting);
        waiting.is_some_and(|waiting| waiting.extract_if(.., |(child, ..)| *child == number).count() > 0)
    }

    /// Continues the fetch. When the package is there, or the fetch has failed, the starts that waited continue.
    pub(super) fn go_on_fetching_ambient(&mut self, now: Duration) {
        let Some(coming) = &mut self.coming else { return };
        let progress = coming.supply.go_on_ambient();
        for note in coming.supply.take_notes() {
            self.operator.says(&note.to_string());
        }
        let added = match progress {
            Ok(None) => return,
            Ok(Some(installed)) => self.knowledge.add(installed),
            Err(error) => Err(StartError::from(error)),
        };
        let waiting = self.coming.take().map(|coming| coming.waiting).unwrap_or_default();
        match added {
            // One that is not wanted any more is not started.
            Ok(()) => {
                for (number, guard, purpose) in waiting {
                    self.start(now, number, &guard, purpose);
                }
            }
            Err(error) => {
                let says = self.operator.not_started(error);
                for (number, ..) in waiting {
                    self.not_fetched(now, number, &says);
                }
            }
        }
    }
}
