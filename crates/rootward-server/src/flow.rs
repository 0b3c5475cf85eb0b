//! Limits how many requests run at once.
//!
//! Otherwise a client that sends requests and does not read would make the server keep all answers, however many and
//! however large. Requests beyond the limit wait; the client's answers and notifications do not, because a running
//! request may wait for them.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::model::{
    CancelledNotification, CancelledNotificationParam, ClientNotification, ClientRequest, GetExtensions,
    JsonRpcMessage, RequestId,
};
use rmcp::service::{RoleServer, RxJsonRpcMessage, TxJsonRpcMessage};
use tokio::sync::Notify;

/// How many requests may run at once.
pub(crate) const MOST_REQUESTS: usize = 32;

/// The total size of waiting requests, in bytes. Above it, nothing more is read.
const MOST_WAITING: usize = 16 << 20;

/// Requests that wait for others to be answered.
#[derive(Default)]
pub(crate) struct Flow {
    under_way: Arc<UnderWay>,
    waiting: VecDeque<(RxJsonRpcMessage<RoleServer>, usize)>,
    bytes: usize,
}

/// Requests whose answers are not written yet.
#[derive(Default)]
pub(crate) struct UnderWay {
    /// Requests that still need an answer.
    owed: Mutex<HashMap<RequestId, Owed>>,
    /// How many slots are taken.
    taken: AtomicUsize,
    fewer: Notify,
}

/// A request that still needs an answer.
struct Owed {
    _slot: Arc<Slot>,
    answer: Answer,
    kind: Asked,
}

/// The kind of a request.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Asked {
    ForAnAnswer,
    /// `subscriptions/listen`, which ends when its client stops.
    ToListen,
}

