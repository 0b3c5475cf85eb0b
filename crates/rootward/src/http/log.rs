//! The front's log on standard error, where `ROOTWARD_LOG` asks for one: a line for each request, with the id of its trace.

use anyhow::{Result, anyhow};
use rootward_core::env;
use serde::{Deserialize, Serialize};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::format::FmtSpan;

use crate::ground::Ground;
use crate::message::Hinted;

/// What is logged; nothing unless asked for.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Log(Option<String>);

impl Log {
    /// What the environment asks for.
    pub(super) fn read(ground: &Ground) -> Result<Log> {
        let Some(text) = ground.environment.get(env::LOG) else { return Ok(Log(None)) };
        let text = text.to_str().filter(|text| EnvFilter::try_new(text).is_ok()).ok_or_else(|| {
            let says = format!("`{}` is not a usable filter", env::LOG);
            let hint = "`info` logs each request, `debug` more, `rootward_http=debug` of one part only".to_owned();
            anyhow!(Hinted { says, hint })
        })?;
        Ok(Log(Some(text.to_owned())))
    }

    /// Begins to log.
    pub(super) fn begin(&self) {
        let Some(filter) = self.0.as_ref().and_then(|text| EnvFilter::try_new(text).ok()) else { return };
        let subscriber = tracing_subscriber::fmt()
            .with_env_filter(filter)
            .with_writer(std::io::stderr)
            .with_ansi(false)
            .with_span_events(FmtSpan::CLOSE);
        // Fails only where something logs already.
        let _ = subscriber.try_init();
    }
}
