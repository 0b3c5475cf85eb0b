//! The client's requests that have no answer yet.

use std::collections::HashMap;

use rootward_protocol::Era;
use rootward_protocol::frame::Id;
use tokio::task::AbortHandle;

/// Requests without an answer, by the keys of their ids.
#[derive(Debug, Default)]
pub(super) struct OpenRequests(HashMap<Box<str>, OpenRequest>);

/// A request without an answer.
#[derive(Debug)]
pub(super) struct OpenRequest {
    /// Its id, as the client wrote it.
    pub(super) id: Box<str>,
    pub(super) method: Box<str>,
    pub(super) era: Era,
    /// Whether the client still waits.
    pub(super) wanted: Wanted,
    /// The task that handles it.
    pub(super) task: Option<AbortHandle>,
}

/// Whether somebody waits for an answer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Wanted {
    Yes,
    /// The client cancelled the request. Its answer is forwarded if it comes; otherwise nothing is sent.
    Cancelled,
}

impl OpenRequests {
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Adds a request; `false` if one with the same id is open.
    pub(super) fn open(&mut self, id: Id<'_>, method: &str, era: Era) -> bool {
        let key = id.key();
        if self.0.contains_key(&key) {
            return false;
        }
        let request =
            OpenRequest { id: id.as_str().into(), method: method.into(), era, wanted: Wanted::Yes, task: None };
        self.0.insert(key, request);
        true
    }

    /// Records the task that handles a request, if it is still open.
    pub(super) fn carried_by(&mut self, key: &str, task: AbortHandle) {
        if let Some(request) = self.0.get_mut(key) {
            request.task = Some(task);
        }
    }

    pub(super) fn get_mut(&mut self, key: &str) -> Option<&mut OpenRequest> {
        self.0.get_mut(key)
    }

    pub(super) fn is_open(&self, key: &str) -> bool {
        self.0.contains_key(key)
    }

    /// Removes a request that was answered or given up.
    pub(super) fn close(&mut self, key: &str) -> Option<OpenRequest> {
        self.0.remove(key)
    }
}
