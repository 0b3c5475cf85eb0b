//! Counts decisions by result for `/metrics`, on their way to the log.

use std::collections::BTreeMap;
use std::fmt::{self, Write};
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use rootward_core::{Audit, AuditEvent, ChangeEvent, Decision};

/// Counts decisions, and passes them on to the log, if there is one.
pub(crate) struct Counted {
    log: Option<Arc<dyn Audit>>,
    /// By principal and denial code; `None` if allowed.
    counts: Mutex<BTreeMap<(String, Option<&'static str>), u64>>,
}

impl Counted {
    pub(crate) fn new(log: Option<Arc<dyn Audit>>) -> Counted {
        Counted { log, counts: Mutex::default() }
    }

    /// The counts, in the text format of Prometheus.
    pub(crate) fn metrics(&self) -> String {
        let mut text = String::from(
            "# HELP rootward_decisions_total Decisions on paths, by principal and code.\n# TYPE rootward_decisions_total counter\n",
        );
        for ((principal, code), count) in &*self.counts.lock().unwrap_or_else(PoisonError::into_inner) {
            let (decision, code) = code.map_or(("allow", ""), |code| ("deny", code));
            // Names of principals contain no quotes. Writing to a string cannot fail.
            let _ = writeln!(
                text,
                "rootward_decisions_total{{principal=\"{principal}\",decision=\"{decision}\",code=\"{code}\"}} {count}"
            );
        }
        text
    }
}

impl Audit for Counted {
    fn record(&self, event: &AuditEvent) -> io::Result<()> {
        if let Some(log) = &self.log {
            log.record(event)?;
        }
        let code = match event.decision {
            Decision::Allow => None,
            Decision::Deny => Some(event.code.map_or("", rootward_core::Code::as_str)),
        };
        let key = (event.principal.clone().unwrap_or_default(), code);
        *self.counts.lock().unwrap_or_else(PoisonError::into_inner).entry(key).or_default() += 1;
        Ok(())
    }

    fn record_change(&self, event: &ChangeEvent) -> io::Result<()> {
        self.log.as_ref().map_or(Ok(()), |log| log.record_change(event))
    }
}

impl fmt::Debug for Counted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Counted").finish_non_exhaustive()
    }
}
