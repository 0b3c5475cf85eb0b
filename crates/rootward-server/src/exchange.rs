//! The transport that lines and channels share: it answers bad messages and queues requests.
//!
//! It replaces rmcp's own transports, which silently skip messages they cannot read, so that the client would wait
//! forever. This one answers every request that it cannot accept. It also keeps the cursors of `roots/list`, which
//! rmcp's types have no field for.

use std::io;
use std::pin::Pin;

use rmcp::ErrorData;
use rmcp::model::{JsonRpcMessage, RequestId};
use rmcp::service::{RoleServer, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rootward_protocol::frame::{Awaited, IdFinder};
use rootward_protocol::keep_next_cursor;
use serde::Deserialize;
use serde_json::Value;
use serde_json::error::Category;

use crate::flow::{self, Flow, UnderWay};

/// The longest message accepted.
pub(crate) const LONGEST: usize = 16 << 20;

/// A source of messages.
pub(crate) trait Incoming: Send {
    /// The next message that has already arrived.
    fn next(&mut self) -> Option<Read>;

    /// Waits for more messages. Dropping the future loses nothing.
    fn more(&mut self, under_way: &UnderWay) -> impl Future<Output = More> + Send;
}

/// A sink for messages.
pub(crate) trait Outgoing: Send {
    fn send(&mut self, message: TxJsonRpcMessage<RoleServer>) -> impl Future<Output = io::Result<()>> + Send + 'static;

    fn close(&mut self) -> impl Future<Output = io::Result<()>> + Send;
}

/// The result of waiting.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum More {
    /// More has arrived.
    Arrived,
    /// The client sends no more. It may still read.
    Ended,
    /// The client is gone: nobody reads answers.
    Gone,
}

/// The result of parsing a message.
pub(crate) enum Read {
    /// A message and its length.
    Message(Box<RxJsonRpcMessage<RoleServer>>, usize),
    /// Not a valid message: its id, if known, and the error.
    Wrong(Option<RequestId>, ErrorData),
}

/// Messages in both directions.
pub(crate) struct Exchange<I, O> {
    pub(crate) incoming: I,
    pub(crate) outgoing: O,
    /// Requests that were read and are queued.
    pub(crate) flow: Flow,
    /// The answer to a bad message while it is being sent. Stored here because rmcp may drop a pending `receive`.
    answering: Option<Pin<Box<dyn Future<Output = io::Result<()>> + Send>>>,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Open,
    Ended,
    Gone,
}

impl<I, O> Exchange<I, O> {
    pub(crate) fn new(incoming: I, outgoing: O) -> Exchange<I, O> {
        Exchange { incoming, outgoing, flow: Flow::default(), answering: None, state: State::Open }
    }
}

/// The answer to a message that is too long, if it needs one.
pub(crate) fn too_long(message: &IdFinder) -> Option<Read> {
    let awaited: Awaited = message.awaited();
    let id = serde_json::from_str(awaited.id()?).ok();
    let sentence = format!("the message is longer than {LONGEST} bytes, which is the limit; send less at a time");
    Some(Read::Wrong(id, ErrorData::invalid_request(sentence, None)))
}

/// Parses a message. Returns `None` for an empty message, and for an invalid notification or answer, which nobody waits
/// for.
pub(crate) fn read(text: &[u8]) -> Option<Read> {
    let text = text.trim_ascii();
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    if text.is_empty() {
        return None;
    }
    let kept = keep_next_cursor(text);
    let text = kept.as_deref().unwrap_or(text);
    let error = match serde_json::from_slice(text) {
        Ok(message) => return Some(Read::Message(Box::new(message), text.len())),
        Err(error) => error,
    };
    if matches!(error.classify(), Category::Syntax | Category::Eof) {
        return Some(Read::Wrong(None, ErrorData::parse_error(format!("not JSON: {error}"), None)));
    }
    let Ok(Value::Object(members)) = serde_json::from_slice(text) else {
        return Some(Read::Wrong(None, ErrorData::invalid_request("a message must be a JSON object", None)));
    };
    let id = members.get("id").and_then(|id| RequestId::deserialize(id).ok());
    match (members.contains_key("method"), members.contains_key("id")) {
        (true, true) => Some(Read::Wrong(id, ErrorData::invalid_request("not a valid MCP request", None))),
        (true, false) => None,
        (false, _) if members.contains_key("result") || members.contains_key("error") => None,
        (false, _) => Some(Read::Wrong(id, ErrorData::invalid_request("not a valid MCP message", None))),
    }
}

impl<I: Incoming, O: Outgoing> Transport<RoleServer> for Exchange<I, O> {
    type Error = io::Error;

    fn send(&mut self, message: TxJsonRpcMessage<RoleServer>) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let under_way = self.flow.under_way();
        let answered = flow::answers(&message);
        under_way.writes(answered.as_ref());
        let sent = self.outgoing.send(message);
        async move {
            let sent = sent.await;
            under_way.answered(answered.as_ref());
            sent
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            if self.state == State::Gone {
                return self.flow.take_back();
            }
            if let Some(answering) = &mut self.answering {
                let sent = answering.await;
                self.answering = None;
                if sent.is_err() {
                    self.state = State::Gone;
                    continue;
                }
            }
            if let Some(message) = self.flow.next() {
                return Some(message);
            }
            if !self.flow.is_full() {
                match self.incoming.next() {
                    Some(Read::Message(message, length)) => match self.flow.take(*message, length) {
                        Some(message) => return Some(message),
                        None => continue,
                    },
                    Some(Read::Wrong(id, error)) => {
                        self.answering = Some(Box::pin(self.send(JsonRpcMessage::error(error, id))));
                        continue;
                    }
                    None => {}
                }
            }
            let under_way = self.flow.under_way();
            if self.flow.is_full() || (self.state == State::Ended && self.flow.is_waiting()) {
                under_way.fewer().await;
                continue;
            }
            if self.state == State::Ended {
                return self.flow.take_back_listening();
            }
            let more = tokio::select! {
                more = self.incoming.more(&under_way) => more,
                () = under_way.fewer(), if self.flow.is_waiting() => continue,
            };
            self.state = match more {
                More::Arrived => State::Open,
                More::Ended => State::Ended,
                More::Gone => State::Gone,
            };
        }
    }

    fn close(&mut self) -> impl Future<Output = io::Result<()>> + Send {
        self.outgoing.close()
    }
}
