//! One connection: counts bytes, and cuts off a client that neither sends nor reads in time.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::{Notify, watch};
use tokio::time::{Sleep, sleep};

use crate::endpoint;
use crate::figures::Figures;
use crate::front::Front;
use crate::wire::Backend;

/// The longest request head, and how much of a body is read at a time.
const LONGEST_HEAD: usize = 64 << 10;

/// How many requests a connection has begun and ended.
#[derive(Debug, Default)]
pub(crate) struct Pace {
    begun: AtomicU32,
    ended: AtomicU32,
}

impl Pace {
    pub(crate) fn begin(&self) {
        self.begun.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn end(&self) {
        self.ended.fetch_add(1, Ordering::Relaxed);
    }

    fn begun(&self) -> u32 {
        self.begun.load(Ordering::Relaxed)
    }

    fn is_busy(&self) -> bool {
        self.begun() != self.ended.load(Ordering::Relaxed)
    }
}

/// Serves the requests of one connection, until it or the front ends.
pub(crate) async fn serve<B: Backend, S>(front: Arc<Front<B>>, stream: S, mut closing: watch::Receiver<bool>)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (cut, pace) = (Arc::new(Notify::new()), Arc::new(Pace::default()));
    let timed = Timed {
        stream,
        pace: Arc::clone(&pace),
        figures: Arc::clone(&front.figures),
        head: Some((0, Box::pin(sleep(front.limits.head_time)))),
        head_time: front.limits.head_time,
        write: None,
        write_time: front.limits.write_time,
    };
    let idle = front.limits.connection_idle;
    let service = {
        let cut = Arc::clone(&cut);
        service_fn(move |request| {
            let served = endpoint::serve(Arc::clone(&front), request, Arc::clone(&cut), Arc::clone(&pace));
            async move { Ok::<_, std::convert::Infallible>(served.await) }
        })
    };
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(idle)
        // SECURITY: a client without a token gets no more memory than this (test: long_heads_are_refused)
        .max_buf_size(LONGEST_HEAD)
        .serve_connection(TokioIo::new(timed), service);
    let mut connection = std::pin::pin!(connection);
    tokio::select! {
        ended = connection.as_mut() => {
            if let Err(error) = ended {
                tracing::debug!(%error, "a connection failed");
            }
        }
        // A client that does not read would not see the end of its stream.
        () = cut.notified() => tracing::debug!("a client that does not read is cut off"),
        () = closed(&mut closing) => {
            connection.as_mut().graceful_shutdown();
            let _ = connection.await;
        }
    }
}

/// Resolves when the front closes.
async fn closed(closing: &mut watch::Receiver<bool>) {
    // An error means that the front is gone.
    let _ = closing.wait_for(|closing| *closing).await;
}

/// A stream with its timeouts.
struct Timed<S> {
    stream: S,
    pace: Arc<Pace>,
    figures: Arc<Figures>,
    /// Deadline for the head of a request, and how many requests had begun when the wait started.
    head: Option<(u32, Pin<Box<Sleep>>)>,
    head_time: Duration,
    /// Deadline for the client to read.
    write: Option<Pin<Box<Sleep>>>,
    write_time: Duration,
}

fn timed_out<T>(says: &'static str) -> Poll<io::Result<T>> {
    Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, says)))
}

impl<S> Timed<S> {
    /// The result of a write, or an error if none was possible for too long.
    fn written(&mut self, written: Poll<io::Result<usize>>, context: &mut Context<'_>) -> Poll<io::Result<usize>> {
        if let Poll::Ready(written) = written {
            self.write = None;
            if let Ok(count) = written {
                self.figures.sent.inc_by(count as u64);
            }
            return Poll::Ready(written);
        }
        let write = self.write.get_or_insert_with(|| Box::pin(sleep(self.write_time)));
        // SECURITY: a client that never reads would keep its connection forever
        // (test: a_client_that_never_reads_is_cut_off)
        if write.as_mut().poll(context).is_ready() { timed_out("the client does not read") } else { Poll::Pending }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Timed<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        let count = buffer.filled().len() - before;
        self.figures.received.inc_by(count as u64);
        let begun = self.pace.begun();
        if self.pace.is_busy() || self.head.as_ref().is_some_and(|(when, _)| *when != begun) {
            self.head = None;
        }
        if self.pace.is_busy() {
            return read;
        }
        if count > 0 && self.head.is_none() {
            self.head = Some((begun, Box::pin(sleep(self.head_time))));
        }
        let is_late = self.head.as_mut().is_some_and(|(_, head)| head.as_mut().poll(context).is_ready());
        // SECURITY: a head that arrives byte by byte would keep its connection forever (test: slow_heads_are_cut_off)
        if is_late { timed_out("the head took too long to arrive") } else { read }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Timed<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.written(written, context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, bytes);
        self.written(written, context)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(context);
        self.written(flushed.map_ok(|()| 0), context).map_ok(|_| ())
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let shut = Pin::new(&mut self.stream).poll_shutdown(context);
        self.written(shut.map_ok(|()| 0), context).map_ok(|_| ())
    }
}
