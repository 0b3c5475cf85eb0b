//! A request body that reports when it was written.
//!
//! Requests are sent on several connections at once. A later message must not overtake an earlier one, so it waits
//! until the earlier body has been sent.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use tokio::sync::oneshot;

/// A request body.
#[derive(Debug, Default)]
pub(super) struct Outbound {
    bytes: Option<Bytes>,
    /// Dropped as soon as the bytes are taken, or the request is given up.
    until_sent: Option<oneshot::Sender<Infallible>>,
}

impl Outbound {
    /// A body that nobody waits for.
    pub(super) fn new(bytes: Bytes) -> Outbound {
        Outbound { bytes: Some(bytes), until_sent: None }
    }

    /// A body for which `until_sent` is dropped once it was written.
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
