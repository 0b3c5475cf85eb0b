//! Messages over in-memory channels, for a front end that reads them from the network: one session or one request at a
//! time.
//!
//! An idle session holds no buffer here: each message is a separate value. When a client has been silent for a while,
//! the transport ends and returns the channel, so that nothing of the session keeps running: see `resting.rs`.

use std::collections::{HashSet, VecDeque};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use rmcp::model::{JsonRpcMessage, RequestId};
use rmcp::service::{RoleServer, RxJsonRpcMessage, TxJsonRpcMessage};
use rootward_protocol::frame::IdFinder;
use serde_json::value::RawValue;
use tokio::sync::{mpsc, oneshot};

use crate::exchange::{Exchange, Incoming, LONGEST, More, Outgoing, Read, read, too_long};
use crate::flow::UnderWay;

/// How long a client must be silent before its session rests.
const REST_AFTER: Duration = Duration::from_secs(1);

/// The channel for a session's incoming messages.
pub(crate) type FromClient = mpsc::Receiver<Bytes>;

/// Whether a session can rest now, and where to return its channel when it does.
pub(crate) struct Rests {
    may: Arc<AtomicBool>,
    /// Whether the client is waiting for a notification.
    awake: Arc<AtomicBool>,
    back: Option<oneshot::Sender<FromClient>>,
}

impl Rests {
    /// A session that rests once it may. The receiver gets its channel, unless the session ends.
    pub(crate) fn new(may: &Arc<AtomicBool>, awake: &Arc<AtomicBool>) -> (Rests, oneshot::Receiver<FromClient>) {
        let (back, rested) = oneshot::channel();
        (Rests { may: Arc::clone(may), awake: Arc::clone(awake), back: Some(back) }, rested)
    }

    fn may(&self) -> bool {
        self.back.is_some() && self.may.load(Ordering::Relaxed) && !self.awake.load(Ordering::Relaxed)
    }
}

/// The transport of a session over channels. `first` has already arrived.
pub(crate) fn channels(
    to_client: &mpsc::Sender<Bytes>,
    from_client: FromClient,
    first: Option<Bytes>,
    rests: Rests,
) -> Exchange<FromChannel, ToChannel> {
    let questions = Questions::default();
    let mut incoming = FromChannel {
        receiver: from_client,
        to_client: to_client.clone(),
        arrived: VecDeque::new(),
        questions: questions.clone(),
        rests,
    };
    if let Some(first) = first {
        incoming.arrive(first);
    }
    Exchange::new(incoming, ToChannel { sender: to_client.clone(), questions })
}

/// Requests that the client has not answered.
// SECURITY: a session with a pending question does not rest: its next questions would reuse the ids, and a late answer
// would be matched to them (test: a_session_that_waits_for_an_answer_does_not_rest)
#[derive(Clone, Default)]
struct Questions(Arc<Mutex<HashSet<RequestId>>>);

impl Questions {
    fn open(&self) -> MutexGuard<'_, HashSet<RequestId>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn heard(&self, message: &RxJsonRpcMessage<RoleServer>) {
        let id = match message {
            JsonRpcMessage::Response(response) => Some(&response.id),
            JsonRpcMessage::Error(error) => error.id.as_ref(),
            _ => None,
        };
        if let Some(id) = id {
            self.open().remove(id);
        }
    }
}

/// Incoming messages, single or in batches.
pub(crate) struct FromChannel {
    receiver: FromClient,
    /// Closed when the client is gone.
    to_client: mpsc::Sender<Bytes>,
    arrived: VecDeque<Bytes>,
    questions: Questions,
    rests: Rests,
}

/// The channel for outgoing messages.
pub(crate) struct ToChannel {
    sender: mpsc::Sender<Bytes>,
    questions: Questions,
}

impl FromChannel {
    fn arrive(&mut self, bytes: Bytes) {
        match batch(&bytes) {
            Some(parts) => self.arrived.extend(parts.iter().map(|part| bytes.slice_ref(part.get().as_bytes()))),
            None => self.arrived.push_back(bytes),
        }
    }

    /// Returns the channel, if nothing is pending in either direction.
    fn rest(&mut self, under_way: &UnderWay) -> bool {
        if !self.rests.may() || !under_way.is_idle() || !self.questions.open().is_empty() {
            return false;
        }
        let Some(back) = self.rests.back.take() else { return false };
        // Replace it with a closed channel.
        let receiver = std::mem::replace(&mut self.receiver, mpsc::channel(1).1);
        back.send(receiver).is_ok()
    }
}

/// The messages of a batch; `None` if it is not a batch. An empty array does not count: it is answered as a bad
/// message.
fn batch(bytes: &Bytes) -> Option<Vec<&RawValue>> {
    if bytes.len() > LONGEST || bytes.trim_ascii_start().first() != Some(&b'[') {
        return None;
    }
    serde_json::from_slice(bytes).ok().filter(|parts: &Vec<_>| !parts.is_empty())
}

impl Incoming for FromChannel {
    fn next(&mut self) -> Option<Read> {
        while let Some(bytes) = self.arrived.pop_front() {
            let message = if bytes.len() > LONGEST {
                let mut oversized = IdFinder::default();
                oversized.add(&bytes);
                too_long(&oversized)
            } else {
                read(&bytes)
            };
            if let Some(Read::Message(message, _)) = &message {
                self.questions.heard(message);
            }
            if message.is_some() {
                return message;
            }
        }
        self.arrived = VecDeque::new();
        None
    }

    async fn more(&mut self, under_way: &UnderWay) -> More {
        loop {
            tokio::select! {
                biased;
                () = self.to_client.closed() => return More::Gone,
                bytes = self.receiver.recv() => match bytes {
                    Some(bytes) => {
                        self.arrive(bytes);
                        return More::Arrived;
                    }
                    None => break,
                },
                () = tokio::time::sleep(REST_AFTER) => if self.rest(under_way) {
                    return More::Ended;
                },
            }
        }
        // The client sends no more, but may wait for answers.
        while !under_way.is_only_listening() {
            tokio::select! {
                () = under_way.fewer() => {}
                () = self.to_client.closed() => return More::Gone,
            }
        }
        More::Ended
    }
}

impl Outgoing for ToChannel {
    fn send(&mut self, message: TxJsonRpcMessage<RoleServer>) -> impl Future<Output = io::Result<()>> + Send + 'static {
        if let JsonRpcMessage::Request(request) = &message {
            self.questions.open().insert(request.id.clone());
        }
        let to_client = self.sender.clone();
        async move {
            let bytes = serde_json::to_vec(&message)?;
            drop(message);
            to_client.send(bytes.into()).await.map_err(|_| io::ErrorKind::BrokenPipe.into())
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        Ok(())
    }
}
