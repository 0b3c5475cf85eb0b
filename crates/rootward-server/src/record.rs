//! Puts the decisions of a session on record, where the author wants that.

use std::ffi::OsStr;
use std::io;
use std::time::SystemTime;

use rootward_core::{Access, AuditEvent, Denial, Grant, Occasion};

use crate::settings::Ground;

/// Where a decision was made: what goes on record besides the decision itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Decided<'a> {
    pub(crate) session: u64,
    pub(crate) requester: &'a str,
    pub(crate) generation: u64,
}

/// Puts a decision on record. `Err` where it cannot be.
pub(crate) fn record(
    ground: &Ground,
    decided: Decided<'_>,
    path: &OsStr,
    access: Access,
    decision: Result<&Grant, &Denial>,
) -> io::Result<()> {
    let Some(audit) = &ground.settings.audit else {
        return Ok(());
    };
    let Decided { session, requester, generation } = decided;
    let session = session.to_string();
    let occasion = Occasion { time: SystemTime::now(), session: &session, requester, generation };
    audit.record(&AuditEvent::new(occasion, path, access, decision))
}
