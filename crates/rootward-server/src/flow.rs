//! How many requests are under way at once.
//!
//! A client that asks and does not read would else have all answers kept for it, however many and however large. Requests beyond the
//! limit wait; answers and notifications of the client do not, because a request under way may wait for them.

use std::collections::{HashSet, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::model::{ClientNotification, JsonRpcMessage, RequestId};
use rmcp::service::{RoleServer, RxJsonRpcMessage, TxJsonRpcMessage};
use tokio::sync::Notify;

/// How many requests are under way at most.
pub(crate) const MOST_REQUESTS: usize = 32;

/// How long the requests that wait may be together, in bytes. When there are more, nothing is read.
const MOST_WAITING: usize = 16 << 20;

/// The requests that wait for others to be answered.
#[derive(Default)]
pub(crate) struct Flow {
    under_way: Arc<UnderWay>,
    waiting: VecDeque<(RxJsonRpcMessage<RoleServer>, usize)>,
    bytes: usize,
}

/// The requests whose answers are not written yet.
#[derive(Default)]
pub(crate) struct UnderWay {
    ids: Mutex<HashSet<RequestId>>,
    fewer: Notify,
}

impl UnderWay {
    fn remove(&self, id: &RequestId) {
        if self.ids.lock().unwrap_or_else(PoisonError::into_inner).remove(id) {
            self.fewer.notify_one();
        }
    }

    /// False where there is no room.
    fn add(&self, id: &RequestId) -> bool {
        let mut ids = self.ids.lock().unwrap_or_else(PoisonError::into_inner);
        let room = ids.len() < MOST_REQUESTS;
        if room {
            ids.insert(id.clone());
        }
        room
    }

    /// Takes notice of an answer that was written.
    pub(crate) fn answered(&self, id: Option<RequestId>) {
        if let Some(id) = id {
            self.remove(&id);
        }
    }

    /// Waits until a request may have been answered since it was last asked.
    pub(crate) async fn fewer(&self) {
        self.fewer.notified().await;
    }
}

impl Flow {
    /// The requests that are under way.
    pub(crate) fn under_way(&self) -> Arc<UnderWay> {
        Arc::clone(&self.under_way)
    }

    /// Takes a message of so many bytes; gives it back where it need not wait.
    pub(crate) fn take(
        &mut self,
        message: RxJsonRpcMessage<RoleServer>,
        length: usize,
    ) -> Option<RxJsonRpcMessage<RoleServer>> {
        match &message {
            JsonRpcMessage::Request(request) if !self.waiting.is_empty() || !self.under_way.add(&request.id) => {
                self.bytes += length;
                self.waiting.push_back((message, length));
                return None;
            }
            JsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) = &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    self.cancelled(id);
                }
            }
            _ => {}
        }
        Some(message)
    }

    /// Nobody waits for its answer any more, and one may never come.
    fn cancelled(&mut self, id: &RequestId) {
        self.under_way.remove(id);
        let bytes = &mut self.bytes;
        self.waiting.retain(|(message, length)| {
            let stays = !matches!(message, JsonRpcMessage::Request(request) if request.id == *id);
            if !stays {
                *bytes -= length;
            }
            stays
        });
    }

    /// The next request that waited, where there is room for it.
    pub(crate) fn next(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        let (JsonRpcMessage::Request(request), _) = self.waiting.front()? else { return None };
        if !self.under_way.add(&request.id) {
            return None;
        }
        let (message, length) = self.waiting.pop_front()?;
        self.bytes -= length;
        Some(message)
    }

    pub(crate) fn is_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Whether no more may be read.
    pub(crate) fn is_full(&self) -> bool {
        self.bytes > MOST_WAITING
    }
}

/// The request that a message answers.
pub(crate) fn answers(message: &TxJsonRpcMessage<RoleServer>) -> Option<RequestId> {
    match message {
        JsonRpcMessage::Response(response) => Some(response.id.clone()),
        JsonRpcMessage::Error(error) => error.id.clone(),
        _ => None,
    }
}
