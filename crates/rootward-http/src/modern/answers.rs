//! The backend's messages for one modern request, up to its answer.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http::StatusCode;
use rootward_protocol::frame::{Kind, Members, Message};
use rootward_protocol::message::{
    HEADER_MISMATCH, INTERNAL_ERROR, METHOD_NOT_FOUND, MISSING_CAPABILITY, UNSUPPORTED_VERSION, error,
};
use rootward_protocol::method;

use super::annotations::Annotations;
use super::place::Place;
use crate::wire::{NO_ROOM, Wire};
use crate::{event, frames};

/// The backend's messages for one request. Dropping this drops the wire, which cancels the request.
#[derive(Debug)]
pub(crate) struct Answers {
    wire: Wire,
    /// The request's id, as written.
    id: Box<str>,
    is_list_of_tools: bool,
    annotations: Arc<Mutex<Annotations>>,
    ready: VecDeque<Said>,
    is_done: bool,
    _place: Place,
}

/// One message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Said {
    /// A notification before the answer.
    Before(Bytes),
    /// The answer.
    Last(Bytes),
    /// The backend accepts no more requests.
    Full,
    /// No more messages.
    Nothing,
}

impl Answers {
    pub(crate) fn new(
        wire: Wire,
        id: &str,
        method: &str,
        annotations: Arc<Mutex<Annotations>>,
        place: Place,
    ) -> Answers {
        Answers {
            wire,
            id: id.into(),
            is_list_of_tools: method == method::LIST_TOOLS,
            annotations,
            ready: VecDeque::new(),
            is_done: false,
            _place: place,
        }
    }

    /// The next message.
    pub(crate) fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Said> {
        loop {
            if self.is_done {
                return Poll::Ready(Said::Nothing);
            }
            if let Some(said) = self.ready.pop_front() {
                self.is_done = matches!(said, Said::Last(_));
                return Poll::Ready(said);
            }
            let Some(frame) = ready!(self.wire.receiver.poll_recv(context)) else {
                self.is_done = true;
                let says = "the server ended before it answered";
                return Poll::Ready(Said::Last(Bytes::from(error(&self.id, INTERNAL_ERROR, says, None))));
            };
            if frame == NO_ROOM {
                self.is_done = true;
                return Poll::Ready(Said::Full);
            }
            self.take(&event::in_one_line(frame));
        }
    }

    fn take(&mut self, frame: &Bytes) {
        frames::each(frame, |envelope, message| match envelope.kind() {
            Kind::Notification => {
                if envelope.method() == Some(method::TOOLS_CHANGED) {
                    self.annotations.lock().unwrap_or_else(PoisonError::into_inner).forget();
                }
                self.ready.push_back(Said::Before(message));
            }
            Kind::Response | Kind::ErrorResponse => {
                if self.is_list_of_tools
                    && let Ok(Message::Single(whole)) = Message::parse(&message)
                {
                    let mut annotations = self.annotations.lock().unwrap_or_else(PoisonError::into_inner);
                    let _next = whole.result().and_then(|result| annotations.learn(result));
                }
                self.ready.push_back(Said::Last(message));
            }
            // A modern client is asked only in answers.
            Kind::Request => tracing::warn!("the backend sent a request to a modern client"),
        });
    }
}

/// The HTTP status of an answer.
pub(super) fn status(answer: &Bytes) -> StatusCode {
    let mut status = StatusCode::OK;
    frames::each(answer, |envelope, _| {
        let code =
            envelope.error().and_then(Members::read).and_then(|error| error.get("code")?.get().parse::<i32>().ok());
        status = match code {
            Some(METHOD_NOT_FOUND) => StatusCode::NOT_FOUND,
            Some(HEADER_MISMATCH | MISSING_CAPABILITY | UNSUPPORTED_VERSION) => StatusCode::BAD_REQUEST,
            _ => StatusCode::OK,
        };
    });
    status
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_have_their_status() {
        let check = |answer: &str, expect: u16| {
            assert_eq!(status(&Bytes::from(answer.to_owned())).as_u16(), expect, "{answer}");
        };
        check(r#"{"id":1,"result":{"error":{"code":-32601}}}"#, 200);
        check(r#"{"id":1,"error":{"code":-32601,"message":""}}"#, 404);
        check(r#"{"id":1,"error":{"code":-32020,"message":""}}"#, 400);
        check(r#"{"id":1,"error":{"code":-32021,"message":""}}"#, 400);
        check(r#"{"id":1,"error":{"code":-32022,"message":""}}"#, 400);
        check(r#"{"id":1,"error":{"code":-32602,"message":""}}"#, 200);
        check(r#"{"id":1,"error":{"code":-32603,"message":""}}"#, 200);
    }
}
