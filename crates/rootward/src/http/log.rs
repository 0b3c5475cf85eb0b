//! The log on standard error, if `ROOTWARD_LOG` requests one: a line for each decision and, over HTTP, for each
//! request, with its trace id.

use std::io;
use std::sync::Arc;

use anyhow::{Result, anyhow};
use rootward_core::{Audit, AuditEvent, ChangeEvent, Code, Decision, env};
use serde::{Deserialize, Serialize};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::format::FmtSpan;

use crate::ground::Ground;
use crate::message::Hinted;

/// What to log; nothing by default.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Log(Option<String>);

impl Log {
    /// What the environment requests.
    pub(crate) fn read(ground: &Ground) -> Result<Log> {
        let Some(text) = ground.environment.get(env::LOG) else { return Ok(Log(None)) };
        let text = text.to_str().filter(|text| filter(text).is_some()).ok_or_else(|| {
            let says = format!("`{}` is not a usable filter", env::LOG);
            let hint = "`info` logs refusals and HTTP requests, `debug` every decision and more, `rootward_http=debug` of one part only".to_owned();
            anyhow!(Hinted { says, hint })
        })?;
        Ok(Log(Some(text.to_owned())))
    }

    /// Whether anything is logged.
    pub(crate) fn is_on(&self) -> bool {
        self.0.is_some()
    }

    /// Starts logging.
    pub(crate) fn begin(&self) {
        let Some(filter) = self.0.as_deref().and_then(filter) else { return };
        let subscriber = tracing_subscriber::fmt()
            .with_env_filter(filter)
            .with_writer(io::stderr)
            .with_ansi(false)
            .with_span_events(FmtSpan::CLOSE);
        // Fails only if there is a logger already.
        let _ = subscriber.try_init();
    }
}

/// The MCP library writes to the log only if its name is in the text: its lines at `info` would hide the decisions.
fn filter(text: &str) -> Option<EnvFilter> {
    EnvFilter::try_new(format!("rmcp=warn,{text}")).ok()
}

/// A log of decisions that also writes them to standard error: denials at `info`, the rest at `debug`.
pub(crate) struct Logged(pub(crate) Option<Arc<dyn Audit>>);

impl Audit for Logged {
    fn record(&self, event: &AuditEvent) -> io::Result<()> {
        let AuditEvent { session, requester, path, access, code, reason, .. } = event;
        let why = reason.as_deref().or(code.map(Code::as_str)).unwrap_or_default();
        match event.decision {
            Decision::Deny => tracing::info!(%session, %requester, %path, %access, %why, "denied"),
            Decision::Allow => tracing::debug!(%session, %requester, %path, %access, "allowed"),
        }
        self.0.as_ref().map_or(Ok(()), |audit| audit.record(event))
    }

    fn record_change(&self, event: &ChangeEvent) -> io::Result<()> {
        self.0.as_ref().map_or(Ok(()), |audit| audit.record_change(event))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_library_is_quiet_unless_named() {
        let check = |text: &str, expect: &[&str]| {
            let directives = filter(text).unwrap().to_string();
            for directive in expect {
                assert!(directives.split(',').any(|one| one == *directive), "{text}: {directives}");
            }
        };
        check("info", &["rmcp=warn", "info"]);
        check("rmcp=debug", &["rmcp=debug"]);
        check("debug,rmcp=trace", &["rmcp=trace", "debug"]);
        assert!(filter("no=such=thing").is_none());
    }
}
