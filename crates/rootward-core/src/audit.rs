//! The record of one decision, and of one change to what is shared: plain values, written down by whoever keeps the log.

use std::ffi::OsStr;
use std::io;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Serialize, Serializer};

use crate::access::Access;
use crate::denial::{Code, Denial};
use crate::grant::Grant;
use crate::shown::Shown;

/// How a decision went.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Decision {
    /// A grant was handed out.
    Allow,
    /// It was refused.
    Deny,
}

/// One decision. Paths are text on one line; bytes that are no UTF-8 appear as `\xNN`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct AuditEvent {
    /// When, in milliseconds since 1970.
    #[serde(serialize_with = "milliseconds")]
    pub time: SystemTime,
    /// The session it was made in.
    pub session: String,
    /// Who asked, where a server has several users.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub principal: Option<String>,
    /// What the client calls itself, if it says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// The server: its package, its program, or what it calls itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// The id of the server's process that the call goes to, where one runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub process: Option<u32>,
    /// What asked: a tool, a method, a command.
    pub requester: String,
    /// The path as asked for.
    pub path: String,
    /// Where it leads, as far as it is known; for a path that does not exist, where it would be.
    pub resolved: Option<String>,
    /// The access asked for.
    pub access: Access,
    /// How it went.
    pub decision: Decision,
    /// Why not, as the operator sees it.
    pub code: Option<Code>,
    /// The root it lies in.
    pub root: Option<String>,
    /// Which guard decided.
    pub generation: u64,
    /// Why a root that a client named is left out, as the operator sees it; not for decisions about paths.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Who asked, when and where: what a decision itself does not know.
#[derive(Clone, Copy, Debug)]
pub struct Occasion<'o> {
    /// When.
    pub time: SystemTime,
    /// In which session.
    pub session: &'o str,
    /// Who asked, where a server has several users.
    pub principal: Option<&'o str>,
    /// What the client calls itself, if it says.
    pub client: Option<&'o str>,
    /// The server, if it has a name.
    pub server: Option<&'o str>,
    /// The server's process, where one runs.
    pub process: Option<u32>,
    /// What asked.
    pub requester: &'o str,
    /// Which guard decided.
    pub generation: u64,
}

/// For how long a user said yes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Yes {
    /// For this one time; nothing is remembered.
    Once,
    /// Until the session ends, or until it is taken back.
    Session,
    /// Until it is taken back.
    Always,
}

impl Yes {
    /// One word: `once`, `session` or `always`.
    pub const fn word(self) -> &'static str {
        match self {
            Yes::Once => "once",
            Yes::Session => "session",
            Yes::Always => "always",
        }
    }
}

/// What was done to a root that the user shares.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RootChange {
    /// It is shared from now on.
    Add,
    /// It is shared no more.
    Remove,
    /// It has another name, or none.
    Rename,
    /// It is shared for other access, with other places closed below it, or with others.
    Grant,
}

/// One change of what the user shares: of a root, its name, its access, or of a yes. Texts as in [`AuditEvent`].
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct ChangeEvent {
    /// When, in milliseconds since 1970.
    #[serde(serialize_with = "milliseconds")]
    pub time: SystemTime,
    /// Who asked for it: a command, a client, a server.
    pub requester: String,
    /// What was done.
    pub change: RootChange,
    /// The root's path.
    pub root: String,
    /// Its name from now on; for one that was removed, the name it had, and so on for what follows.
    pub name: Option<String>,
    /// What it is shared for.
    pub access: Access,
    /// The patterns of what is closed below it, `(writing)` behind those that close for writing only.
    pub restrict: Vec<String>,
    /// The clients or servers that it is shared with; all, where there is no list.
    #[serde(rename = "for")]
    pub peers: Option<Vec<String>>,
    /// Whether it is a place that takes insisting.
    pub forced: bool,
    /// For how long the user said yes.
    pub consent: Yes,
}

/// Whoever keeps the log.
pub trait Audit: Send + Sync {
    /// Writes a decision down, before it takes effect. Where that fails, access is refused: what is not on record does not
    /// happen.
    fn record(&self, event: &AuditEvent) -> io::Result<()>;

    /// Writes a change of what is shared down, before it takes effect. A log that knows no changes refuses them.
    fn record_change(&self, event: &ChangeEvent) -> io::Result<()> {
        let _ = event;
        Err(io::Error::new(io::ErrorKind::Unsupported, "this log keeps no changes of roots"))
    }
}

impl AuditEvent {
    /// The record of a decision about `path`.
    pub fn new(occasion: Occasion<'_>, path: &OsStr, access: Access, decision: Result<&Grant, &Denial>) -> AuditEvent {
        let text = |path: &OsStr| Shown::new(path).to_string();
        let (resolved, root, code) = match decision {
            Ok(grant) => (Some(grant.path()), Some(&grant.root().root), None),
            Err(denial) => (denial.resolved().map(Into::into), denial.root(), Some(denial.code())),
        };
        AuditEvent {
            time: occasion.time,
            session: occasion.session.to_owned(),
            principal: occasion.principal.map(str::to_owned),
            client: occasion.client.map(str::to_owned),
            server: occasion.server.map(str::to_owned),
            process: occasion.process,
            requester: occasion.requester.to_owned(),
            // A refusal has it without the part that is longer than any path.
            path: text(decision.err().map_or(path, Denial::path)),
            resolved: resolved.map(|path| text(path.as_os_str())),
            access,
            decision: if code.is_none() { Decision::Allow } else { Decision::Deny },
            code,
            root: root.map(|root| text(root.path.as_os_str())),
            generation: occasion.generation,
            reason: None,
        }
    }

    /// The record of a root that a client named and that is left out, for this reason.
    pub fn of_root(occasion: Occasion<'_>, root: &str, access: Access, code: Option<Code>, reason: &str) -> AuditEvent {
        AuditEvent {
            time: occasion.time,
            session: occasion.session.to_owned(),
            principal: occasion.principal.map(str::to_owned),
            client: occasion.client.map(str::to_owned),
            server: occasion.server.map(str::to_owned),
            process: occasion.process,
            requester: occasion.requester.to_owned(),
            path: Shown::new(root).to_string(),
            resolved: None,
            access,
            decision: Decision::Deny,
            code,
            root: None,
            generation: occasion.generation,
            reason: Some(Shown::new(reason).to_string()),
        }
    }
}

fn milliseconds<S: Serializer>(time: &SystemTime, serializer: S) -> Result<S::Ok, S::Error> {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    serializer.serialize_u64(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}
