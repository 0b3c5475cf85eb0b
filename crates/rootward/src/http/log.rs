//! The log on standard error, if `ROOTWARD_LOG` requests one: a line for each decision and, over HTTP, for each
//! request, with its trace id.

use std::io;
use std::sync::Arc;

use anyhow::{Result, anyhow};
use rootward_core::{Audit, AuditEvent, ChangeEvent, Code, Decision, env};
use serde::{Deserialize, Serialize};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::LevelFilter;
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

/// The MCP library logs below `warn` only if its name is in the text: its lines at `info` would hide the decisions.
fn filter(text: &str) -> Option<EnvFilter> {
    let directives = || text.split(',');
    let is_verbose = |level: LevelFilter| level > LevelFilter::WARN;
    let for_all = directives().any(|directive| directive.parse().is_ok_and(is_verbose));
    let names_library = directives().any(|directive| directive.starts_with("rmcp"));
    let before = if for_all && !names_library { "rmcp=warn," } else { "" };
    EnvFilter::try_new(format!("{before}{text}")).ok()
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
            let mut directives: Vec<&str> = directives.split(',').collect();
            directives.sort_unstable();
            assert_eq!(directives, expect, "{text}");
        };
        check("info", &["info", "rmcp=warn"]);
        check("DEBUG", &["debug", "rmcp=warn"]);
        check("trace,rootward=debug", &["rmcp=warn", "rootward=debug", "trace"]);
        check("debug,rmcp=trace", &["debug", "rmcp=trace"]);
        check("rmcp=debug", &["rmcp=debug"]);
        // These make the library no louder, so nothing is added.
        check("off", &["off"]);
        check("error", &["error"]);
        check("warn", &["warn"]);
        check("rootward_http=debug", &["rootward_http=debug"]);
        assert!(filter("no=such=thing").is_none());
    }
}
