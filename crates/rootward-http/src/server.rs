//! Listening, TLS, and shutdown: new requests are refused, running ones may finish, then everything closes.

use std::future::poll_fn;
use std::io;
use std::net::TcpListener as StdListener;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{sleep, sleep_until, timeout};
use tokio_rustls::TlsAcceptor;

use crate::config::{Config, Tls};
use crate::connection;
use crate::front::Front;
use crate::wire::Backend;

/// How long to wait if the system cannot open another connection.
const PAUSE: Duration = Duration::from_millis(50);

/// How often sessions are checked.
const SWEEP: Duration = Duration::from_secs(1);

/// How long connections may take to close after all requests have finished.
const CLOSING: Duration = Duration::from_millis(500);

/// Serves MCP on these listeners until `shutdown` resolves, and then until running requests have finished or the
/// grace period is over.
///
/// # Errors
///
/// If a listener, the certificate or a name in the configuration cannot be used. An error on a connection only ends
/// that connection.
pub async fn serve<B: Backend>(
    listeners: Vec<StdListener>,
    config: Config,
    backend: B,
    shutdown: impl Future<Output = ()>,
) -> io::Result<()> {
    let invalid = |says: String| io::Error::new(io::ErrorKind::InvalidInput, says);
    let acceptor = config.tls.as_ref().map(acceptor).transpose().map_err(invalid)?;
    let front = Arc::new(Front::new(&config, backend).map_err(|error| invalid(error.to_string()))?);
    drop(config);
    let listeners = listeners.into_iter().map(listen).collect::<io::Result<Vec<TcpListener>>>()?;
    let (close, closing) = watch::channel(false);
    let mut connections = JoinSet::new();
    // Ends with this function.
    let mut ticking = JoinSet::new();
    ticking.spawn({
        let front = Arc::clone(&front);
        async move { front.answer_timer.run().await }
    });
    let mut shutdown = std::pin::pin!(shutdown);
    let mut deadline: Option<Instant> = None;
    let mut sweep = tokio::time::interval(SWEEP.min(front.limits.session_idle.max(PAUSE)));
    loop {
        if deadline.is_some_and(|deadline| front.figures.running() == 0 || Instant::now() >= deadline) {
            break;
        }
        tokio::select! {
            () = &mut shutdown, if deadline.is_none() => {
                front.drain();
                deadline = Some(Instant::now() + front.limits.grace);
            }
            () = front.figures.finished.notified(), if deadline.is_some() => {}
            () = until(deadline), if deadline.is_some() => {}
            _ = sweep.tick() => front.sessions.sweep(Instant::now()),
            Some(_) = connections.join_next() => {}
            accepted = accept(&listeners), if connections.len() < front.limits.connections => match accepted {
                Ok(stream) => {
                    connections.spawn(connect(Arc::clone(&front), stream, acceptor.clone(), closing.clone()));
                }
                Err(error) => {
                    tracing::warn!(%error, "cannot accept a connection");
                    sleep(PAUSE).await;
                }
            },
        }
    }
    drop(listeners);
    front.sessions.end_all("the server is shutting down");
    // An error means that no connection is left.
    let _ = close.send(true);
    let all = async { while connections.join_next().await.is_some() {} };
    if timeout(CLOSING, all).await.is_err() {
        connections.shutdown().await;
    }
    Ok(())
}

async fn until(deadline: Option<Instant>) {
    if let Some(deadline) = deadline {
        sleep_until(deadline.into()).await;
    }
}

fn listen(listener: StdListener) -> io::Result<TcpListener> {
    listener.set_nonblocking(true)?;
    TcpListener::from_std(listener)
}

/// The next connection on any of these.
async fn accept(listeners: &[TcpListener]) -> io::Result<TcpStream> {
    poll_fn(|context| {
        for listener in listeners {
            if let Poll::Ready(accepted) = listener.poll_accept(context) {
                return Poll::Ready(accepted.map(|(stream, _)| stream));
            }
        }
        Poll::Pending
    })
    .await
}

async fn connect<B: Backend>(
    front: Arc<Front<B>>,
    stream: TcpStream,
    acceptor: Option<TlsAcceptor>,
    closing: watch::Receiver<bool>,
) {
    // Otherwise an event waits for the acknowledgement of the previous one. This fails only if the client is gone.
    let _ = stream.set_nodelay(true);
    let figures = Arc::clone(&front.figures);
    figures.connections.inc();
    let _count = Counted(figures);
    match acceptor {
        None => connection::serve(front, stream, closing).await,
        Some(acceptor) => match timeout(front.limits.head_time, acceptor.accept(stream)).await {
            Ok(Ok(stream)) => connection::serve(front, stream, closing).await,
            Ok(Err(error)) => tracing::debug!(%error, "a TLS handshake failed"),
            Err(_) => tracing::debug!("a client took too long to start TLS"),
        },
    }
}

/// A connection in the metrics.
struct Counted(Arc<crate::figures::Figures>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.connections.dec();
    }
}

fn acceptor(tls: &Tls) -> Result<TlsAcceptor, String> {
    let certificates = CertificateDer::pem_slice_iter(&tls.certificates)
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| format!("the certificate cannot be read: {error}"))?;
    let key = PrivateKeyDer::from_pem_slice(&tls.key).map_err(|error| format!("the key cannot be read: {error}"))?;
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_no_client_auth().with_single_cert(certificates, key))
        .map_err(|error| format!("the certificate cannot be used: {error}"))?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}
