//! Runs the HTTP front until a signal arrives, and then until running requests have finished.

use std::net::SocketAddr;
use std::os::fd::OwnedFd;

use anyhow::{Context, Result};
use rootward_http::{Backend, Config};
use tokio::runtime::Builder;
use tokio::signal::unix::{SignalKind, signal};

use super::listening::Listening;
use super::log::Log;
use super::{Http, limits};
use crate::message;

/// What to do once the port is open. It needs no file.
#[derive(Debug)]
pub(crate) struct Front {
    pub(super) config: Config,
    pub(super) address: SocketAddr,
    pub(super) log: Log,
}

/// How many threads serve.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Threads {
    /// One: for a front that only moves messages, and never waits for a file. Waking another thread for each message
    /// costs more than moving it.
    #[cfg(feature = "wrap")]
    One,
    /// One for each core: for a front that serves files, which may be slow.
    ForEachCore,
}

impl Http {
    /// The open port, and what to do with it.
    pub(crate) fn open(self) -> (OwnedFd, Front) {
        let Http { config, listening: Listening { listener, address }, log, .. } = self;
        (listener.into(), Front { config, address, log })
    }

    /// Serves until the process is told to exit: then new requests are refused, running ones finish, and this
    /// returns.
    pub(crate) fn run(self, backend: impl Backend) -> Result<()> {
        let (listener, front) = self.open();
        front.run(listener, backend, Threads::ForEachCore)
    }
}

impl Front {
    /// Serves on this port until the process is told to exit.
    pub(crate) fn run(self, listener: OwnedFd, backend: impl Backend, threads: Threads) -> Result<()> {
        limits::raise_open_files();
        let mut runtime = match threads {
            #[cfg(feature = "wrap")]
            Threads::One => Builder::new_current_thread(),
            Threads::ForEachCore => Builder::new_multi_thread(),
        };
        let runtime = runtime.enable_all().build()?;
        let Front { config, address, log } = self;
        log.begin();
        let scheme = if config.tls.is_some() { "https" } else { "http" };
        let served = runtime.block_on(async {
            let mut ended = signal(SignalKind::terminate())?;
            let mut interrupted = signal(SignalKind::interrupt())?;
            let told_to_end = async move {
                tokio::select! {
                    _ = ended.recv() => {}
                    _ = interrupted.recv() => {}
                }
            };
            let listener = std::net::TcpListener::from(listener);
            // Print only once signals are caught: a reader of this line may send one.
            message::line(&format!("listening on {scheme}://{address}/mcp"));
            rootward_http::serve(vec![listener], config, backend, told_to_end).await.context("the HTTP front failed")
        });
        // Do not wait for what still blocks: its client is gone.
        runtime.shutdown_background();
        served
    }
}
