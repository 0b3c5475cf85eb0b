//! Messages over channels in memory: for a front that has read them from the network, one session or one request at a time.
//!
//! An idle session holds no buffer here: each message is a value of its own.

use std::collections::VecDeque;
use std::io;

use bytes::Bytes;
use rmcp::service::{RoleServer, TxJsonRpcMessage};
use rootward_protocol::frame::IdFinder;
use serde_json::value::RawValue;
use tokio::sync::mpsc;

use crate::exchange::{Exchange, Incoming, LONGEST, More, Outgoing, Read, read, too_long};
use crate::flow::UnderWay;
use crate::json;

/// The transport of a session whose messages arrive and leave over channels.
pub(crate) fn channels(
    to_client: mpsc::Sender<Bytes>,
    from_client: mpsc::Receiver<Bytes>,
) -> Exchange<FromChannel, ToChannel> {
    let incoming = FromChannel { receiver: from_client, to_client: to_client.clone(), arrived: VecDeque::new() };
    Exchange::new(incoming, ToChannel(to_client))
}

/// Messages that arrive, each by itself or in a batch.
pub(crate) struct FromChannel {
    receiver: mpsc::Receiver<Bytes>,
    /// Closed when the client is gone.
    to_client: mpsc::Sender<Bytes>,
    arrived: VecDeque<Bytes>,
}

/// The channel that messages leave by.
pub(crate) struct ToChannel(mpsc::Sender<Bytes>);

impl FromChannel {
    fn arrive(&mut self, bytes: Bytes) {
        match batch(&bytes) {
            Some(parts) => self.arrived.extend(parts.iter().map(|part| bytes.slice_ref(part.get().as_bytes()))),
            None => self.arrived.push_back(bytes),
        }
    }
}

/// The messages of a batch; none if it is not a batch. An empty one is not: it is answered as a bad message.
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
            if message.is_some() {
                return message;
            }
        }
        self.arrived = VecDeque::new();
        None
    }

    async fn more(&mut self, under_way: &UnderWay) -> More {
        tokio::select! {
            biased;
            () = self.to_client.closed() => return More::Gone,
            bytes = self.receiver.recv() => if let Some(bytes) = bytes {
                self.arrive(bytes);
                return More::Arrived;
            },
        }
        // The client says no more, and may wait for answers.
        while !under_way.is_none_owed() {
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
        let to_client = self.0.clone();
        async move {
            let mut bytes = Vec::new();
            json::write(&mut bytes, &message)?;
            drop(message);
            to_client.send(bytes.into()).await.map_err(|_| io::ErrorKind::BrokenPipe.into())
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        Ok(())
    }
}
