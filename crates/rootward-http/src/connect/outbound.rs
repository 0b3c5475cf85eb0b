//! The body of a request, which tells when it was written.
//!
//! Requests go out on several connections at a time. A message that the client sent later must not overtake: it waits until the body of
//! the one before has left.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use tokio::sync::oneshot;

/// The body of a request.
#[derive(Debug, Default)]
pub(super) struct Outbound {
    bytes: Option<Bytes>,
    /// Dropped as soon as the bytes are taken, or the request given up.
    until_sent: Option<oneshot::Sender<Infallible>>,
}

impl Outbound {
    /// A body, without anybody who waits for it.
    pub(super) fn new(bytes: Bytes) -> Outbound {
        Outbound { bytes: Some(bytes), until_sent: None }
    }

    /// The same; `until_sent` is dropped when it was written.
    pub(super) fn telling(bytes: Bytes, until_sent: Option<oneshot::Sender<Infallible>>) -> Outbound {
        Outbound { bytes: Some(bytes), until_sent }
    }
}

impl Body for Outbound {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        drop(self.until_sent.take());
        Poll::Ready(self.bytes.take().map(|bytes| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        self.bytes.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.bytes.as_ref().map_or(0, |bytes| bytes.len() as u64))
    }
}
