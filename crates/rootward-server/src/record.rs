//! Puts the decisions of a session on record, where the author wants that.

use std::ffi::OsStr;
use std::io;
use std::sync::Arc;
use std::time::SystemTime;

use rmcp::model::Implementation;
use rootward_core::{Access, AuditEvent, Denial, Grant, Occasion};
use rootward_protocol::peer_name;

use crate::settings::Ground;

/// Who is at either end of a session. Only the number is known where nothing is put on record.
#[derive(Clone, Debug, Default)]
pub(crate) struct Parties {
    /// The number of the session, or of the request in the modern era.
    pub(crate) session: u64,
    /// Whose it is, where a server has several users.
    pub(crate) principal: Option<Arc<str>>,
    /// What the client calls itself.
    pub(crate) client: Option<String>,
    /// What the server is called.
    pub(crate) server: Option<Arc<str>>,
}

/// Where a decision was made: what goes on record besides the decision itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Decided<'a> {
    pub(crate) parties: &'a Parties,
    pub(crate) requester: &'a str,
    pub(crate) generation: u64,
}

impl Ground {
    /// What the server is called on record: as its author or its operator says, else as it calls itself.
    pub(crate) fn server_name(&self, says: impl FnOnce() -> String) -> Option<Arc<str>> {
        self.settings.audit.as_ref()?;
        let name = self.settings.server.clone().unwrap_or_else(says);
        peer_name(&name, None).map(Into::into)
    }

    /// What a client calls itself on record.
    pub(crate) fn client_name(&self, says: impl FnOnce() -> Option<Implementation>) -> Option<String> {
        self.settings.audit.as_ref()?;
        let client = says()?;
        peer_name(&client.name, Some(&client.version))
    }
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
    let Decided { parties, requester, generation } = decided;
    let session = parties.session.to_string();
    let occasion = Occasion {
        time: SystemTime::now(),
        session: &session,
        principal: parties.principal.as_deref(),
        client: parties.client.as_deref(),
        server: parties.server.as_deref(),
        process: Some(std::process::id()),
        requester,
        generation,
    };
    audit.record(&AuditEvent::new(occasion, path, access, decision))
}
