//! Servers that only count the frames they receive.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::task::{Context, Poll};

use rmcp::model::ClientConfig;
use rmcp::service::{RoleClient, RunningService};
use rootward_client::provider::{Provided, Provider, Server};
use rustix::process::{Resource, getrlimit, setrlimit};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::Notify;

use crate::Outcome;

/// The number of frames that all servers together have received.
#[derive(Clone, Debug, Default)]
pub(crate) struct Heard(Arc<(AtomicUsize, Notify)>);

impl Heard {
    fn hear(&self) {
        self.0.0.fetch_add(1, Ordering::AcqRel);
        self.0.1.notify_one();
    }

    /// Waits until there are this many.
    pub(crate) async fn frames(&self, count: usize) {
        while self.0.0.load(Ordering::Acquire) < count {
            self.0.1.notified().await;
        }
    }
}

/// The number of the host's writes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Written(Arc<AtomicU64>);

impl Written {
    pub(crate) fn count(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }
}

/// The host's end of a connection, which counts its writes.
struct Counted {
    inner: OwnedWriteHalf,
    written: Written,
}

impl AsyncWrite for Counted {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut self.inner).poll_write(context, bytes);
        if outcome.is_ready() {
            self.written.0.fetch_add(1, Ordering::AcqRel);
        }
        outcome
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(context)
    }
}

/// Raises the limit of open files, for twice this many connections.
pub(crate) fn make_room_for(servers: usize) -> Outcome {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    setrlimit(Resource::Nofile, limit)?;
    // Each connection has two ends.
    let needed = 4 * servers as u64 + 100;
    match limit.maximum {
        Some(most) if most < needed => {
            Err(format!("the benchmark needs {needed} open files, but only {most} are allowed").into())
        }
        _ => Ok(()),
    }
}

/// Connects the provider to a server that counts its frames.
pub(crate) async fn connect(
    provider: &Provider,
    number: usize,
    heard: &Heard,
    written: &Written,
) -> Outcome<RunningService<RoleClient, Provided<ClientConfig>>> {
    let (here, there) = UnixStream::pair()?;
    let handler = provider.install(ClientConfig::default(), Server::local(format!("server {number}")));
    let (read, write) = there.into_split();
    let written = written.clone();
    let client = tokio::spawn(handler.serve((read, Counted { inner: write, written })));
    let (read, mut write) = here.into_split();
    let mut lines = BufReader::new(read).lines();
    let initialize: Value = serde_json::from_str(&lines.next_line().await?.ok_or("no handshake")?)?;
    let information = json!({"name": "server", "version": "1"});
    let result = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": information});
    let answer = json!({"jsonrpc": "2.0", "id": initialize["id"], "result": result});
    write.write_all(format!("{answer}\n").as_bytes()).await?;
    lines.next_line().await?.ok_or("no end of the handshake")?;
    tokio::spawn(count(lines.into_inner(), heard.clone(), Some(write)));
    Ok(client.await??)
}

/// A socket whose other end counts what it hears.
pub(crate) fn listen(heard: &Heard) -> Outcome<UnixStream> {
    let (here, there) = UnixStream::pair()?;
    let (read, write) = there.into_split();
    tokio::spawn(count(BufReader::new(read), heard.clone(), Some(write)));
    Ok(here)
}

/// Counts lines. The other direction stays open meanwhile.
async fn count(read: BufReader<OwnedReadHalf>, heard: Heard, _open: Option<OwnedWriteHalf>) {
    let mut lines = read.lines();
    while let Ok(Some(_)) = lines.next_line().await {
        heard.hear();
    }
}
