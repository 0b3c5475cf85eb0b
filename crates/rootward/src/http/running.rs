//! The HTTP front while it runs: until a signal, and then until running requests have finished.

use anyhow::{Context, Result};
use rootward_http::Backend;
use tokio::signal::unix::{SignalKind, signal};

use super::{Http, limits};
use crate::message;

impl Http {
    /// Serves until the process is told to end: then new requests are refused, running ones finish, and this returns.
    pub(crate) fn run(self, backend: impl Backend) -> Result<()> {
        limits::raise_open_files();
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        let Http { config, listening, .. } = self;
        let (scheme, address) = (if config.tls.is_some() { "https" } else { "http" }, listening.address);
        let served = runtime.block_on(async {
            let mut ended = signal(SignalKind::terminate())?;
            let mut interrupted = signal(SignalKind::interrupt())?;
            let told_to_end = async move {
                tokio::select! {
                    _ = ended.recv() => {}
                    _ = interrupted.recv() => {}
                }
            };
            // When signals are caught: whoever reads this line may send one.
            message::line(&format!("listening on {scheme}://{address}/mcp"));
            rootward_http::serve(vec![listening.listener], config, backend, told_to_end)
                .await
                .context("the HTTP front broke off")
        });
        // What still blocks is not waited for: its client is gone.
        runtime.shutdown_background();
        served
    }
}
