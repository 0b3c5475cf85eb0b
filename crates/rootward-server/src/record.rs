//! Records the decisions of a session, if the author wants that.

use std::ffi::OsStr;
use std::io;
use std::sync::Arc;
use std::time::SystemTime;

use rmcp::model::Implementation;
use rootward_core::{Access, AuditEvent, Denial, Grant, Occasion};
use rootward_protocol::session::LeftOut;
use rootward_protocol::{method, peer_name};

use crate::settings::Ground;

/// Client, server and principal of a session. If nothing is recorded, only the number is known.
#[derive(Clone, Debug, Default)]
pub(crate) struct Parties {
    /// The number of the session, or of the modern request.
    pub(crate) session: u64,
    /// The user, if a server has several.
    pub(crate) principal: Option<Arc<str>>,
    /// The client's name for itself.
    pub(crate) client: Option<String>,
    /// The server's name.
    pub(crate) server: Option<Arc<str>>,
}

/// The circumstances of a decision, for the record.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Decided<'a> {
    pub(crate) parties: &'a Parties,
    pub(crate) requester: &'a str,
    pub(crate) generation: u64,
}

impl Ground {
    /// The server's name in the record: set by its author or operator, or else its own.
    pub(crate) fn server_name(&self, says: impl FnOnce() -> String) -> Option<Arc<str>> {
        self.settings.audit.as_ref()?;
        let name = self.settings.server.clone().unwrap_or_else(says);
        peer_name(&name, None).map(Into::into)
    }

    /// The client's name in the record.
    pub(crate) fn client_name(&self, says: impl FnOnce() -> Option<Implementation>) -> Option<String> {
        self.settings.audit.as_ref()?;
        let client = says()?;
        peer_name(&client.name, Some(&client.version))
    }
}

impl Ground {
    /// Reports and records which of a client's roots were excluded. Nothing waits for that record, because such a root
    /// grants no access.
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

/// Records a decision. Returns `Err` if that fails.
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
