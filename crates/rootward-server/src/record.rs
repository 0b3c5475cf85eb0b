//! Puts the decisions of a session on record, where the author wants that.

use std::ffi::OsStr;
use std::io;
use std::sync::Arc;
use std::time::SystemTime;

use rmcp::model::Implementation;
use rootward_core::{Access, AuditEvent, Denial, Grant, Occasion};
use rootward_protocol::session::LeftOut;
use rootward_protocol::{method, peer_name};

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

impl Ground {
    /// Tells which of a client's roots are left out, and puts it on record. Nothing waits for that record: such a root opens nothing.
    pub(crate) fn tell_left_out(&self, parties: &Parties, generation: u64, left_out: &[LeftOut]) {
        for root in left_out {
            if let Some(audit) = &self.settings.audit {
                let session = parties.session.to_string();
                let decided = Decided { parties, requester: method::LIST_ROOTS, generation };
                let _ = audit.record(&root.event(occasion(decided, &session)));
            }
            if let Some(tell) = &self.settings.left_out {
                tell(root);
            }
        }
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
    let session = decided.parties.session.to_string();
    audit.record(&AuditEvent::new(occasion(decided, &session), path, access, decision))
}

fn occasion<'o>(Decided { parties, requester, generation }: Decided<'o>, session: &'o str) -> Occasion<'o> {
    Occasion {
        time: SystemTime::now(),
        session,
        principal: parties.principal.as_deref(),
        client: parties.client.as_deref(),
        server: parties.server.as_deref(),
        process: Some(std::process::id()),
        requester,
        generation,
    }
}
