//! Response bodies: whole, the stream of a session, or the stream of a modern request.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Frame, SizeHint};
use tokio::time::{Instant, Sleep, sleep};

use crate::event::{self, EventId, Pieces};
use crate::exchange::Exchange;
use crate::modern::answers::{Answers, Said};
use crate::session::{ReaderId, Session};

/// A response body.
#[derive(Debug)]
pub(crate) struct Body {
    content: Content,
    /// Counted when the response has been sent.
    exchange: Option<Exchange>,
}

#[derive(Debug)]
enum Content {
    Whole(Bytes),
    Stream(Box<Stream>),
}

/// A stream of events.
#[derive(Debug)]
struct Stream {
    source: Source,
    /// What to send before the next message, last piece first.
    pieces: Pieces,
    keep_alive: Pin<Box<Sleep>>,
    interval: Duration,
}

#[derive(Debug)]
enum Source {
    Session(SessionReader),
    Request(Answers),
    Ended,
}

/// Reads a stream of a session. After it is dropped, the stream can be resumed.
#[derive(Debug)]
pub(crate) struct SessionReader {
    pub(crate) session: Arc<Session>,
    pub(crate) id: ReaderId,
}

impl Drop for SessionReader {
    fn drop(&mut self) {
        self.session.leave(self.id);
    }
}

impl Body {
    pub(crate) fn whole(content: Bytes) -> Body {
        Body { content: Content::Whole(content), exchange: None }
    }

    /// The stream of a session, starting with these pieces.
    pub(crate) fn session(reader: SessionReader, mut first: Pieces, interval: Duration) -> Body {
        first.reverse();
        Body::stream(Source::Session(reader), first, interval)
    }

    /// The stream of a modern request, starting with this message if it is already available.
    pub(crate) fn request(answers: Answers, first: Option<&Bytes>, interval: Duration) -> Body {
        let mut pieces = first.map(|first| event::event(None, first)).unwrap_or_default();
        pieces.reverse();
        Body::stream(Source::Request(answers), pieces, interval)
    }

    fn stream(source: Source, pieces: Pieces, interval: Duration) -> Body {
        let keep_alive = Box::pin(sleep(interval));
        Body { content: Content::Stream(Box::new(Stream { source, pieces, keep_alive, interval })), exchange: None }
    }

    /// Counts the exchange as done when this body is.
    pub(crate) fn counted(mut self, exchange: Exchange) -> Body {
        self.exchange = Some(exchange);
        self
    }
}

impl Stream {
    fn poll_piece(&mut self, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        loop {
            if let Some(piece) = self.pieces.pop() {
                return Poll::Ready(Some(piece));
            }
            let said = match &mut self.source {
                Source::Ended => return Poll::Ready(None),
                Source::Session(reader) => reader.session.poll_next(reader.id, context).map(|next| {
                    let (position, message) = next?;
                    Some((Some(EventId { stream: reader.id.stream, position }), message))
                }),
                Source::Request(answers) => answers.poll_next(context).map(|said| match said {
                    Said::Before(message) | Said::Last(message) => Some((None, message)),
                    // A stream has started, so the wire was accepted.
                    Said::Full | Said::Nothing => None,
                }),
            };
            match said {
                Poll::Ready(Some((id, message))) => {
                    self.pieces = event::event(id, &message);
                    self.pieces.reverse();
                    self.keep_alive.as_mut().reset(Instant::now() + self.interval);
                }
                Poll::Ready(None) => self.source = Source::Ended,
                Poll::Pending => {
                    if self.keep_alive.as_mut().poll(context).is_pending() {
                        return Poll::Pending;
                    }
                    self.keep_alive.as_mut().reset(Instant::now() + self.interval);
                    self.pieces.push(event::KEEP_ALIVE);
                }
            }
        }
    }
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match &mut self.content {
            Content::Whole(whole) if whole.is_empty() => Poll::Ready(None),
            Content::Whole(whole) => Poll::Ready(Some(Ok(Frame::data(std::mem::take(whole))))),
            Content::Stream(stream) => {
                stream.poll_piece(context).map(|piece| piece.map(|piece| Ok(Frame::data(piece))))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(&self.content, Content::Whole(content) if content.is_empty())
    }

    fn size_hint(&self) -> SizeHint {
        match &self.content {
            Content::Whole(content) => SizeHint::with_exact(content.len() as u64),
            Content::Stream(_) => SizeHint::default(),
        }
    }
}
