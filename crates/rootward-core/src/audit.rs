//! The record of one decision, and of one change to what is shared. These are plain values; an [`Audit`] writes them
//! down.

use std::ffi::OsStr;
use std::io;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Serialize, Serializer};

use crate::access::Access;
use crate::denial::{Code, Denial};
use crate::grant::Grant;
use crate::shown::Shown;

/// The outcome of a decision.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Decision {
    /// A grant was handed out.
    Allow,
    /// It was refused.
    Deny,
}

/// One decision. Paths are text on one line; bytes that are not UTF-8 appear as `\xNN`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct AuditEvent {
    /// When, in milliseconds since 1970.
    #[serde(serialize_with = "milliseconds")]
    pub time: SystemTime,
    /// The session it was made in.
    pub session: String,
    /// Who asked, if the server has several users.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub principal: Option<String>,
    /// The client's name for itself, if it gives one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// The server: its package, its program, or its name for itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// The id of the server process that handles the call, if one runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub process: Option<u32>,
    /// Which tool, method or command asked.
    pub requester: String,
    /// The path as asked for.
    pub path: String,
    /// Where the path leads, if known. For a path that does not exist, where it would be.
    pub resolved: Option<String>,
    /// The access asked for.
    pub access: Access,
    /// The outcome.
    pub decision: Decision,
    /// The reason for a refusal, as the operator sees it.
    pub code: Option<Code>,
    /// The root that contains the path.
    pub root: Option<String>,
    /// The generation of the guard that decided.
    pub generation: u64,
    /// Why a root that a client named is left out, as the operator sees it. Absent for decisions about paths.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// The circumstances of a decision: who asked, when, and in which session.
#[derive(Clone, Copy, Debug)]
pub struct Occasion<'o> {
    /// The time of the decision.
    pub time: SystemTime,
    /// The session's id.
    pub session: &'o str,
    /// Who asked, if the server has several users.
    pub principal: Option<&'o str>,
    /// The client's name for itself, if it gives one.
    pub client: Option<&'o str>,
    /// The server's name, if it has one.
    pub server: Option<&'o str>,
    /// The id of the server's process, if one runs.
    pub process: Option<u32>,
    /// Which tool, method or command asked.
    pub requester: &'o str,
    /// The generation of the guard that decided.
    pub generation: u64,
}

impl Occasion<'_> {
    /// The record of a refusal that says nothing but `path`, which must be in the form of [`AuditEvent::path`].
    pub fn event(self, path: String, access: Access) -> AuditEvent {
        AuditEvent {
            time: self.time,
            session: self.session.to_owned(),
            principal: self.principal.map(str::to_owned),
            client: self.client.map(str::to_owned),
            server: self.server.map(str::to_owned),
            process: self.process,
            requester: self.requester.to_owned(),
            path,
            resolved: None,
            access,
            decision: Decision::Deny,
            code: None,
            root: None,
            generation: self.generation,
            reason: None,
        }
    }
}

/// How long the user's consent lasts.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Yes {
    /// For this one time; nothing is saved.
    Once,
    /// Until the session ends or the user takes it back.
    Session,
    /// Until the user takes it back.
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

/// What happened to a root that the user shares.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RootChange {
    /// It is now shared.
    Add,
    /// It is no longer shared.
    Remove,
    /// Its name was changed or removed.
    Rename,
    /// Its access, its closed places or its peers were changed.
    Grant,
}

/// One change to what the user shares: a root, its name, its access, or a consent. Text has the same form as in
/// [`AuditEvent`].
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct ChangeEvent {
    /// When, in milliseconds since 1970.
    #[serde(serialize_with = "milliseconds")]
    pub time: SystemTime,
    /// Who asked for the change: a command, a client, a server.
    pub requester: String,
    /// The kind of change.
    pub change: RootChange,
    /// The root's path.
    pub root: String,
    /// Its name after the change. For a removed root, this and the following fields hold the values it had.
    pub name: Option<String>,
    /// The access it is shared with.
    pub access: Access,
    /// The patterns of the places that are closed below it. Those closed for writing only end in `(writing)`.
    pub restrict: Vec<String>,
    /// The clients or servers that it is shared with; `None` means all.
    #[serde(rename = "for")]
    pub peers: Option<Vec<String>>,
    /// Whether this is a place that can only be shared with `--force`.
    pub forced: bool,
    /// How long the user's consent lasts.
    pub consent: Yes,
}

/// An audit log.
pub trait Audit: Send + Sync {
    /// Records a decision before it takes effect. If this fails, access is refused: nothing happens that is not on
    /// record.
    fn record(&self, event: &AuditEvent) -> io::Result<()>;

    /// Records a change to what is shared, before it takes effect. The default refuses, for logs that do not record
    /// changes.
    fn record_change(&self, event: &ChangeEvent) -> io::Result<()> {
        let _ = event;
        Err(io::Error::new(io::ErrorKind::Unsupported, "this log does not record changes to roots"))
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
            resolved: resolved.map(|path| text(path.as_os_str())),
            decision: if code.is_none() { Decision::Allow } else { Decision::Deny },
            code,
            root: root.map(|root| text(root.path.as_os_str())),
            // A denial holds the path shortened to the longest that can be valid.
            ..occasion.event(text(decision.err().map_or(path, Denial::path)), access)
        }
    }

    /// The record of a root that a client named and that is left out, with the reason.
    pub fn of_root(occasion: Occasion<'_>, root: &str, access: Access, code: Option<Code>, reason: &str) -> AuditEvent {
        let event = occasion.event(Shown::new(root).to_string(), access);
        AuditEvent { code, reason: Some(Shown::new(reason).to_string()), ..event }
    }
}

fn milliseconds<S: Serializer>(time: &SystemTime, serializer: S) -> Result<S::Ok, S::Error> {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    serializer.serialize_u64(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}