impl Asked {
    fn of(request: &ClientRequest) -> Asked {
        match request {
            ClientRequest::SubscriptionsListenRequest(_) => Asked::ToListen,
            _ => Asked::ForAnAnswer,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Answer {
    Awaited,
    /// Its answer is about to be written.
    Written,
}

/// The slot of a running request. Its handler and the writer of its answer both hold it: it is free when both are done.
struct Slot(Arc<UnderWay>);

impl Drop for Slot {
    fn drop(&mut self) {
        self.0.taken.fetch_sub(1, Ordering::Relaxed);
        self.0.fewer.notify_one();
    }
}

impl UnderWay {
    fn owed(&self) -> MutexGuard<'_, HashMap<RequestId, Owed>> {
        self.owed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns `None` if there is no room, or if a request with the same id is not answered yet.
    fn add(self: &Arc<UnderWay>, id: &RequestId, kind: Asked) -> Option<Arc<Slot>> {
        let mut owed = self.owed();
        // SECURITY: requests that share an id must not share a slot (test: requests_of_one_id_wait_for_each_other)
        if owed.contains_key(id) || self.taken.load(Ordering::Relaxed) >= MOST_REQUESTS {
            return None;
        }
        self.taken.fetch_add(1, Ordering::Relaxed);
        let slot = Arc::new(Slot(Arc::clone(self)));
        owed.insert(id.clone(), Owed { _slot: Arc::clone(&slot), answer: Answer::Awaited, kind });
        Some(slot)
    }

    /// Notes an answer that is about to be written.
    pub(crate) fn writes(&self, id: Option<&RequestId>) {
        if let Some(id) = id
            && let Some(owed) = self.owed().get_mut(id)
        {
            owed.answer = Answer::Written;
        }
    }

    /// Notes an answer that was written.
    pub(crate) fn answered(&self, id: Option<&RequestId>) {
        if let Some(owed) = id.and_then(|id| self.owed().remove(id)) {
            drop(owed);
            self.fewer.notify_one();
        }
    }

    /// Nobody is waiting for this answer, so it must not be sent, unless it is already being written. The handler
    /// may still be running.
    fn cancelled(&self, id: &RequestId) {
        // SECURITY: canceling a request frees no slot while its handler runs
        // (test: cancelled_requests_keep_their_slot)
        let mut owed = self.owed();
        let gone = if owed.get(id).is_some_and(|owed| owed.answer == Answer::Awaited) { owed.remove(id) } else { None };
        drop(owed);
        if gone.is_some() {
            self.fewer.notify_one();
        }
    }

    /// Whether every request was answered or cancelled.
    pub(crate) fn is_none_owed(&self) -> bool {
        self.owed().is_empty()
    }

    /// Whether every request except the listening ones was answered or cancelled.
    pub(crate) fn is_only_listening(&self) -> bool {
        self.owed().values().all(|owed| owed.kind == Asked::ToListen && owed.answer == Answer::Awaited)
    }

    /// Whether no request is running and no answer is pending.
    pub(crate) fn is_idle(&self) -> bool {
        self.is_none_owed() && self.taken.load(Ordering::Relaxed) == 0
    }

    /// Waits until a request may have been answered since the last call.
    pub(crate) async fn fewer(&self) {
        self.fewer.notified().await;
    }
}

impl Flow {
    /// The running requests.
    pub(crate) fn under_way(&self) -> Arc<UnderWay> {
        Arc::clone(&self.under_way)
    }

    /// Takes a message of this many bytes; returns it if it need not wait.
    pub(crate) fn take(
        &mut self,
        message: RxJsonRpcMessage<RoleServer>,
        length: usize,
    ) -> Option<RxJsonRpcMessage<RoleServer>> {
        match message {
            JsonRpcMessage::Request(_) => {
                self.bytes += length;
                self.waiting.push_back((message, length));
                self.next()
            }
            JsonRpcMessage::Notification(ref notification) => {
                if let ClientNotification::CancelledNotification(cancelled) = &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    self.cancelled(id);
                }
                Some(message)
            }
            _ => Some(message),
        }
    }

    fn cancelled(&mut self, id: &RequestId) {
        self.under_way.cancelled(id);
        let bytes = &mut self.bytes;
        self.waiting.retain(|(message, length)| {
            let stays = !matches!(message, JsonRpcMessage::Request(request) if request.id == *id);
            if !stays {
                *bytes -= length;
            }
            stays
        });
    }

    /// The next waiting request, if there is room for it.
    pub(crate) fn next(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        let (JsonRpcMessage::Request(request), _) = self.waiting.front()? else { return None };
        let slot = self.under_way.add(&request.id, Asked::of(&request.request))?;
        let (mut message, length) = self.waiting.pop_front()?;
        self.bytes -= length;
        if let JsonRpcMessage::Request(request) = &mut message {
            request.request.extensions_mut().insert(slot);
        }
        Some(message)
    }

    /// Cancels a request on behalf of a client that is gone, so that its handler stops. Returns `None` when all are
    /// cancelled.
    pub(crate) fn take_back(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        self.waiting = VecDeque::new();
        self.bytes = 0;
        self.take_back_if(|_| true)
    }

    /// Cancels a listening request: its client sends no more, so it could not even stop listening.
    pub(crate) fn take_back_listening(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        self.take_back_if(|kind| kind == Asked::ToListen)
    }

    fn take_back_if(&mut self, is_meant: impl Fn(Asked) -> bool) -> Option<RxJsonRpcMessage<RoleServer>> {
        let mut owed = self.under_way.owed();
        let awaited = |owed: &Owed| owed.answer == Answer::Awaited && is_meant(owed.kind);
        let id = owed.iter().find(|(_, owed)| awaited(owed)).map(|(id, _)| id.clone())?;
        let gone = owed.remove(&id);
        drop(owed);
        drop(gone);
        let parameters = CancelledNotificationParam::new(Some(id), Some("the client is gone".to_owned()));
        Some(JsonRpcMessage::notification(CancelledNotification::new(parameters).into()))
    }

    pub(crate) fn is_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Whether to stop reading.
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

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn message(value: &Value) -> RxJsonRpcMessage<RoleServer> {
        serde_json::from_value(value.clone()).unwrap()
    }

    fn ping(id: usize) -> RxJsonRpcMessage<RoleServer> {
        message(&json!({"jsonrpc": "2.0", "id": id, "method": "ping"}))
    }

    fn cancel(id: usize) -> RxJsonRpcMessage<RoleServer> {
        message(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}))
    }

    fn id(number: usize) -> RequestId {
        RequestId::Number(number.try_into().unwrap())
    }

    #[test]
    fn requests_of_one_id_wait_for_each_other() {
        let mut flow = Flow::default();
        assert!(flow.take(ping(1), 1).is_some());
        assert!(flow.take(ping(1), 1).is_none());
        flow.under_way.answered(Some(&id(1)));
        assert!(flow.next().is_some());
        assert!(!flow.is_waiting());
    }

    #[test]
    fn cancelled_requests_keep_their_slot() {
        let mut flow = Flow::default();
        let mut worked_on: Vec<_> = (0..MOST_REQUESTS).map(|number| flow.take(ping(number), 1).unwrap()).collect();
        for number in 0..MOST_REQUESTS {
            assert!(flow.take(cancel(number), 1).is_some());
        }
        assert!(flow.take(ping(MOST_REQUESTS), 1).is_none());
        // Its handler ends.
        worked_on.pop();
        assert!(flow.next().is_some());

        // A request whose answer waits to be written also keeps its slot.
        let mut flow = Flow::default();
        for number in 0..MOST_REQUESTS {
            drop(flow.take(ping(number), 1).unwrap());
            flow.under_way.writes(Some(&id(number)));
            assert!(flow.take(cancel(number), 1).is_some());
        }
        assert!(flow.take(ping(MOST_REQUESTS), 1).is_none());
        flow.under_way.answered(Some(&id(0)));
        assert!(flow.next().is_some());
    }
}
